"""Verify: every kind of damage is found, and a sound store has none."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.outside import TABLES, in_dialect, program
from tests.outside import outside as past
from tests.webapp.building import (
    call,
    context_numbers,
    conversation,
    entry,
    followed,
    mid,
    result,
    said,
    usage,
    user,
)
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Database
from webapp.store.context import PRUNED
from webapp.store.log import entry_id

# A change of the database behind our back -> words of the fault that has to be found.
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


@contextmanager
def taken_back(database: Database, damage: str) -> Iterator[None]:
    """Put the database back as it was; in PostgreSQL only the seals and the table that the statement changes."""
    with program(database) as other:
        if isinstance(database, Path):
            with closing(sqlite3.connect(":memory:")) as kept:
                other.backup(kept)
                yield
                kept.backup(other)
            return
        found = re.match(r"(?:UPDATE|DELETE FROM) (\w+)", damage)
        assert found is not None
        for table in (found[1], "seals"):
            other.execute(f"CREATE TEMPORARY TABLE kept_{table} AS SELECT * FROM {table}")
        yield
        for table in (found[1], "seals"):
            other.execute(f"DELETE FROM {table}")
            other.execute(f"INSERT INTO {table} SELECT * FROM kept_{table}")


def missed(app: App, damages: Mapping[str, str], do: Callable[[App, str], None]) -> dict[str, list[str]]:
    """Return the damages whose words no fault has, each with the faults; each begins with the same sound store."""
    found: dict[str, list[str]] = {}
    for damage, words in damages.items():
        with taken_back(app.config.database, damage):
            do(app, damage)
            faults = list(app.verify())
        if not any(words in fault for fault in faults):
            found[damage] = faults
        assert list(app.verify()) == [], f"{damage} was not taken back"
    return found


@pytest.fixture
def app_with_session(app: App) -> App:
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

    def test_finds_damage(self, app_with_session: App) -> None:
        """Each kind of change under a fitting seal is named in words."""
        assert missed(app_with_session, DAMAGE, sealed) == {}

    def test_finds_a_pair_that_was_torn(self, app_with_session: App) -> None:  # P4
        """A result without its call is a fault, although every reference holds."""
        app = app_with_session
        app.by_hand.drop("s", f"2-{app.store.log.message(1, 2).id.hex()}")
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

    def test_pairs_a_result_with_the_latest_call_of_its_id(self, app: App) -> None:  # P4
        """Some programs number the calls of each turn from 0, and a call that was interrupted has no result."""
        followed(app, user("go"), call("c1"), result("c1", "out"), user("again"), call("c1"), user("stop"))
        app.by_hand.drop("s", mid(app, "s", 2))
        assert context_numbers(app, "s") == [1, 4, 5, 6]
        assert list(app.verify()) == []

    def test_finds_an_entry_that_was_given_to_another_message(self, app: App) -> None:
        """Every hash holds and every message has entries, and the fault is found all the same."""
        blocks = [entry(2, said("one"), group="g"), entry(3, said("two"), group="g")]
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(1, said("before")), *blocks])
        assert list(app.verify()) == []
        with app.store.write():
            app.store.db.run("UPDATE entries SET message_no = 1 WHERE key & 255 = 2")
            app.store.db.run("UPDATE messages SET last_seq = 2 WHERE key & 255 = 1")
            app.store.db.run("UPDATE messages SET last_seq = 1 WHERE key & 255 = 2")
        assert "session s: entry 2 has no part in its message (1)" in list(app.verify())


# A change of the file by another program -> words of the fault that has to be found.
FROM_OUTSIDE = {
    "DELETE FROM operation_items": "an undo would bring back no more",
    "DELETE FROM operation_items WHERE no = 1": "the record of what its operations did was changed",
    "UPDATE operation_items SET before = 'x'": "the record of what its operations did was changed",
    "UPDATE operation_items SET detail = '{}'": "the record of what its operations did was changed",
    "DELETE FROM operations": "it had 2 operations, the record has 0",
    "UPDATE operations SET undone_at = 1": "which does not say so",
    "UPDATE operations SET reason = 'x'": "its operations were changed",
    "UPDATE context_items SET stand_in = '{}' WHERE ref = 1 AND view = 1": "a text that replaces an output",
    "UPDATE summaries SET text = 'Nothing happened.'": "its summaries were changed",
    "UPDATE memories SET text = 'Never test.'": "memories or learnings were changed",
    "DELETE FROM memories": "memories or learnings were changed",
    'UPDATE messages SET card = \'{"text": ""}\'': "its messages were changed",
    "UPDATE messages SET features = json_set(features, '$.keywords', 1)": "its messages were changed",
    "UPDATE messages SET pinned = 1 WHERE key & 255 = 1": "flags of its messages were changed",
    "UPDATE messages SET out_operation = 7 WHERE out_operation = 1": "by operation 7, which does not say so",
    "UPDATE samples SET view_tokens = 1": "its chart was changed",
    "UPDATE calls SET input_tokens = 1": "its reported usage was changed",
    "UPDATE sessions SET title = 'x' WHERE key = 1": "session s: its own row was changed",
    "UPDATE sessions SET state = 'broken' WHERE key = 1": "its stored state is damaged",
    "UPDATE sessions SET state = '[]', settings = '7' WHERE key = 1": "its stored settings is damaged",
    "UPDATE operations SET plan = 'broken'": "its operations cannot be read",
    "UPDATE messages SET features = 'broken'": "cannot be read",
    "UPDATE entries SET parts = 'broken'": "its index of words cannot be read",
    "UPDATE summaries SET covers = 'broken'": "its summaries cannot be read",
    "UPDATE context_items SET stand_in = 'broken' WHERE ref = 3": "context cannot be read",
    "UPDATE settings SET value = 'broken'": "settings were changed",
    "DELETE FROM sessions WHERE key = 1": "which does not exist",
}
# The same for an index of words, which is no table of ours that could be filled again.
FROM_INDEXES = {
    "DELETE FROM entry_words_docsize WHERE id & 255 = 1": "the index of words lacks",
    "DELETE FROM memory_words WHERE rowid = 1": "the index of words of memories lacks 1",
}


@pytest.fixture
def used(app: App) -> App:
    """A session that was pruned and pinned, one with a summary, a memory, a learning and a setting."""
    followed(app, *conversation(4), user("more"))
    app.ingest.append_records("s", [entry(70, said("counted"), usage=usage(900), call_key="call")])
    app.by_hand.pin("s", mid(app, "s", 5))
    app.prunes.apply("s", PruneBody(max_tokens=300))
    followed(app, *conversation(6), session_id="t")
    app.summarising.summarise("t")
    app.memory.add("memory", "Always test.")
    app.settings.put({"fresh_tail": 7})
    assert list(app.verify()) == []
    return app


def sealed(app: App, statement: str) -> None:
    """Change the database as the store does, with its seals."""
    with app.store.write():
        app.store.db.run(in_dialect(app.config.database, statement))


def outside(app: App, *statements: str) -> None:
    """Change the database as another program would."""
    past(app.config.database, *statements)


class TestWhatAnotherProgramDid:
    """Every table is under a seal or derived from what is."""

    def test_is_found(self, used: App) -> None:
        """In words, and never in a traceback."""
        assert missed(used, FROM_OUTSIDE, outside) == {}

    def test_is_found_in_an_index_of_words(self, used: App) -> None:
        """Rows of an index that are gone are named."""
        for statement, words in FROM_INDEXES.items():
            outside(used, statement)
            faults = list(used.verify())
            assert any(words in fault for fault in faults), faults

    def test_is_found_where_a_session_is_gone_with_all_its_rows(self, used: App, engine: str) -> None:
        """It is found even if the seals of the session are gone, too."""
        with used.store.read():
            tables = [name for (name,) in used.store.db.rows(TABLES[engine])]
        for table in tables:
            columns = [] if "_words" in table else list(used.store.db.columns(table))
            if "session" in columns:
                outside(used, f"DELETE FROM {table} WHERE session = 1")
            elif columns[:1] == ["key"] and table != "sessions":
                outside(used, f"DELETE FROM {table} WHERE key >> 32 = 1")
        outside(
            used,
            "DELETE FROM operation_items WHERE operation >> 32 = 1",
            "DELETE FROM sessions WHERE key = 1",
        )
        assert any("the list of sessions was changed" in fault for fault in used.verify())

    def test_is_found_where_the_chain_was_computed_again(self, used: App) -> None:
        """A word of the log is changed, and every id after it made to fit."""
        row = used.store.sessions.get("s")
        entries = used.store.log.entries(row.key, 0, row.next_seq)
        entries[0].parts = entries[0].parts.replace("request 0", "request 7")
        entries[0].raw = None
        before: bytes | None = None
        statements: list[str] = []
        for one in entries:
            before = entry_id(before, one)
            if one.message_no:
                old = used.store.log.message(row.key, one.message_no)
                if old.id == one.id:
                    statements.append(
                        f"UPDATE messages SET id = x'{before.hex()}' WHERE key = {row.key << 32 | old.no}"
                    )
            parts, raw = one.parts.replace("'", "''"), "raw" if one.raw else "NULL"
            changed = f"id = x'{before.hex()}', parts = '{parts}', raw = {raw}"
            statements.append(f"UPDATE entries SET {changed} WHERE key = {row.key << 32 | one.seq}")
        outside(
            used, *statements, f"UPDATE sessions SET last_entry_id = x'{before.hex()}' WHERE key = {row.key}"
        )
        faults = list(used.verify())
        assert "session s: entries of its log were changed from outside" in faults, faults
