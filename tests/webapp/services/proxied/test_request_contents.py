"""The messages of a transcript in a request of its agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from webapp.services.context.edits import Edit
from webapp.services.proxied.keys import keys_of
from webapp.services.proxied.request_contents import RequestContents, TranscriptRow, edits_in, matched


def row(name: str, role: Any, *parts: Part) -> TranscriptRow:
    """Return a row of a transcript."""
    return TranscriptRow.of(Message(role, parts), name)


def thought(name: str) -> dict[str, Any]:
    """Return an item of reasoning."""
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": "x"}


class TestMatched:
    """The keys of a transcript's rows."""

    def test_include_reasoning_by_its_place(self) -> None:  # X13
        """Without a key of its own it could not be dropped, and with it neither could the call that it led to."""
        items = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count them."}]},
            thought("r1"),
            thought("r2"),
            {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "7"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seven."}]},
        ]
        rows = [
            row("ask", "user", Text("Count them.")), row("early", "assistant", Reasoning("", 1)),
            row("late", "assistant", Reasoning("", 1)), row("call", "assistant", ToolCall("c1", "shell", "{}")),
            row("output", "tool", ToolResult("c1", "7")), row("lost", "assistant", Reasoning("", 1)),
            row("answer", "assistant", Text("Seven.")),
        ]  # fmt: skip
        names = ("ask", "early", "late", "call", "output", "answer")
        found = matched(rows, RequestContents.of(items))
        assert found == {name: (i,) for i, name in enumerate(names)}

    def test_include_all_items_of_an_answer(self) -> None:  # X13
        """Reasoning, words and each call of one message of an agent are items of their own in Responses."""
        items = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "Reading."},
            {"role": "user", "content": "Again."},
            thought("r1"),
            {"role": "assistant", "content": "Reading."},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2", "output": "two"},
        ]
        calls = ToolCall("c1", "read", "{}"), ToolCall("c2", "read", "{}")
        rows = [
            row("ask", "user", Text("Look.")), row("first", "assistant", Text("Reading.")),
            row("again", "user", Text("Again.")), row("second", "assistant", Text("Reading."), *calls),
            row("one", "tool", ToolResult("c1", "one")), row("two", "tool", ToolResult("c2", "two")),
        ]  # fmt: skip
        assert matched(rows, RequestContents.of(items)) == {
            "ask": (0,), "first": (1,), "again": (2,), "second": (3, 4, 5, 6), "one": (7,), "two": (8,),
        }  # fmt: skip

    @given(st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from("abc"), min_size=1, max_size=3))))
    def test_are_those_of_equal_texts_in_their_order(self, said: list[tuple[bool, list[str]]]) -> None:  # X13
        """Some texts come twice in a row, as items of their own or as blocks of one."""
        items, rows, expected = list[Any](), list[TranscriptRow](), dict[str, tuple[int, ...]]()
        for place, (is_answer, texts) in enumerate(said):
            role = "assistant" if is_answer else "user"
            items.append({"role": role, "content": [{"type": "text", "text": text} for text in texts]})
            for text in texts:
                rows.append(row(f"r{len(rows)}", role, Text(text)))
                expected[rows[-1].id] = (place,)
        assert matched(rows, RequestContents.of(items)) == expected

    def test_leave_a_later_equal_text_to_its_row(self) -> None:
        """A question was not sent; asked again it is that of the third row."""
        items = [
            {"role": role, "content": text} for role, text in (("user", "Go."), ("assistant", "Done."))
        ] * 2
        rows = [
            row("first", "user", Text("Go.")), row("unsent", "user", Text("Go.")),
            row("done", "assistant", Text("Done.")), row("third", "user", Text("Go.")),
            row("also", "assistant", Text("Done.")), row("next", "user", Text("Next.")), row("empty", "user"),
            row("none", "user"),
        ]  # fmt: skip
        found = {"first": (0,), "unsent": (0,), "done": (1,), "third": (2,), "also": (3,)}
        assert matched(rows, RequestContents.of(items)) == found


