"""Verify: every kind of damage is found, and a sound store has none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.building import call, conversation, entry, followed, result, said, user
from webapp.app import App
from webapp.store.context import PRUNED

# What somebody might do to the database behind our back -> words of the fault that has to be found.
DAMAGE = {
    "UPDATE entries SET parts = '[]' WHERE key & 255 = 1": "not what was written",
    "UPDATE entries SET role = 'user' WHERE key & 255 = 1": "not what was written",
    "DELETE FROM entries WHERE key & 255 = 2": "is missing",
    "DELETE FROM entries WHERE key & 255 = 4": "the log ends at entry 4",
    "UPDATE sessions SET last_entry_id = x'00'": "not the one that the session names",
    "DELETE FROM messages WHERE key & 255 = 2": "message 2 is missing",
    "DELETE FROM context_items WHERE view = 1 AND ref = 3": "totals",
    "UPDATE context_items SET ref = 99 WHERE view = 0 AND ref = 3": "does not exist",
    "UPDATE totals SET tokens = tokens + 1 WHERE view = 1": "totals",
    "UPDATE totals SET messages = messages + 1 WHERE view = 1 AND region = 'user'": "say 6 messages, it has 5",
    "UPDATE messages SET out_operation = 1 WHERE key & 255 = 1": "marked as out",
    "DELETE FROM context_items WHERE view = 1 AND ref = 1": "message 1 is neither in the context nor marked",
    "UPDATE context_items SET position = 99 WHERE view = 1 AND ref = 3": "stands at the wrong place",
    "UPDATE entries SET message_no = 99 WHERE key & 255 = 1": "belongs to message 99, which does not exist",
    "UPDATE entries SET message_no = 1 WHERE key & 255 = 1": "message 2 has no entries",
    "UPDATE entries SET message_no = 5 WHERE key & 255 = 3": "message 5 does not fit its entries",
    "UPDATE messages SET id = x'00' WHERE key & 255 = 2": "message 2 does not fit its entries",
    "UPDATE messages SET last_seq = 4 WHERE key & 255 = 2": "message 2 does not fit its entries",
    "UPDATE messages SET role = 'user' WHERE key & 255 = 2": "message 2 does not fit its entries",
    "UPDATE summaries SET covers = '[[0, 99]]'": "summary 1 covers message 99, which does not exist",
    "UPDATE summaries SET covers = '[[1, 1]]'": "summary 1 covers summary 1, which is not before it",
    "UPDATE context_items SET ref = 9 WHERE kind = 1": "summary 9 stands in the context and does not exist",
}


@pytest.fixture
def app_with_session(app: App) -> Any:
    """A session with a call and its result, and one with a summary."""
    followed(app, user("go"), call("c1"), result("c1", "out"), said("done"), user("more"))
    followed(app, *conversation(6), session_id="t")
    app.summarising.summarise("t")
    return app


class TestVerify:
    """The proof of the store."""

    def test_finds_nothing_in_a_sound_store(self, app_with_session: App) -> None:
        """No false alarm."""
        assert list(app_with_session.verify()) == []

    @pytest.mark.parametrize("damage", DAMAGE)
    def test_finds_damage(self, app_with_session: App, damage: str) -> None:
        """Each kind of change from outside is named in words."""
        with app_with_session.store.write():
            app_with_session.store.db.run(damage)
        assert any(DAMAGE[damage] in fault for fault in app_with_session.verify())

    def test_finds_a_pair_that_was_torn(self, app_with_session: App) -> None:  # P4
        """A result without its call is a fault, although every reference holds."""
        app = app_with_session
        app.operations.drop("s", f"2-{app.store.log.message(1, 2).id.hex()}")
        row = app.store.sessions.get("s")
        item = app.store.log.message(row.key, 3)
        with app.store.write():
            app.store.contexts.add(row.key, PRUNED, [(item.first_seq, 3)])
            app.store.log.set_flag(row.key, [3], "out_operation", None)
            tokens = app.store.contexts.totals(row.key)[PRUNED]
            tokens["tool"] = (item.tokens, 1)
            app.store.contexts.put_totals(row.key, PRUNED, tokens)
        [fault] = app.verify()
        assert fault == "session s: a result of c1 is in the context, its call (message 2) is not"

    def test_finds_an_entry_that_was_given_to_another_message(self, app: App) -> None:
        """Although every hash holds and every message has entries."""
        blocks = [entry(2, said("one"), group="g"), entry(3, said("two"), group="g")]
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(1, said("before")), *blocks])
        assert list(app.verify()) == []
        with app.store.write():
            app.store.db.run("UPDATE entries SET message_no = 1 WHERE key & 255 = 2")
            app.store.db.run("UPDATE messages SET last_seq = 2 WHERE key & 255 = 1")
            app.store.db.run("UPDATE messages SET last_seq = 1 WHERE key & 255 = 2")
        assert "session s: entry 2 has no part in its message (1)" in list(app.verify())
