"""The schema: created once, and the same in whichever process opens the database first."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import orjson
import pytest
from sqlite_utils import Database

from webapp.errors import FullDisk
from webapp.store import Store
from webapp.store.indexed_text import unindex_entries
from webapp.store.keys import key
from webapp.store.sessions import SessionRow
from webapp.store.sqlite import connection
from webapp.store.sqlite.migrations import migrations


class TestMigrations:
    """Numbered steps."""

    def test_are_recorded_and_not_repeated(self, tmp_path: Path) -> None:
        """Opening a second time finds nothing to do and everything there."""
        for _ in range(2):
            Store(tmp_path / "a.db").close()
        with sqlite3.connect(tmp_path / "a.db") as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations")]
        connection.close()
        assert names == [one.name for one in migrations._migrations]

    def test_run_once_when_several_open_at_the_same_time(self, tmp_path: Path) -> None:
        """Threads that race to make the database all find it whole."""
        barrier, failures = Barrier(4), []

        def run() -> None:
            barrier.wait()
            try:
                made = Store(tmp_path / "a.db")
                made.check()
                made.close()
            except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
                failures.append(error)

        threads = [Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


class TestInterruptedMigrations:
    """A migration that does not come to its end."""

    def older(self, path: Path) -> None:
        """A database of an earlier version, with a session."""
        with closing(Store(path)) as made, made.write():
            made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("DROP TABLE seals")
            old.execute("DELETE FROM _sqlite_migrations WHERE name = 'm007_seals'")

    def test_leave_the_database_as_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The next attempt begins where the first did, from the same rows."""
        path = tmp_path / "a.db"
        self.older(path)

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(connection, "seal_again", fail)
            with pytest.raises(FullDisk):
                Store(path)
        with closing(Store(path)) as again:
            assert [row.id for row in again.sessions.all()] == ["s"]
            assert list(again.verify()) == []

    def test_name_the_cause_where_sqlite_has_ended_the_transaction(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """SQLite rolls back by itself on some errors, such as a full disk."""
        self.older(tmp_path / "a.db")

        def fail(own: sqlite3.Connection, *_: object) -> None:
            own.execute("ROLLBACK")
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(connection, "seal_again", fail)
        with pytest.raises(FullDisk):
            Store(tmp_path / "a.db")

    def test_do_not_come_of_a_text_that_is_no_utf_8(self, tmp_path: Path) -> None:
        """The database opens, and the text stays for `verify` to report."""
        path = tmp_path / "a.db"
        self.older(path)
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("UPDATE sessions SET title = CAST(x'61ff' AS TEXT)")
        with closing(Store(path)) as again:
            [(title,)] = again.db.rows("SELECT CAST(title AS BLOB) FROM sessions")
            assert title == b"a\xff"
            assert any("UTF-8" in fault for fault in again.verify())

    def test_have_a_copy_of_before(self, tmp_path: Path) -> None:
        """Beside the database, named by the step, for its owner alone; none for a new one."""
        path = tmp_path / "a.db"
        self.older(path)
        assert list(tmp_path.glob("*before*")) == []
        Store(path).close()
        [copy] = tmp_path.glob("*before*")
        assert (copy.name, copy.stat().st_mode & 0o777) == ("a.db.before-m007_seals", 0o600)
        with closing(sqlite3.connect(copy)) as old:
            assert old.execute("SELECT id FROM sessions").fetchall() == [("s",)]
            assert not old.execute("SELECT 1 FROM sqlite_master WHERE name = 'seals'").fetchall()

    def test_have_a_copy_of_what_an_earlier_version_wrote_since(self, tmp_path: Path) -> None:
        """After going back to the earlier version, the next update copies again, and keeps the older copy."""
        path, before = tmp_path / "a.db", tmp_path / "a.db.before-m007_seals"
        self.older(path)
        backup = path.read_bytes()
        Store(path).close()
        os.utime(before, (0, 0))
        path.write_bytes(backup)
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("UPDATE sessions SET title = 'since'")
        Store(path).close()
        for copy, title in ((before, None), (before.with_name(f"{before.name}-2"), "since")):
            with closing(sqlite3.connect(copy)) as kept:
                assert kept.execute("SELECT title FROM sessions").fetchall() == [(title,)]

    def test_leave_no_incomplete_copies(self, tmp_path: Path) -> None:
        """The copy that a killed attempt was making, as large as the store, is removed by the next one."""
        self.older(tmp_path / "a.db")
        left = tmp_path / "a.db.before-m007_seals.part-123"
        left.touch()
        Store(tmp_path / "a.db").close()
        assert [path.name for path in tmp_path.glob("*before*")] == ["a.db.before-m007_seals"]


class TestSessionNumbers:
    """Numbers of sessions, which another process may keep in memory."""

    def older(self, path: Path) -> None:
        """A database as it was before numbers were for ever, with a session and its summary."""
        with sqlite3.connect(path) as connection:
            migrations.apply(Database(connection), stop_before="m004_session_numbers_for_ever")
            connection.execute(
                "INSERT INTO sessions (key, id, source, kind, created_at, last_activity_at, title) "
                "VALUES (7, 's', 'api', 'managed', 1, 1, 'kept')"
            )
            connection.execute(
                "INSERT INTO summaries VALUES "
                "(7 << 32 | 1, 't', 1, 1, 1, 2, 1, 1, '', 'x', NULL, NULL, '[]', 0.5, 1, 1)"
            )
        connection.close()

    def test_are_never_given_out_again(self, store: Store) -> None:
        """Neither that of the newest session, once it is deleted, nor any other."""
        made = [self.made(store, "a"), self.made(store, "b")]
        with store.write():
            for row in made:
                store.sessions.remove(row, None)
        assert self.made(store, "a").key > max(row.key for row in made)

    def made(self, store: Store, session_id: str) -> SessionRow:
        """Create a session."""
        with store.write():
            return store.sessions.create(
                id=session_id, source="api", kind="managed", created_at=1, last_activity_at=1
            )

    def test_stay_as_they_are_in_an_older_database(self, tmp_path: Path) -> None:
        """Its sessions keep number and columns, the next one gets a larger, and what hangs on one goes with it."""
        self.older(tmp_path / "a.db")
        store = Store(tmp_path / "a.db")
        old = store.sessions.get("s")
        assert (old.key, old.title, len(store.summaries.all(7))) == (7, "kept", 1)
        with store.write():
            store.sessions.remove(old, None)
        assert store.summaries.all(7) == []
        assert self.made(store, "t").key == 8
        store.close()

    def test_leave_the_schema_whole(self, store: Store) -> None:
        """Index and triggers of the sessions are there, and nothing of what it was made from."""
        sql = (
            "SELECT name FROM sqlite_master WHERE tbl_name LIKE 'sessions%' AND sql IS NOT NULL ORDER BY name"
        )
        assert [name for (name,) in store.db.rows(sql)] == [
            "sessions", "sessions_marked", "sessions_parent", "sessions_removed", "sessions_source",
        ]  # fmt: skip


class TestParents:
    """Parents in a database that allowed them to form a circle."""

    def test_are_freed_of_circles(self, tmp_path: Path) -> None:
        """One parent of each circle goes, all others stay: each session is found from the top again."""
        with sqlite3.connect(tmp_path / "a.db") as connection:
            migrations.apply(Database(connection), stop_before="m005_parents_without_circles")
            for name, parent in (
                ("a", "b"),
                ("b", "c"),
                ("c", "a"),
                ("below", "b"),
                ("self", "self"),
                ("x", "?"),
            ):
                connection.execute(
                    "INSERT INTO sessions (id, parent_id, source, kind, created_at, last_activity_at) "
                    "VALUES (?, ?, 'api', 'managed', 1, 1)",
                    (name, parent),
                )
        connection.close()
        store = Store(tmp_path / "a.db")
        found = {row.id: row.parent_id for row in store.sessions.all()}
        assert found == {"a": None, "b": "c", "c": "a", "below": "b", "self": None, "x": "?"}
        store.close()


class TestWordsOfCalls:
    """The index of a database that held calls as JSON spells them."""

    def test_become_what_the_calls_say(self, tmp_path: Path) -> None:
        """The old words are no longer found, those of other messages still are."""
        spelled = r'{"text": "jar\nplums"}'
        parts = orjson.dumps(
            [{"type": "tool_call", "id": "c", "name": "Write", "arguments": spelled}]
        ).decode()
        other = orjson.dumps([{"type": "text", "text": "nplums"}]).decode()
        with sqlite3.connect(tmp_path / "a.db") as connection:
            migrations.apply(Database(connection), stop_before="m006_words_of_calls")
            connection.execute(
                "INSERT INTO sessions (key, id, source, kind, created_at, last_activity_at) "
                "VALUES (1, 's', 'api', 'managed', 1, 1)"
            )
            for seq, said, words in ((1, parts, f"Write\n{spelled}"), (2, other, "nplums")):
                connection.execute(
                    "INSERT INTO entries (key, id, message_no, kind, role, parts) "
                    "VALUES (?, x'00', ?, 'm', 'assistant', ?)",
                    (key(1, seq), seq, said),
                )
                connection.execute(
                    "INSERT INTO entry_words (rowid, text) VALUES (?, ?)", (key(1, seq), words)
                )
        connection.close()
        store = Store(tmp_path / "a.db")
        found = {
            word: store.words.in_session(1, f'"{word}"') for word in ("plums", "nplums", "text", "Write")
        }
        assert found == {"plums": [1], "nplums": [2], "text": [], "Write": [1]}
        store.close()


class TestWordsInPairs:
    """The index of a database that took a run without spaces for one word."""

    def test_finds_what_stands_inside_a_run(self, tmp_path: Path) -> None:
        """In messages and memories; nothing else is lost, and deleting the session leaves no word of it."""
        said = (("先检查配置文件", "assistant"), ("plums", "user"))
        with sqlite3.connect(tmp_path / "a.db") as connection:
            migrations.apply(Database(connection), stop_before="m017_words_in_pairs")
            connection.execute(
                "INSERT INTO sessions (key, id, source, kind, next_seq, next_no, created_at, last_activity_at) "
                "VALUES (1, 's', 'api', 'managed', 3, 3, 1, 1)"
            )
            for seq, (text, role) in enumerate(said, 1):
                parts = orjson.dumps([{"type": "text", "text": text}]).decode()
                connection.execute(
                    "INSERT INTO entries (key, id, message_no, kind, role, parts) VALUES (?, x'00', ?, 'm', ?, ?)",
                    (key(1, seq), seq, role, parts),
                )
                connection.execute("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", (key(1, seq), text))
            connection.execute(
                "INSERT INTO memories (kind, text, created_at, updated_at) VALUES ('memory', '使用制表符', 1, 1)"
            )
        connection.close()
        with closing(Store(tmp_path / "a.db")) as store:
            assert [store.words.in_session(1, q) for q in ("文件", "先检查", "plums")] == [[1], [1], [2]]
            assert [m.text for m in store.memories.search("memory", ["制表"])] == ["使用制表符"]
            with store.write():
                unindex_entries(store.db, 1, 3)
            assert store.words.numbers(1) == set()
            assert store.words.in_session(1, "文件") == []
            store.check()

    def test_leaves_out_what_is_damaged(self, tmp_path: Path) -> None:
        """A store with an entry that cannot be read opens all the same."""
        with sqlite3.connect(tmp_path / "a.db") as connection:
            migrations.apply(Database(connection), stop_before="m017_words_in_pairs")
            connection.execute(
                "INSERT INTO sessions (key, id, source, kind, next_seq, next_no, created_at, last_activity_at) "
                "VALUES (1, 's', 'api', 'managed', 4, 4, 1, 1)"
            )
            text = "先检查配置文件"
            whole = orjson.dumps([{"type": "text", "text": text}]).decode()
            for seq, parts in enumerate(("[{", '[{"type": "text", "text": 7}]', whole), 1):
                connection.execute(
                    "INSERT INTO entries (key, id, message_no, kind, role, parts) VALUES (?, x'00', ?, 'm', 'user', ?)",
                    (key(1, seq), seq, parts),
                )
            connection.execute("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", (key(1, 3), text))
        connection.close()
        with closing(Store(tmp_path / "a.db")) as store:
            assert store.words.in_session(1, "文件") == [3]


class TestTokens:
    """Tokens of a database that knew two roles."""

    def test_and_the_sessions_of_browsers_stay_when_a_role_is_added(self, tmp_path: Path) -> None:
        """Nobody has to log in again."""
        path = tmp_path / "a.db"
        Store(path).close()
        with closing(sqlite3.connect(path)) as old, old:
            roles = "('viewer', 'operator', 'sender')"
            [(table,)] = old.execute("SELECT sql FROM sqlite_master WHERE name = 'access_tokens'").fetchall()
            old.execute("DROP TABLE access_tokens")
            old.execute(table.replace(roles, "('viewer', 'operator')"))
            old.execute("INSERT INTO access_tokens VALUES (7, x'01', 'team', 'viewer', 1, NULL)")
            old.execute("INSERT INTO access_sessions VALUES (x'02', 7, NULL, 'host', 9)")
            old.execute("DELETE FROM _sqlite_migrations WHERE name = 'm013_senders'")
        store = Store(path)
        session = store.access.sign_in(b"\x02")
        assert session is not None
        assert session.token is not None
        assert (session.token.name, session.token.role) == ("team", "viewer")
        with store.write():
            assert store.access.add_token(b"\x03", "", "sender", 1).key == 8
        store.check()
        store.close()
