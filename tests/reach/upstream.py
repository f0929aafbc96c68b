"""A strict provider on this machine, in the protocols that real agents speak.

It answers from a script: a prompt that asks to run a command is answered with a call of the agent's own tool, and a
result with a few words. It refuses with 400, as the real ones do: a call without its result or a result without its
call, roles in a wrong order, empty content, and a thought behind a history that is not the one it was thought over.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# In a prompt: the command that the agent is to run before it answers.
RUN = re.compile(r"RUN\(([^)]*)\)")

Call = tuple[str, str, dict[str, Any]]  # id, tool, arguments


@dataclass
class Upstream:
    """The requests of agents as (path, headers, body), and the refusals as (path, reason)."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)

    def bodies(self, path: str) -> list[Any]:
        """Return the bodies sent to paths that contain `path`, in order."""
        return [body for sent, _, body in self.requests if path in sent]

    def clear(self) -> None:
        """Forget what was sent and refused."""
        self.requests.clear()
        self.refused.clear()


@contextmanager
def strict_upstream() -> Iterator[Upstream]:
    """Serve until the block ends."""
    upstream = Upstream()

    class Handler(_Handler):
        state = upstream

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    upstream.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: Upstream
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""

    def do_HEAD(self) -> None:
        """Answer the agent's look at whether somebody is there."""
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        """Answer that there is no such page, and no websocket."""
        self._send(426 if self.headers.get("upgrade") else 404, "application/json", b"{}")

    def do_POST(self) -> None:
        """Check a call and answer it as a stream of events."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.state.requests.append((self.path, headers, body))
        if "count_tokens" in self.path:
            self._json(200, {"input_tokens": _tokens(body)})
            return
        speak = next((one for name, one in _PROTOCOLS.items() if name in self.path), None)
        if speak is None:
            self._json(404, {"error": {"type": "not_found_error", "message": self.path}})
            return
        events = speak(self.state, body)
        if isinstance(events, str):
            self.state.refused.append((self.path, events))
            error = {"type": "invalid_request_error", "message": events}
            self._json(400, {"type": "error", "error": error})
            return
        named = "streamGenerateContent" not in self.path
        lines = [
            (f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in events
        ]
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _tokens(body: Any) -> int:
    return len(json.dumps(body)) // 4


def _wanted(text: str) -> str | None:
    """Return the command that the last prompt in a text asks to run."""
    found = RUN.findall(text)
    return found[-1] if found else None


def _shell(tools: list[Any], command: str) -> tuple[str, dict[str, Any]] | None:
    """Return the call of the agent's own shell tool."""
    names = [one.get("name", "") for one in tools]
    for name in ("Bash", "bash", "shell_command", "exec_command", "shell", "run_shell_command"):
        if name in names:
            argument = "cmd" if name == "exec_command" else "command"
            value: Any = ["bash", "-c", command] if name == "shell" else command
            extra = {"description": "Run it"} if name in ("bash", "Bash") else {}
            return name, {argument: value, **extra}
    return None


# Anthropic


