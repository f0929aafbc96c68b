"""One tool output in a plan."""

from __future__ import annotations

from array import array

from scoring.history import Row, content_of
from scoring.planning.strategies.foresight.outputs import Output

TEXT = "main.py\nnothing\nmain.py utils_b"


class TestOutput:
    """Rows, prices and mentions."""

    def test_offers_the_rows_that_add_something(self) -> None:
        """By worth a token; what is covered already is no offer."""
        output = Output(content_of(TEXT, [TEXT]).rows, array("I", [5, 3]), 0.25)
        left = [0.0, 0, 0, 2.0, 0, 1.0]
        assert [(position, row) for _, position, row in sorted(output.adding(7, left))] == [(7, 1), (7, 0)]
        left[3] = 0.0
        assert [row for _, _, row in output.adding(7, left)] == [0, 1]
        assert output.adding(7, [0.0] * 6) == []

    def test_names_marks_by_their_numbers_in_the_history(self) -> None:
        """And rows by their place in the text."""
        output = Output(content_of(TEXT, [TEXT]).rows, array("I", [5, 3]), 0.25)
        assert (list(output.mentions_of(1)), output.row(1)) == ([5, 3], Row(2, 0))
        assert output.prices[1] > output.prices[0] > 0 < output.frame
