"""Answers of providers, read from their bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webapp.services.proxied.replies import Reply, reply_of


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


def pieces(message: dict[str, Any]) -> list[Any]:
    """Return the events of a chat completion, each text in pieces of two characters."""

    def cut(value: Any) -> list[Any]:
        """Return the value in pieces. Only texts are cut; all other values are in the first piece."""
        if isinstance(value, str):
            return [value[at : at + 2] for at in range(0, len(value), 2)] or [""]
        if not isinstance(value, dict):
            return [value]
        found: list[dict[str, Any]] = [{}]
        for name, inner in value.items():
            first, *more = [inner] if name in ("id", "type", "role", "name") else cut(inner)
            found[0][name] = first
            found += [{name: piece} for piece in more]
        return found

    calls = message.get("tool_calls", [])
    deltas = cut({name: value for name, value in message.items() if name != "tool_calls"})
    deltas += [{"tool_calls": [{"index": at, **one}]} for at, call in enumerate(calls) for one in cut(call)]
    ended = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    return [*({"choices": [{"delta": delta}]} for delta in deltas), ended]


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

    def test_has_the_compaction_that_it_begins_with(self) -> None:  # X13
        """It comes in one piece, and the next request repeats it."""
        delta = {"type": "compaction_delta", "content": "What was done.", "encrypted_content": None}
        begins = {"type": "compaction", "content": None}
        reply = reply_of("anthropic", stream(START, *block(0, begins, delta), STOP))
        assert reply is not None
        assert reply.messages[0]["content"] == [{"type": "compaction", "content": "What was done."}]

    def test_that_broke_off_is_ignored(self) -> None:  # X13
        """An incomplete answer gives no reply."""
        assert reply_of("anthropic", stream(*block(0, {"type": "text", "text": ""}))) is None
        assert reply_of("openai", stream({"choices": [{"delta": {"content": "a"}}]})) is None
        assert reply_of("responses", stream({"type": "response.output_item.done", "item": {}})) is None

    def test_that_its_client_left_counts_its_request(self) -> None:  # X13
        """A user who presses Escape still pays for what was sent; not so if the provider failed or has not counted."""
        begun = [START, *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Ye"})]
        usage = {"input_tokens": 5, "output_tokens": 1}
        assert reply_of("anthropic", stream(*begun), whole=False) == Reply([], usage, "c", "m1")
        uncounted = stream(*begun).replace('"input_tokens": 5', '"input_tokens": 0')
        assert reply_of("anthropic", uncounted) is None
        failed = {"type": "error", "error": {"type": "overloaded_error"}}
        assert reply_of("anthropic", stream(*begun, failed)) is None

    def test_keeps_a_call_that_the_output_limit_cut_off(self) -> None:  # X13
        """Arguments that end early are no JSON; the answer and its usage still count."""
        begins = {"type": "tool_use", "id": "t", "name": "Write", "input": {}}
        cut = block(0, begins, {"type": "input_json_delta", "partial_json": '{"path": "a.py", "text": "de'})
        ended = {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": 64},
        }
        reply = reply_of("anthropic", stream(START, *cut, ended, STOP))
        assert reply is not None
        assert reply.messages[0]["content"] == [
            {**begins, "input": {"input": '{"path": "a.py", "text": "de'}}
        ]
        assert reply.usage == {"input_tokens": 5, "output_tokens": 64}

    @pytest.mark.parametrize(
        "message",
        [
            {"content": "Yes."},
            {"content": None, "refusal": "I cannot help with that."},
            {"content": "Yes.", "reasoning_content": "It compiles."},
            {"content": "Yes.", "reasoning": "It compiles."},
            {"content": None, "function_call": {"name": "bash", "arguments": "{}"}},
            {"content": None, "tool_calls": [
                {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
                {"id": "d", "type": "function", "function": {"name": "bash", "arguments": ""}},
            ]},
        ],
    )  # fmt: skip
    def test_is_the_same_message_as_a_document(self, message: dict[str, Any]) -> None:  # X13
        """A chat completion in one piece or in many: text, refusal, and calls of every type."""
        message = {"role": "assistant", **message}
        whole = reply_of("openai", json.dumps({"choices": [{"message": message}]}))
        streamed = reply_of("openai", stream(*pieces(message)))
        assert whole is not None
        assert streamed is not None
        assert streamed.messages == whole.messages == [message]

    def test_has_the_words_of_a_spoken_answer(self) -> None:  # X13
        """The sound is left out: a client sends the answer back as its id alone."""
        chunks = [
            {"id": "a", "transcript": ""},
            {"data": "AAAA", "transcript": "On "},
            {"transcript": "Monday."},
        ]
        events = [{"choices": [{"index": 0, "delta": {"audio": chunk}}]} for chunk in chunks]
        reply = reply_of("openai", stream(*events, {"choices": [{"delta": {}, "finish_reason": "stop"}]}))
        assert reply is not None
        audio = {"id": "a", "transcript": "On Monday."}
        assert reply.messages == [{"role": "assistant", "content": None, "audio": audio}]

    def test_is_kept_without_thoughts_of_an_unknown_kind(self) -> None:  # X13
        """Only text can be put together."""
        odd = {
            "choices": [{"delta": {"content": "Yes.", "reasoning": {"text": "hm"}}, "finish_reason": "stop"}]
        }
        reply = reply_of("openai", stream(odd))
        assert reply is not None
        assert reply.messages == [{"role": "assistant", "content": "Yes."}]

    def test_is_complete_if_its_client_left_at_the_last_event(self) -> None:  # X13
        """A document that broke off was of no use to its client, which asks again."""
        text = stream(START, *block(0, {"type": "text", "text": "Yes."}), STOP)
        document = json.dumps({"type": "message", "content": [{"type": "text", "text": "Yes."}]})
        assert reply_of("anthropic", text, whole=False) == reply_of("anthropic", text)
        assert reply_of("anthropic", text) is not None
        assert reply_of("anthropic", document) is not None
        assert reply_of("anthropic", document, whole=False) is None

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
