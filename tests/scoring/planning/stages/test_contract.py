"""The input of a stage."""

from __future__ import annotations

from scoring.messages import ToolResult, message
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import answered, asked, file_text, given, ran, read


class TestStageInput:
    """The outputs that a stage can replace."""

    def test_distinguishes_outputs_that_may_change_from_those_that_may_stay(self) -> None:  # X7, B7
        """A protected output stays and can make others redundant; one that goes anyway does neither."""
        made = given([user(), *read("1", "a.py"), user()], kept=frozenset({0}), gone=frozenset({1}))
        assert [made.may_change(p) for p in range(4)] == [False, False, False, True]
        assert [made.may_stay(p) for p in range(4)] == [True, False, False, True]

    def test_leaves_outputs_before_a_summary_unchanged(self) -> None:  # X7, C8
        """An output before a summary still makes others redundant."""
        made = given([user(), *read("1", "a.py"), user()])
        made.history.summarised = 3
        assert [made.may_change(p) for p in range(4)] == [False, False, False, True]
        assert made.may_stay(2)

    def test_yields_outputs_that_are_long_enough(self) -> None:  # X7
        """Each result counts separately; replacing a short one would gain nothing."""
        both = message("tool", "", ToolResult("2", "short"), ToolResult("3", file_text("a")))
        made = given([*ran("1", "make", file_text("a")), asked("2", "x"), asked("3", "x"), both, user()])
        found = list(made.outputs())
        assert [(position, result) for position, result, _ in found] == [(1, 0), (4, 1)]
        assert found[0][2] == found[1][2]

    def test_yields_no_output_without_traces(self) -> None:  # X7
        """Features that an older version stored have no traces."""
        made = given([*read("1", "a.py"), answered("2", "short, and it failed", failed=True), user()])
        made.history.features[1] = type(made.history.features[1])("tool", 100, results=("1",))
        assert list(made.outputs()) == []
