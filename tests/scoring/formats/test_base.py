"""Messages as turns, ids that fit any provider, and the place of the system prompt."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from scoring.formats import base, langchain, openai
from scoring.formats.base import MAX_ID_LENGTH, gathered_sources, turns_of
from scoring.messages import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    message,
)
from tests.scoring.formats.lists import PICTURE, PNG, conversations


class TestTurns:
    """Turns in the order that every provider accepts."""

    def test_put_results_first_in_a_mixed_message(self) -> None:
        """The user's words follow the results in their message."""
        called = Message("assistant", (ToolCall("c", "f", "{}"),))
        mixed = Message("user", (Text("and?"), ToolResult("c", "r")))
        assert [t.role for t in turns_of([called, mixed], frozenset(), openai.FORMAT)] == [
            "assistant",
            "tool",
            "user",
        ]

    def test_split_what_the_provider_ran(self) -> None:
        """A call with its result in one message becomes two turns, the words after them a third."""
        ran = Message("assistant", (Text("a"), ToolCall("c", "f", "{}"), ToolResult("c", "r"), Text("b")))
        turns = turns_of([ran], frozenset(), openai.FORMAT)
        assert [t.role for t in turns] == ["assistant", "tool", "assistant"]
        assert turns[1].results[0].name == "f"

    def test_copy_each_part_a_fixed_number_of_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The time grows with the number of calls in a message, not with its square, which would take minutes."""
        copied: list[int] = []

        def counting(value: Any, **changes: Any) -> Any:
            copied.append(len(changes.get("parts", ())))
            return replace(value, **changes)

        monkeypatch.setattr(base, "replace", counting)
        calls = tuple(ToolCall(f"c{n}", "f", "{}") for n in range(200))
        spread = [Message("assistant", (call,)) for call in calls]
        turns_of(
            [Message("assistant", calls), Message("user", (Text("and?"),)), *spread],
            frozenset(),
            openai.FORMAT,
        )
        assert 0 < sum(copied) < 20 * len(calls)

    def test_leave_reasoning_out_unless_it_is_wanted(self) -> None:
        """A message with nothing but reasoning is not a turn."""
        thought = Message("assistant", (Reasoning("hm"),))
        assert turns_of([thought], frozenset(), openai.FORMAT) == []
        assert turns_of([thought], frozenset(), langchain.FORMAT)[0].parts == thought.parts

    def test_keep_ids_that_may_not_change(self) -> None:
        """Ids of unchanged objects stay as they are, even if one occurs twice."""
        rounds = [
            Message("assistant", (ToolCall("a/1", "f", "{}"),)),
            Message("tool", (ToolResult("a/1", "r"),)),
        ]
        kept = turns_of(rounds * 2, frozenset({"a/1"}), openai.FORMAT)
        assert [c.id for t in kept for c in t.calls] == ["a/1", "a/1"]
        fresh = turns_of(rounds * 2, frozenset(), openai.FORMAT)
        assert [c.id for t in fresh for c in t.calls] == ["a_1", "a_1-2"]
        assert [r.call_id for t in fresh for r in t.results] == ["a_1", "a_1-2"]

    def test_bind_a_result_to_the_latest_open_call(self) -> None:  # P4
        """If an id is used again before its first call was answered, the result belongs to the newer call."""
        called = [Message("assistant", (ToolCall("c", name, "{}"),)) for name in ("old", "new")]
        turns = turns_of(
            [called[0], message("user", "x"), called[1], Message("tool", (ToolResult("c", "r"),))],
            frozenset(),
            openai.FORMAT,
        )
        (answer,) = (r for t in turns for r in t.results)
        assert (answer.call_id, answer.name) == (turns[2].calls[0].id, "new")

    @given(conversations())
    def test_answer_every_call_at_once(self, messages: list[Message]) -> None:  # P4
        """Each turn with calls is followed by exactly its results, in order, with short and unique ids."""
        turns = turns_of(messages, frozenset(), openai.FORMAT)
        ids = [c.id for t in turns for c in t.calls]
        assert len(set(ids)) == len(ids)
        assert all(len(i) <= MAX_ID_LENGTH for i in ids)
        for turn, after in pairwise(turns):
            if turn.calls:
                assert [r.call_id for r in after.results] == [c.id for c in turn.calls]


def test_sources_are_gathered_from_wire_objects() -> None:
    """Only messages read from wire objects have bytes."""
    item = {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]}
    shown = Message("user", (PICTURE,), wire=Wire("gemini", item))
    assert gathered_sources([shown])[PICTURE.digest].data == PNG
    assert gathered_sources([Message("user", (PICTURE,)), message("user", "x")]) == {}
