"""Units, and calls that wait for their results."""

from __future__ import annotations

from hypothesis import given

from scoring.formats import decode
from scoring.messages import (
    Message,
    Text,
    ToolCall,
    ToolResult,
    is_reasoning_only,
    links_of,
    message,
    units_of,
    waiting,
)
from tests.scoring.builders import any_messages, calls, model, results, system, thought, user


class TestWaiting:
    """Calls without a result."""

    def test_are_those_that_nothing_answers_yet(self) -> None:  # P4
        """In part is not enough, and a call of the same id again waits for a result of its own."""
        asked = [user(), calls("1"), results("1"), calls("2", "3"), results("2"), calls("1"), user()]
        assert waiting(map(links_of, asked)) == {3, 5}

    def test_are_none_where_a_message_brings_its_own_result(self) -> None:
        """Check that what a provider runs itself is answered at once."""
        both = message("assistant", "", ToolCall("1", "search", "{}"), ToolResult("1", "found"))
        assert waiting([links_of(both)]) == set()


class TestUnits:
    """Tests of what is kept or dropped together."""

    def test_are_single_messages_where_no_tool_is_called(self) -> None:  # P4
        """Plain messages stand alone, also two of one speaker in a row."""
        assert units_of([system(), user(), model(), model()]) == [(0,), (1,), (2,), (3,)]

    def test_hold_the_items_of_one_api_call(self) -> None:  # P4
        """Text and calls that come one right after the other are what one call of the model gave."""
        assert units_of([user(), model(), calls("1"), results("1"), model()]) == [(0,), (1, 2, 3), (4,)]
        assert units_of([calls("1"), model(), results("1"), model()]) == [(0, 1, 2), (3,)]

    def test_hold_a_call_and_all_its_results(self) -> None:  # P4
        """Parallel calls and their results are one unit, whatever stands between them."""
        messages = [calls("1", "2"), results("2"), user("meanwhile"), results("1"), model()]
        assert units_of(messages) == [(0, 1, 3), (2,), (4,)]

    def test_bind_a_result_to_the_latest_call_of_its_id(self) -> None:  # P4
        """An id used again in a later round belongs to that round."""
        messages = [calls("1"), results("1"), user(), calls("1"), results("1")]
        assert units_of(messages) == [(0, 1), (2,), (3, 4)]

    def test_take_in_a_duplicate_result(self) -> None:  # P4
        """A second result for a call goes with it as well."""
        assert units_of([calls("1"), results("1"), results("1")]) == [(0, 1, 2)]

    def test_leave_an_orphan_result_alone(self) -> None:  # P4
        """A result whose call is not there, or comes later, is a unit of its own."""
        assert units_of([results("1"), calls("1"), user()]) == [(0,), (1,), (2,)]

    def test_merge_when_one_message_answers_two(self) -> None:  # P4
        """A message that carries results of two callers ties both to it."""
        messages = [calls("1"), user(), calls("2"), results("1", "2"), user()]
        assert units_of(messages) == [(0, 2, 3), (1,), (4,)]

    def test_keep_reasoning_with_what_it_led_to(self) -> None:  # X6
        """A reasoning item, the items behind it and their results are one unit; the next reasoning starts another."""
        messages = [thought(), calls("1"), calls("2"), results("1"), results("2"), thought(), model(), user()]
        assert units_of(messages) == [(0, 1, 2, 3, 4), (5, 6), (7,)]
        assert units_of([thought(), model(), thought(), model()]) == [(0, 1), (2, 3)]
        assert units_of([thought(), thought(), model(), model(), user(), model()]) == [
            (0, 1, 2, 3),
            (4,),
            (5,),
        ]

    def test_keep_reasoning_with_calls_behind_an_output(self) -> None:  # X6, X13
        """The calls of one answer can have their outputs between them; words or new reasoning begin another answer."""
        answer = [thought(), calls("1"), results("1"), calls("2"), results("2")]
        assert units_of([*answer, model(), calls("3"), results("3")]) == [(0, 1, 2, 3, 4), (5, 6, 7)]
        assert units_of([*answer, user(), calls("3"), results("3")]) == [(0, 1, 2, 3, 4), (5,), (6, 7)]
        assert units_of([*answer, thought(), calls("3"), results("3")]) == [(0, 1, 2, 3, 4), (5, 6, 7)]

    def test_hold_what_shares_another_name(self) -> None:  # P4, X13
        """An approval and a program of the provider are named by what depends on them."""
        approval = {"type": "mcp_approval_request", "id": "a1", "name": "f", "arguments": "{}"}
        allowed = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}
        call = {"type": "mcp_call", "id": "c1", "approval_request_id": "a1", "name": "f", "arguments": "{}"}
        assert units_of(decode([approval, allowed, call], "responses").messages) == [(0, 1, 2)]

    def test_know_reasoning_that_stands_alone(self) -> None:
        """Reasoning beside text or calls is no item of its own."""
        assert is_reasoning_only(thought())
        assert not is_reasoning_only(Message("assistant", (*thought().parts, Text("hello"))))
        assert not is_reasoning_only(Message("assistant", (*thought().parts, ToolCall("1", "read", ""))))

    @given(any_messages)
    def test_hold_each_message_once(self, messages: list[Message]) -> None:  # P4
        """Every position is in exactly one unit, in order, and units are ordered by their first message."""
        units = units_of(messages)
        assert sorted(p for unit in units for p in unit) == list(range(len(messages)))
        assert all(list(unit) == sorted(unit) for unit in units)
        assert [unit[0] for unit in units] == sorted(unit[0] for unit in units)

    @given(any_messages)
    def test_never_part_a_result_from_the_latest_call_before_it(self, messages: list[Message]) -> None:  # P4
        """Found by looking at every pair, not by the way units are built."""
        unit_of = {p: unit for unit in units_of(messages) for p in unit}
        for at, one in enumerate(messages):
            for result in one.results:
                callers = [i for i in range(at + 1) if result.call_id in [c.id for c in messages[i].calls]]
                assert not callers or unit_of[callers[-1]] == unit_of[at]
