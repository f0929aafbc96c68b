"""Plans with the strategy summarise: planned, applied and undone, with and without a model."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.summary.sections import SECTIONS
from tests.webapp.building import (
    context_numbers,
    conversation,
    entries,
    followed,
    heard,
    managed,
    mid,
    user,
    wire,
)
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody
from webapp.errors import Conflict
from webapp.events import ContextPruned, ContextSummarized, ProblemReported
from webapp.services.pruning.plan_summaries import PlanSummaries
from webapp.services.pruning.prunes import Prunes
from webapp.services.summaries.summarising import Summarising, Written

GOOD = "\n".join(f"## {name}\n- about {name.lower()}" for name in SECTIONS)
PLAN = PlanBody(max_tokens=4_000, strategy="summarise")
PRUNE = PruneBody(max_tokens=4_000, strategy="summarise")


@pytest.fixture
def session(app: App) -> str:
    """A session with enough messages to summarise."""
    return followed(app, *conversation(24), user("end"))


class Model:
    """A model that calls `meanwhile` and then gives a fixed answer."""

    def __init__(self, text: str = GOOD, problem: str = "") -> None:
        self.text, self.problem = text, problem
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self, system: str, text: str, cancelled: threading.Event | None) -> Written:
        """Return the answer."""
        self.meanwhile()
        return Written(self.text, self.problem, "a-model", 0.01)


def prunes_by(app: App, model: Model) -> Prunes:
    """Return a prune service whose summaries a model writes."""
    summaries = PlanSummaries(app.environment, Summarising(app.environment, app.histories, model))
    return Prunes(
        app.environment, app.histories, app.prunes._planning, app.prunes._shown_plans, app.messages, summaries
    )


class TestAPlan:
    """The plan, before a summary is written."""

    def test_names_the_covered_messages_and_the_reserve(self, app: App, session: str) -> None:  # X1, X3, S4
        """Each covered message names the summary in its reason, and the freed tokens exclude the reserve."""
        plan = app.prunes.plan(session, PLAN)
        summary = plan.summary
        assert summary.messages == plan.removed_count == plan.groups[0].messages
        assert plan.groups[0].label == "covered by the summary"
        assert {row.reason for row in plan.removed} == {
            f"summarised: covered by the summary of messages {summary.first}-{summary.last}"
        }
        assert plan.after.tokens <= 4_000
        assert summary.covered_tokens - summary.most_tokens == plan.freed
        assert sum(region.tokens for region in plan.regions_after) == plan.after.tokens

    def test_counts_summaries_as_the_gauge_does(self, app: App, session: str) -> None:  # X1
        """The new one takes the place of the earlier ones."""
        for budget in (4_000, 3_000):
            before = app.sessions.get(session).pruned.messages
            plan = app.prunes.plan(session, PlanBody(max_tokens=budget, strategy="summarise"))
            after = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id)).session.pruned.messages
            assert (plan.before.messages, plan.after.messages) == (before, after)
            assert plan.summary is not None
            app.ingest.append_records(session, entries(*conversation(12), start=200))

    def test_stores_nothing(self, app: App, session: str) -> None:  # X1
        """A plan writes no summary."""
        app.prunes.plan(session, PLAN)
        assert app.summarising.list(session).summaries == []

    def test_of_another_strategy_has_no_summary(self, app: App, session: str) -> None:  # X1
        """Other strategies only drop and shorten."""
        assert app.prunes.plan(session, PlanBody(max_tokens=4_000)).summary is None


class TestApplying:
    """Applying the plan, which writes the summary."""

    def test_replaces_the_planned_messages_by_a_summary(self, app: App, session: str) -> None:  # X1, C2
        """The summary fits its reserve and the budget, and other messages stay."""
        plan = app.prunes.plan(session, PLAN)
        before = context_numbers(app, session)
        made = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        [summary] = app.summarising.list(session).summaries
        assert summary.in_context
        assert summary.messages == plan.removed_count
        assert summary.tokens <= plan.summary.most_tokens
        assert made.operation.tokens_after <= plan.after.tokens <= 4_000
        gone = {row.number for row in plan.removed}
        assert context_numbers(app, session)[1:] == [no for no in before if no not in gone]
        assert f"messages summarised in {summary.tokens:,} tokens" in made.message
        assert list(app.verify()) == []

    def test_is_explained(self, app: App, session: str) -> None:  # X3
        """Each summarised message and the operation give the reason."""
        n = app.prunes.apply(session, PRUNE).operation.n
        page = app.messages.page(session, MessagesQuery(fate="out"))
        assert {row.cause for row in page.messages} == {"summarised"}
        one = app.operations.one(session, n)
        assert (one.strategy, one.summary) == ("summarise", 1)
        assert len(one.items) == one.removed

    def test_places_the_summary_after_the_compaction_of_the_provider(self, app: App) -> None:  # C2, C7
        """The provider ignores what comes before it."""
        compacted = {"type": "compaction", "id": "c", "encrypted_content": "gAAA" * 50}
        turn = [wire("user", "go on " * 40), wire("assistant", "done " * 80)]
        session = managed(app, *turn * 3, compacted, *turn * 20)
        app.prunes.apply(session, PruneBody(max_tokens=2_000, strategy="summarise"))
        sent = app.context.get(session).messages
        assert "[Summary" in sent[sent.index(compacted) + 1]["content"]

    def test_is_announced_as_a_prune_and_a_summary(self, app: App, session: str) -> None:  # B14
        """There is one event of each kind."""
        events = heard(app)
        app.prunes.apply(session, PRUNE)
        kinds = [type(e) for e in events if isinstance(e, ContextPruned | ContextSummarized)]
        assert kinds == [ContextPruned, ContextSummarized]

    def test_can_be_undone(self, app: App, session: str) -> None:  # X2
        """Undo restores the earlier context."""
        before = app.context.get(session).messages
        n = app.prunes.apply(session, PRUNE).operation.n
        app.operations.undo(session, n)
        assert app.context.get(session).messages == before
        assert [one.in_context for one in app.summarising.list(session).summaries] == [False]
        assert list(app.verify()) == []

    def test_keeps_later_messages_after_an_undo(self, app: App) -> None:  # X2
        """Later messages follow the restored ones."""
        session = managed(app, *[wire("user", f"{n} " + "use src/parser.py " * 40) for n in range(30)])
        before = context_numbers(app, session)
        n = app.prunes.apply(session, PruneBody(max_tokens=2_500, strategy="summarise")).operation.n
        app.ingest.append_messages(session, [wire("assistant", "more")])
        app.operations.undo(session, n)
        assert context_numbers(app, session) == [*before, 31]

    def test_covers_an_earlier_summary(self, app: App, session: str) -> None:  # C7
        """The new summary is one level deeper; undoing it restores the first one."""
        app.prunes.apply(session, PruneBody(max_tokens=6_000, strategy="summarise"))
        plan = app.prunes.plan(session, PlanBody(max_tokens=3_500, strategy="summarise"))
        assert plan.summary.absorbed_tokens > 0
        made = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        second, first = app.summarising.list(session).summaries
        assert (second.depth, second.covers.summaries, first.in_context) == (2, [1], False)
        assert made.operation.tokens_after <= 3_500
        app.operations.undo(session, made.operation.n)
        assert [one.in_context for one in app.summarising.list(session).summaries] == [False, True]
        assert list(app.verify()) == []

    def test_drops_more_by_score_if_the_summary_is_not_enough(self, app: App) -> None:  # X3
        """The newest messages are never covered; if they exceed the budget, the lowest scores go."""
        said = [wire("user", f"{n} " + "use src/parser.py " * 60) for n in range(30)]
        session = managed(app, *said)
        plan = app.prunes.plan(session, PlanBody(max_tokens=700, strategy="summarise"))
        assert {group.cause for group in plan.groups} > {"summarised"}
        assert any("the summary alone did not suffice" in row.reason for row in plan.removed)
        made = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        assert made.operation.tokens_after <= 700


class TestOnAnySession:
    """Plans of sessions of any length, with any budget."""

    @given(
        st.lists(st.sampled_from([1, 20, 120, 600]), min_size=1, max_size=24),
        st.integers(0, 20_000),
        st.integers(0, 3),
    )
    @settings(max_examples=25)
    def test_a_plan_is_applied_exactly_and_undone(
        self, app: App, sizes: list[int], budget: int, later: int
    ) -> None:  # X1, X2, C5, C9
        """The context keeps its order and its budget, and undo restores it with later messages."""
        said = [
            wire("user" if n % 2 == 0 else "assistant", f"{n} " + "use src/parser.py " * size)
            for n, size in enumerate(sizes)
        ]
        session = managed(app, *said)
        before = context_numbers(app, session)
        plan = app.prunes.plan(session, PlanBody(max_tokens=budget, strategy="summarise"))
        assert plan.over_budget or plan.after.tokens <= budget
        if plan.nothing_to_do:
            return
        made = app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        assert made.operation.tokens_after <= plan.after.tokens
        gone = {row.number for row in plan.removed}
        covered = plan.summary.messages if plan.summary else 0
        stays = [no for no in before if no not in gone]
        assert context_numbers(app, session)[-len(stays) :] == stays
        assert len(context_numbers(app, session)) == len(stays) + (covered > 0)
        if later:
            app.ingest.append_messages(session, [wire("user", f"later {n}") for n in range(later)])
        app.operations.undo(session, made.operation.n)
        assert context_numbers(app, session) == list(range(1, len(sizes) + later + 1))
        assert list(app.verify()) == []


class TestAModel:
    """Summaries with a configured model."""

    def test_writes_the_summary(self, app: App, session: str) -> None:  # S4
        """The operation has the model's name and the cost."""
        prunes = prunes_by(app, Model())
        assert prunes.plan(session, PLAN).summary.by_model
        prunes.apply(session, PRUNE)
        [summary] = app.summarising.list(session).summaries
        assert (summary.level, summary.model, summary.cost) == ("structured", "a-model", 0.01)

    @pytest.mark.parametrize("model", [Model("", "no answer"), Model(GOOD + "\n- " + "a1b2" * 9_000)])
    def test_that_fails_is_replaced_by_the_built_in_summariser(
        self, app: App, session: str, model: Model
    ) -> None:  # C9, S4
        """This applies to a model that does not answer and to one that exceeds the reserve."""
        events = heard(app)
        made = prunes_by(app, model).apply(session, PRUNE)
        problems = [e for e in events if isinstance(e, ProblemReported)]
        assert problems
        assert problems[0].message.startswith(
            "the model's summary was not accepted, the built-in one is used instead: "
        )
        [summary] = app.summarising.list(session).summaries
        assert summary.level == "deterministic"
        assert made.operation.tokens_after <= 4_000

    def test_may_write_while_messages_arrive(self, app: App) -> None:  # P5
        """The plan is applied, and messages that arrived meanwhile stay."""
        session = managed(app, *[wire("user", f"{n} " + "use src/parser.py " * 40) for n in range(30)])
        model = Model()
        model.meanwhile = lambda: app.ingest.append_messages(session, [wire("assistant", "meanwhile")])
        prunes_by(app, model).apply(session, PruneBody(max_tokens=2_500, strategy="summarise"))
        assert context_numbers(app, session)[-1] == 31
        assert app.summarising.list(session).summaries[0].in_context

    def test_is_refused_if_a_covered_message_changed_meanwhile(self, app: App, session: str) -> None:  # X1
        """A pin on a covered message, for example, stops the plan, and nothing changes."""
        model = Model()
        model.meanwhile = lambda: app.by_hand.pin(session, mid(app, session, 6))
        plan = app.prunes.plan(session, PlanBody(max_tokens=2_500, strategy="summarise"))
        assert any(row.number == 6 for row in plan.removed)
        with pytest.raises(Conflict, match="changed since"):
            prunes_by(app, model).apply(session, PruneBody(max_tokens=2_500, strategy="summarise"))
        assert app.summarising.list(session).summaries == []
