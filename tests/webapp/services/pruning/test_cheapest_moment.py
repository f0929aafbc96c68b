"""The cheapest moment for a prune: when the provider's cache is cold, or broken anyway."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoring.models import PruneCost
from tests.waiting import until
from tests.webapp.building import heard, managed, mid, wire
from webapp.app import App
from webapp.bodies import ModelRow, PlanBody, PruneBody, SessionChange
from webapp.events import CacheExpired, ContextPruned, Event
from webapp.services.session.session import Session
from webapp.services.session.times import iso

MINUTE = 60_000
BRIEF, HOUR = 5 * MINUTE, 60 * MINUTE
OPUS = "claude-opus-4-5"


class Clock:
    """A clock of the server that a test sets."""

    def __init__(self, app: App) -> None:
        self.now = app.environment.clock()
        app.environment.clock = lambda: self.now

    def later(self, minutes: float) -> None:
        """Let time pass."""
        self.now += round(minutes * MINUTE)


@pytest.fixture
def clock(app: App) -> Clock:
    """Return the clock of the application."""
    return Clock(app)


def words(n: int, tokens: int) -> dict[str, Any]:
    """Return a message of about `tokens` tokens."""
    return wire("user" if n % 2 else "assistant", f"{n} " + "use src/parser.py " * (tokens // 5))


def automatic(app: App, *, model: str = OPUS, **rules: Any) -> str:
    """Create a session with automatic pruning and a target of 20,000 tokens; return its id."""
    session = managed(app, model=model, settings={"cap_tokens": 20_000, "aim_percent": 5.0, **rules})
    app.sessions.patch(session, SessionChange(automatic=True))
    return session


def call(app: App, session: str, n: int, tokens: int = 1_500, **usage: int) -> list[Event]:
    """Append a question and its answer, whose call reports the size that the session has; return the events."""
    events = heard(app)
    app.ingest.append_messages(session, [words(2 * n + 1, tokens)])
    size = Session.load(app.environment, session).pruned.estimate
    report = {"input_tokens": 5, "cache_read_input_tokens": size - 5, "output_tokens": 10, **usage}
    app.ingest.append_messages(session, [words(2 * n, 10)], usage=report)
    return events


def above(app: App, session: str, **usage: int) -> list[Event]:
    """Make calls until the session is above its target; return the events of the last one."""
    for n in range(40):
        events = call(app, session, n, **usage)
        one = app.sessions.get(session)
        if pruned(events) or one.pruned.tokens > one.target_tokens:
            return events
    raise AssertionError("the session never came above its target")


def pruned(events: list[Event]) -> list[ContextPruned]:
    """Return the events of prunes."""
    return [event for event in events if isinstance(event, ContextPruned)]


def cost(app: App, session: str) -> PruneCost:
    """Return what a prune of a session costs now."""
    return app.prunes.plan(session, PlanBody()).cache


class TestAutomaticPruning:
    """It waits while the cache is of use, and no longer than the window has room."""

    def test_waits_while_the_cache_is_warm(self, app: App, clock: Clock) -> None:  # X26, X9
        """Above the target nothing happens, call after call."""
        session = automatic(app)
        assert pruned(above(app, session)) == []
        clock.later(4)
        assert pruned(call(app, session, 99, tokens=200)) == []
        assert cost(app, session).break_even_calls > 0

    def test_acts_when_the_cache_expires(self, app: App, clock: Clock) -> None:  # X26, X9
        """No message has to come: the next call is sent pruned."""
        session = automatic(app)
        above(app, session)
        events = heard(app)
        clock.later(4.999)
        app.cold_caches.watch_recent()
        clock.later(1)
        until(lambda: CacheExpired(session) in events and bool(pruned(events)))
        one = app.sessions.get(session)
        assert one.pruned.tokens <= one.aim_tokens
        assert [o.actor for o in app.operations.list(session)] == ["automatic"]
        assert list(app.verify()) == []

    def test_is_told_of_no_cache_that_a_call_has_renewed(self, app: App, clock: Clock) -> None:  # X26
        """Each call begins the time anew."""
        session = automatic(app)
        above(app, session)
        clock.later(4.999)
        events = call(app, session, 99, tokens=10)
        app.cold_caches._look(session)
        assert CacheExpired(session) not in events

    def test_acts_at_the_next_append_after_the_cache_expired(self, app: App, clock: Clock) -> None:  # X26
        """A server that was down meanwhile missed the moment itself."""
        session = automatic(app)
        above(app, session)
        app.cold_caches.close()
        clock.later(6)
        events = heard(app)
        app.ingest.append_messages(session, [words(99, 10)])
        assert len(pruned(events)) == 1

    def test_waits_for_no_call_of_a_clock_that_was_set_back(self, app: App, clock: Clock) -> None:  # X26
        """A call that is yet to come keeps no cache warm, and the next one counts from when it is made."""
        session = automatic(app)
        clock.later(24 * 60)
        call(app, session, 98, tokens=10)
        clock.later(-24 * 60)
        before = app.sessions.get(session).cache
        call(app, session, 99, tokens=10)
        after = app.sessions.get(session).cache
        assert before is not None
        assert after is not None
        assert (before.cold, after.cold, after.called_at) == (True, False, iso(clock.now))

    def test_waits_an_hour_where_the_usage_says_so(self, app: App, clock: Clock) -> None:  # X26
        """A call wrote to the cache for an hour."""
        session = automatic(app)
        written = {"cache_creation": {"ephemeral_1h_input_tokens": 100}, "cache_creation_input_tokens": 100}
        above(app, session, **written)  # type: ignore[arg-type]
        one = app.sessions.get(session).cache
        assert one.minutes == 60
        clock.later(59)
        events = heard(app)
        app.ingest.append_messages(session, [words(99, 10)])
        assert pruned(events) == []
        clock.later(2)
        app.ingest.append_messages(session, [words(101, 10)])
        assert len(pruned(events)) == 1

    def test_acts_when_the_prefix_is_broken_anyway(self, app: App, clock: Clock) -> None:  # X26
        """With another model the next call writes everything."""
        session = automatic(app)
        above(app, session)
        app.sessions.patch(session, SessionChange(model="claude-sonnet-4-5"))
        assert cost(app, session).break_even_calls == 0
        events = heard(app)
        app.ingest.append_messages(session, [words(99, 10)])
        assert len(pruned(events)) == 1

    def test_still_waits_if_only_the_end_is_broken(self, app: App, clock: Clock) -> None:  # X26
        """A drop by hand near the end leaves most of the cache of use."""
        session = automatic(app)
        above(app, session)
        newest = [m for m in app.messages.page(session).messages if m.fate != "protected"]
        app.by_hand.drop(session, max(newest, key=lambda m: m.number).id)
        assert cost(app, session).break_even_calls > 0
        events = heard(app)
        app.ingest.append_messages(session, [words(99, 10)])
        assert pruned(events) == []

    def test_still_waits_once_a_drop_is_undone(self, app: App, clock: Clock) -> None:  # X26, X2
        """The cache is of use as if the first message had never been out."""
        session = automatic(app)
        for n in range(9):
            call(app, session, n)
        app.by_hand.drop(session, mid(app, session, 2))
        app.operations.undo(session)
        events = heard(app)
        app.ingest.append_messages(session, [words(98, 10)])  # below the target, so that it may fire again
        app.ingest.append_messages(session, [words(99, 3_000)])
        assert app.sessions.get(session).pruned.tokens > app.sessions.get(session).target_tokens
        assert pruned(events) == []

    def test_does_not_wait_until_the_window_is_full(self, app: App, clock: Clock) -> None:  # X26
        """With less room than a turn takes it acts, cache or not."""
        app.models.put(OPUS, ModelRow(window=32_768))
        session = automatic(app, aim_percent=30.0)
        for n in range(40):
            events = call(app, session, n)
            if done := pruned(events):
                break
        assert done[0].reason == "automatic"
        assert done[0].original > app.sessions.get(session).target_tokens + 1_000
        assert done[0].original <= Session.load(app.environment, session).usable_shown

    def test_does_not_wait_far_above_a_cap(self, app: App, clock: Clock) -> None:  # X26, X10
        """The cap is the user's own limit: a quarter above it, as the window is above 80 %, nothing waits."""
        session = automatic(app)
        above(app, session)
        for n in range(40, 60):
            if done := pruned(call(app, session, n)):
                break
        assert 20_000 < done[0].original <= 25_000

    @pytest.mark.parametrize("rules", [{"wait_for_cold_cache": False}, {}])
    def test_waits_for_nothing_that_is_not_known(
        self, app: App, clock: Clock, rules: dict[str, Any]
    ) -> None:  # X26
        """It is switched off, or no call has been reported."""
        session = automatic(app, **rules)
        events = heard(app)
        if rules:
            above(app, session)
        else:
            app.ingest.append_messages(session, [words(n, 1_500) for n in range(1, 21)])
        assert len(pruned(events)) == 1

    def test_that_was_undone_is_not_repeated(self, app: App) -> None:  # X9, X2
        """It fires once a crossing: what somebody put back stays until the context has fallen and risen again."""
        session = automatic(app, wait_for_cold_cache=False)
        app.ingest.append_messages(session, [words(n, 1_500) for n in range(1, 21)])
        app.operations.undo(session)
        events = heard(app)
        app.ingest.append_messages(session, [words(99, 200)])
        assert pruned(events) == []
        assert app.operations.list(session)[0].undone_at is not None


