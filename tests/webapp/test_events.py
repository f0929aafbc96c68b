"""Events: facts, frozen, documented."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from webapp import events
from webapp.events import ContextPruned, Event

EVENTS = [c for c in vars(events).values() if inspect.isclass(c) and issubclass(c, Event) and c is not Event]


class TestEveryEvent:
    """All of them."""

    @pytest.mark.parametrize("cls", EVENTS, ids=lambda c: c.__name__)
    def test_is_frozen_and_says_what_it_means(self, cls: type[Event]) -> None:
        """An event's docstring is its documentation, and names every field."""
        assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        doc = inspect.getdoc(cls) or ""
        assert doc
        beyond = [f.name for f in dataclasses.fields(cls) if f.name not in ("session_id", "message", "n")]
        assert [name for name in beyond if name not in doc] == []


class TestContextPruned:
    """The event that browsers and agents wait for."""

    def test_carries_the_names_of_the_blueprint(self) -> None:  # B14
        """original, final and tokenReduction in tokens, removed counts messages."""
        payload = events.ContextPruned("s", 3, "manual", 100, 60, 2, ("a", "b"), 60.0).payload()
        assert payload == {
            "session_id": "s", "prune_id": 3, "kind": "prune", "reason": "manual", "original": 100, "final": 60,
            "removed": 2,
            "removed_ids": ["a", "b"], "shortened": 0, "summarised": 0, "tokenReduction": 40, "utilization": 60.0,
        }  # fmt: skip
        assert ContextPruned.__name__ == "ContextPruned"
