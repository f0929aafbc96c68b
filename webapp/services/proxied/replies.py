"""A provider's answer, read from the bytes of a call: the messages in its wire format, the usage, the model.

An answer is one JSON document or a stream of events. Of one that broke off, no message counts: the client may have used
none of it. A stream is complete once its last event has arrived, also if its client has left by then. Anthropic names
the tokens of the request at the beginning of a stream, so these count in any case, unless the provider failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from scoring.formats import call_input
from webapp.services.proxied.keys import CHAT_THOUGHTS

# The counts of a request in Anthropic's usage.
_SENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
# The texts of a message in a chat completion.
_CHAT_TEXTS = ("content", "refusal", *CHAT_THOUGHTS)
# The texts of a call in it, by its type.
_CALL_TEXTS = {"function": ("name", "arguments"), "custom": ("name", "input")}


@dataclass(slots=True)
class Reply:
    """The messages of an answer, as the next request will have them, and what the provider reports of the call."""

    messages: list[Any] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    model: str | None = None
    call: str = ""


def reply_of(wire_format: str, text: str, *, whole: bool = True) -> Reply | None:
    """Return the parsed answer; None if nothing in it counts, or it is not of this format.

    Without `whole` its connection broke off: a stream can still be complete; a document was of no use to its client.
    """
    try:
        reply = _read(wire_format, text, whole=whole)
        orjson.dumps(reply.messages if reply is not None else None)
    # A field is of another kind, or nested too deeply.
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    if reply is None or not all(isinstance(message, dict) for message in reply.messages):
        return None
    reply.usage = reply.usage if isinstance(reply.usage, dict) else None
    reply.model = reply.model if isinstance(reply.model, str) else None
    return reply


def _read(wire_format: str, text: str, *, whole: bool) -> Reply | None:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _STREAMED[wire_format](list(_events(text)))
    return _WHOLE[wire_format](document) if whole and isinstance(document, Mapping) else None


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the data of server-sent events, as far as it is JSON."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        try:
            value = orjson.loads("\n".join(lines)) if lines else None
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value


# Anthropic


def _anthropic(message: Mapping[str, Any]) -> Reply | None:
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        return None
    said = [{"role": "assistant", "content": content}] if content else []
    return Reply(said, message.get("usage"), message.get("model"), str(message.get("id", "")))


def _anthropic_events(events: list[Mapping[str, Any]]) -> Reply | None:
    message: dict[str, Any] | None = None
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    usage: dict[str, Any] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index", 0)
        if kind == "message_start":
            message = dict(event["message"])
            usage = dict(message.get("usage") or {})
        elif kind == "content_block_start":
            blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta" and index in blocks:
            _grow(blocks[index], event["delta"], inputs, index)
        elif kind == "message_delta":
            usage |= {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
        elif kind == "message_stop" and message is not None:
            for at, arguments in inputs.items():
                blocks[at]["input"] = call_input(arguments)  # cut off where the output limit was reached
            return _anthropic({**message, "content": [blocks[at] for at in sorted(blocks)], "usage": usage})
        elif kind == "error":
            return None
    if message is None or not any(usage.get(name) for name in _SENT):  # some providers count only at the end
        return None
    return _anthropic({**message, "content": [], "usage": usage})


def _grow(block: dict[str, Any], delta: Mapping[str, Any], inputs: dict[int, str], index: int) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + str(delta.get("partial_json", ""))
    elif kind == "compaction_delta":  # in one piece
        block |= {name: value for name, value in delta.items() if name != "type" and value is not None}
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
    else:
        name = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}.get(
            str(kind)
        )
        if name is not None:
            block[name] = str(block.get(name) or "") + str(delta.get(name) or "")


# OpenAI chat completions


def _chat(answer: Mapping[str, Any]) -> Reply | None:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    message = choices[0].get("message")
    said = [message] if isinstance(message, Mapping) else []
    return Reply(said, _usage(answer), answer.get("model"), str(answer.get("id", "")))


def _usage(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the usage with the service tier, which OpenAI names beside it."""
    usage = answer.get("usage")
    return {"service_tier": answer.get("service_tier"), **usage} if isinstance(usage, Mapping) else None


def _chat_events(events: list[Mapping[str, Any]]) -> Reply | None:
    texts = dict.fromkeys(_CHAT_TEXTS, "")
    calls, ended = dict[int, dict[str, Any]](), False
    # Without the sound: a client sends a spoken answer back as its id alone.
    audio = {"id": "", "transcript": ""}
    function = dict.fromkeys(_CALL_TEXTS["function"], "")  # as chat completions once had a call
    reply = Reply()
    for event in events:
        reply.model, reply.call = event.get("model") or reply.model, str(event.get("id") or reply.call)
        reply.usage = _usage(event) or reply.usage
        for choice in event.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            thoughts = {name: None for name in CHAT_THOUGHTS if not isinstance(delta.get(name), str)}
            _grow_texts(texts, delta | thoughts)
            spoken = delta.get("audio") or {}
            audio["id"] = spoken.get("id") or audio["id"]
            audio["transcript"] += spoken.get("transcript") or ""
            for call in delta.get("tool_calls") or ():
                _grow_call(calls, call)
            _grow_texts(function, delta.get("function_call") or {})
            ended = ended or choice.get("finish_reason") is not None
    if not ended:
        return None
    said = {name: text for name, text in texts.items() if text}
    message: dict[str, Any] = {"role": "assistant", "content": None, **said}
    if audio["id"]:
        message["audio"] = audio
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    if function["name"]:
        message["function_call"] = function
    reply.messages = [message]
    return reply


def _grow_call(calls: dict[int, dict[str, Any]], delta: Mapping[str, Any]) -> None:
    """Add a piece of a call: of a function or of a custom tool."""
    kind = delta.get("type") or ("custom" if delta.get("custom") else "function")
    call = calls.setdefault(
        delta.get("index", 0), {"id": "", "type": kind if kind in _CALL_TEXTS else "function"}
    )
    kind = call["type"]
    call["id"] = delta.get("id") or call["id"]
    _grow_texts(call.setdefault(kind, dict.fromkeys(_CALL_TEXTS[kind], "")), delta.get(kind) or {})


def _grow_texts(texts: dict[str, str], delta: Mapping[str, Any]) -> None:
    """Add to each of these texts its piece."""
    for name in texts:
        texts[name] += delta.get(name) or ""


# OpenAI Responses


def _responses(answer: Mapping[str, Any]) -> Reply | None:
    # A compacted conversation has no status.
    if answer.get("status", "completed" if "output" in answer else None) not in ("completed", "incomplete"):
        return None
    return Reply(
        list(answer.get("output") or ()), _usage(answer), answer.get("model"), str(answer.get("id", ""))
    )


def _responses_events(events: list[Mapping[str, Any]]) -> Reply | None:
    done: dict[int, Any] = {}
    for event in events:
        if event.get("type") == "response.output_item.done":
            done[event.get("output_index", len(done))] = event.get("item")
        elif event.get("type") in ("response.completed", "response.incomplete"):
            reply = _responses(event.get("response") or {})
            if reply is not None:
                reply.messages = reply.messages or [done[at] for at in sorted(done)]
            return reply
    return None


_WHOLE: Mapping[str, Callable[[Mapping[str, Any]], Reply | None]] = {
    "anthropic": _anthropic,
    "openai": _chat,
    "responses": _responses,
}
_STREAMED: Mapping[str, Callable[[list[Mapping[str, Any]]], Reply | None]] = {
    "anthropic": _anthropic_events,
    "openai": _chat_events,
    "responses": _responses_events,
}
