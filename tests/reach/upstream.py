"""A strict provider on this machine, in the protocols that real agents and the official SDKs speak.

It answers from a script: a prompt that asks to run a command is answered with a call of the agent's own tool, and a
result with a few words. It refuses with 400, as the real ones do: a call without its result or a result without its
call, roles in a wrong order, empty content, and a thought behind a history that is not the one it was thought over. Its
usage says what a prompt cache would have read and written: Anthropic's up to the marks, OpenAI's whatever came before.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import serving
from webapp.proxy.unpacking import unpacked

# In a prompt: a command that the agent is to run before it answers; several are run at once.
RUN = re.compile(r"RUN\(([^)]*)\)")

Call = tuple[str, str, dict[str, Any]]  # id, tool, arguments


@dataclass
class Upstream:
    """The requests of agents as (path, headers, body), and the refusals as (path, reason)."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    bytes: list[bytes] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    refuses: Callable[[Any], str | None] | None = None  # a reason to refuse a request, besides the rules
    refusal: int = 400  # the status of a refusal
    signatures: dict[str, str] = field(default_factory=dict)
    # The id of an item -> the id of the reasoning that led to it.
    reasoned: dict[str, str] = field(default_factory=dict)
    # The events of answers in the background, by their ids; the first one is sent at once.
    background: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    gzips: bool = False  # answers are compressed, though nobody asked for it
    cache: set[str] = field(default_factory=set)
    # Tokens in, read from and written to the cache.
    usages: list[tuple[int, int, int]] = field(default_factory=list)

    def bill(self, begins: Any, items: list[Any], marked: int | None) -> tuple[int, int, int]:
        """Return the tokens of a call, those read from the cache, and those written to it.

        `begins` is what stands before the messages; the cache is written up to item `marked` (None: all is cached
        without being asked, and the writing costs nothing).
        """
        chain, total, read, written = _digest([begins]), _tokens(begins), 0, 0
        if chain in self.cache:
            read = total
        chains = [(chain, total)]
        for item in items:
            chain, total = _digest([chain, [item]]), total + _tokens(item)
            chains.append((chain, total))
            read = total if chain in self.cache else read
        last = len(items) if marked is None else marked + 1
        if last:
            written = max(0, chains[last][1] - read)
            self.cache.update(name for name, _ in chains[: last + 1])
        self.usages.append((total, read, 0 if marked is None else written))
        return self.usages[-1]

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
    with serving(server):
        yield upstream


class _Handler(BaseHTTPRequestHandler):
    state: Upstream
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""

    def do_HEAD(self) -> None:
        """Answer the agent's look at whether somebody is there."""
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        """Answer what was asked in the background, or that there is no such page, and no websocket."""
        path, _, query = self.path.partition("?")
        events = self.state.background.get(path.rpartition("/")[2])
        if events is not None:
            self._answer(events[1:], streams="stream=true" in query)
            return
        self._send(426 if self.headers.get("upgrade") else 404, "application/json", b"{}")

    def do_POST(self) -> None:
        """Check a call and answer it as a stream of events."""
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        coding = self.headers.get("content-encoding", "")
        body = json.loads(unpacked(data, coding, 1 << 30) or b"{}")
        self.state.bytes.append(data)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.state.requests.append((self.path, headers, body))
        if "count_tokens" in self.path:
            self._json(200, {"input_tokens": _tokens(body)})
            return
        speak = next((one for name, one in _PROTOCOLS.items() if name in self.path), None)
        if speak is None:
            self._json(404, {"error": {"type": "not_found_error", "message": self.path}})
            return
        events = (self.state.refuses and self.state.refuses(body)) or speak(self.state, body)
        if isinstance(events, str):
            self.state.refused.append((self.path, events))
            error = {"type": "invalid_request_error", "message": events}
            self._json(self.state.refusal, {"type": "error", "error": error})
            return
        streams = speak is _gemini or bool(body.get("stream"))
        if body.get("background"):
            self.state.background[events[0]["response"]["id"]] = events
            events = events[:1]
        self._answer(events, streams=streams, end="data: [DONE]\n\n" if speak is _chat else "")

    def _answer(self, events: list[dict[str, Any]], *, streams: bool, end: str = "") -> None:
        if not streams:
            self._json(200, _whole(events))
            return
        lines = [
            (f"event: {one['type']}\n" if "type" in one else "") + f"data: {json.dumps(one)}\n\n"
            for one in events
        ]
        self._send(200, "text/event-stream", ("".join(lines) + end).encode())

    def _json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if self.state.gzips:
            data = gzip.compress(data)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _tokens(body: Any) -> int:
    return len(json.dumps(_unmarked(body))) // 4


