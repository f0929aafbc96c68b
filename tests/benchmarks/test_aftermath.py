"""The figures of the aftermath in the documentation."""

from __future__ import annotations

from pathlib import Path

from benchmarks.aftermath import main
from tests.shared import ROOT, shared_data


def test_are_those_of_the_shared_material() -> None:  # X25
    """Each row of both tables is what a run prints; names of agents are written out."""
    printed = main(str(shared_data()))
    cells = [line.partition(" | ")[2] for line in printed.splitlines() if line[:2] == "| " and "~" in line]
    documented = (ROOT / "docs" / "retention.md").read_text("utf-8")
    decided = (ROOT / "docs" / "adr" / "0027-the-aftermath-is-counted.md").read_text("utf-8")
    assert len(cells) == 7
    assert [one for one in cells[:3] if one not in documented] == []
    files = [one.split(" | ")[2] for one in cells[3:]]
    assert [one for one in files if one not in decided] == []


def test_are_left_out_without_it(tmp_path: Path) -> None:  # X25
    """It says that nothing was measured."""
    assert main(str(tmp_path)).startswith("skipped")
