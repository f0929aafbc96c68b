"""Measure *Foresight*'s constants on kinds of sessions that they were not tuned on.

`python -m benchmarks.retention_held_out TOOL DATA` takes the retention benchmark's script and its folder of data.
Each constant is moved alone, to 0.7 and to 1/0.7 of its value. For each kind of session, every constant is put where
the other kinds are retained best, if that gains enough; the result is measured on the kind left out, beside the same
search over all kinds. Constants that fit one kind show as a gap between the two.

It takes a quarter of an hour, so that it is no part of `python -m benchmarks`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.retention import Chat, Counter, Kept, pruned
from benchmarks.retention_other_kinds import load_tool
from scoring.planning import protection
from scoring.planning.strategies import foresight
from scoring.planning.strategies.foresight import greedy, offers, worth
from scoring.settings import FORESIGHT
from scoring.signals import length, recency, relevance, role

TIMES = (0.7, 1 / 0.7)
LEAST_GAIN = 0.05  # points of the mean over kinds
Choice = tuple[tuple[str, float], ...]  # (constant, times its value)
Figures = dict[str, float]  # kind of session -> recall over all budgets, in percent


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a module, or a field of the settings; `most` is its maximum."""

    home: ModuleType | str
    name: str
    most: float = float("inf")

    def __str__(self) -> str:
        return (
            self.name
            if isinstance(self.home, str)
            else f"{self.home.__name__.rsplit('.', 1)[-1]}.{self.name}"
        )


CONSTANTS = (
    Constant(worth, "SHARPNESS"), Constant(worth, "LINE_WORTH"), Constant(worth, "ALIKE_WORTH", 1.0),
    Constant(recency, "AGE_POWER"),
    Constant(role, "BY_USER", 1.0), Constant(role, "BY_TOOL", 1.0), Constant(length, "HALF_WEIGHT"),
    Constant(length, "AMPLE", 1.0), Constant(length, "SCARCITY_POWER"),
    Constant(relevance, "QUESTION_WORDS"), Constant(relevance, "IN_CHAT"), Constant(relevance, "IN_WORK"),
    Constant(relevance, "UNASKED"), Constant(relevance, "K1"), Constant(relevance, "B", 1.0),
    Constant(relevance, "DECAY", 0.99), Constant(relevance, "NEIGHBOUR_SHARE"), Constant(foresight, "RELEVANCE_WORTH"),
    Constant(offers, "LEAST_TO_SHORTEN"), Constant(offers, "LEAST_SAVING", 1.0), Constant(greedy, "LEAST_ROOM_SHARE"),
    Constant(protection, "FIRST_USER_SHARE", 1.0), Constant("settings", "user_words_percent", 100.0),
    Constant("settings", "user_words_messages_percent", 100.0), Constant("weights", "recency"),
    Constant("weights", "role"), Constant("weights", "keywords"),
)  # fmt: skip


class Trial:
    """The benchmark under moved constants, each choice measured once."""

    def __init__(self, tool: ModuleType, data: Path) -> None:
        self._tool, self._count = tool, tool.make_counter()
        self._cases = list(tool.read_cases(data, self._count))
        self._known: dict[Choice, Figures] = {}

    def under(self, choice: Choice) -> Figures:
        """Return what is kept of each kind of session."""
        if choice not in self._known:
            with moved(choice) as prune:
                found = self._tool.evaluate(self._cases, prune, self._count)
            self._known[choice] = {
                kind: 100 * fmean(budget["recall"] for budget in budgets.values())
                for kind, budgets in found.items()
            }
            print(
                choice, {kind: round(figure, 2) for kind, figure in self._known[choice].items()}, flush=True
            )
        return self._known[choice]

    def best(self, kinds: Sequence[str]) -> Choice:
        """Return each constant where these kinds are kept best, if that gains enough."""
        chosen = []
        for constant in CONSTANTS:
            gains = {
                times: self._mean(((str(constant), times),), kinds) - self._mean((), kinds) for times in TIMES
            }
            times = max(gains, key=gains.__getitem__)
            if gains[times] >= LEAST_GAIN:
                chosen.append((str(constant), times))
        return tuple(chosen)

    def _mean(self, choice: Choice, kinds: Sequence[str]) -> float:
        return fmean(self.under(choice)[kind] for kind in kinds)


@contextmanager
def moved(choice: Choice) -> Iterator[Callable[[list[Chat], int, Counter], Kept]]:
    """Yield a pruner with the constants of a choice at their moved values, for as long as it lasts."""
    by_name = {str(constant): constant for constant in CONSTANTS}
    settings, before = FORESIGHT, []
    for name, times in choice:
        constant = by_name[name]
        if isinstance(constant.home, str):
            settings = _with(settings, constant, times)
            continue
        before.append((constant, getattr(constant.home, constant.name)))
        setattr(constant.home, constant.name, _times(before[-1][1], times, constant.most))
    try:
        yield lambda messages, budget, count: pruned(messages, budget, count, settings)
    finally:
        for constant, value in before:
            setattr(constant.home, constant.name, value)


def _with(settings: Any, constant: Constant, times: float) -> Any:
    if constant.home == "weights":
        weights = {**settings.weights, constant.name: settings.weights[constant.name] * times}
        return replace(settings, weights=type(settings.weights)(**weights))
    value = _times(getattr(settings, constant.name), times, constant.most)
    return replace(settings, **{constant.name: value})


def _times(value: float, times: float, most: float) -> float:
    there = min(most, value * times)
    return round(there) if isinstance(value, int) else there


def main(arguments: Sequence[str]) -> int:
    """Print the recall of each kind as shipped, fitted to all, and with the constants chosen on the others."""
    trial = Trial(load_tool(arguments[0]), Path(arguments[1]))
    shipped = trial.under(())
    fit = trial.best(list(shipped))
    chosen = {kind: trial.best([other for other in shipped if other != kind]) for kind in shipped}
    table = Table("kind", "as shipped", "fitted to all", "held out", box=None)
    rows = {
        kind: (shipped[kind], trial.under(fit)[kind], trial.under(chosen[kind])[kind]) for kind in shipped
    }
    for kind, row in (*rows.items(), ("mean", tuple(map(fmean, zip(*rows.values(), strict=True))))):
        table.add_row(kind, *(f"{figure:.1f}" for figure in row))
    console = Console(width=130)
    console.print(table)
    for kind, choice in (("all", fit), *chosen.items()):
        moves = ", ".join(f"{name} x{times:.2f}" for name, times in choice) or "nothing"
        console.print(f"{'fitted to' if kind == 'all' else 'without'} {kind}: moved {moves}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