DROP: Edit = {"drop": True}
ASK: Any = {"role": "user", "content": "Read the file, please."}
CALL: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}]}
RESULT: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]}
SAID: Any = {"role": "assistant", "content": "It says one."}
MORE: Any = {"role": "user", "content": "Thanks."}
ROWS = [
    row("ask", "user", Text("Read the file, please.")),
    row("call", "assistant", ToolCall("c1", "read", "{}")),
    row("result", "tool", ToolResult("c1", "one")),
    row("said", "assistant", Text("It says one.")),
]


def edited(
    items: list[Any], edits: dict[str, Edit], rows: list[TranscriptRow] = ROWS
) -> dict[int, Edit] | None:
    """Return the edits of a request's items by their places; None if it does not go on from the rows."""
    keys = keys_of(items)
    found = edits_in(RequestContents.of(items), keys, rows, edits)
    return None if found is None else {keys.index(key): edit for key, edit in found.items()}


class TestEditsIn:
    """The edits of a request that has just arrived, by those of a transcript's rows."""

    def test_are_those_of_its_items(self) -> None:  # X13
        """Later items stay."""
        edits: dict[str, Edit] = {"call": DROP, "result": DROP, "said": {"before": ["A summary."]}}
        assert edited([ASK, CALL, RESULT, SAID, MORE], edits) == {1: DROP, 2: DROP, 3: edits["said"]}

    @pytest.mark.parametrize(
        ("item", "later"),
        [
            (1, {"type": "tool_use", "id": "c2", "name": "read", "input": {}}),
            (2, {"type": "tool_result", "tool_use_id": "c2", "content": "two"}),
        ],
    )
    def test_leave_an_item_with_a_later_part(self, item: int, later: Any) -> None:  # X13
        """Agents put parallel calls into one message, and write them down one after the other."""
        items = [ASK, CALL, RESULT, SAID, MORE]
        items[item] = {**items[item], "content": [*items[item]["content"], later]}
        found = edited(items, {"call": DROP, "result": DROP})
        assert found == {3 - item: DROP}

    def test_leave_the_item_of_the_last_row(self) -> None:  # X13
        """Agents add the next question to a message that was interrupted."""
        both = {**RESULT, "content": [*RESULT["content"], {"type": "text", "text": "And the next one?"}]}
        for items in ([ASK, CALL, both], [ASK, CALL, both, SAID, MORE]):
            assert edited(items, {"result": DROP}, ROWS[:3]) == {}

    def test_leave_the_last_item(self) -> None:  # X13
        """A question that was not sent was dropped, and now it is asked again."""
        rows = [row("first", "user", Text("Thanks.")), *ROWS]
        assert edited([ASK, CALL, RESULT, MORE], {"first": DROP}, rows) == {}

    def test_drop_the_first_of_two_equal_texts(self) -> None:  # X13
        """Rows and items have the same order."""
        rows = [row("first", "user", Text("Thanks.")), *ROWS, row("again", "user", Text("Thanks."))]
        items = [MORE, ASK, CALL, RESULT, SAID, MORE, SAID, ASK]
        assert edited(items, {"first": DROP}, rows) == {0: DROP}
        assert edited(items[1:], {"first": DROP}, rows) == {}

    def test_drop_both_of_two_equal_texts_in_a_row(self) -> None:  # X13
        """An interrupted question was asked again."""
        rows = [row("first", "user", Text("Thanks.")), row("again", "user", Text("Thanks.")), *ROWS]
        items = [MORE, MORE, ASK, CALL, RESULT, SAID, ASK]
        assert edited(items, {"first": DROP, "again": DROP}, rows) == {0: DROP, 1: DROP}
        assert edited(items, {"again": DROP}, rows) == {1: DROP}

    def test_shorten_the_output_of_a_repeated_call_id(self) -> None:  # X13
        """Some providers count the calls of each answer from one."""
        rows = [
            *ROWS,
            row("next", "user", Text("Thanks.")),
            *(replace(one, id=f"{one.id}2") for one in ROWS[1:]),
        ]
        items = [ASK, CALL, RESULT, SAID, MORE, CALL, RESULT, SAID, MORE]
        for name, place in (("result", 2), ("result2", 6)):
            edits: dict[str, Edit] = {name: {"outputs": {"c1": "short"}}}
            assert edited(items, edits, rows) == {place: edits[name]}

    def test_have_the_summary_of_a_row_that_was_not_sent(self) -> None:  # X13
        """It comes before the next one."""
        edits: dict[str, Edit] = {"call": DROP, "result": DROP, "note": {"before": ["A summary."]}}
        rows = [*ROWS[:3], row("note", "user", Text("of the agent's own")), ROWS[3]]
        assert edited([ASK, CALL, RESULT, SAID, MORE], edits, rows) == {
            1: DROP, 2: DROP, 3: {"before": ["A summary."]},
        }  # fmt: skip

    @pytest.mark.parametrize(("items", "place"), [([*"ACRSACRSM"], 8), ([*"ACRSACR"], 5), ([*"ACRSMACR"], 6)])
    def test_have_the_last_summary_late(self, items: list[str], place: int) -> None:  # X13
        """If nothing behind it was sent as it is in the transcript, it is before the last item that is no result."""
        named = {"A": ASK, "C": CALL, "R": RESULT, "S": SAID, "M": MORE}
        sent = [named[name] for name in items]
        rows = [*ROWS, row("note", "user", Text("of the agent's own"))]
        found = edited(sent, {"said": DROP, "note": {"before": ["A summary."]}}, rows)
        assert found is not None
        assert [n for n, edit in found.items() if "before" in edit] == [place]

    def test_begin_with_a_message_of_the_user(self) -> None:  # X13, X6
        """A question that was not sent is none."""
        rows = [ROWS[0], row("note", "user", Text("of the agent's own")), *ROWS[1:]]
        edits = {"ask": DROP, "note": DROP, "call": DROP, "result": DROP}
        assert edited([ASK, CALL, RESULT, SAID, MORE], edits, rows) == {1: DROP, 2: DROP}

    def test_have_none_of_the_prompt(self) -> None:  # X13
        """It has no key, and would be dropped with all others without one."""
        rows = [row("prompt", "system", Text("Be brief.")), *ROWS]
        items = [{"role": "system", "content": "Be brief."}, ASK, CALL, RESULT, SAID, MORE]
        assert edited(items, {"prompt": DROP, "call": DROP, "result": DROP}, rows) == {2: DROP, 3: DROP}

    @pytest.mark.parametrize("items", [[ASK], [ASK, MORE], [MORE]])
    def test_are_none_in_a_request_beside_the_conversation(self, items: list[Any]) -> None:  # X13
        """A client asks for a title with the user's first words."""
        assert edited(items, {"ask": DROP}) is None


