"""One tool output in a plan."""

from __future__ import annotations

from array import array
from functools import partial

import pytest

from scoring.history import Row, content_of
from scoring.planning.strategies.foresight.outputs import Output, densest_first

TEXT = "main.py\nnothing\nmain.py utils_b"


class TestOutput:
    """Rows, prices and mentions."""

    def test_offers_the_rows_that_add_something(self) -> None:
        """Rows are ordered by worth per token; covered ones add nothing."""
        output = Output(content_of(TEXT, [TEXT]).rows, array("I", [5, 3]), 0.25)
        left = [0.0, 0, 0, 2.0, 0, 1.0]
        assert list(densest_first({7: output.rates(left)})) == [(7, 2), (7, 0)]
        assert [output.rate(left, row) for row in range(3)] == pytest.approx(output.rates(left))
        left[3] = 0.0
        both = {7: output.rates(left), 9: output.rates(left)}
        assert list(densest_first(both)) == [(7, 0), (9, 0), (7, 2), (9, 2)]
        assert list(densest_first({7: output.rates([0.0] * 6)})) == []

    def test_names_mentions_by_their_numbers_in_the_history(self) -> None:
        """Mentions are named by their numbers in the history, rows by their place in the text."""
        output = Output(content_of(TEXT, [TEXT]).rows, array("I", [5, 3]), 0.25)
        assert (list(output.mentions_of(2)), output.row(2)) == ([5, 3], Row(2, 0))
        assert output.prices[2] > output.prices[0] > 0 < output.frame

    def test_brings_a_neighbour_with_a_row_that_stands_alone(self) -> None:  # X7
        """One beside a row that is taken comes by itself, and one between two saves a mark."""
        text = "\n".join(f"line_{n} of them" for n in range(9))
        content = content_of(text, [text])
        output = Output(content.rows, array("I", range(len(content.names.split("\n")))), 0.25)
        rate = partial(output.rate, [1.0] * 9)
        assert set(output.block(4, set(), rate)[0]) == {4, 5}
        assert output.block(4, {5}, rate)[0] == (4,)
        assert output.least(4) == output.block(4, {3, 5}, rate)[1] < output.block(4, {5}, rate)[1]
        assert output.priced({4, 5}) < output.priced({4, 6})

    def test_brings_the_headings_that_a_row_needs(self) -> None:  # X23
        """They come first, once, at their cost and that of the mark before each."""
        text = "a:\n  db:\n    host: pg_one\n    pool: 1\nb:\n  db:\n    host: pg_two\n    pool: 2"
        content = content_of(text, [text])
        output = Output(content.rows, array("I", range(len(content.names.split("\n")))), 0.25)
        rate = partial(output.rate, [1.0] * 2)
        assert output.block(6, set(), rate)[0] == (5, 4, 6, 7)
        assert output.block(6, {4, 5}, rate)[0] == (6,)
        alone, headed = output.block(7, {4, 5, 6}, rate)[1], output.block(7, {6}, rate)[1]
        assert headed == alone + output.prices[4] + output.prices[5] + 2 * output.mark
        assert [row for row in range(8) if output.is_heading(row)] == [0, 1, 4, 5]
