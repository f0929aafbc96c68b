"""The strategies, by which a plan chooses among the units that can be dropped.

Each has its label and meaning in a row of `scoring.settings.choices`, and here a module with the same name that defines
`choose` and, if it rates messages in its own way, `rate`. A strategy gets a `StrategyInput` and returns a `Choice`
(`contract.py`). The plan itself handles protection, units that are dropped first, and the validity of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import NamedTuple

from scoring.history import History
from scoring.planning.score import Scores
from scoring.planning.strategies.contract import Choice, Cover, Shortening, StrategyInput, Why
from scoring.settings import STRATEGY_NAMES, Settings


class Strategy(NamedTuple):
    """One way to choose. `rate` scores messages if nothing has to be dropped; by default that is the sum of signals."""

    choose: Callable[[StrategyInput], Choice]
    rate: Callable[[History, Settings, Collection[int]], Scores] | None = None


def _strategy(name: str) -> Strategy:
    """Return the strategy in the module of this name."""
    module = import_module(f"{__name__}.{name}")
    return Strategy(module.choose, getattr(module, "rate", None))


STRATEGIES: Mapping[str, Strategy] = {name: _strategy(name) for name in STRATEGY_NAMES}

__all__ = ["STRATEGIES", "Choice", "Cover", "Shortening", "Strategy", "StrategyInput", "Why"]