class TestContinues:
    """A request that names no session, and the last rows of a transcript."""

    def test_needs_a_call_of_the_transcript_not_only_its_words(self) -> None:  # X13
        """Agents say the same before calls of all sessions."""
        rows = [ROWS[0], row("look", "assistant", Text("Let me look."), ToolCall("c1", "read", "{}"))]
        call = {"type": "tool_use", "id": "c9", "name": "read", "input": {}}
        words = {"type": "text", "text": "Let me look."}
        answer = {"role": "assistant", "content": [words, call]}
        other = RequestContents.of([MORE, answer])
        assert not other.continues(rows)
        assert not other.continues(rows, named=True)
        own = {"role": "assistant", "content": [words, {**call, "id": "c1"}]}
        assert RequestContents.of([MORE, own]).continues(rows, named=True)

    @pytest.mark.parametrize(
        "item",
        [
            lambda said: {"type": "function_call_output", "call_id": "call_0", "output": said},
            lambda said: {"role": "tool", "tool_call_id": "call_0", "content": said},
            lambda said: {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_0",
                        "content": [{"type": "text", "text": said}],
                    }
                ],
            },
        ],
    )
    def test_needs_the_result_of_the_call(self, item: Callable[[str], dict[str, Any]]) -> None:  # X13
        """Some providers give the same ids in each conversation; with the session's name the id is enough."""
        said = "three of the forty tests fail"
        rows = [row("result", "tool", ToolResult("call_0", said))]
        assert RequestContents.of([item(said)]).continues(rows)
        other = RequestContents.of([item("all of the forty tests pass")])
        assert not other.continues(rows)
        assert other.continues(rows, named=True)
