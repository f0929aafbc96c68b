"""Tests of what the package exports also takes wire objects."""

from __future__ import annotations

from typing import Any

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
    """Messages and wire objects give the same answers."""

    def test_are_read_where_they_are_given(self) -> None:
        """Turns, boundaries, units and tokens are the same for both."""
        messages = decode(CHAT).messages
        for given in (CHAT, messages):
            assert turn_starts(given) == [0, 3]
            assert safe_boundary(given, 2) == 3
            assert units_of(given) == [(0,), (1, 2), (3,)]
            assert is_over_budget(given, [], 10, 20)
            assert not is_over_budget(given, [], 10, 2_000)
        assert estimate_message_tokens(CHAT[0]) == estimate_message_tokens(messages[0])

    def test_may_be_none(self) -> None:
        """An empty list needs no format, and tokens need no list."""
        assert as_messages([]) == []
        assert is_over_budget(100, 0, 1, 100)


class TestExports:
    """The names of the package."""

    def test_are_all_there(self) -> None:
        """Every name in `__all__` can be imported."""
        assert all(hasattr(scoring, name) for name in scoring.__all__)