def _anthropic(state: Upstream, body: dict[str, Any]) -> list[dict[str, Any]] | str:
    messages = [m for m in body["messages"] if m["role"] != "system"]
    if fault := _anthropic_fault(state, messages):
        return fault
    last = messages[-1]["content"]
    blocks = [{"type": "text", "text": last}] if isinstance(last, str) else last
    text = "\n".join(b.get("text", "") for b in blocks if b["type"] == "text")
    answered = any(b["type"] == "tool_result" for b in blocks)
    command = None if answered else _wanted(text)
    call = _shell(body.get("tools", []), command) if command else None
    content: list[dict[str, Any]] = []
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive") and call:
        signature = hashlib.sha256(f"{len(state.signatures)}".encode()).hexdigest()
        state.signatures[signature] = _digest(messages)
        content.append({"type": "thinking", "thinking": "I should run it.", "signature": signature})
    if call:
        number = hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12]
        content.append({"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]})
    else:
        content.append({"type": "text", "text": "The output was read."})
    return list(_anthropic_events(body, content, _tokens(body)))


def _digest(messages: list[Any]) -> str:
    """Return what identifies a history, whatever is marked to be cached; a text is a block of text."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            texts = (
                {"content": [{"type": "text", "text": value["content"]}]}
                if isinstance(value.get("content"), str)
                else {}
            )
            return {k: clean(v) for k, v in {**value, **texts}.items() if k != "cache_control"}
        return [clean(v) for v in value] if isinstance(value, list) else value

    return hashlib.sha256(json.dumps(clean(messages), sort_keys=True).encode()).hexdigest()


def _anthropic_fault(state: Upstream, messages: list[Any]) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    open_calls: set[str] = set()
    for n, message in enumerate(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks or any(b["type"] == "text" and not b["text"].strip() for b in blocks):
            return f"messages.{n}: content must be non-empty"
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if len(results) != len(set(results)) or set(results) - open_calls:
            return f"messages.{n}: unexpected tool_use_id in tool_result blocks: {results}"
        if open_calls - set(results):
            return f"messages.{n}: tool_use without tool_result: {open_calls - set(results)}"
        open_calls = {b["id"] for b in blocks if b["type"] == "tool_use"}
        for b in blocks:
            if b["type"] == "thinking" and state.signatures.get(b["signature"]) != _digest(messages[:n]):
                return f"messages.{n}: thinking block is bound to a different conversation"
    return "tool_use without tool_result at the end" if open_calls else None


def _anthropic_events(
    body: dict[str, Any], content: list[dict[str, Any]], tokens: int
) -> Iterator[dict[str, Any]]:
    usage = {
        "input_tokens": tokens,
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    message: dict[str, Any] = {
        "id": f"msg_{_digest([body, content])[:16]}",
        "type": "message",
        "role": "assistant",
    }
    message |= {
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    for n, block in enumerate(content):
        kind = block["type"]
        empties: dict[str, Any] = {
            "thinking": {"thinking": "", "signature": ""},
            "text": {"text": ""},
            "tool_use": {"input": {}},
        }
        yield {"type": "content_block_start", "index": n, "content_block": {**block, **empties[kind]}}
        deltas: dict[str, list[dict[str, Any]]] = {
            "thinking": [
                {"type": "thinking_delta", "thinking": block.get("thinking")},
                {"type": "signature_delta", "signature": block.get("signature")},
            ],
            "text": [{"type": "text_delta", "text": block.get("text")}],
            "tool_use": [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}],
        }
        yield from ({"type": "content_block_delta", "index": n, "delta": delta} for delta in deltas[kind])
        yield {"type": "content_block_stop", "index": n}
    reason = "tool_use" if any(b["type"] == "tool_use" for b in content) else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    yield {"type": "message_stop"}


# OpenAI Responses


def _responses(_: Upstream, body: dict[str, Any]) -> list[dict[str, Any]] | str:
    items = body["input"]
    calls = [i["call_id"] for i in items if i["type"] == "function_call"]
    outputs = [i["call_id"] for i in items if i["type"] == "function_call_output"]
    if missing := set(calls) - set(outputs):
        return f"No tool output found for function call {sorted(missing)}"
    if extra := set(outputs) - set(calls):
        return f"No tool call found for function call output {sorted(extra)}"
    for n, one in enumerate(items):
        following = items[n + 1 : n + 2]
        if one["type"] == "reasoning" and (
            not following or following[0].get("role") not in (None, "assistant")
        ):
            return f"item {n} of type reasoning was provided without its required following item"
    last = items[-1]
    text = json.dumps(last.get("content", "")) if last.get("role") == "user" else ""
    command = _wanted(text)
    call = _shell(body.get("tools", []), command) if command else None
    number = _digest(items)[:12]
    made: list[dict[str, Any]] = []
    if call:
        made.append(
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [],
                "encrypted_content": f"secret {number}",
            }
        )
        arguments = json.dumps(call[1])
        made.append({"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                     "arguments": arguments})  # fmt: skip
    else:
        said = [{"type": "output_text", "text": "The output was read.", "annotations": []}]
        made.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": said})
    tokens = _tokens(body)
    usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 20}  # fmt: skip
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "status": "completed",
        "output": made,
        "usage": usage,
    }
    done = (
        {"type": "response.output_item.done", "output_index": n, "item": one} for n, one in enumerate(made)
    )
    return [
        {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
        *done,
        {"type": "response.completed", "response": response},
    ]


# Gemini


def _gemini(_: Upstream, body: dict[str, Any]) -> list[dict[str, Any]] | str:
    contents = body["contents"]
    for n, one in enumerate(contents):
        calls = [p["functionCall"]["name"] for p in one["parts"] if "functionCall" in p]
        following = contents[n + 1]["parts"] if n + 1 < len(contents) else []
        results = [p["functionResponse"]["name"] for p in following if "functionResponse" in p]
        if calls and calls != results:
            return f"contents.{n}: function call {calls} without its response, got {results}"
        before = contents[n - 1]["parts"] if n else []
        if any("functionResponse" in p for p in one["parts"]) and not any(
            "functionCall" in p for p in before
        ):
            return f"contents.{n}: function response without its call"
    last = contents[-1]
    answered = any("functionResponse" in p for p in last["parts"])
    command = None if answered else _wanted("\n".join(p.get("text", "") for p in last["parts"]))
    tools = [one for group in body.get("tools", []) for one in group.get("functionDeclarations", [])]
    call = _shell(tools, command) if command else None
    part: dict[str, Any] = {"text": "The output was read."}
    if call:
        part = {"functionCall": {"name": call[0], "args": call[1]}, "thoughtSignature": "c2lnbmVk"}
    usage = {
        "promptTokenCount": _tokens(body),
        "candidatesTokenCount": 20,
        "totalTokenCount": _tokens(body) + 20,
    }
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}]


_PROTOCOLS = {"/messages": _anthropic, "/responses": _responses, "streamGenerateContent": _gemini}


if __name__ == "__main__":
    with strict_upstream() as running:
        print(running.url, flush=True)  # noqa: T201
        threading.Event().wait()
