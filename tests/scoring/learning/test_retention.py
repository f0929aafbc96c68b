"""The share of needed content that plans keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.history import History
from scoring.learning.labels import Case
from scoring.learning.retention import budgets, kept_share, mean, retention
from scoring.planning import plan_prune
from scoring.settings import FORESIGHT
from tests.scoring.builders import calls, model, results, system, user
from tests.scoring.learning.talks import features_of

NEWEST = replace(FORESIGHT, strategy="newest_first", user_words_tokens=0)
LONG = "words that fill a line without any name in it, and more of them\n" * 60


def case(*texts: str, **needs: object) -> Case:
    """A context of the model's own words."""
    history = History.of_features(features_of(user("go"), *map(model, texts)))
    return Case("s", history, **needs)  # type: ignore[arg-type]


class TestBudgets:
    """The same shares as the benchmark's."""

    def test_are_shares_of_what_may_be_dropped(self) -> None:
        """System messages and the last unit are added on top."""
        history = History.of_features(features_of(system(LONG), user(LONG), model("end")))
        must, rest = history.tokens[0] + history.tokens[2], history.tokens[1]
        assert budgets(history) == [must + rest * percent // 100 for percent in (50, 25, 10)]


class TestNames:
    """Needs that later messages of the session show."""

    def test_are_kept_where_any_message_says_them(self) -> None:  # X15
        """A name in the last message, which always stays, is kept."""
        steps = (frozenset({"parse_rules"}),)
        assert kept_share(case(LONG, "parse_rules", steps=steps), NEWEST) == 1.0

    def test_are_lost_with_the_messages_that_say_them(self) -> None:  # X15
        """*Newest first* drops the old messages with their names."""
        steps = (frozenset({"parse_rules"}), frozenset({"fold_rows"}))
        found = case("parse_rules " + LONG, LONG, "fold_rows", steps=steps)
        assert kept_share(found, NEWEST) == 0.5

    def test_count_in_the_rows_that_a_shortened_output_keeps(self) -> None:
        """A kept row counts with its names, a removed one does not."""
        output = LONG + "the rules are in parse_rules and nowhere else\n" + LONG
        talk = user("go"), calls("1"), results("1", text=output), user("which?"), model("yes")
        history = History.of_features(features_of(*talk))
        assert all(plan_prune(history, FORESIGHT, budget).shortened == (2,) for budget in budgets(history))
        said = Case("s", history, (frozenset({"parse_rules"}),))
        assert kept_share(said, FORESIGHT) == 1.0
        assert kept_share(said, replace(FORESIGHT, strategy="newest_first")) == 0.0


class TestJudgements:
    """Needs that people judged."""

    def test_count_whole_messages(self) -> None:  # X15
        """One of two needed messages kept is half."""
        found = case("one " + LONG, "two " + LONG, "end", needed=frozenset({3, 1}))
        assert kept_share(found, NEWEST) == 0.5

    def test_count_what_goes_as_it_should(self) -> None:  # X15
        """A message that was dropped by hand counts as right if it goes."""
        found = case("one " + LONG, "two " + LONG, "end", unneeded=frozenset({1}))
        assert kept_share(found, NEWEST) == 1.0


class TestRetention:
    """Retention in percent."""

    def test_is_the_mean_of_a_sessions_cases_in_percent(self) -> None:
        """A session counts once, however many cases it has."""
        steps = (frozenset({"parse_rules"}),)
        good, bad = (
            case(LONG, "parse_rules", steps=steps),
            case("parse_rules " + LONG, LONG, "end", steps=steps),
        )
        assert retention(NEWEST, [good, bad, replace(good, session="t")]) == {"s": 50.0, "t": 100.0}

    def test_has_a_mean_over_sessions(self) -> None:
        """Without sessions the mean is 0."""
        assert mean({"s": 50.0, "t": 100.0}) == pytest.approx(75.0)
        assert mean({}) == 0.0
