"""`python -m benchmarks [NAME …] [--once]`: measures every number that the documentation claims, twice, as a table.

Each module of this package with a `run()` is one benchmark. Because machines are noisy, both runs are printed and the
better one is compared with the goal, separately for each figure, also for p50 and p99. Of counts of faults the worse
one is compared. Nothing here is a test, and a missed goal is not an error.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.rows import Row, deciding

NAMES = (
    "plan",
    "assembly",
    "ingest",
    "append",
    "load",
    "followers",
    "attacks",
    "requests",
    "pixel",
    "busy",
    "delivery",
    "overview",
    "beside",
    "memory",
    "counting",
    "prediction",
    "agreement",
)


def measure(name: str, runs: int) -> list[tuple[Row, list[Row]]]:
    """Return each figure of one benchmark: the run that counts, and all of them."""
    module = importlib.import_module(f"benchmarks.{name}")
    columns = list(zip(*(module.run() for _ in range(runs)), strict=True))
    return [(deciding(column[0], column[-1]), list(column)) for column in columns]


def number(value: float) -> str:
    """Return a number with three significant digits, never in powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(argv: list[str] | None = None) -> int:
    """Run the named benchmarks, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--once", action="store_true", help="one run instead of two")
    args = parser.parse_args(argv)
    unknown = set(args.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; expected any of {', '.join(NAMES)}")
    table = Table("figure", "unit", "runs", "counts", "goal", "met", box=None, pad_edge=False)
    for column in table.columns[2:5]:
        column.justify = "right"
    for name in args.names or NAMES:
        for row, runs in measure(name, 1 if args.once else 2):
            goal = "" if row.goal is None else ("≥ " if row.higher_is_better else "≤ ") + number(row.goal)
            met = {None: "", True: "yes", False: "no"}[row.met]
            table.add_row(
                row.name, row.unit, " ".join(number(r.value) for r in runs), number(row.value), goal, met
            )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
