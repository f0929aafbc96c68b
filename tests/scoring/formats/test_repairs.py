"""Repairs of a list before it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import FORMATS, OPENING, decode, encode, repair, validate
from scoring.formats.repairs import NO_RESULT
from scoring.messages import Message, Reasoning, Text, ToolCall, ToolResult, Wire, message
from tests.scoring.formats.lists import conversations

ASKED = message("user", "go")


def calls(*ids: str) -> Message:
    """An assistant message that calls."""
    return Message("assistant", tuple(ToolCall(i, "f", "{}") for i in ids))


def answers(*ids: str, text: str = "r") -> Message:
    """A message that answers."""
    return Message("tool", tuple(ToolResult(i, text) for i in ids))


class TestRepair:
    """Orphans, open calls, duplicates and strays (conformance example 18)."""

    def test_leaves_a_valid_list_alone(self) -> None:
        """The same messages come back without a note."""
        messages = [ASKED, calls("a", "b"), answers("b"), answers("a"), message("assistant", "so")]
        repaired, notes = repair(messages)
        assert all(a is b for a, b in zip(repaired, messages, strict=True))
        assert notes == []

    def test_leaves_out_a_result_without_a_call(self) -> None:  # P4
        """The orphan goes, and its message too if it holds nothing else."""
        mixed = Message("user", (ToolResult("x", "r"), Text("and?")))
        repaired, notes = repair([ASKED, answers("x"), mixed])
        assert repaired == [ASKED, message("user", "and?")]
        assert notes == [
            'message 1: a result without call "x"; left out',
            'message 2: a result without call "x"; left out',
        ]

    def test_answers_an_open_call_with_a_placeholder(self) -> None:  # P4
        """The call stays, and is followed by a result which says that there was none."""
        repaired, notes = repair([ASKED, calls("a", "b"), answers("a"), message("user", "well?")])
        assert repaired[3] == Message("tool", (ToolResult("b", NO_RESULT, "f"),))
        assert len(repaired) == 5
        assert notes == ['message 1: call "b" has no result; a placeholder was added']

    def test_keeps_the_first_of_two_results(self) -> None:  # P4
        """A second answer to one call is left out."""
        repaired, notes = repair([ASKED, calls("a"), answers("a"), answers("a", text="again")])
        assert repaired == [ASKED, calls("a"), answers("a")]
        assert notes == ['message 3: a second result for call "a"; left out']

    def test_binds_a_reused_id_to_the_latest_open_call(self) -> None:  # P4
        """The same id in a later round is a separate call."""
        messages = [ASKED, calls("a"), answers("a"), calls("a"), answers("a", text="2")]
        assert repair(messages) == (messages, [])
        repaired, _ = repair([ASKED, calls("a"), ASKED, calls("a"), answers("a", text="2")])
        assert [m.text for m in repaired] == ["go", "", NO_RESULT, "go", "", "2"]

    def test_moves_a_stray_result_behind_its_call(self) -> None:
        """A result after the user's next words moves to its call."""
        repaired, notes = repair([ASKED, calls("a"), message("user", "hm"), answers("a")])
        assert [m.role for m in repaired] == ["user", "assistant", "tool", "user"]
        assert notes == ['message 3: the result of call "a" was not directly after it; moved there']

    def test_moves_a_stray_result_with_its_image(self) -> None:
        """The bytes of an image move with the result, in a list that is written as it came and in any other."""
        image = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "cGljdHVyZQ=="},
        }
        call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "a", "content": [image]}
        listed = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": "hm"},
            {"role": "user", "content": [answer]},
        ]
        repaired, _ = repair(decode(listed, "anthropic").messages)
        for name in ("anthropic", "responses", "gemini", "langchain"):
            assert "cGljdHVyZQ==" in str(encode(repaired, name)), name

    def test_does_not_change_its_input(self) -> None:
        """Messages and wire objects are not changed."""
        item = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "r"}]}
        (decoded,) = decode([item]).messages
        assert repair([decoded])[0] == []
        assert decoded.results[0].call_id == "x"
        assert item["content"]

    def test_leaves_calls_of_the_provider_open(self) -> None:
        """A search that is still running gets no placeholder."""
        assert repair([ASKED, calls("srvtoolu_1")])[1] == []

    def test_drops_reasoning_without_its_item(self) -> None:
        """APIs refuse a reasoning item directly before a user message, so it is dropped."""
        item = {"type": "reasoning", "summary": []}
        bare = Message("assistant", (Reasoning(""),), wire=Wire("responses", item))
        repaired, notes = repair([ASKED, bare, ASKED])
        assert repaired == [ASKED, ASKED]
        assert notes == ["message 1: a reasoning item without the item that followed it; left out"]

    @pytest.mark.parametrize("name", ["anthropic", "gemini"])
    def test_begins_with_the_user(self, name: str) -> None:
        """A pruned list that begins with the assistant gets an opening line."""
        written = encode([ASKED, message("assistant", "so"), ASKED], name)
        rest = decode(written, name).messages[1:]
        repaired, notes = repair(rest)
        assert repaired[0].text == OPENING
        assert len(notes) == 1
        assert validate(repaired, name) == []

    def test_merges_neighbours_of_one_speaker_for_gemini(self) -> None:
        """Neighbouring contents of one speaker are merged, without changing the originals."""
        items: list[Any] = [{"role": "user", "parts": [{"text": t}]} for t in ("a", "b")]
        repaired, notes = repair(decode(items).messages)
        assert encode(repaired, "gemini") == [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}]
        assert len(notes) == 1
        assert len(items[0]["parts"]) == 1

    def test_joins_runs_of_each_speaker(self) -> None:
        """Three in a row become one; messages of other formats are not merged."""
        items: list[Any] = [
            {"role": role, "parts": [{"text": text}]}
            for role, text in (("user", "a"), ("user", "b"), ("user", "c"), ("model", "d"), ("model", "e"))
        ]
        repaired, notes = repair([*decode(items).messages, ASKED, ASKED])
        assert [[p.text for p in m.parts if isinstance(p, Text)] for m in repaired] == [
            ["a", "b", "c"],
            ["d", "e"],
            ["go"],
            ["go"],
        ]
        assert [note.partition(":")[0] for note in notes] == ["message 1", "message 2", "message 4"]

    def test_joins_a_quarter_of_a_million_neighbours_at_once(self) -> None:
        """Merging copies each message once; copying for each neighbour would take minutes."""
        said = {"role": "model", "parts": [{"text": "so"}]}
        one = Message("assistant", (Text("so"),), wire=Wire("gemini", said))
        _, joined = repair(
            [decode([{"role": "user", "parts": [{"text": "a"}]}]).messages[0], *[one] * 250_000]
        )[0]
        assert len(joined.parts) == 250_000
        assert joined.wire is not None
        assert len(joined.wire.value["parts"]) == 250_000


@given(st.data(), conversations(), st.sampled_from(sorted(FORMATS)))
def test_any_selection_can_be_repaired(data: st.DataObject, messages: list[Message], name: str) -> None:  # P4
    """Any selection of a list, with repetitions, is valid in its format after repairs."""
    decoded = decode(encode(messages, name, {}), name).messages
    kept = data.draw(st.lists(st.sampled_from(range(len(decoded))), unique=True).map(sorted))
    chosen = [decoded[n] for n in kept]
    repeated = data.draw(st.lists(st.sampled_from(chosen), max_size=2)) if chosen else []
    calls_again = any(m.calls for m in repeated)
    repaired, _ = repair([*chosen, *([] if calls_again else repeated), message("user", "go on")])
    assert validate(encode(repaired, name, {}), name, ready=False) == []
