"""How a plan chooses among what may go: one file a strategy, one line in the table.

A strategy gets a `Task` and answers a `Choice`; the law of both is in `task.py`. What is protected, what goes
first and what the list must hold to be valid is the plan's business, not a strategy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scoring.selection import newest_first, score
from scoring.selection.task import Choice, Shortening, Task, Why

Strategy = Callable[[Task], Choice]

STRATEGIES: Mapping[str, Strategy] = {
    "score": score.choose,
    "newest_first": newest_first.choose,
}

__all__ = ["STRATEGIES", "Choice", "Shortening", "Strategy", "Task", "Why"]
