"""The exported functions for turns, units, tokens and budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scoring
from scoring import (
    estimate_message_tokens,
    is_over_budget,
    safe_boundary,
    turn_starts,
    units_of,
)
from scoring.formats import decode
from scoring.lists.wire_objects import as_messages
from scoring.messages import Media, Message, Text, ToolResult, has_own_words
from tests.scoring.builders import any_messages, calls, in_letters, model, results, user

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "read a.py"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "x = 1"},
    {"role": "user", "content": "thanks"},
]


class TestWireObjects:
    """Lists of wire objects."""

    def test_give_the_same_answers_as_messages(self) -> None:
        """Turns, boundaries, units and tokens are the same for both."""
        messages = decode(CHAT).messages
        for listed in (CHAT, messages):
            assert turn_starts(listed) == [0, 3]
            assert safe_boundary(listed, 2) == 3
            assert units_of(listed) == [(0,), (1, 2), (3,)]
            assert is_over_budget(listed, [], 10, 20)
            assert not is_over_budget(listed, [], 10, 2_000)
        assert estimate_message_tokens(CHAT[0]) == estimate_message_tokens(messages[0])

    def test_are_not_required(self) -> None:
        """An empty list needs no format; tokens can be given instead of a list."""
        assert as_messages([]) == []
        assert is_over_budget(100, 0, 1, 100)


class TestExports:
    """The names of the package."""

    def test_are_all_there(self) -> None:
        """Every name in `__all__` can be imported."""
        assert all(hasattr(scoring, name) for name in scoring.__all__)


class TestTurns:
    """The positions at which turns begin."""

    def test_begin_at_user_messages(self) -> None:  # P3
        """`[u,a,u,a]` has turns at 0 and 2."""
        assert turn_starts(in_letters("uaua")) == [0, 2]

    def test_are_none_without_a_user(self) -> None:  # P2, P3
        """A list in which no user speaks has no turn, with or without a system message."""
        assert turn_starts(in_letters("saca")) == []

    def test_do_not_begin_at_a_user_message_of_results_alone(self) -> None:  # P3
        """Such a message belongs to the turn that it is in."""
        handed_back = Message("user", (ToolResult("1", "ok"),))
        assert turn_starts([user(), calls("1"), handed_back, model()]) == [0]
        assert not has_own_words(handed_back)
        assert has_own_words(Message("user", (ToolResult("1", "ok"), Text("and now this"))))
        assert has_own_words(Message("user", (Media("image"),)))


class TestSafeBoundary:
    """The position at which a list can be cut in two."""

    @pytest.mark.parametrize(
        ("letters", "target", "boundary"),
        [
            ("uactau", 2, 5),  # the next turn, where none begins before
            ("uauau", 3, 2),
            ("uauau", 4, 4),
            ("ua", 1, 0),  # a single turn
            ("uctctaua", 3, 6),
            ("uuuu", 0, 1),
            ("aaaa", 3, 3),  # no user: the target itself
            ("aaaa", 99, 4),
        ],
    )
    def test_is_at_a_turn(self, letters: str, target: int, boundary: int) -> None:  # P3
        """The last turn above 0 at or before the target, else the next one, else 0; without a user a unit's edge."""
        assert safe_boundary(in_letters(letters), target) == boundary

    def test_lies_before_a_turn_with_parallel_calls(self) -> None:  # P3, P4
        """`[u,a,u,a+calls,t,t,a,u]` with target 4 is cut at 2."""
        messages = [user(), model(), user(), calls("1", "2"), results("1"), results("2"), model(), user()]
        assert safe_boundary(messages, 4) == 2

    def test_without_a_user_never_lies_inside_a_unit(self) -> None:  # P3, P4
        """A target between a call and its result moves back to the call."""
        assert safe_boundary([calls("1"), results("1"), calls("2"), results("2"), model()], 3) == 2

    @given(any_messages, st.booleans())
    def test_never_splits_a_unit(self, messages: list[Message], with_user: bool) -> None:  # P4
        """No unit reaches across the boundary, even if the user's words are in one message with results."""
        messages = [m for m in messages if with_user or not has_own_words(m)]
        for target in range(len(messages) + 1):
            cut = safe_boundary(messages, target)
            assert all(unit[-1] < cut or unit[0] >= cut for unit in units_of(messages))


class TestOverBudget:
    """The check before a call."""

    def test_adds_messages_tools_and_reserve(self) -> None:  # P5
        """A context that fills the limit exactly is not over budget."""
        assert not is_over_budget(90, 5, 5, 100)
        assert is_over_budget(90, 5, 6, 100)

    def test_counts_messages_and_tools_without_counts(self) -> None:  # P5
        """Messages and tool definitions can be passed instead of their token counts."""
        assert is_over_budget([user("x" * 4_000)], [{"name": "read"}], 10, 200)
        assert not is_over_budget([user("hello")], [], 10, 200)
