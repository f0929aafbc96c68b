"""`python -m benchmarks [NAME …] [--once]`: every figure the documentation claims, measured twice, as a table.

Each module of this package with a `run()` is one benchmark. The machine is taken to be noisy: both runs are
printed and the better one is held against the goal. Nothing here is a test; no goal missed is an error.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.rows import Row, better

NAMES = (
    "plan",
    "assembly",
    "ingest",
    "append",
    "requests",
    "pixel",
    "memory",
    "counting",
    "prediction",
    "agreement",
)


def measure(name: str, runs: int) -> list[tuple[Row, list[Row]]]:
    """Each figure of one benchmark: the better run, and all of them."""
    module = importlib.import_module(f"benchmarks.{name}")
    columns = list(zip(*(module.run() for _ in range(runs)), strict=True))
    return [(better(column[0], column[-1]), list(column)) for column in columns]


def number(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--once", action="store_true", help="one run instead of two")
    args = parser.parse_args(argv)
    unknown = set(args.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; expected any of {', '.join(NAMES)}")
    table = Table("figure", "unit", "runs", "best", "goal", "met", box=None, pad_edge=False)
    for column in table.columns[2:5]:
        column.justify = "right"
    for name in args.names or NAMES:
        for best, runs in measure(name, 1 if args.once else 2):
            goal = "" if best.goal is None else ("≥ " if best.higher_is_better else "≤ ") + number(best.goal)
            met = {None: "", True: "yes", False: "no"}[best.met]
            table.add_row(
                best.name, best.unit, " ".join(number(r.value) for r in runs), number(best.value), goal, met
            )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
