"""How a plan chooses among what may go: one file a strategy, one line in the table.

A strategy gets a `Task` and answers a `Choice`; the law of both is in `task.py`. What is protected, what goes
first and what the list must hold to be valid is the plan's business, not a strategy's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from scoring.history import History
from scoring.planning.score import Scores
from scoring.planning.strategies import by_score as score
from scoring.planning.strategies import foresight, half_turns, newest_first, summarise, tool_outputs_first
from scoring.planning.strategies.contract import Choice, Cover, Shortening, Task, Why
from scoring.settings import Settings

Strategy = Callable[[Task], Choice]
Rate = Callable[[History, Settings, Collection[int]], Scores]

STRATEGIES: Mapping[str, Strategy] = {
    "foresight": foresight.choose,
    "score": score.choose,
    "newest_first": newest_first.choose,
    "half_of_turns": half_turns.choose,
    "tool_outputs_first": tool_outputs_first.choose,
    "summarise": summarise.choose,
}

# How messages are scored where nothing has to go; by the sum of the signals where a strategy is not named here.
RATES: Mapping[str, Rate] = {"foresight": foresight.rate}

__all__ = ["RATES", "STRATEGIES", "Choice", "Cover", "Rate", "Shortening", "Strategy", "Task", "Why"]
