"""A real HTTP server on this machine that answers like a model endpoint, as each test scripts it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import serving
from tests.waiting import PATIENCE

Act = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Endpoints:
    """A scripted server: `url` is its address, `seen` its requests as (path, headers, body)."""

    url: str
    acts: list[Act]
    seen: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def answering(*acts: Act) -> Iterator[Endpoints]:
    """Run a server that answers each request by the next act; the last act repeats."""
    script: Endpoints

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length))
            headers = {k.lower(): v for k, v in self.headers.items()}
            script.seen.append((self.path, headers, body))
            act = script.acts[min(len(script.seen), len(script.acts)) - 1]
            self.close_connection = True
            act(self)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script = Endpoints(f"http://127.0.0.1:{server.server_port}/v1", list(acts))
    with serving(server):
        try:
            yield script
        finally:
            script.released.set()


def sending(body: str | bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Act:
    """Return an act that answers with this body at once."""
    data = body.encode() if isinstance(body, str) else body

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return act


def streaming(events: list[Any], hold: threading.Event | None = None) -> Act:
    """Return an act that streams events, and waits after the first one until `hold` is set."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for n, event in enumerate(events):
            if n and hold is not None:
                hold.wait(PATIENCE)
            text = event if isinstance(event, str) else json.dumps(event)
            try:
                handler.wfile.write(f"data: {text}\n\n".encode())
                handler.wfile.flush()
            except OSError:  # the client has gone
                return

    return act


def chat(*pieces: str, end: bool = True) -> list[Any]:
    """Return the chunks of a chat completion, with usage at its end."""
    chunks: list[Any] = [{"model": "m-1", "choices": [{"delta": {"content": piece}}]} for piece in pieces]
    if end:
        chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        used = {
            "prompt_tokens": 1_000,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 400},
        }
        chunks += [{"choices": [], "usage": used}, "[DONE]"]
    return chunks


def messages(*pieces: str, end: bool = True) -> list[Any]:
    """Return the events of an answer of the messages API."""
    used = {"input_tokens": 600, "cache_read_input_tokens": 400, "output_tokens": 1}
    events: list[Any] = [
        {"type": "message_start", "message": {"model": "m-1", "usage": used}},
        {"type": "ping"},
    ]
    events += [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    ]
    if end:
        events.append(
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 20}}
        )
        events.append({"type": "message_stop"})
    return events
