"""A provider that answers the SDKs of OpenAI and Anthropic."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OPENAI_ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "a.py"}'},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
}


ANTHROPIC_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test",
    "content": [
        {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.py"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 20, "output_tokens": 10},
}


MESSAGE_FIELDS = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}


class Provider(ThreadingHTTPServer):
    """Answers both SDKs, and keeps what they sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent: list[dict[str, Any]] = []
        self.answers: dict[str, list[Any]] = {}  # by provider, in turn; the usual ones where none are left

    @property
    def url(self) -> str:
        """Return the endpoint's address."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Provider

    def do_POST(self) -> None:
        """Answers as the provider whose path it is."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append(body)
        strange = {key for message in body["messages"] for key in message} - MESSAGE_FIELDS
        of_openai = self.path.endswith("/chat/completions")
        waiting = self.server.answers.get("openai" if of_openai else "anthropic")
        usual: Any = OPENAI_ANSWER if of_openai else ANTHROPIC_ANSWER
        answer: Any = waiting.pop(0) if waiting else usual
        if not of_openai:
            strange |= {message["role"] for message in body["messages"]} - {"user", "assistant"}
            strange |= {key for message in body["messages"] for key in message} - {"role", "content"}
        if strange:
            answer = {"error": {"type": "invalid_request_error", "message": f"extra inputs: {strange}"}}
        data = json.dumps(answer).encode()
        self.send_response(400 if strange else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""
