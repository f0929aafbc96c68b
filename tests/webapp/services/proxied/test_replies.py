"""Answers of providers, read from their bytes."""

from __future__ import annotations

import json
from typing import Any

from webapp.services.proxied.replies import reply_of


def stream(*events: Any) -> str:
    """Return server-sent events."""
    return "".join(f"event: {e.get('type', 'x')}\ndata: {json.dumps(e)}\n\n" for e in events)


START = {"type": "message_start", "message": {"type": "message", "id": "m1", "model": "c", "content": [],
                                              "usage": {"input_tokens": 5, "output_tokens": 1}}}  # fmt: skip
STOP = {"type": "message_stop"}


def block(index: int, begins: Any, *deltas: Any) -> list[Any]:
    """Return the events of one block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": begins},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


class TestAStream:
    """An answer assembled from its events."""

    def test_gives_reasoning_and_calls(self) -> None:  # X13
        """Blocks equal those of a whole document, and the last usage counts."""
        events = [
            START,
            *block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "hm"},
                {"type": "signature_delta", "signature": "s"},
            ),
            *block(
                1,
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
                {"type": "input_json_delta", "partial_json": '{"a":'},
                {"type": "input_json_delta", "partial_json": "1}"},
            ),
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}},
            STOP,
        ]
        reply = reply_of("anthropic", stream(*events))
        assert reply is not None
        assert reply.messages[0]["content"] == [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"a": 1}},
        ]
        assert reply.usage == {"input_tokens": 5, "output_tokens": 9}

    def test_that_broke_off_is_ignored(self) -> None:  # X13
        """An incomplete answer gives no reply."""
        assert reply_of("anthropic", stream(START, *block(0, {"type": "text", "text": ""}))) is None
        assert reply_of("openai", stream({"choices": [{"delta": {"content": "a"}}]})) is None
        assert reply_of("responses", stream({"type": "response.output_item.done", "item": {}})) is None

    def test_of_invalid_bytes_is_ignored(self) -> None:  # X13
        """Bytes without events give no reply."""
        for wire_format in ("anthropic", "openai", "responses"):
            assert reply_of(wire_format, "\x00 rubbish") is None
            assert reply_of(wire_format, "[]") is None
            assert reply_of(wire_format, '{"error": {}}') is None

    def test_collects_completed_items(self) -> None:  # X13
        """A last event without output follows events with its items."""
        item = {"type": "message", "role": "assistant", "content": []}
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        ended = {"type": "response.completed", "response": {"status": "completed", "output": [], "id": "r"}}
        reply = reply_of("responses", stream(done, ended))
        assert reply is not None
        assert reply.messages == [item]

    def test_has_the_service_tier_beside_the_usage(self) -> None:  # X9
        """OpenAI names it in the answer, in both of its formats, streamed or not."""
        usage, tier = {"prompt_tokens": 5}, "flex"
        chunk = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}
        whole = {"choices": [{"message": {"role": "assistant", "content": "hi"}}], "usage": usage}
        response = {"status": "completed", "output": [], "usage": usage}
        said = [
            reply_of("openai", stream({**chunk, "service_tier": tier})),
            reply_of("openai", json.dumps({**whole, "service_tier": tier})),
            reply_of("responses", json.dumps({**response, "service_tier": tier})),
        ]
        assert [one and one.usage for one in said] == [{"service_tier": tier, **usage}] * 3
