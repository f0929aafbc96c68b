"""Requests to an endpoint of either API, and its answers, read piece by piece.

Answers are requested as streams, so that a long one does not look like a dead one and can be cancelled. An answer in
one piece is accepted too. A stream without an end event was cut off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.providers.endpoint import Endpoint
from webapp.providers.reply import Failure, Reply, Usage

# Reasons for which a provider ends an answer before the model does, and what they mean.
STOPPED = {
    "length": "it reached its limit of tokens",
    "max_tokens": "it reached its limit of tokens",
    "model_context_window_exceeded": "the model's window is full",
    "content_filter": "the provider's filter stopped it",
    "refusal": "the provider's filter stopped it",
}
MOST_CHARS = 200_000  # a summary has a few thousand; more means that the server is broken


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model; `max_tokens` limits its answer."""

    system: str
    text: str
    max_tokens: int = 4_096


def body_of(endpoint: Endpoint, question: Question) -> dict[str, Any]:
    """Return the body of a request."""
    asked = {"role": "user", "content": question.text}
    if endpoint.api == "anthropic":
        return {
            "model": endpoint.model,
            "system": question.system,
            "messages": [asked],
            "max_tokens": question.max_tokens,
            "stream": True,
        }
    # OpenAI's newer models refuse max_tokens; most compatible servers know only that.
    limit = "max_completion_tokens" if "api.openai.com" in endpoint.url else "max_tokens"
    return {
        "model": endpoint.model,
        "messages": [{"role": "system", "content": question.system}, asked],
        limit: question.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@dataclass(slots=True)
class Answer:
    """An answer while it arrives.

    `finished` is true once the server has ended it; `stopped` is the reason why the model could not finish it. `key` is
    the endpoint's, which no message shows.
    """

    key: str = field(default="", repr=False)
    pieces: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    finished: bool = False
    stopped: str = ""
    failure: Failure | None = None
    chars: int = 0

    def line(self, line: str) -> None:
        """Read a line of the stream; comments, event names and blank lines are skipped."""
        if not line.startswith("data:") or self.failure is not None:
            return
        data = line[5:].strip()
        if data == "[DONE]":
            self.finished = True
            return
        try:
            event = json.loads(data)
        except ValueError:
            self.failure = Failure("malformed", "the stream has a line that is not JSON")
            return
        if isinstance(event, Mapping):
            self.event(event)

    def event(self, event: Mapping[str, Any]) -> None:
        """Read an event of a stream, or an answer in one piece."""
        if event.get("error"):
            self.failure = _stated(event["error"], self.key)
            return
        try:
            self._choices(event) if "choices" in event else self._blocks(event)
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):
            self.failure = Failure("malformed", "the answer has another shape than the API's")

    def reply(self) -> Reply:
        """Return the finished reply."""
        text = "".join(self.pieces)
        failure = self.failure
        if failure is None and not self.finished:
            failure = Failure("cut_off", f"the answer broke off after {len(text):,} characters")
        if failure is None and self.stopped:
            failure = Failure("stopped", f"the answer is incomplete: {self.stopped}")
        if failure is None and not text.strip():
            failure = Failure("empty", "the model answered nothing")
        return Reply("" if failure else text, self.usage, self.model, failure=failure)

    def _say(self, text: Any) -> None:
        if not isinstance(text, str) or not text:
            return
        self.pieces.append(text)
        self.chars += len(text)
        if self.chars > MOST_CHARS:
            self.failure = Failure("malformed", f"the answer is longer than {MOST_CHARS:,} characters")

    def _ended(self, reason: Any) -> None:
        if isinstance(reason, str):
            self.stopped = STOPPED.get(reason, self.stopped)

    def _choices(self, event: Mapping[str, Any]) -> None:
        """Read a chunk, or a whole answer, of the chat API."""
        self.model = str(event.get("model") or self.model)
        used = event.get("usage")
        if used:
            details = used.get("prompt_tokens_details") or {}
            self.usage = Usage(
                _count(used, "prompt_tokens"),
                _count(used, "completion_tokens"),
                _count(details, "cached_tokens"),
            )
        for choice in event["choices"]:
            said = choice.get("delta") or choice.get("message") or {}
            self._say(said.get("content"))
            if choice.get("finish_reason"):
                self.finished = True
                self._ended(choice["finish_reason"])

    def _blocks(self, event: Mapping[str, Any]) -> None:
        """Read an event, or a whole answer, of the messages API."""
        kind = event.get("type")
        if kind == "message_start":
            self.model = str(event["message"].get("model", ""))
            self._used(event["message"].get("usage"))
        elif kind == "content_block_delta":
            self._say(event["delta"].get("text"))
        elif kind == "message_delta":
            self._used(event.get("usage"))
            self._ended((event.get("delta") or {}).get("stop_reason"))
        elif kind == "message_stop":
            self.finished = True
        elif kind == "message":
            self.model = str(event.get("model", ""))
            self._used(event.get("usage"))
            for block in event["content"]:
                if block.get("type") == "text":
                    self._say(block.get("text"))
            self.finished = True
            self._ended(event.get("stop_reason"))
        elif kind is None:
            self.failure = Failure("malformed", "the answer has another shape than the API's")

    def _used(self, used: Any) -> None:
        if not used:
            return
        cached = _count(used, "cache_read_input_tokens")
        input_tokens = _count(used, "input_tokens") + cached + _count(used, "cache_creation_input_tokens")
        self.usage = Usage(
            max(self.usage.input_tokens, input_tokens),
            max(self.usage.output_tokens, _count(used, "output_tokens")),
            max(self.usage.cached_tokens, cached),
        )


def refused(status: int, text: str, retry_after: str | None, key: str = "") -> Failure:
    """Return the failure for an HTTP status, with the provider's message if there is one, but never the key."""
    try:
        said = json.loads(text)
        error = said.get("error", said) if isinstance(said, dict) else {}
        message = str(error.get("message") or "") if isinstance(error, dict) else str(error)
    except (ValueError, AttributeError):
        message = ""
    message = _shown(message, key)
    shown = f"the endpoint answers {status}" + (f": {message}" if message else "")
    temporary = status in (408, 425, 429) or status >= 500
    return Failure("overloaded" if temporary else "refused", shown, _seconds(retry_after))


def _shown(message: str, key: str) -> str:
    """Return the beginning of an endpoint's message on one line, without the key."""
    return " ".join((message.replace(key, "[key]") if key else message).split())[:300]


def _stated(error: Any, key: str) -> Failure:
    """Return the failure that the stream itself reports."""
    kind = str(error.get("type", "")) if isinstance(error, Mapping) else ""
    message = str(error.get("message", "")) if isinstance(error, Mapping) else str(error)
    temporary = any(
        word in kind for word in ("overloaded", "rate_limit", "api_error", "server_error", "timeout")
    )
    shown = f"the endpoint reports {_shown(kind, key) or 'an error'}: {_shown(message, key)}"
    return Failure("overloaded" if temporary else "refused", shown)


def _count(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    return value if isinstance(value, int) and value >= 0 else 0


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