def _whole(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an answer as one document."""
    last = events[-1]
    if last.get("type") in ("response.created", "response.completed"):
        return dict(last["response"])
    if "document" in last:
        return dict(last["document"])
    message = dict(events[0]["message"])
    blocks: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            delta = {name: value for name, value in event["delta"].items() if name != "type"}
            if "partial_json" in delta:
                delta = {"input": json.loads(delta["partial_json"])}
            blocks[-1].update(delta)
        elif event["type"] == "message_delta":
            message.update(event["delta"], usage={**message["usage"], **event["usage"]})
    return {**message, "content": blocks}


def _wanted(text: str, tools: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of the agent's own shell tool that a text asks for, each command once."""
    calls = (_shell(tools, command) for command in dict.fromkeys(RUN.findall(text)))
    return [call for call in calls if call is not None]


def _shell(tools: list[Any], command: str) -> tuple[str, dict[str, Any]] | None:
    """Return the call of the agent's own shell tool."""
    names = [(one.get("function") or one).get("name", "") for one in tools]
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
    calls = [] if answered else _wanted(text, body.get("tools", []))
    content: list[dict[str, Any]] = []
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive") and calls:
        signature = hashlib.sha256(f"{len(state.signatures)}".encode()).hexdigest()
        state.signatures[signature] = _digest(messages)
        content.append({"type": "thinking", "thinking": "I should run it.", "signature": signature})
    number = hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12]
    for n, (name, arguments) in enumerate(calls):
        content.append({"type": "tool_use", "id": f"toolu_{number}{n}", "name": name, "input": arguments})
    if not calls:
        content.append({"type": "text", "text": "The output was read."})
    marked = max((n for n, m in enumerate(body["messages"]) if "cache_control" in json.dumps(m)), default=-1)
    begins = [body.get("system"), body.get("tools"), body["model"]]
    return list(_anthropic_events(body, content, state.bill(begins, body["messages"], marked)))


