"""The schema in PostgreSQL: the tables and columns of SQLite, step for step."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import orjson
import psycopg
import pytest

from tests.outside import TABLES
from tests.postgresql import WAITING, Cluster
from tests.waiting import until
from webapp.config import PostgresqlAddress
from webapp.errors import ForeignStore, StoreError
from webapp.store import Store
from webapp.store.aftermaths import AftermathRow
from webapp.store.log import EntryRow
from webapp.store.postgresql.engine import STORE_LOCK
from webapp.store.postgresql.schema import SINCE, STEPS
from webapp.store.sqlite.migrations import migrations
from webapp.store.usage import CallRow


@pytest.fixture
def server(cluster: Cluster) -> object:
    """A database without anything in it, of this process alone: workers share the cluster."""
    name = f"bare_{os.getpid()}"
    cluster.execute(f"CREATE DATABASE {name}")
    yield cluster.server(name)
    cluster.execute(f"DROP DATABASE {name} WITH (FORCE)")


class TestSchema:
    """One schema in two dialects."""

    def test_has_every_migration(self) -> None:
        """A migration of SQLite needs a step of the same name here."""
        names = [one.name for one in migrations._migrations]
        assert [*STEPS] == names[names.index(SINCE) + 1 :]

    def test_has_the_same_tables_and_columns(self, server: PostgresqlAddress, tmp_path: Path) -> None:
        """Only those of the engines' own indexes and lists of steps differ."""

        def columns(store: Store, kind: str) -> dict[str, dict[str, str]]:
            names = [name for (name,) in store.db.rows(TABLES[kind])]
            return {
                name: {column: "REAL" if column == "position" and name != "files" else said
                       for column, said in store.db.columns(name).items()}
                for name in names if "_words" not in name and name not in ("_sqlite_migrations", "schema_steps")
            }  # fmt: skip

        ours, theirs = Store(server), Store(tmp_path / "a.db")
        found = columns(ours, "postgresql"), columns(theirs, "sqlite")
        ours.close()
        theirs.close()
        assert found[0] == found[1]

    def test_seals_a_part_again_that_gets_a_column(self, server: PostgresqlAddress) -> None:
        """A store from before the column finds nothing changed, and seals what comes."""
        call = CallRow("c", 1, 1, "m", 1_000, 5, 0, 0, 0, 900)
        with closing(Store(server)) as made, made.write():
            row = made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
            made.usage.put_calls(row.key, [call])
        with psycopg.connect(server.url) as old:
            old.execute("DROP TRIGGER seal_calls ON calls")
            old.execute("ALTER TABLE calls DROP COLUMN service_tier")
            old.execute("DELETE FROM schema_steps WHERE name = 'm014_service_tiers'")
        with closing(Store(server)) as again:
            assert list(again.verify()) == []
            with again.write():
                again.usage.put_calls(row.key, [call._replace(call_key="d", service_tier="batch")])
            assert list(again.verify()) == []
            assert [one.service_tier for one in again.usage.calls(row.key)] == ["", "batch"]

    def test_adds_a_sealed_table(self, server: PostgresqlAddress) -> None:  # X25
        """A store from before it gets the table, and its rows are sealed."""
        with closing(Store(server)) as made, made.write():
            row = made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
        with psycopg.connect(server.url) as old:
            old.execute("DROP TABLE aftermaths")
            old.execute("DROP FUNCTION seal_aftermaths")
            old.execute("DELETE FROM schema_steps WHERE name = 'm018_aftermaths'")
        with closing(Store(server)) as again:
            with again.write():
                again.aftermaths.put(row.key, [AftermathRow("prune", 1, 1, 20, 3, complete=True)])
            assert [one.files for one in again.aftermaths.totals()] == [3]
            assert list(again.verify()) == []
        with psycopg.connect(server.url) as other:
            other.execute("UPDATE aftermaths SET files = 4")
        with closing(Store(server)) as again:
            assert list(again.verify()) == [
                "session s: its counts of what happened again were changed from outside"
            ]

    def test_indexes_scripts_without_spaces_again(self, server: PostgresqlAddress) -> None:
        """A store from before finds what stands inside a run."""
        parts = orjson.dumps([{"type": "text", "text": "先检查配置文件"}]).decode()
        entry = EntryRow(0, b"i" * 16, 1, None, None, None, "message", "user", "", parts, *(None,) * 5)
        with closing(Store(server)) as made, made.write():
            row = made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
            made.log.add_entries(row.key, [entry])
            made.db.run("UPDATE sessions SET next_seq = 1")
            made.memories.add("memory", "使用制表符", None, None, 1)
        with psycopg.connect(server.url) as old:
            old.execute("DELETE FROM entry_words")
            old.execute("DELETE FROM memory_words")
            old.execute("DELETE FROM schema_steps WHERE name = 'm017_words_in_pairs'")
        with closing(Store(server)) as again:
            assert again.words.in_session(row.key, "文件") == [1]
            assert len(again.memories.search("memory", ["制表"])) == 1

    def test_refuses_the_store_of_a_newer_version(self, server: PostgresqlAddress) -> None:
        """A step that this version does not know: nothing is written by rules that have changed."""
        Store(server).close()
        with psycopg.connect(server.url) as newer:
            newer.execute("INSERT INTO schema_steps (name) VALUES ('m999_later')")
        with pytest.raises(ForeignStore, match="newer version"):
            Store(server)

    def test_is_made_once_by_several_that_open_it_together(self, server: PostgresqlAddress) -> None:
        """All find it whole."""
        barrier = Barrier(4)

        def opened() -> None:
            barrier.wait()
            with closing(Store(server)) as made:
                made.check()

        with ThreadPoolExecutor(4) as pool:
            for one in [pool.submit(opened) for _ in range(4)]:
                one.result()

    def test_is_found_by_those_that_waited_while_it_was_made(self, server: PostgresqlAddress) -> None:
        """A connection that did not find a table, and then waited, hears of it only when it locks another."""
        with ThreadPoolExecutor(8) as pool:
            with psycopg.connect(server.url) as first:
                first.execute("SELECT pg_advisory_xact_lock(%s, 0)", (STORE_LOCK,))
                opened = [pool.submit(Store, server) for _ in range(8)]
                until(lambda: first.execute(WAITING).fetchone() == (8,))
                # One table alone: of a whole schema a connection may hear by itself.
                first.execute("CREATE TABLE schema_steps (name TEXT PRIMARY KEY)")
                for name in (SINCE, *STEPS):
                    first.execute("INSERT INTO schema_steps (name) VALUES (%s)", (name,))
            for one in opened:
                one.result().close()


class TestPasswords:
    """The password of an address."""

    def test_is_never_shown(self, cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
        """Neither in an error nor in a log, whatever is wrong."""
        with caplog.at_level(logging.DEBUG), pytest.raises(StoreError) as caught:
            Store(PostgresqlAddress(cluster.server("missing").url.replace("secret", "wrong")))
        assert "127.0.0.1" in str(caught.value)
        for said in (str(caught.value), caplog.text):
            assert "wrong" not in said
