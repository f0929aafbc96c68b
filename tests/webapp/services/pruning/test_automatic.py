"""Automatic changes of a context: a prune above the target, and the emergency above the usable tokens."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waiting import PATIENCE, until
from tests.webapp.building import context_numbers, heard, managed, wire
from webapp.app import App
from webapp.bodies import ModelRow, PlanBody, SessionChange
from webapp.errors import Conflict
from webapp.events import ContextPruned, ContextSummarized, ProblemReported
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.pruning.background import BackgroundSummaries
from webapp.services.pruning.plan_summaries import PlanSummaries
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.session import Session
from webapp.services.summaries.summarising import Summarising, SummaryWriter, Written

WINDOW = 32_768


@pytest.fixture(autouse=True)
def small(app: App) -> None:
    """Define a model with a window of 32,768 tokens, 25,396 of them usable, and a target of 26,214."""
    app.models.put("small", ModelRow(window=WINDOW))


def words(n: int, tokens: int) -> dict[str, Any]:
    """Return a message of about `tokens` tokens."""
    return wire("user" if n % 2 else "assistant", f"{n} " + "use src/parser.py " * (tokens // 5))


def automatic(app: App, **rules: Any) -> str:
    """Create a session with automatic pruning; return its id."""
    session = managed(app, model="small", settings=rules)
    app.sessions.patch(session, SessionChange(automatic=True))
    return session


def estimate(app: App, session: str) -> tuple[int, int]:
    """Return the context's size and the usable tokens, both estimated."""
    loaded = Session.load(app.environment, session)
    return loaded.pruned.estimate, loaded.usable_estimate


def emergencies(events: list[Any]) -> list[ContextPruned]:
    """Return the events of emergencies."""
    return [e for e in events if isinstance(e, ContextPruned) and e.reason == "emergency"]


