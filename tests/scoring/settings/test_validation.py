"""Numbers that come from outside."""

from __future__ import annotations

import pytest

from scoring.errors import Fault
from scoring.settings.ranges import Limit
from scoring.settings.validation import number, tool_names


class TestNumbers:
    """Numbers that are accepted."""

    @pytest.mark.parametrize(("value", "read"), [(3, 3.0), (2.5, 2.5), (0, 0.0), (10, 10.0)])
    def test_are_taken_within_their_limits(self, value: float, read: float) -> None:
        """Both ends included."""
        faults: list[Fault] = []
        assert number("n", value, Limit(0, 10, 1), faults) == read
        assert faults == []

    def test_may_be_missing_where_they_are_optional(self) -> None:
        """None is a value of its own there, and a fault elsewhere."""
        faults: list[Fault] = []
        assert number("n", None, Limit(0, 10, 1, optional=True), faults) is None
        assert faults == []
        number("n", None, Limit(0, 10, 1), faults)
        assert faults == [Fault("n", "expected a number from 0 to 10, got null")]

    def test_that_are_whole_are_ints(self) -> None:
        """3.0 is a whole number, 3.5 is not."""
        faults: list[Fault] = []
        assert type(number("n", 3.0, Limit(0, 10, 1, whole=True), faults)) is int
        number("n", 3.5, Limit(0, 10, 1, whole=True), faults)
        assert len(faults) == 1


class TestToolNames:
    """Names of tools that are accepted."""

    def test_each_wrong_one_is_named(self) -> None:
        """The fault has its place in the list and its value."""
        faults: list[Fault] = []
        tool_names("t", ["bash", "", 5], faults)
        wanted = "expected a text of 1 to 100 characters"
        assert faults == [Fault("t.1", f"{wanted}, got nothing"), Fault("t.2", f"{wanted}, got 5")]

    def test_are_a_list_of_a_bounded_length(self) -> None:
        """The fault tells how long it is."""
        faults: list[Fault] = []
        tool_names("t", ["bash"] * 1_001, faults)
        assert faults == [Fault("t", "expected a list of at most 1000 names of tools, got 1001 entries")]
