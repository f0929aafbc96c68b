"""The strategies, by which a plan chooses among what may go: one file and one row each.

A strategy gets a `Task` and returns a `Choice` (`contract.py`). The plan itself sees to what is protected, what goes
first and what makes the list valid.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from scoring.history import History
from scoring.planning.score import Scores
from scoring.planning.strategies import (
    by_score,
    foresight,
    half_turns,
    newest_first,
    summarise,
    tool_outputs_first,
)
from scoring.planning.strategies.contract import Choice, Cover, Shortening, Task, Why
from scoring.settings import Settings


class Strategy(NamedTuple):
    """One way to choose. `rate` scores messages where nothing has to go; without it the sum of the signals does."""

    choose: Callable[[Task], Choice]
    rate: Callable[[History, Settings, Collection[int]], Scores] | None = None


# The words for each, by the same name, are in `scoring.settings.choices`.
STRATEGIES: Mapping[str, Strategy] = {
    "foresight": Strategy(foresight.choose, foresight.rate),
    "score": Strategy(by_score.choose),
    "newest_first": Strategy(newest_first.choose),
    "half_of_turns": Strategy(half_turns.choose),
    "tool_outputs_first": Strategy(tool_outputs_first.choose),
    "summarise": Strategy(summarise.choose),
}

__all__ = ["STRATEGIES", "Choice", "Cover", "Shortening", "Strategy", "Task", "Why"]