class TestThePrice:
    """The age of the cache, and the price of a prune now and when it is cold."""

    def test_is_told_with_the_age_of_the_cache(self, app: App, clock: Clock) -> None:  # X26
        """A session says when its cache was used and when it expires."""
        session = managed(app, model=OPUS)
        assert app.sessions.get(session).cache is None
        call(app, session, 1)
        warm = app.sessions.get(session).cache
        assert (warm.minutes, warm.cold, warm.changed) == (5, False, False)
        assert warm.called_at < warm.cold_at
        clock.later(6)
        assert app.sessions.get(session).cache.cold

    def test_is_not_claimed_without_a_cache(self, app: App) -> None:  # X26
        """Free models, and those whose cached price is not known."""
        for model in ("ollama/qwen3:32b", "nobody/knows"):
            session = managed(app, model=model)
            call(app, session, 1)
            assert app.sessions.get(session).cache is None

    def test_falls_to_nothing_when_the_cache_is_cold(self, app: App, clock: Clock) -> None:  # X26
        """The saving on the first call then is known before."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        warm = cost(app, session)
        clock.later(6)
        cold = cost(app, session)
        assert warm.rewrite_cost > cold.rewrite_cost == 0
        saved = pytest.approx(cold.saved_per_call * 6.25e-6, abs=1e-6)
        assert warm.saved_when_cold == cold.saved_when_cold == saved

    def test_counts_only_what_a_change_leaves_of_use(self, app: App, clock: Clock) -> None:  # X26
        """After a drop in the middle the next call writes everything behind it anyway; after that call it does not."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        before = cost(app, session)
        numbers = [m for m in app.messages.page(session).messages if m.fate == "goes"]
        app.by_hand.drop(session, sorted(numbers, key=lambda m: m.number)[len(numbers) // 2].id)
        assert app.sessions.get(session).cache.changed
        assert cost(app, session).rewritten_once < before.rewritten_once
        call(app, session, 99)
        assert not app.sessions.get(session).cache.changed

    def test_is_as_before_once_a_prune_is_undone(self, app: App, clock: Clock) -> None:  # X26, X18
        """The next call sends what the last one sent: plan, verdict and cache say so."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        before, verdict = cost(app, session), app.verdicts.of(session)
        assert (before.break_even_calls > 0, verdict.kind) == (True, "wait")
        app.prunes.apply(session, PruneBody())
        assert app.sessions.get(session).cache.changed
        app.operations.undo(session)
        assert not app.sessions.get(session).cache.changed
        assert cost(app, session) == before
        assert replace(app.verdicts.of(session), version=verdict.version) == verdict

    def test_counts_a_drop_that_stays_when_a_later_prune_is_undone(
        self, app: App, clock: Clock
    ) -> None:  # X26
        """The undo takes back only the change of its own operation."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        rows = [m for m in app.messages.page(session).messages if m.fate == "goes"]
        app.by_hand.drop(session, max(rows, key=lambda m: m.number).id)
        dropped = cost(app, session)
        app.prunes.apply(session, PruneBody())
        app.operations.undo(session)
        assert app.sessions.get(session).cache.changed
        assert cost(app, session) == dropped

    def test_counts_the_undo_of_what_the_last_call_was_sent_with(self, app: App, clock: Clock) -> None:  # X26
        """The next call writes the messages that came back, and everything behind them."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        app.prunes.apply(session, PruneBody())
        call(app, session, 99)
        app.operations.undo(session)
        assert app.sessions.get(session).cache.changed
        assert cost(app, session).break_even_calls == 0

    def test_changes_the_verdict_when_the_cache_expires(self, app: App, clock: Clock) -> None:  # X26, X18
        """A price that was found with a warm cache is not used when it is cold."""
        session = automatic(app)
        app.sessions.patch(session, SessionChange(automatic=False))
        above(app, session)
        assert app.verdicts.of(session).kind == "wait"
        clock.later(6)
        assert not app.sessions.get(session).verdict.priced
        found = app.verdicts.of(session)
        assert found.kind == "above"
        assert "pays back at once" in found.text
