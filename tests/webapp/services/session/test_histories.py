"""Histories in memory: always what the store says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.building import conversation, entries, entry, followed, mid, said, user
from webapp.agents.records import Compaction
from webapp.app import App
from webapp.services.planning.requests import PlanRequest
from webapp.services.session.histories import Histories, SessionHistory
from webapp.services.session.session import Session


def same(app: App, session: str = "s") -> bool:
    """Return True if the cached view equals a new one."""
    row = app.store.sessions.get(session)
    kept, fresh = (
        app.histories.of(Session.of(app.environment, row)),
        Histories(app.store).of(Session.of(app.environment, row)),
    )

    def facts(view: SessionHistory) -> tuple[Any, ...]:
        history = view.history
        return (
            view.nos,
            history.tokens,
            history.units.head,
            history.pinned,
            history.drop_first,
            history.summarised,
            history.features,
            history.facts,
            view.replacements,
            view.version,
        )

    return facts(kept) == facts(fresh)


class TestViews:
    """One view a session."""

    def test_follow_appends_without_reading(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """An append extends the history that is there."""
        followed(app, *conversation(2))
        app.histories.of(Session.load(app.environment, "s"))
        monkeypatch.setattr(Histories, "_gather", lambda *_: pytest.fail("the view was read again"))
        app.ingest.append_records("s", entries(*conversation(2), start=50))
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 16

    def test_know_what_stands_before_a_summary(self, app: App) -> None:  # C8
        """A pin that stands before the summary; nothing once the summary is taken back."""
        followed(app, *conversation(6), user("end"))
        app.operations.pin("s", mid(app, "s", 1))
        made = app.summarising.summarise("s")
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 1
        app.operations.undo("s", made.operation.n)
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 0

    def test_know_the_agents_own_summary(self, app: App) -> None:  # C8
        """It stands before what came after it, and is a message itself."""
        summary = entry(90, user("what was before"), kind="compaction_summary")
        followed(app, *conversation(3))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", None), summary])
        app.ingest.append_records("s", entries(*conversation(2), start=100))
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 1
        assert same(app)

    @pytest.mark.parametrize("what", ["pin", "drop_first", "drop"])
    def test_are_read_anew_after_anything_else(self, app: App, what: str) -> None:
        """Flags and context are those of the store."""
        followed(app, *conversation(3), user("end"))
        app.histories.of(Session.load(app.environment, "s"))
        getattr(app.operations, what)("s", mid(app, "s", 2))
        assert same(app)

    def test_are_read_anew_when_a_message_grows(self, app: App) -> None:
        """A further block of a call changes what is there."""
        followed(app, user("go"))
        app.ingest.append_records("s", [entry(5, said("a"), group="g")])
        app.histories.of(Session.load(app.environment, "s"))
        app.ingest.append_records("s", [entry(6, said("b " * 50), group="g")])
        assert same(app)

    def test_forget_the_ratings_of_a_session_that_is_deleted(self, app: App) -> None:
        """Its number may be another's soon; after a prune they are still there."""
        app.settings.put({"strategy": "score"})
        followed(app, *conversation(3), user("end"))
        app.settings.put({"keywords": []})
        app.prunes.plan("s", PlanRequest())
        row = app.store.sessions.get("s")
        rated = app.histories.of(Session.of(app.environment, row)).ratings
        app.histories.drop(row.key)
        assert rated
        assert app.histories.of(Session.of(app.environment, row)).ratings is rated
        app.histories.forget(row.key)
        assert app.histories.of(Session.of(app.environment, row)).ratings == {}

    def test_are_forgotten_least_recently_used_first(self, app: App) -> None:
        """Once there are too many messages in all."""
        views = Histories(app.store, messages_kept=10)
        rows = []
        for name in ("a", "b", "c"):
            followed(app, *conversation(1), session_id=name)
            rows.append(Session.load(app.environment, name))
        first = views.of(rows[0])
        views.of(rows[1])
        assert views.of(rows[0]) is first
        views.of(rows[2])
        views.of(rows[1])
        assert views.of(rows[0]) is not first

    def test_know_the_cost_of_what_stands_in(self, app: App) -> None:
        """A shortened message costs what its replacement costs."""
        from webapp.services.session.replacements import replacement

        followed(app, *conversation(1))
        row = app.store.sessions.get("s")
        message = app.store.log.message(row.key, 3)
        with app.store.write():
            app.store.contexts.set_stand_ins(
                row.key, 1, [(message.first_seq, replacement(7, {"call-0": "cut"}))]
            )
        assert Histories(app.store).of(Session.of(app.environment, row)).history.tokens[2] == 7