def _digest(messages: list[Any]) -> str:
    """Return what identifies a history, whatever is marked to be cached; a text is a block of text."""
    return hashlib.sha256(json.dumps(_unmarked(messages), sort_keys=True).encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        texts = (
            {"content": [{"type": "text", "text": value["content"]}]}
            if isinstance(value.get("content"), str)
            else {}
        )
        return {k: _unmarked(v) for k, v in {**value, **texts}.items() if k != "cache_control"}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value


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
    return "tool_use without tool_result at the end" if open_calls else _server_tool_fault(messages)


def _server_tool_fault(messages: list[Any]) -> str | None:
    """Return what is wrong with calls of the provider's own tools; an answer can be paused before the result."""
    running: set[str] = set()
    for n, message in enumerate(messages):
        for b in message["content"] if isinstance(message["content"], list) else ():
            if b["type"] in ("server_tool_use", "mcp_tool_use"):
                running.add(b["id"])
            elif b["type"].endswith("_tool_result"):
                if b["tool_use_id"] not in running:
                    return f"messages.{n}: {b['type']} without a corresponding call: {b['tool_use_id']}"
                running.remove(b["tool_use_id"])
    return f"server_tool_use without a corresponding result: {sorted(running)}" if running else None


def _anthropic_events(
    body: dict[str, Any], content: list[dict[str, Any]], bill: tuple[int, int, int]
) -> Iterator[dict[str, Any]]:
    tokens, read, written = bill
    usage = {
        "input_tokens": tokens - read - written,
        "output_tokens": 1,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
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


def _responses(state: Upstream, body: dict[str, Any]) -> list[dict[str, Any]] | str:
    items = body["input"]
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    items = [one if "type" in one else {"type": "message", **one} for one in items]
    if fault := _responses_fault(state, items):
        return fault
    last = items[-1]
    text = json.dumps(last.get("content", "")) if last.get("role") == "user" else ""
    calls_made = _wanted(text, body.get("tools", []))
    number = _digest(items)[:12]
    made: list[dict[str, Any]] = []
    if calls_made:
        made.append(
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [],
                "encrypted_content": f"secret {number}",
            }
        )
    for n, (name, arguments) in enumerate(calls_made):
        made.append({"type": "function_call", "id": f"fc_{number}{n}", "call_id": f"call_{number}{n}", "name": name,
                     "arguments": json.dumps(arguments)})  # fmt: skip
    if not calls_made:
        said = [{"type": "output_text", "text": "The output was read.", "annotations": []}]
        made.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": said})
    else:
        state.reasoned.update({one["id"]: made[0]["id"] for one in made[1:]})
    tokens, read, _ = state.bill([body.get("instructions"), body.get("tools"), body["model"]], items, None)
    usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": read}, "output_tokens": 20,
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


def _responses_fault(state: Upstream, items: list[Any]) -> str | None:
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
    ids = {one.get("id") for one in items}
    for one in items:
        if (reasoning := state.reasoned.get(one.get("id") or "", one.get("id"))) not in ids:
            return f"{one['id']!r} was provided without its required 'reasoning' item: {reasoning!r}"
    return None


# OpenAI chat completions


def _chat(state: Upstream, body: dict[str, Any]) -> list[dict[str, Any]] | str:
    messages = body["messages"]
    open_calls: list[str] = []
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages.{n}: tool message without a preceding call: {message['tool_call_id']}"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages.{n}: tool_call_ids did not have response messages: {open_calls}"
        open_calls = [call["id"] for call in message.get("tool_calls") or []]
    if open_calls:
        return f"tool_call_ids did not have response messages: {open_calls}"
    last = messages[-1]
    tools = [one.get("function", one) for one in body.get("tools", [])]
    wanted = _wanted(json.dumps(last.get("content")), tools) if last["role"] == "user" else []
    number = _digest(messages)[:12]
    said: dict[str, Any] = {"role": "assistant", "content": "The output was read."}
    calls: list[dict[str, Any]] = [
        {
            "id": f"call_{number}{n}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for n, (name, arguments) in enumerate(wanted)
    ]
    if calls:
        said = {"role": "assistant", "content": None, "tool_calls": calls}
    tokens, read, _ = state.bill([body.get("tools"), body["model"]], messages, None)
    usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20,
             "prompt_tokens_details": {"cached_tokens": read}}  # fmt: skip
    head = {"id": f"chatcmpl-{number}", "model": body["model"], "created": 0}
    reason = "tool_calls" if calls else "stop"
    parts = [{"role": "assistant", "content": said["content"]}]
    if calls:
        named = [
            {**one, "index": n, "function": {**one["function"], "arguments": ""}}
            for n, one in enumerate(calls)
        ]
        rest = [
            {"index": n, "function": {"arguments": one["function"]["arguments"]}}
            for n, one in enumerate(calls)
        ]
        parts = [{"role": "assistant", "tool_calls": named}, {"tool_calls": rest}]
    chunk = {**head, "object": "chat.completion.chunk"}
    chosen = [{**chunk, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in parts]
    choices = [{"index": 0, "message": said, "finish_reason": reason, "logprobs": None}]
    document = {**head, "object": "chat.completion", "choices": choices, "usage": usage}
    ended = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    if not body.get("stream"):
        return [{"document": document}]
    return [*chosen, ended, {**chunk, "choices": [], "usage": usage}]


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
    tools = [one for group in body.get("tools", []) for one in group.get("functionDeclarations", [])]
    text = "\n".join(p.get("text", "") for p in last["parts"])
    calls = [] if answered else _wanted(text, tools)
    parts: list[dict[str, Any]] = [
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2lnbmVk"}
        for name, arguments in calls
    ] or [{"text": "The output was read."}]
    usage = {
        "promptTokenCount": _tokens(body),
        "candidatesTokenCount": 20,
        "totalTokenCount": _tokens(body) + 20,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}]


_PROTOCOLS = {
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    "streamGenerateContent": _gemini,
}


if __name__ == "__main__":
    with strict_upstream() as running:
        print(running.url, flush=True)  # noqa: T201
        threading.Event().wait()
