"""The score and its parts."""

from __future__ import annotations

import pytest
from hypothesis import given

from scoring.messages import Message
from scoring.planning.score import score, unit_scores, weighted_sum
from scoring.settings import BLUEPRINT, Settings
from tests.scoring.builders import (
    BALANCED,
    any_messages,
    calls,
    history_of,
    in_letters,
    model,
    results,
    system,
    user,
)


class TestTheScore:
    """The weighted sum of the signals."""

    def test_is_that_of_the_worked_example(self) -> None:  # B1-B6
        """[system, user1, model1, user2, model2, user3] score 70, 20, 18, 36, 34, 60, to the digit."""
        assert score(history_of(in_letters("suauau")), BLUEPRINT).scores == [70, 20, 18, 36, 34, 60]

    def test_puts_a_system_message_above_fifty(self) -> None:  # B1-B4
        """A system message at 0 of 10 scores above 50."""
        assert score(history_of([system(), *in_letters("uauauauau")]), BLUEPRINT).scores[0] > 50

    def test_puts_a_late_message_above_an_early_one(self) -> None:  # B1-B4
        """A user message at 9 of 10 scores above the same at 0."""
        scores = score(history_of([user()] * 10), BLUEPRINT).scores
        assert scores[9] > scores[0]

    def test_puts_an_error_above_thirty(self) -> None:  # B1-B4
        """A model message "ERROR: Failed to execute" at 5 of 10 scores above 30."""
        messages = [user()] * 10
        messages[5] = model("ERROR: Failed to execute")
        assert score(history_of(messages), BLUEPRINT).scores[5] > 30

    @given(any_messages)
    def test_is_the_sum_of_its_parts(self, messages: list[Message]) -> None:  # B1, X3
        """Each signal rates 0...1, each score is their weighted sum and lies within 0...100."""
        scored = score(history_of(messages), BALANCED)
        for i in range(len(messages)):
            ratings = {name: column[i] for name, column in scored.parts.items()}
            assert all(0 <= rating <= 1 for rating in ratings.values())
            total = sum(BALANCED.weights[name] * rating for name, rating in ratings.items())
            assert scored.scores[i] == pytest.approx(total)
            assert 0 <= scored.scores[i] <= 100

    def test_is_clamped_to_a_hundred(self) -> None:  # B1
        """Weights that add up to more cannot lift a score beyond 100."""
        settings = Settings.from_dict({"weights": {"recency": 100, "role": 100}})
        assert max(score(history_of([system(), user()]), settings).scores) == 100

    def test_does_not_move_with_a_signal_of_weight_zero(self) -> None:  # B16
        """At 0 a signal has no effect, and is still shown."""
        settings = Settings.from_dict({"weights": {"keywords": 0}})
        plain, loud = (score(history_of([user(), user(t), user()]), settings) for t in ("hello", "error"))
        assert plain.scores == loud.scores
        assert plain.parts["keywords"] != loud.parts["keywords"]

    def test_of_no_weight_at_all_is_zero(self) -> None:
        """Check that where no signal weighs anything nothing scores."""
        assert weighted_sum({"a": [1.0, 1.0]}, {"a": 0}, 2) == [0, 0]


class TestUnitScores:
    """Tests of what a unit is worth."""

    def test_are_those_of_the_best_message(self) -> None:  # B6
        """A result worth keeping keeps its call."""
        history = history_of([user(), calls("1"), results("1", text="ERROR: failed"), user()])
        scores = score(history, BLUEPRINT).scores
        assert unit_scores(scores, history.units.members)[1] == max(scores[1], scores[2])
