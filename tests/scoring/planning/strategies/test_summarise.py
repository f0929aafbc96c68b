"""Summarise: the messages that a summary covers, and those that are dropped if it does not suffice."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message, Text
from scoring.planning.plan import PrunePlan, plan_prune
from scoring.settings import BLUEPRINT
from scoring.summary import Surroundings, built_in
from tests.scoring.builders import any_messages, calls, history_of, model, results, system, user

LONG = "the parser reads src/parser.py and fails on line 12. " * 20
SETTINGS = replace(BLUEPRINT, strategy="summarise", min_recent_messages=4)


def talk(turns: int, text: str = LONG) -> list[Message]:
    """A conversation of this many turns, all messages equally long."""
    return [one for n in range(turns) for one in (user(f"{n} {text}"), model(f"{n} {text}"))]


def grown(message: Message) -> Message:
    """Return the message with each text repeated."""
    parts = (replace(p, text=p.text * 40) if isinstance(p, Text) else p for p in message.parts)
    return replace(message, parts=tuple(parts))


def planned(history: History, share: float) -> PrunePlan:
    """A plan for a share of the history's tokens."""
    return plan_prune(history, SETTINGS, int(sum(history.tokens) * share))


class TestSummarise:
    """The strategy of that name."""

    def test_covers_the_oldest_and_no_more_than_necessary(self) -> None:  # S4, C2
        """Newer messages stay unchanged; with one message less in the summary, the rest would not fit."""
        history = history_of(talk(20))
        plan = planned(history, 0.6)
        assert plan.summary is not None
        assert plan.summary.covers == plan.removed == tuple(range(len(plan.removed)))
        assert plan.tokens_after <= plan.max_tokens
        assert plan.tokens_after + history.tokens[plan.removed[-1]] > plan.max_tokens

    def test_says_which_messages_the_summary_covers(self) -> None:  # X3
        """The reason uses the numbers of the messages, if they have any."""
        history = history_of([system(), *talk(20)])
        plan = planned(history, 0.6)
        assert plan.cause(1) == "summarised"
        assert plan.reason(1) == f"summarised: covered by the summary of messages 2-{plan.removed[-1] + 1}"
        history.numbers = range(101, 200)
        assert "of messages 102-" in planned(history, 0.6).reason(1)
        kept = plan.kept[2]
        assert (plan.cause(kept), plan.reason(kept)) == ("newer", "kept: newer than what the summary covers")

    def test_never_covers_the_recent_messages_nor_what_is_protected(self) -> None:  # S2, B7, X5
        """These messages stay, however little room there is."""
        history = history_of([system(), *talk(20)])
        history.pinned.add(3)
        plan = planned(history, 0.1)
        assert plan.summary is not None
        assert {0, 3, 37, 38, 39, 40}.isdisjoint(plan.summary.covers)

    def test_covers_whole_units(self) -> None:  # P4
        """A call goes into the summary with its results, or neither."""
        history = history_of(
            [m for n in range(12) for m in (user(LONG), calls(str(n)), results(str(n), text=LONG))]
        )
        plan = planned(history, 0.5)
        assert plan.summary is not None
        assert {history.units.head[p] for p in plan.summary.covers}.isdisjoint(
            history.units.head[p] for p in plan.kept
        )

    def test_never_covers_a_call_without_a_result(self) -> None:  # P4
        """Its result may still come, and would be left alone."""
        history = history_of([user("go"), calls("1"), *talk(20)])
        plan = planned(history, 0.6)
        assert plan.summary is not None
        assert 1 not in plan.summary.covers
        assert {0, 2} <= set(plan.summary.covers)

    def test_prunes_the_rest_by_score_where_the_summary_does_not_suffice(self) -> None:  # X3
        """The reason says so."""
        history = history_of([*talk(10), *talk(2, LONG * 10)])
        plan = planned(history, 0.3)
        assert plan.summary is not None
        by_score = [p for p in plan.removed if p not in plan.summary.covers]
        assert by_score
        assert all(plan.reason(p).endswith("; the summary alone did not suffice") for p in by_score)
        assert plan.tokens_after <= plan.max_tokens

    def test_prunes_by_score_where_there_is_too_little_to_cover(self) -> None:  # C9
        """A summary of a few short messages would be no shorter."""
        plan = planned(history_of(talk(8, "short")), 0.6)
        assert plan.summary is None
        assert plan.removed
        assert all(plan.reason(p).endswith("; there is too little to summarise") for p in plan.removed)

    def test_merges_earlier_summaries_into_the_new_one(self) -> None:  # C7
        """Their tokens become available, and the plan counts them as freed."""
        history = history_of(talk(20))
        alone = planned(history, 0.6)
        history.summary_tokens = 1_000
        plan = planned(history, 0.6)
        assert plan.summary is not None
        assert plan.summary.absorbed == 1_000
        assert len(plan.removed) < len(alone.removed)
        assert plan.freed == plan.tokens_before + 1_000 - plan.tokens_after

    def test_does_nothing_where_everything_fits(self) -> None:
        """Earlier summaries change nothing."""
        history = history_of(talk(20))
        history.summary_tokens = 1_000
        plan = planned(history, 1.0)
        assert (plan.removed, plan.summary) == ((), None)


class TestOnAnything:
    """Invariants for any list and any budget."""

    @given(any_messages, st.integers(0, 4_000), st.integers(0, 300))
    def test_the_summary_as_it_is_written_fits_too(
        self, messages: list[Message], budget: int, standing: int
    ) -> None:  # C5, C9
        """Never above the budget without saying so, with the summary in the place of what it covers."""
        longer = [*talk(3), *[grown(m) for m in messages], user("end")]
        history = history_of(longer)
        history.summary_tokens = standing
        plan = plan_prune(history, SETTINGS, budget)
        if plan.summary is None:
            assert plan.over_budget or plan.tokens_after <= budget
            return
        made = built_in([longer[i] for i in plan.summary.covers], Surroundings(), plan.summary.tokens)
        assert made.accepted
        assert made.tokens <= plan.summary.tokens < plan.summary.covered_tokens
        assert plan.over_budget or plan.tokens_after <= budget + standing
        assert set(plan.summary.covers) <= set(plan.removed)
