"""The list of operations, and the answer to an undo; test_operations_undo tests undo in general."""

from __future__ import annotations

import pytest

from tests.webapp.building import (
    conversation,
    entries,
    followed,
    heard,
    mid,
    said,
    user,
)
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.errors import Conflict, Invalid
from webapp.events import OperationUndone


class TestTheLog:
    """The log under everything that changes a context."""

    def test_is_only_appended_to(self, app: App) -> None:  # C7, P2, S1
        """No prune, summary, pin, drop, restore or undo changes, adds or removes an entry; a summary is none."""
        followed(app, *conversation(10), user("end"))
        row = app.store.sessions.get("s")
        before = app.store.log.entries(row.key, 0, row.next_seq)
        app.prunes.apply("s", PruneBody(max_tokens=1_300))
        app.summarising.summarise("s")
        for act, no in ((app.by_hand.pin, 41), (app.by_hand.drop, 40), (app.by_hand.restore, 40)):
            act("s", mid(app, "s", no))
        app.overflow.relieve("s")
        while any(one.undoable for one in app.operations.list("s")):
            app.operations.undo("s")
        app.ingest.append_records("s", entries(said("more"), start=99))
        after = app.store.log.entries(row.key, 0, app.store.sessions.get("s").next_seq)
        assert after[: len(before)] == before
        assert [one.message.text for one in after[len(before) :]] == ["more"]


class TestUndo:
    """The answer to an undo."""

    def test_announces_the_restored_messages(self, app: App) -> None:  # X2
        """The answer has the operations and messages, and the event the operations."""
        followed(app, *conversation(10), user("end"))
        event = app.prunes.apply("s", PruneBody(max_tokens=300)).event
        removed = list(event.removed_ids) if event else []
        app.by_hand.pin("s", mid(app, "s", 41))
        events = heard(app)
        undone = app.operations.undo("s", 1)
        assert (undone.undone, set(undone.restored_ids)) == ([2, 1], set(removed))
        assert OperationUndone("s", (2, 1)) in events
        assert app.sessions.get("s").prunes == 0
        with pytest.raises(Conflict, match="undone already"):
            app.operations.undo("s", 1)

    def test_without_an_operation_is_refused(self, app: App, session: str) -> None:
        """A session without operations has nothing to undo."""
        with pytest.raises(Conflict, match="nothing to undo"):
            app.operations.undo(session)


class TestList:
    """The list of operations."""

    def test_filters_by_kind(self, app: App, session: str) -> None:
        """The newest is first, and an unknown kind is refused."""
        app.by_hand.pin(session, mid(app, session, 1))
        app.by_hand.drop(session, mid(app, session, 4))
        assert [o.kind for o in app.operations.list(session)] == ["drop", "pin"]
        assert [o.kind for o in app.operations.list(session, kind="pin")] == ["pin"]
        with pytest.raises(Invalid, match="kind"):
            app.operations.list(session, kind="magic")

    def test_shows_the_effect_on_each_message(self, app: App, session: str) -> None:
        """Each message has its change and the reason."""
        app.by_hand.drop(session, mid(app, session, 4))
        [item] = app.operations.one(session, 1).items
        assert (item.number, item.change, item.reason) == (4, "out", "dropped by hand")
