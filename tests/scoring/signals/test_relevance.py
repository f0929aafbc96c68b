"""The signal relevance."""

from __future__ import annotations

import pytest

from scoring.history import History
from scoring.messages import Message
from scoring.settings import BLUEPRINT, FORESIGHT
from scoring.signals.relevance import rate, relevance, spread
from tests.scoring.builders import model, results, user

TALK = [user("the dog is called Biscuit"), model("noted"), *(user(f"rain on day {n}") for n in range(20))]


def history_of(*messages: Message) -> History:
    """The columns with contents."""
    return History.of(messages, settings=FORESIGHT)


class TestRelevance:
    """The relevance of messages to the last question."""

    def test_finds_the_words_of_the_question(self) -> None:  # B18
        """The answer first, its neighbours next, the rest by distance."""
        found = relevance(history_of(*TALK, user("What is my dog called?")))
        assert found is not None
        assert found[0] == max(found)
        assert found[1] > found[5] > found[20]

    @pytest.mark.parametrize(
        "last", [model("What is my dog called?"), user("dog " * 61), user("yes, go on"), user("")]
    )
    def test_is_none_without_a_question(self, last: Message) -> None:
        """Only a short message of a user asks, and one of stop words asks for nothing."""
        assert relevance(history_of(*TALK, last)) is None

    def test_counts_less_without_a_question_and_in_work(self) -> None:
        """The same words count more before an answer than before more work."""
        asked = relevance(history_of(*TALK, user("what is the dog called?"))) or [0]
        stated = relevance(history_of(*TALK, user("the dog is called so"))) or [0]
        tools = [results(str(n), text="x") for n in range(10)]
        at_work = relevance(history_of(*TALK, *tools, user("what is the dog called?"))) or [0]
        assert asked[0] > at_work[0] > stated[0] > 0

    def test_rates_beside_the_best(self) -> None:  # X3
        """0...1; 0 everywhere without weight, without question, without messages."""
        ratings = rate(history_of(*TALK, user("What is my dog called?")), FORESIGHT)
        assert max(ratings) == 1.0
        assert set(rate(history_of(*TALK, user("What is my dog called?")), BLUEPRINT)) == {0.0}
        assert set(rate(history_of(*TALK, model("so it is")), FORESIGHT)) == {0.0}
        assert rate(history_of(), FORESIGHT) == []

    def test_spreads_both_ways(self) -> None:
        """It falls with the distance; a message gets nothing from itself."""
        lent = spread([0.0, 0.0, 1.0, 0.0])
        assert lent[2] == 0.0
        assert lent[1] == lent[3] > lent[0] > 0
