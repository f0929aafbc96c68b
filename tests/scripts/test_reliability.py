"""The figures of docs/reliability.md, and where they come from."""

from __future__ import annotations

import pytest

from benchmarks.rows import Row
from scripts.reliability import BEGIN, END, PAGE, ROOT, Check, checks, figures, filled, result_of

CHECK = Check("what is tried", "make it", ("tests.nothing",))


class TestThePage:
    """Prose by hand, figures by a command."""

    def test_has_one_place_for_the_figures(self) -> None:
        """Every check has its row there."""
        page = PAGE.read_text("utf-8")
        assert (page.count(BEGIN), page.count(END)) == (1, 1)
        own = page.partition(BEGIN)[2].partition(END)[0]
        assert all(check.what in own for check in checks(1_000, 20_000))

    def test_names_files_that_are_there(self) -> None:
        """A check whose tests have moved would run none of them."""
        named = [word for check in checks(1_000, 20_000) for word in check.module if word.endswith(".py")]
        assert named
        assert [word for word in named if not (ROOT / word).is_file()] == []

    def test_keeps_its_prose(self) -> None:
        """Only the figures are replaced."""
        page = f"before\n{BEGIN}old\n{END}after\n"
        assert filled(page, ["new"]) == f"before\n{BEGIN}\nnew\n\n{END}after\n"

    def test_says_what_came_out_and_whether_goals_are_met(self) -> None:
        """A row for each check and each figure."""
        lines = list(
            figures([(CHECK, "5 tries, 0 faults")], [Row("time", 3.25, "s", 5), Row("count", 0, "")])
        )
        assert "| what is tried | `make it` | 5 tries, 0 faults |" in lines
        assert lines[-2:] == ["| time | 3.2 s | 5 s, met |", "| count | 0 |  |"]

    def test_is_not_written_where_a_check_fails(self) -> None:
        """The failure names the command."""
        with pytest.raises(RuntimeError, match="make it failed"):
            result_of(CHECK)
