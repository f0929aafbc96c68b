"""Limits on the age and size of sessions: which are deleted, which never, and the texts about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.webapp.building import entries, heard, said, user
from webapp.app import App
from webapp.bodies import SessionChange
from webapp.config import Config, Database
from webapp.errors import Conflict, Invalid
from webapp.events import SettingsChanged
from webapp.services.catalog.answers import RetentionLimits
from webapp.services.catalog.nights import NIGHT
from webapp.services.catalog.retention import OFF, RetentionService
from webapp.services.catalog.retention_choice import DAY_MS
from webapp.services.session.times import to_ms
from webapp.wiring import build

LATER = datetime(2026, 8, 1, 12, tzinfo=UTC)


def limits(days: int | None = None, size: int | None = None, user_size: int | None = None) -> RetentionLimits:
    """Return limits."""
    return RetentionLimits(days=days, size_mib=size, user_size_mib=user_size)


@pytest.fixture
def now() -> list[int]:
    """Return the time of the services, half a year after the first sessions."""
    return [to_ms(LATER) or 0]


@pytest.fixture
def app(database: Database, now: list[int]) -> Iterator[App]:
    """Yield services with a clock of the test's own."""
    made = build(Config(db=database, tokenizer=False, follow=False, env={}))
    made.environment.clock = lambda: now[0]
    yield made
    made.close()


def session(
    app: App, name: str, *, days_ago: int = 182, owner: str = "", parent: str | None = None,
    kind: str | None = None, mib: int = 0,
) -> None:  # fmt: skip
    """Create a session last used `days_ago` days before `LATER`, with a log of about `mib` MiB."""
    app.ingest.ensure(
        name, "claude-code", parent_id=parent, agent_type=kind,
        state={"owner": owner, "host": "box" if owner else ""},
    )  # fmt: skip
    at = LATER.timestamp() - days_ago * 86_400
    for n, entry in enumerate(entries(user("go"), said("x" * max(1, mib << 20)))):
        when = datetime.fromtimestamp(at + n, UTC)
        app.ingest.append_records(name, [type(entry)(entry.message, f"{name}-{n}", at=when)])


def ids(app: App) -> set[str]:
    """Return the ids of all sessions."""
    return {row.id for row in app.store.sessions.all()}


def to_delete(app: App, wanted: RetentionLimits) -> list[str]:
    """Return the ids of the sessions that limits select, in order."""
    return [one.id for one in app.retention.preview(wanted).named]


class TestWithoutLimits:
    """The default: no limit is set."""

    def test_nothing_is_ever_deleted(self, app: App) -> None:
        """The oldest session stays, and the text says so."""
        session(app, "old", days_ago=5_000)
        found = app.retention.preview()
        assert (found.limits, found.sessions, found.next_at) == (OFF, 0, None)
        assert found.text == "No limit is set: no session is ever deleted by itself."
        assert app.retention.run_if_due() is False
        assert ids(app) == {"old"}


class TestAge:
    """The limit `days`."""

    def test_selects_sessions_unused_for_longer(self, app: App) -> None:
        """A session of exactly that age stays."""
        for days in (10, 30, 31, 90):
            session(app, f"d{days}", days_ago=days)
        assert to_delete(app, limits(days=30)) == ["d90", "d31"]

    def test_is_announced(self, app: App) -> None:
        """Open pages show the new limits."""
        events = heard(app)
        app.retention.put(limits(days=30))
        assert events == [SettingsChanged()]

    def test_is_described_with_number_size_and_date(self, app: App) -> None:
        """The text has the number, size and latest day of the sessions that will be deleted."""
        session(app, "a", days_ago=60, mib=1)
        session(app, "b", days_ago=90)
        text = app.retention.put(limits(days=30)).text
        assert text == "2 sessions, 1.0 MiB, last used before 2026-06-03, will be deleted tonight."
        assert "would be deleted" in app.retention.preview(limits(days=30)).text


class TestSize:
    """The limits `size_mib` and `user_size_mib`."""

    def test_selects_the_longest_unused_until_the_others_fit(self, app: App) -> None:
        """No session is selected beyond that."""
        for days in (5, 20, 40):
            session(app, f"d{days}", days_ago=days, mib=1)
        assert to_delete(app, limits(size=4)) == []
        assert to_delete(app, limits(size=3)) == ["d40"]
        assert to_delete(app, limits(size=2)) == ["d40", "d20"]

    def test_holds_for_each_user(self, app: App) -> None:
        """A user's sessions count only against the limit of that user."""
        session(app, "ada-1", days_ago=9, owner="ada", mib=1)
        session(app, "ada-2", days_ago=5, owner="ada", mib=1)
        session(app, "bob-1", days_ago=99, owner="bob", mib=1)
        found = app.retention.preview(limits(user_size=2))
        assert [(one.id, one.user, one.reason) for one in found.named] == [("ada-1", "ada", "user_size")]


