"""Verify: every kind of damage is found, and a sound store has none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.building import call, followed, result, said, user
from webapp.store.context import PRUNED
from webapp.store.keys import SHIFT

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
    "UPDATE messages SET out_operation = 1 WHERE key & 255 = 1": "marked as out",
}


@pytest.fixture
def app_with_session(app: Any) -> Any:
    """A session with a call and its result."""
    followed(app, user("go"), call("c1"), result("c1", "out"), said("done"), user("more"))
    return app


class TestVerify:
    """The proof of the store."""

    def test_finds_nothing_in_a_sound_store(self, app_with_session: Any) -> None:
        """No false alarm."""
        assert list(app_with_session.verify()) == []

    @pytest.mark.parametrize("damage", DAMAGE)
    def test_finds_damage(self, app_with_session: Any, damage: str) -> None:
        """Each kind of change from outside is told in words."""
        with app_with_session.store.write():
            app_with_session.store.db.run(damage)
        assert any(DAMAGE[damage] in fault for fault in app_with_session.verify())

    def test_finds_a_pair_that_was_torn(self, app_with_session: Any) -> None:  # P4
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
        assert [f for f in app.verify() if "its call (message 2) is not" in f]
        assert row.key << SHIFT > 0