class TestSummarising:
    """Automatic summaries above the target, with the strategy of that name."""

    def test_happens_during_the_append_that_crosses_the_target(self, app: App) -> None:  # S3, X9
        """One prune by a summary cuts to the aim, and the answer to the append reports it."""
        session = automatic(app, strategy="summarise")
        answers = [
            app.ingest.append_messages(session, [words(n, 1_000) for n in range(start, start + 8)])
            for start in range(0, 24, 8)
        ]
        made = [a.prune for a in answers if a.prune]
        assert len(made) == 1
        assert made[0].operation.actor == "automatic"
        [summary] = app.summarising.list(session).summaries
        assert summary.level == "deterministic"
        assert made[0].session.pruned.tokens <= made[0].session.aim_tokens
        assert list(app.verify()) == []

    @pytest.mark.parametrize("error", [Conflict("no summary fits"), RuntimeError("broken")])
    def test_never_fails_an_append(
        self, app: App, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:  # C9
        """If the summary fails, the context is pruned by score."""

        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(app.summarising, "text_for", fail)
        session = automatic(app, strategy="summarise")
        app.ingest.append_messages(session, [words(n, 1_000) for n in range(24)])
        [operation] = app.operations.list(session)
        assert (operation.actor, operation.strategy) == ("automatic", "score")
        assert app.summarising.list(session).summaries == []
        assert list(app.verify()) == []

    def test_comes_before_the_emergency_in_a_small_window(self, app: App) -> None:  # S3, C5
        """A plan is tried first, even if the usable tokens are fewer than the target."""
        app.models.put("tiny", ModelRow(window=16_384))
        session = automatic(app, strategy="summarise")
        app.sessions.patch(session, SessionChange(model="tiny"))
        events = heard(app)
        for n in range(40):
            app.ingest.append_messages(session, [words(n, 400)])
            tokens, usable = estimate(app, session)
            assert tokens <= usable
        assert emergencies(events) == []
        assert len(app.summarising.list(session).summaries) > 1

    def test_uses_a_model_while_the_context_fits(self, app: App) -> None:  # P5, S4
        """The model works in the background; the append does not wait for it."""
        asked, go = threading.Event(), threading.Event()

        def write(system: str, text: str, cancelled: threading.Event | None) -> Written:
            asked.set()
            go.wait(PATIENCE)
            return Written("", "no answer")

        background = by_a_model(app, write)
        try:
            # A target below the usable tokens leaves time for the model.
            session = automatic(app, strategy="summarise", target_percent=50.0, aim_percent=30.0)
            events = heard(app)
            answer = app.ingest.append_messages(session, [words(n, 1_000) for n in range(18)])
            assert answer.prune is None
            assert asked.wait(PATIENCE)
            app.ingest.append_messages(session, [words(18, 50)])
            go.set()
            until(lambda: any(isinstance(e, ContextSummarized) for e in events))
            until(lambda: not background.running(session))
            assert app.operations.list(session)[0].actor == "automatic"
            assert context_numbers(app, session)[-1] == 19
            one = app.sessions.get(session)
            assert one.pruned.tokens <= one.target_tokens
        finally:
            go.set()
            background.close()

    def test_does_not_wait_for_a_model_above_the_usable_tokens(self, app: App) -> None:  # C5, P5
        """The built-in summariser writes the summary during the append."""
        background = by_a_model(app, lambda *_: Written("", "not to be asked"))
        try:
            session = automatic(app, strategy="summarise")
            app.ingest.append_messages(session, [words(n, 1_000) for n in range(30)])
            [summary] = app.summarising.list(session).summaries
            assert summary.in_context
            tokens, usable = estimate(app, session)
            assert tokens <= usable
        finally:
            background.close()


def by_a_model(app: App, write: SummaryWriter) -> BackgroundSummaries:
    """Install automatic changes whose summaries `write` makes; return their background work."""
    app.background.close()
    summarising = Summarising(app.environment, app.histories, write)
    plan_summaries = PlanSummaries(app.environment, summarising)
    planning = app.prunes._planning
    prunes = Prunes(
        app.environment, app.histories, planning, app.prunes._shown_plans, app.messages, plan_summaries
    )
    ours = AutomaticPruning(
        app.environment, app.histories, planning, prunes, plan_summaries, app.overflow, app.cold_caches
    )
    app.ingest._writer._after_append = ours.after_append
    return BackgroundSummaries(app.environment, summarising, ours)


def looping(n: int, words: int) -> list[dict[str, Any]]:
    """Return a call of Claude after a thought, and its result."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s" * 40}
    call = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"ls {n}"}}
    output = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"line {n} " * words}
    return [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [output]}]


class TestAToolLoopWithThoughts:
    """Newer Claude models refuse the thoughts of a running tool loop after a change of the history."""

    def test_is_pruned_when_it_has_ended(self, app: App) -> None:  # X6, X9
        """The prune comes with the user's next message."""
        rules = {"cap_tokens": 3_000, "wait_for_cold_cache": False}
        session = automatic(app, **rules)
        app.ingest.append_messages(session, [wire("user", "go")])
        for n in range(12):
            app.ingest.append_messages(session, looping(n, 300))
        app.ingest.append_messages(session, [wire("assistant", "done")])
        assert app.sessions.get(session).prunes == 0
        app.ingest.append_messages(session, [wire("user", "go on")])
        assert app.sessions.get(session).prunes == 1

    def test_goes_on_after_a_reminder(self, app: App) -> None:  # X6, X9
        """Texts right behind results are sent with them, as one message, and do not end the loop."""
        session = automatic(app, cap_tokens=3_000, wait_for_cold_cache=False)
        app.ingest.append_messages(session, [wire("user", "go")])
        for n in range(12):
            reminders = [wire("user", "mind it"), wire("user", "and that")]
            app.ingest.append_messages(session, [*looping(n, 300), *reminders])
        assert app.sessions.get(session).prunes == 0
        app.ingest.append_messages(session, [wire("assistant", "done"), wire("user", "go on")])
        assert app.sessions.get(session).prunes == 1

    def test_is_pruned_above_the_usable_tokens(self, app: App) -> None:  # X6, C5
        """The model would refuse the whole context soon, and an emergency keeps less of it."""
        session = automatic(app, cap_tokens=3_000, wait_for_cold_cache=False)
        app.ingest.append_messages(session, [wire("user", "go")])
        for n in range(40):
            app.ingest.append_messages(session, looping(n, 400))
            size, usable = estimate(app, session)
            assert size <= usable
        assert app.sessions.get(session).prunes > 0

    def test_of_another_model_is_pruned_at_once(self, app: App) -> None:  # X9
        """Without thoughts nothing has to wait."""
        session = automatic(app, cap_tokens=3_000, wait_for_cold_cache=False)
        app.ingest.append_messages(session, [wire("user", "go")])
        for n in range(12):
            answer, output = looping(n, 300)
            app.ingest.append_messages(session, [{**answer, "content": answer["content"][1:]}, output])
        assert app.sessions.get(session).prunes > 0


class TestTheEmergency:
    """The emergency path, used if messages that no plan may drop exceed the usable tokens."""

    def test_cuts_to_the_budget_during_the_append(self, app: App) -> None:  # S5, C5
        """The emergency is an operation with its own actor, the log keeps all messages, and undo restores them."""
        session = automatic(app, fresh_tail=16)
        app.ingest.append_messages(session, [words(n, 1_700) for n in range(16)])
        newest, *_ = app.operations.list(session)
        assert (newest.kind, newest.actor, newest.strategy) == ("prune", "emergency", "emergency")
        assert "are usable" in newest.reason
        tokens, usable = estimate(app, session)
        assert tokens <= usable
        assert app.context.get(session).over_budget is None
        assert app.store.sessions.get(session).next_no == 17
        app.operations.undo(session, newest.n)
        assert context_numbers(app, session) == list(range(1, 17))
        assert list(app.verify()) == []

    def test_leaves_protected_messages_that_are_usable(self, app: App) -> None:  # B7, X9
        """Protected messages above the target stay while they are usable, and the plan reports the excess."""
        session = automatic(app, fresh_tail=16, target_percent=50.0, aim_percent=30.0)
        app.ingest.append_messages(session, [words(n, 1_300) for n in range(16)])
        one = app.sessions.get(session)
        assert one.target_tokens < one.pruned.tokens
        assert app.operations.list(session) == []
        assert app.prunes.plan(session, PlanBody()).over_budget is not None

    def test_is_not_repeated_for_each_later_message(self, app: App) -> None:  # X9
        """It cuts below the limit, which leaves room for more messages."""
        session = automatic(app, fresh_tail=16)
        app.ingest.append_messages(session, [words(n, 1_700) for n in range(16)])
        events = heard(app)
        for n in range(16, 22):
            app.ingest.append_messages(session, [words(n, 300)])
        assert emergencies(events) == []
        tokens, usable = estimate(app, session)
        assert tokens <= usable

    def test_is_refused_once_for_a_too_large_system_prompt(self, app: App) -> None:  # C5, X9
        """The problem is reported with its numbers, and again only after the context has grown."""
        session = automatic(app)
        events = heard(app)
        app.ingest.append_messages(session, [wire("system", "use src/parser.py " * 6_000)])
        for n in range(6):
            app.ingest.append_messages(session, [words(n, 60)])
        problems = [e for e in events if isinstance(e, ProblemReported)]
        assert len(problems) == 1
        assert "the system prompt alone takes" in problems[0].message
        assert app.operations.list(session) == []
        app.ingest.append_messages(session, [words(9, 2_500)])
        assert len([e for e in events if isinstance(e, ProblemReported)]) == 2

    def test_changes_nothing_if_nothing_is_usable(self, app: App) -> None:  # C5
        """No cut could make the context fit, so all messages stay, and a problem is reported once."""
        session = automatic(app)
        app.ingest.append_messages(session, [words(n, 60) for n in range(12)])
        app.settings.put({"response_reserve": WINDOW})
        events = heard(app)
        app.ingest.append_messages(session, [words(12, 60)])
        app.ingest.append_messages(session, [words(13, 10)])
        assert context_numbers(app, session) == list(range(1, 15))
        [problem] = [e for e in events if isinstance(e, ProblemReported)]
        assert "nothing of the window of 32,768 tokens is usable" in problem.message
        assert len(app.context.get(session).messages) > 0

    def test_happens_once_with_a_large_system_prompt(self, app: App) -> None:  # X9
        """A system prompt that leaves little room does not cause an emergency for every message."""
        session = automatic(app)
        app.ingest.append_messages(session, [wire("system", "use src/parser.py " * 4_350)])
        tokens, usable = estimate(app, session)
        assert 0.95 * usable < tokens <= usable
        events = heard(app)
        for n in range(8):
            app.ingest.append_messages(session, [words(n, 220)])
        assert len(emergencies(events)) == 1

    def test_is_off_by_default(self, app: App) -> None:  # X9
        """A session without automatic pruning is not changed, even above the limit."""
        session = managed(app, model="small", settings={"fresh_tail": 16})
        app.ingest.append_messages(session, [words(n, 1_700) for n in range(16)])
        assert app.operations.list(session) == []
        assert app.context.get(session).over_budget is not None

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["user", "assistant"]), st.sampled_from([5, 400, 2_000, 9_000, 40_000])
            ),
            min_size=1,
            max_size=12,
        ),
        st.integers(0, 20),
        st.sampled_from(["foresight", "summarise", "newest_first"]),
    )
    @settings(max_examples=15)
    def test_always_leaves_a_context_that_fits(
        self, app: App, said: list[tuple[str, int]], tail: int, strategy: str
    ) -> None:  # C5, S5
        """The context fits after any append, even if much of it is protected."""
        session = automatic(app, fresh_tail=tail, strategy=strategy)
        for n, (role, tokens) in enumerate(said):
            app.ingest.append_messages(session, [wire(role, f"{n} " + "use src/parser.py " * (tokens // 5))])
            held, usable = estimate(app, session)
            assert held <= usable
        assert app.store.sessions.get(session).next_no == len(said) + 1
        assert app.context.get(session).over_budget is None
