"""Summaries made in the background, on request or automatically."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.waiting import PATIENCE, until
from tests.webapp.building import (
    call,
    conversation,
    entries,
    followed,
    heard,
    managed,
    mid,
    result,
    said,
    usage,
    user,
    wire,
)
from webapp.app import App
from webapp.bodies import ModelRow, PlanBody, PruneBody, SessionChange
from webapp.errors import Conflict, NotFound
from webapp.events import ContextPruned, ContextSummarized, ProblemReported
from webapp.services.pruning.background import BackgroundSummaries, due, sizes_of
from webapp.services.pruning.plan_summaries import PlanSummaries
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.session import Session
from webapp.services.summaries.summarising import Summarising, SummaryWriter, Written


class Slow:
    """A model that answers when `go` is set, and stops when it is cancelled."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self, system: str, text: str, cancelled: threading.Event | None) -> Written:
        """Wait until either happens."""
        self.asked.set()
        while not self.go.wait(0.01):
            if cancelled is not None and cancelled.is_set():
                return Written("", "cancelled", cancelled=True)
        return Written("", "no answer")


@pytest.fixture
def slow(app: App) -> Iterator[tuple[Slow, BackgroundSummaries]]:
    """A slow model and the background work that uses it, for a session."""
    followed(app, *conversation(6), user("end"))
    model = Slow()
    background = BackgroundSummaries(
        app.environment, Summarising(app.environment, app.histories, model), app.automatic
    )
    yield model, background
    model.go.set()
    background.close()


