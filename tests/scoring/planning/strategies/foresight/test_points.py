"""Points: scores divided among signals."""

from __future__ import annotations

import pytest

from scoring.history import History
from scoring.planning.plan import plan_prune
from scoring.settings import FORESIGHT
from scoring.signals import SIGNALS, Messages, Options, Signal
from tests.scoring.builders import model, user

SAID = [
    user("see main.py"),
    model("main.py has parse_rows in it"),
    model("utils_b " + "so " * 300),
    user("on"),
]


class TestPoints:
    """The points of each signal."""

    def test_rank_units_in_the_order_of_the_choice(self) -> None:  # X3
        """The unit with the higher score is taken first, if it fits."""
        plan = plan_prune(History.of(SAID, settings=FORESIGHT), FORESIGHT, 20)
        assert plan.scores[1] > plan.scores[2] > plan.scores[3] == 0

    def test_are_computed_on_access(self) -> None:
        """They are columns that can be read like lists, from both ends."""
        plan = plan_prune(History.of(SAID, settings=FORESIGHT), FORESIGHT, 20)
        column = plan.parts["length"]
        assert len(column) == 4
        assert list(column)[-1] == column[-1] == column[3]
        with pytest.raises(IndexError):
            column[4]

    def test_never_exceed_the_weight_of_a_signal(self) -> None:  # X3
        """A signal with a larger share gets its weight, and the others share the rest."""
        settings = FORESIGHT.from_dict({"weights": {"recency": 1, "role": 1, "keywords": 1, "length": 97}})
        plan = plan_prune(History.of(SAID, settings=settings), settings, 10_000)
        for i, score in enumerate(plan.scores):
            points = {name: settings.weights[name] * column[i] for name, column in plan.parts.items()}
            assert sum(points.values()) == pytest.approx(score)
            assert all(points[name] <= settings.weights[name] for name in points)

    @pytest.mark.parametrize("rated", [(), ("user",)])
    def test_add_up_to_the_score_beside_a_signal_that_rates_0(
        self, monkeypatch: pytest.MonkeyPatch, rated: tuple[str, ...]
    ) -> None:  # X3
        """A signal gives no points to a unit that it rates 0, and does not raise its score either."""

        def rate(history: Messages, settings: Options) -> list[float]:
            return [float(role in rated) for role in history.roles]

        monkeypatch.setitem(SIGNALS, "new", Signal("new", "New", "who speaks", rate, weights={}))
        settings = FORESIGHT.from_dict({"weights": {"recency": 20, "role": 10, "new": 70}})
        plan = plan_prune(History.of(SAID, settings=settings), settings, 10_000)
        for i, score in enumerate(plan.scores):
            points = sum(settings.weights[name] * column[i] for name, column in plan.parts.items())
            assert points == pytest.approx(score)