class TestNeverDeleted:
    """Sessions that no limit deletes."""

    def test_are_sessions_used_within_a_day(self, app: App) -> None:
        """Their agent may still run, so they stay even if larger than the limit."""
        session(app, "now", days_ago=0, mib=2)
        assert to_delete(app, limits(days=1, size=1)) == []

    def test_are_kept_sessions_and_their_parents(self, app: App) -> None:
        """A session marked as kept stays, and so does its parent."""
        session(app, "a")
        session(app, "a.agent-1", parent="a")
        session(app, "b")
        app.sessions.patch("a.agent-1", SessionChange(kept=True))
        assert app.sessions.get("a.agent-1").kept
        assert to_delete(app, limits(days=30)) == ["b"]
        app.sessions.patch("a.agent-1", SessionChange(kept=False))
        assert set(to_delete(app, limits(days=30))) == {"a", "b"}

    def test_are_sessions_kept_by_another_process_during_an_append(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An append prepared earlier does not overwrite the mark."""
        session(app, "a")
        other, write = build(app.config), app.ingest._writer._write

        def later(*values: Any) -> Any:
            other.sessions.patch("a", SessionChange(kept=True))
            return write(*values)

        monkeypatch.setattr(app.ingest._writer, "_write", later)
        app.ingest.append_records("a", entries(user("more"), start=9))
        assert app.sessions.get("a").kept
        other.close()

    def test_are_sessions_with_a_sub_agent_in_use(self, app: App) -> None:
        """A session is deleted with its sub-agents or not at all."""
        session(app, "a")
        session(app, "a.agent-1", parent="a", days_ago=0)
        session(app, "b")
        session(app, "b.agent-1", parent="b", days_ago=40)
        found = app.retention.preview(limits(days=30))
        assert [(one.id, one.sessions) for one in found.named] == [("b", 2)]
        assert found.sessions == 2

    def test_leave_a_fork_that_is_in_use(self, app: App) -> None:
        """A fork goes on by itself, and is neither deleted with its parent nor keeps it."""
        session(app, "a")
        session(app, "f", parent="a", kind="fork", days_ago=0)
        assert to_delete(app, limits(days=30)) == ["a"]
        app.sessions.delete("a")
        assert ids(app) == {"f"}


class TestClocks:
    """Clocks of agents and of the server that are wrong."""

    def test_that_are_slow_delete_no_session_in_use(self, app: App, now: list[int]) -> None:
        """A transcript read within the last day stays, even if its own times are years ago."""
        at, now[0] = now[0], now[0] - 5 * DAY_MS
        for name in ("grows", "arrived"):
            session(app, name, days_ago=2_000)
        now[0] = at
        for name, days in (("grows", 0.5), ("arrived", 5)):
            with app.store.write():
                app.store.small.put_file(f"/{name}", name, {}, at - int(days * DAY_MS))
        assert to_delete(app, limits(days=30)) == ["arrived"]

    def test_that_are_fast_keep_no_session_for_ever(self, app: App, now: list[int]) -> None:
        """A time in the future is ignored; the time of the last read counts instead."""
        now[0] -= 90 * DAY_MS
        session(app, "ahead", days_ago=-2_000)
        now[0] += 90 * DAY_MS
        assert to_delete(app, limits(days=100)) == []
        assert to_delete(app, limits(days=30)) == ["ahead"]

    def test_that_jump_delay_the_deletion_by_a_night(self, app: App, now: list[int]) -> None:
        """A clock corrected by then deletes nothing. A server that was off waits a night, too."""
        session(app, "a", days_ago=2)
        app.retention.put(limits(days=30))
        right = now[0]
        now[0] += 4_000 * DAY_MS
        assert app.retention.run_if_due() is False
        now[0] = right + DAY_MS
        assert app.retention.run_if_due() is False
        now[0] += DAY_MS
        assert app.retention.run_if_due() is True
        assert ids(app) == {"a"}


class TestApplying:
    """The deletion itself."""

    def test_deletes_like_a_deletion_by_hand(self, app: App) -> None:
        """A followed session leaves a marker against a new import, and the store has no fault."""
        session(app, "a")
        session(app, "a.agent-1", parent="a")
        session(app, "new", days_ago=2)
        app.retention.put(limits(days=30))
        done = app.retention.apply(2)
        assert (done.sessions, ids(app)) == (2, {"new"})
        assert done.text.endswith("deleted.")
        assert app.ingest.ensure("a", "claude-code") is None
        assert list(app.verify()) == []

    def test_leaves_sessions_used_meanwhile(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A sub-agent that continues stays, and a session deleted by another process is not counted."""
        for name in ("a", "b", "c"):
            session(app, name)
            session(app, f"{name}.agent-1", parent=name, mib=1)
        app.retention.put(limits(days=30))
        delete = app.sessions.delete

        def meanwhile(session_id: str) -> list[str]:
            if session_id == "a":
                app.ingest.append_records("b.agent-1", entries(user("once more")))
                delete("c.agent-1")
            return delete(session_id)

        monkeypatch.setattr(app.sessions, "delete", meanwhile)
        done = app.retention.apply(6)
        assert ids(app) == {"b", "b.agent-1"}
        assert (done.sessions, done.text) == (3, "3 sessions, 1.0 MiB deleted.")

    def test_leaves_sessions_kept_meanwhile(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A session that is kept while others are deleted stays, and a new sub-agent of another is deleted with it."""
        for name in ("a", "b", "c"):
            session(app, name)
        app.retention.put(limits(days=30))
        delete = app.sessions.delete

        def meanwhile(session_id: str) -> list[str]:
            if session_id == "a":
                app.sessions.patch("b", SessionChange(kept=True))
            if session_id == "c":
                session(app, "c.agent-1", parent="c")
            return delete(session_id)

        monkeypatch.setattr(app.sessions, "delete", meanwhile)
        assert (app.retention.apply(3).sessions, ids(app)) == (3, {"b"})

    def test_reports_zero_deletions(self, app: App) -> None:
        """The text has zero sessions and zero MiB."""
        app.retention.put(limits(days=30))
        assert app.retention.apply().text == "0 sessions, 0.0 MiB deleted."

    def test_deletes_only_the_confirmed_number(self, app: App) -> None:
        """Another session may have reached the limit meanwhile."""
        session(app, "a")
        session(app, "b")
        app.retention.put(limits(days=30))
        with pytest.raises(Conflict, match="1 sessions were confirmed and 2"):
            app.retention.apply(1)
        assert ids(app) == {"a", "b"}

    def test_happens_once_in_the_next_night(self, app: App, now: list[int]) -> None:
        """Limits set today delete nothing today, and only one of several servers applies them."""
        session(app, "a")
        app.retention.put(limits(days=30))
        assert app.retention.run_if_due() is False
        now[0] += DAY_MS
        other = RetentionService(app.environment, app.sessions)
        assert [app.retention.run_if_due(), other.run_if_due()] == [True, False]
        assert ids(app) == set()

    def test_happens_once_with_servers_in_several_time_zones(self, app: App, now: list[int]) -> None:
        """A server whose date is still the day before does not repeat the night."""
        app.retention.put(limits(days=30))
        now[0] += DAY_MS
        assert app.retention.run_if_due() is True
        session(app, "a")
        now[0] -= DAY_MS
        assert app.retention.run_if_due() is False
        now[0] += DAY_MS
        assert app.retention.run_if_due() is False
        assert ids(app) == {"a"}

    def test_states_its_time(self, app: App, now: list[int]) -> None:
        """The next time is at night in the server's time zone."""
        app.retention.put(limits(days=30))
        at = datetime.fromisoformat(app.retention.preview().next_at or "")
        assert (at.hour, at.minute) == (NIGHT, 0)
        assert 0 < at.timestamp() * 1000 - now[0] <= DAY_MS
        assert app.retention.preview(limits(days=30)).next_at is None

    def test_refuses_zero_days(self, app: App) -> None:
        """Zero days would delete everything."""
        with pytest.raises(Invalid, match="days"):
            app.retention.put(limits(days=0))

    def test_is_off_if_the_stored_limits_are_damaged(self, app: App) -> None:
        """An invalid stored value deletes nothing."""
        session(app, "a")
        with app.store.write():
            app.store.small.put_setting("retention", {"days": "30"})
        assert app.retention.limits() == OFF