class TestOnRequest:
    """Summaries that a caller requests."""

    def test_waits_for_the_built_in_summariser(self, app: App) -> None:  # S8
        """The built-in summariser is fast, so the answer has the summary."""
        followed(app, *conversation(6), user("end"))
        assert app.background.summarise("s").summary.level == "deterministic"

    def test_does_not_wait_for_a_model(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # P5
        """The result is an event, and a problem names what the model did wrong."""
        model, background = slow
        events = heard(app)
        assert background.summarise("s").started
        assert model.asked.wait(PATIENCE)
        assert background.running("s")
        model.go.set()
        until(lambda: any(isinstance(e, ContextSummarized) for e in events))
        until(lambda: not background.running("s"))
        problem = next(e for e in events if isinstance(e, ProblemReported))
        assert (
            problem.message
            == "the model's summary was not accepted, the built-in one is used instead: no answer"
        )

    def test_says_why_none_was_made(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """Whoever asked for a summary is told, also if that is found out after the answer."""
        _, background = slow
        app.background.summarise("s")
        events = heard(app)
        assert background.summarise("s").started
        until(lambda: not background.running("s"))
        [problem] = [e for e in events if isinstance(e, ProblemReported)]
        assert problem.message.startswith("no summary was made: ")

    def test_makes_one_summary_at_a_time(self, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """A second request during the first starts nothing."""
        model, background = slow
        background.summarise("s")
        assert model.asked.wait(PATIENCE)
        assert not background.summarise("s").started
        with pytest.raises(Conflict, match="already"):
            background.summarise("s", wait=True)

    def test_can_be_cancelled(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """A cancelled summary leaves nothing behind."""
        model, background = slow
        background.summarise("s")
        assert model.asked.wait(PATIENCE)
        assert background.cancel("s")
        until(lambda: not background.running("s"))
        assert app.summarising.list("s").summaries == []
        assert not background.cancel("s")

    def test_ends_when_it_is_closed(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """No further summary is started."""
        model, background = slow
        background.summarise("s")
        assert model.asked.wait(PATIENCE)
        background.close()
        assert not background.running("s")
        assert not background.summarise("s").started

    def test_refuses_an_unknown_session(self, slow: tuple[Slow, BackgroundSummaries]) -> None:
        """The request is refused before any work starts."""
        with pytest.raises(NotFound):
            slow[1].summarise("nope")


class TestPrunes:
    """Prunes on request whose summary a model writes."""

    def test_make_one_summary_at_a_time(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """A second click during the first is refused before the model is asked, and so is a summary on request."""
        model, background = slow
        prunes, plan = by_summary(app, model)
        clicked = click(lambda: prunes.apply("s", PruneBody(plan_id=plan)))
        assert model.asked.wait(PATIENCE)
        assert background.running("s")
        with pytest.raises(Conflict, match="already"):
            prunes.apply("s", PruneBody(plan_id=plan))
        assert not background.summarise("s").started
        model.go.set()
        clicked.join(PATIENCE)
        assert not background.running("s")
        assert [o.kind for o in app.operations.list("s")] == ["prune"]

    def test_can_be_cancelled(self, app: App, slow: tuple[Slow, BackgroundSummaries]) -> None:  # C9
        """Cancelling the summary of a prune leaves the session as it was."""
        model, background = slow
        prunes, plan = by_summary(app, model)
        clicked = click(lambda: prunes.apply("s", PruneBody(plan_id=plan)))
        assert model.asked.wait(PATIENCE)
        assert background.cancel("s")
        clicked.join(PATIENCE)
        assert not background.running("s")
        assert app.operations.list("s") == []


def by_summary(app: App, write: SummaryWriter) -> tuple[Prunes, str]:
    """Return prunes whose summaries `write` makes, and the id of a plan that asks for one."""
    app.sessions.patch("s", SessionChange(settings={"strategy": "summarise"}))
    summaries = PlanSummaries(app.environment, Summarising(app.environment, app.histories, write))
    planning = app.prunes._planning
    prunes = Prunes(
        app.environment, app.histories, planning, app.prunes._shown_plans, app.messages, summaries
    )
    plan = prunes.plan("s", PlanBody(max_tokens=app.sessions.get("s").pruned.tokens // 2))
    assert plan.summary is not None
    return prunes, plan.plan_id


def click(act: Callable[[], object]) -> threading.Thread:
    """Start what a request would do on another thread; a conflict is its answer."""

    def run() -> None:
        with suppress(Conflict):
            act()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


class TestAutomatic:
    """Automatic summaries after an append."""

    @pytest.mark.parametrize("common", [False, True], ids=["of the session", "of all"])
    def test_summarises_at_a_trigger(self, app: App, common: bool) -> None:  # S3, P5
        """Automatic summaries are on in a session's own or in the common settings; the limit of messages is reached."""
        settings = {"auto_summarize": True, "max_messages_before_summary": 12}
        if common:
            app.settings.put(settings)
        session = managed(app, settings={} if common else settings)
        events = heard(app)
        app.ingest.append_messages(session, [wire("user", f"word {n} " * 40) for n in range(11)])
        assert not due(Session.load(app.environment, session))
        app.ingest.append_messages(session, [wire("user", "one more")])
        until(lambda: any(isinstance(e, ContextSummarized) for e in events))
        assert app.operations.list(session, "summary")[0].actor == "automatic"
        assert not due(Session.load(app.environment, session))

    def test_is_off_by_default(self, app: App) -> None:  # S3
        """Without the setting no summary is made at the limit."""
        session = managed(app, settings={"max_messages_before_summary": 12})
        app.ingest.append_messages(session, [wire("user", f"word {n} " * 40) for n in range(20)])
        assert not app.background.running(session)
        assert app.summarising.list(session).summaries == []

    def test_cuts_a_context_that_exceeds_the_window(self, app: App) -> None:  # S5, P5
        """Automatic pruning is on but cannot drop enough."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, model="small")
        app.sessions.patch(session, SessionChange(automatic=True))
        events = heard(app)
        app.ingest.append_messages(session, [wire("user", "word " * 9_000)])
        until(lambda: any(isinstance(e, ContextPruned) and e.reason == "emergency" for e in events))
        assert app.context.get(session).over_budget is None

    def test_reports_an_error_without_failing_the_append(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # C9
        """An internal error becomes an event, not an error of the append."""

        def fail(*_: object) -> None:
            raise RuntimeError("broken")

        monkeypatch.setattr(app.summarising, "summarise", fail)
        session = managed(app, settings={"auto_summarize": True, "max_messages_before_summary": 12})
        events = heard(app)
        app.ingest.append_messages(session, [wire("user", f"word {n}") for n in range(20)])
        until(lambda: any(isinstance(e, ProblemReported) for e in events))


class TestSizes:
    """The sizes of a session, which the triggers use."""

    def test_has_the_parts_of_the_gauge(self, app: App) -> None:  # S7, X11
        """Unseen tokens count as tools, as in the gauge."""
        said_first = [user("look"), said("I look")]
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        first, answer = entries(*said_first)
        app.ingest.append_records("s", [first, replace(answer, usage=usage(20_000), call_key="c")])
        app.ingest.append_records("s", entries(*conversation(6), start=10))
        regions = {r.name: r.tokens for r in app.sessions.get("s").pruned.regions}
        sizes = sizes_of(Session.load(app.environment, "s"))
        assert sizes.tools == regions["unseen"] > 0
        assert sizes.messages == sum(tokens for name, tokens in regions.items() if name != "unseen")

    def test_counts_messages_since_the_last_summary(self, app: App) -> None:  # S3
        """Recent messages that the summary left do not count again."""
        followed(app, *conversation(6), user("end"))
        assert sizes_of(Session.load(app.environment, "s")).since_messages == 25
        app.summarising.summarise("s")
        assert sizes_of(Session.load(app.environment, "s")).since_messages == 0
        app.ingest.append_records("s", entries(said("a"), user("b"), start=40))
        assert sizes_of(Session.load(app.environment, "s")).since_messages == 2

    def test_counts_shortened_outputs_by_what_is_sent(self, app: App) -> None:  # S3, S7
        """Shortening an output takes it as far from the trigger as it takes it out of the context."""
        followed(app, *conversation(4), call("long"), result("long", "a line of output\n" * 400), user("end"))
        before = sizes_of(Session.load(app.environment, "s"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=10**9, shorten=[mid(app, "s", 18)]))
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        after = sizes_of(Session.load(app.environment, "s"))
        assert after.since_messages == before.since_messages
        assert before.since_tokens - after.since_tokens == before.messages - after.messages > 0
