"""Fills in the figures of docs/reliability.md: runs the checks and the benchmarks of load and attacks.

`make reliability` runs it; it takes about twenty minutes. Where a check fails, its command is named, and the
page stays as it was.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import attacks, load
from benchmarks.rows import Row

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN = "<!-- Written by `make reliability`, up to the next mark. -->\n"
END = "<!-- End of what `make reliability` writes. -->\n"


@dataclass(frozen=True, slots=True)
class Check:
    """A check that is a module: `says` finds the figure in its output, by default in the last line."""

    what: str
    command: str
    module: tuple[str, ...]
    says: str = r"(.+)\s*\Z"


def checks(kills: int, inputs: int) -> tuple[Check, ...]:
    """Return the checks, with these numbers of kills and of inputs found by coverage."""
    return (
        Check(
            "kills at any moment of any write; power cuts that lose or tear any write that was not synced",
            f"make kills KILLS={kills}",
            ("tests.kills", str(kills)),
        ),
        Check(
            "any access to the disk fails (full, broken, locked), against a simple model; "
            "every operation of the API's document, with what it allows and what it does not",
            "make pytest",
            ("pytest", "tests/webapp/store/sqlite/test_faults.py", "tests/webapp/routes/test_fuzz.py"),
            r"(\d+ passed)",
        ),
        Check(
            "every odd value in every place of every row of the samples, in every decoder",
            "make fuzz",
            ("tests.odd_values",),
        ),
        Check(
            "coverage-guided fuzzing of the decoders (atheris)",
            f"make fuzz-decoders INPUTS={inputs}",
            ("tests.fuzz_decoders", str(inputs)),
            r"Done (\d+ runs)",
        ),
    )


def result_of(check: Check) -> str:
    """Run a check; return what it says.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", *check.module], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = re.search(check.says, done.stdout + done.stderr)
    if done.returncode or said is None:
        raise RuntimeError(f"{check.command} failed:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return said[1]


def figures(results: Iterable[tuple[Check, str]], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the tables."""
    yield from ("### Checks", "", "| What | Command | Result |", "| --- | --- | --- |")
    for check, said in results:
        yield f"| {check.what} | `{check.command}` | {said} |"
    yield from ("", "### Load and attacks", "", "| What | Figure | Goal |", "| --- | --- | --- |")
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:g} {row.unit}".rstrip()
        met = {None: "", True: ", met", False: ", not met"}[row.met]
        yield (
            f"| {row.name} | {row.value:,.{1 if 0 < row.value < 10 else 0}f} {row.unit}".rstrip()
            + f" | {goal}{met} |"
        )


def filled(page: str, lines: Iterable[str]) -> str:
    """Return the page with these lines in the place of its figures."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after


def main() -> int:
    """Run everything and write the page; return 1 if a check failed."""
    kills, inputs = (int(number) for number in sys.argv[1:3])
    busy = os.getloadavg()[0]
    try:
        results = [(check, result_of(check)) for check in checks(kills, inputs)]
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    shared = (
        f"On {os.cpu_count()} processors, shared with other programs (load average {busy:.0f} at the start)."
    )
    lines = [shared, "", *figures(results, [*load.run(), *attacks.run()])]
    PAGE.write_text(filled(PAGE.read_text("utf-8"), lines), "utf-8")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
