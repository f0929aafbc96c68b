"""Weights are suggested only if they keep more in sessions that were not searched."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import pytest

from scoring.learning import suggestion
from scoring.learning.labels import Case
from scoring.learning.retention import kept_share, mean, retention
from scoring.learning.suggestion import (
    FACTORS,
    FROM_ZERO,
    LEAST_GAIN,
    LEAST_SESSIONS,
    LEAST_STEP,
    PRICE,
    TRIALS,
    search,
    split,
    suggest,
    within,
)
from scoring.settings import FORESIGHT, Settings, Table
from scoring.signals import SIGNALS
from tests.scoring.learning.talks import asking, muttering

DEAF = replace(FORESIGHT, weights=Table({**FORESIGHT.weights, "relevance": 0.0}))


class TestASuggestion:
    """The outcome."""

    def test_raises_what_the_sessions_speak_for(self) -> None:  # X15
        """Check that where the last question says what is needed, relevance goes up, and retention on held-out
        sessions too.
        """
        found = suggest(asking(16), DEAF)
        assert found.weights is not None
        assert found.weights["relevance"] > 0
        assert found.before is not None
        assert found.after is not None
        assert found.after - found.before >= LEAST_GAIN
        assert (found.held_out_sessions, found.sessions, found.cases) == (8, 16, 16)
        assert "8 sessions not used" in found.reason

    def test_is_nothing_where_labels_are_noise(self) -> None:  # X15
        """Needs that no message shows support no weights."""
        found = suggest(muttering(16), DEAF)
        assert found.weights is None
        assert found.before is not None
        assert found.reason

    def test_is_nothing_from_too_few_sessions(self) -> None:  # X15
        """The reason has the number that is required."""
        found = suggest(asking(2 * LEAST_SESSIONS - 1), DEAF)
        assert (found.weights, found.before, found.after) == (None, None, None)
        assert f"it takes {2 * LEAST_SESSIONS}" in found.reason

    def test_is_nothing_for_a_strategy_without_weights(self) -> None:
        """*Newest first* uses no weights."""
        found = suggest(asking(16), replace(DEAF, strategy="newest_first"))
        assert found.weights is None
        assert "newest first" in found.reason

    def test_is_nothing_where_held_out_sessions_do_not_gain(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X15
        """A gain in the searched sessions alone does not count; both figures and the error are reported."""

        def figures(settings: Settings, cases: object) -> dict[str, float]:
            known = {str(n): 50.0 + n for n in range(4)}
            return known if settings is DEAF else {**known, "0": 58.0}

        monkeypatch.setattr(suggestion, "search", lambda *_: {**DEAF.weights, "relevance": 9.0})
        monkeypatch.setattr(suggestion, "retention", figures)
        found = suggest(asking(16), DEAF)
        assert (found.weights, found.before, found.after) == (None, 51.5, 53.5)
        assert "+2.0 points (standard error 2.0)" in found.reason

    def test_is_the_same_again(self) -> None:
        """The order of the cases makes no difference."""
        assert suggest(asking(12), DEAF) == suggest(asking(12)[::-1], DEAF)

    def test_tells_how_far_it_is(self) -> None:
        """Trials, one by one, and never more than it said."""
        progress: list[tuple[int, int]] = []
        suggest(asking(8), DEAF, lambda done, most: progress.append((done, most)))
        assert [done for done, _ in progress] == list(range(1, len(progress) + 1))
        assert {most for _, most in progress} == {TRIALS}
        assert len(progress) <= TRIALS


class TestTheSearch:
    """The trials of sets of weights."""

    def test_finds_what_plans_of_every_case_in_every_trial_would(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X15
        """Trials that can no longer become the best end early; this changes no result."""
        cases, deaf = asking(6), replace(DEAF, weights=Table({**DEAF.weights, "recency": 5.0}))
        planned: list[Case] = []

        def counted(case: Case, settings: Settings) -> float:
            planned.append(case)
            return kept_share(case, settings)

        def worth(weights: dict[str, float]) -> float:
            price = PRICE * sum(abs(log2((1 + weights[name]) / (1 + deaf.weights[name]))) for name in weights)
            return mean(retention(replace(deaf, weights=Table(weights)), cases)) - price

        monkeypatch.setattr(suggestion, "kept_share", counted)
        trials: list[int] = []
        found = search(cases, deaf, lambda done, _: trials.append(done))
        assert len(planned) < len(trials) * len(cases)
        best = {**deaf.weights}
        for factor in FACTORS:
            for name in SIGNALS:
                for value in (best[name] * factor, best[name] / factor) if best[name] else (FROM_ZERO,):
                    other = {**best, name: float(round(value))}
                    if worth(other) > worth(best) + LEAST_STEP:
                        best = other
                        break
        assert found == best != {**deaf.weights}


class TestTheParts:
    """The cases to search in, and the held-out ones."""

    def test_share_no_session(self) -> None:  # X15
        """All cases of a session are on one side."""
        cases = asking(9)
        training, held_out = split([*cases, *cases])
        assert not {case.session for case in training} & {case.session for case in held_out}
        assert (len(training), len(held_out)) == (10, 8)

    def test_are_cut_to_what_may_be_worked(self) -> None:
        """Every session's first case comes before any second; one is always left."""
        one, two = asking(2)
        size = len(one.history)
        assert {case.session for case in within([one, one, two], 2 * size)} == {one.session, two.session}
        assert len(within([one, one, two], 1)) == 1
