"""Repair: derived data is rebuilt, and damage to other data remains a reported fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside import outside
from tests.webapp.building import conversation, entries, followed, mid, user
from webapp.app import App
from webapp.bodies import MessagesQuery, PruneBody

DERIVED = [
    "UPDATE messages SET card = '{}', features = '{}'",
    "UPDATE messages SET features = 'broken'",
    "UPDATE messages SET first_seq = 9, chars = 0",
    "DELETE FROM messages WHERE key & 255 = 3",
    "UPDATE totals SET tokens = 1",
    "DELETE FROM totals",
    "UPDATE context_items SET position = position + 100 WHERE ref = 15 AND kind = 0",
    "DELETE FROM context_items WHERE ref = 17 AND view = 1",
    "DELETE FROM entry_words_docsize",
    "DELETE FROM memory_words",
]


@pytest.fixture
def used(app: App) -> App:
    """A session that was pruned and pinned, and a memory."""
    followed(app, *conversation(4), user("more"))
    app.by_hand.pin("s", mid(app, "s", 5))
    app.prunes.apply("s", PruneBody(max_tokens=300))
    app.memory.add("memory", "Always test.")
    return app


def shown(app: App) -> tuple[object, ...]:
    """Return the numbers of the session that the pages show."""
    session = app.sessions.get("s")
    page = app.messages.page("s", MessagesQuery(sort="oldest", limit=100))
    return (
        session.pruned,
        session.agent,
        [(m.text, m.tokens, m.pinned, m.in_context, m.turn) for m in page.messages],
        app.store.memories.search("memory", ["test"]),
    )


class TestRepair:
    """`coppice verify --repair`."""

    def test_keeps_messages_appended_meanwhile(self, used: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A session is reloaded before it is rebuilt."""
        outside(used.config.database, "DELETE FROM totals")
        verify, sound = used.store.verify, list[int]()

        def later() -> Iterator[str]:
            yield from verify()
            rows = used.store.sessions.all()
            monkeypatch.setattr(used.store.sessions, "all", lambda: rows)
            used.ingest.append_records("s", entries(user("meanwhile"), start=90))
            sound.append(used.store.sessions.get("s").next_no)

        monkeypatch.setattr(used.store, "verify", later)
        list(used.repairing.repair())
        assert [used.store.sessions.get("s").next_no] == sound
        assert list(verify()) == []

    @pytest.mark.parametrize("damage", DERIVED)
    def test_rebuilds_derived_data(self, used: App, damage: str) -> None:  # S1
        """Verify then finds no fault, and the pages show the same as before."""
        before = shown(used)
        outside(used.config.database, damage)
        assert list(used.verify())
        assert list(used.repairing.repair())
        assert list(used.verify()) == []
        if "DELETE FROM messages" not in damage:  # no other row holds its pin and its turn
            assert shown(used) == before

    @pytest.mark.parametrize("damage", ["UPDATE entries SET parts = '[]'", "DELETE FROM operation_items"])
    def test_leaves_faults_of_source_data(self, used: App, damage: str) -> None:
        """Damaged source data is not overwritten, and verify still reports it."""
        outside(used.config.database, damage)
        before = used.messages.page("s", MessagesQuery(sort="oldest")).messages[0].text
        list(used.repairing.repair())
        assert list(used.verify())
        assert used.messages.page("s", MessagesQuery(sort="oldest")).messages[0].text == before

    @pytest.mark.parametrize(
        ("damage", "reason"),
        [
            (
                "UPDATE sessions SET next_no = '', next_seq = 'x' WHERE id = 's'",
                "its row does not tell how long",
            ),
            ("UPDATE operations SET plan = ''", "Input is a zero-length, empty document"),
        ],
    )
    def test_goes_on_after_a_session_that_cannot_be_rebuilt(  # S1
        self, used: App, damage: str, reason: str
    ) -> None:
        """The reason is said, and the others and the index are rebuilt."""
        if not isinstance(used.config.database, Path):
            pytest.skip("a column of PostgreSQL holds its own type only")
        followed(used, *conversation(4), session_id="t")
        outside(
            used.config.database,
            damage,
            "DELETE FROM totals",
            "DELETE FROM entry_words_docsize",
        )
        done = list(used.repairing.repair())
        assert done[0].startswith(f"session s: cannot be rebuilt: {reason}")
        assert done[1:] == [
            "session t: messages, context and totals were rebuilt",
            "the index of words was rebuilt",
        ]
        assert [one for one in used.store.verify() if one.startswith("session t: ")] == []

    def test_does_nothing_to_a_sound_store(self, used: App) -> None:
        """No row and no version changes."""
        before = used.sessions.get("s").version
        assert list(used.repairing.repair()) == []
        assert used.sessions.get("s").version == before
