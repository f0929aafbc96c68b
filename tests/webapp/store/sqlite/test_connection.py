"""Connections: transactions that hold, and errors that speak our language."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread, current_thread
from types import SimpleNamespace

import pytest

from tests.disks import AVAILABLE, disk
from tests.waiting import PATIENCE, until
from webapp.errors import (
    BusyStore,
    ClosedStore,
    DamagedStore,
    ForeignStore,
    FullDisk,
    LostStore,
    ReadOnlyStore,
    StoreError,
)
from webapp.store import Store
from webapp.store.sqlite import connection
from webapp.store.sqlite.backup import back_up
from webapp.store.sqlite.connection import WAITING, Connections
from webapp.store.usage import Sample

TURNS = 5


def file_of(store: Store) -> Connections:
    """Return the engine over the store's file."""
    assert isinstance(store.db, Connections)
    return store.db


def setting(store: Store) -> object:
    """Return the setting that the test wrote."""
    return store.small.setting("x")


class TestWrite:
    """A transaction is all or nothing."""

    def fail_in_a_transaction(self, store: Store, nested: bool) -> None:
        """Write, then fail."""

        def fail() -> None:
            with store.write():
                with store.write() if nested else nullcontext():
                    store.small.put_setting("x", 1)
                raise KeyError

        with pytest.raises(KeyError):
            fail()

    def test_keeps_what_was_written(self, store: Store) -> None:
        """A committed write is there afterwards, for other threads too."""
        with store.write():
            store.small.put_setting("x", 1)
        seen: list[object] = []
        thread = Thread(target=lambda: seen.append(setting(store)))
        thread.start()
        thread.join()
        assert seen == [1]

    def test_keeps_nothing_after_a_failure(self, store: Store) -> None:
        """An error inside takes everything back."""
        self.fail_in_a_transaction(store, nested=False)
        assert setting(store) is None

    def test_nests_in_one_thread(self, store: Store) -> None:
        """An inner transaction is part of the outer one and rolls back with it."""
        self.fail_in_a_transaction(store, nested=True)
        assert setting(store) is None

    def test_lets_threads_take_turns(self, store: Store) -> None:
        """Read-then-write from several threads loses no update."""

        def add() -> None:
            for _ in range(20):
                with store.write():
                    store.small.put_setting("x", int(store.small.setting("x") or 0) + 1)

        threads = [Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert setting(store) == 80

    def test_is_seen_as_a_whole_by_a_reader(self, store: Store) -> None:
        """A snapshot taken before a commit does not see it."""
        with store.read():
            assert setting(store) is None

            def put() -> None:
                with store.write():
                    store.small.put_setting("x", 1)

            thread = Thread(target=put)
            thread.start()
            thread.join()
            assert setting(store) is None
        assert setting(store) == 1

    def test_cannot_begin_inside_a_read(self, store: Store) -> None:
        """A snapshot holds no lock and may be stale, so writing from it is refused."""
        with store.read(), pytest.raises(StoreError, match="inside a read"), store.write():
            store.small.put_setting("x", 1)
        with store.write():
            store.small.put_setting("y", 2)
        assert (setting(store), store.small.setting("y")) == (None, 2)


class TestRead:
    """A snapshot is for looking."""

    def test_leaves_nothing_behind(self, store: Store) -> None:
        """A statement that writes although no transaction to write was opened is taken back."""
        with store.read():
            store.small.put_setting("x", 1)
        assert setting(store) is None

    def test_ends_when_it_fails(self, store: Store) -> None:
        """After an error inside, the thread can write again."""
        with pytest.raises(KeyError), store.read():
            raise KeyError
        with store.write():
            store.small.put_setting("x", 1)
        assert setting(store) == 1


class TestClosing:
    """Closing the store while threads use it, as when a server stops."""

    def test_lets_a_statement_end_first(self, tmp_path: Path) -> None:
        """A later statement is refused; a connection closed under a running one would end the process."""
        query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT hex(i) FROM n"
        for turn in range(10):
            store = Store(tmp_path / f"{turn}.db")
            begun, errors = Barrier(5), list[str]()

            def look(store: Store = store, begun: Barrier = begun, errors: list[str] = errors) -> None:
                begun.wait()
                try:
                    while True:
                        with store.read():
                            store.db.rows(query)
                except ClosedStore as error:
                    errors.append(str(error))

            threads = [Thread(target=look) for _ in range(4)]
            for thread in threads:
                thread.start()
            begun.wait()
            store.close()
            for thread in threads:
                thread.join()
            assert len(errors) == 4
            assert all("closed" in words for words in errors)

    def test_waits_only_for_a_thread_that_has_begun(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first write may be about to start the upkeep."""
        store = Store(tmp_path / "x.db")
        closing: list[Thread] = []
        start = Thread.start

        def closed_before(thread: Thread) -> None:
            if thread.name == "checkpoints":
                closing.append(Thread(target=store.close))
                start(closing[0])
            start(thread)

        monkeypatch.setattr(Thread, "start", closed_before)
        with store.write():
            store.small.put_setting("x", 1)
        closing[0].join()
        with pytest.raises(ClosedStore, match="is closed"):
            store.small.setting("x")

    def test_is_no_problem_for_the_upkeep(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Upkeep that begins while a command closes its store ends without a word: nobody asked for it."""
        store, begun = Store(tmp_path / "x.db"), Event()
        write = Connections.write

        def write_late(connections: Connections) -> AbstractContextManager[None]:
            if current_thread().name == "checkpoints":
                begun.set()
                connections._closed.wait(PATIENCE)
            return write(connections)

        monkeypatch.setattr(connection, "CHECKPOINT_SECONDS", 0)
        monkeypatch.setattr(Connections, "write", write_late)
        with store.db.write():
            store.small.put_setting("x", 1)
        assert begun.wait(PATIENCE)
        store.close()
        assert caplog.messages == []

    def test_is_for_good(self, tmp_path: Path) -> None:
        """A thread that was not there before does not open it again."""
        store = Store(tmp_path / "x.db")
        store.close()
        with pytest.raises(ClosedStore, match="is closed"):
            store.small.setting("x")


class TestReadOnly:
    """A file or folder that cannot be written to."""

    @pytest.fixture
    def locked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """Return a read-only store, even if the tests run as root."""
        path = tmp_path / "locked" / "a.db"
        with closing(Store(path)) as made, made.write():
            made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
        path.chmod(0o400)
        path.parent.chmod(0o500)
        monkeypatch.setattr(os, "access", lambda where, _: not Path(where).is_relative_to(path.parent))
        yield path
        path.parent.chmod(0o700)

    def test_lets_us_look(self, locked: Path) -> None:
        """All data can be read and verified, and no file is made beside the store."""
        with closing(Store(locked)) as store:
            assert [row.id for row in store.sessions.all()] == ["s"]
            assert list(store.verify()) == []
        assert list(locked.parent.iterdir()) == [locked]

    def test_refuses_to_write_and_says_why(self, locked: Path) -> None:
        """The error is raised before the transaction begins."""
        with (
            closing(Store(locked)) as store,
            pytest.raises(ReadOnlyStore, match="looking works"),
            store.write(),
        ):
            pytest.fail("a write began")


class TestDamage:
    """Pages that cannot be used any more."""

    @pytest.fixture
    def torn(self, tmp_path: Path) -> Path:
        """A store of which the pages of one table were written over."""
        path = tmp_path / "a.db"
        with closing(Store(path)) as made, made.write():
            made.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)
            made.usage.add_samples(1, [Sample(n, 1, 1, None, n) for n in range(5_000)])
        with closing(sqlite3.connect(path)) as reader:
            [(root,)] = reader.execute("SELECT rootpage FROM sqlite_master WHERE name = 'samples'")
            [(size,)] = reader.execute("PRAGMA page_size")
        with path.open("r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xff" * size)
        return path

    def test_is_found_without_a_statement_that_meets_it(self, torn: Path) -> None:
        """The first check has the file looked over, the next one fails."""
        with closing(Store(torn)) as store:
            store.check()
            until(lambda: store.db.damage)
            with pytest.raises(DamagedStore, match="coppice restore"):
                store.check()

    def test_is_remembered_by_who_met_it(self, torn: Path) -> None:
        """Health is no longer good once a statement has failed of it."""
        with closing(Store(torn)) as store:
            with pytest.raises(DamagedStore):
                store.usage.samples(1, 5, 10)
            with pytest.raises(DamagedStore):
                store.check()

    def test_lets_the_thread_that_met_it_write(self, tmp_path: Path) -> None:  # S1
        """A query that failed holds no snapshot, which would refuse every write once others have written."""
        with closing(Store(tmp_path / "a.db")) as store:

            def put(value: int) -> None:
                with store.write():
                    store.small.put_setting("x", value)

            put(1)
            caught = []
            try:
                list(store.db.each("SELECT CAST(x'ff' AS TEXT) FROM settings"))
            except DamagedStore as error:
                caught.append(error)  # with its traceback, as where errors are logged
            with ThreadPoolExecutor(1) as other:
                other.submit(put, 2).result()
            put(3)
            assert (len(caught), setting(store)) == (1, 3)

    def test_is_told_by_verify(self, torn: Path) -> None:
        """The report has one line for each fault, and readable data is still checked."""
        with closing(Store(torn)) as store:
            faults = list(store.verify())
        assert any("samples cannot be read" in fault for fault in faults)
        assert any(fault.startswith("the file ") for fault in faults)


class TestErrors:
    """No raw SQLite error leaves."""

    @pytest.mark.parametrize("left", [None, b""], ids=["moved", "replaced"])
    def test_names_a_file_that_was_taken_away(self, tmp_path: Path, left: bytes | None) -> None:  # S1
        """Writes to it would be gone at the end; once it is back, they work again."""
        path = tmp_path / "a.db"
        with closing(Store(path)) as store, ThreadPoolExecutor(1) as other:

            def put(value: int) -> None:
                with store.write():
                    store.small.put_setting("x", value)

            path.rename(tmp_path / "b.db")
            if left is not None:
                path.write_bytes(left)
            for refused in (partial(put, 1), other.submit(put, 1).result, store.check):
                with pytest.raises(LostStore, match="moved, deleted or replaced"):
                    refused()
            assert path.exists() == (left is not None)
            (tmp_path / "b.db").replace(path)
            put(2)
            store.check()
            assert setting(store) == 2

    def test_name_a_database_that_is_busy(self, store: Store) -> None:
        """Another process with the lock means BusyStore, and nothing is written."""
        other = sqlite3.connect(file_of(store).path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyStore, match="another process"), store.write():
            store.small.put_setting("x", 1)
        other.execute("ROLLBACK")
        other.close()
        assert setting(store) is None

    def test_name_a_full_disk(self, store: Store) -> None:
        """A database that may not grow says so, and nothing is written."""
        pages = store.db.value("PRAGMA page_count")
        store.db.row(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(FullDisk, match="nothing was stored"), store.write():
            store.small.put_setting("x", "y" * 1_000_000)
        assert setting(store) is None

    @pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")
    def test_name_a_full_disk_even_to_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """SQLite first makes its shared index; without room for that it reports an error of the disk."""
        Connections(tmp_path / "a.db").close()
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4_096))
        with (
            disk(tmp_path) as failing,
            failing.failing("read fails", 0),
            pytest.raises(FullDisk, match=r"a\.db"),
        ):
            Connections(tmp_path / "a.db")

    def test_name_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        """A file of something else is not touched."""
        path = tmp_path / "a.db"
        path.write_bytes(b"this is a text and no database\n" * 100)
        with pytest.raises(DamagedStore, match="not a sound database"):
            Connections(path)
        assert path.read_bytes().startswith(b"this is a text")

    def test_name_a_database_of_another_program(self, tmp_path: Path) -> None:
        """No table is added to it, and its mode and its journal stay."""
        path = tmp_path / "a.db"
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE session (id TEXT)")
        path.chmod(0o644)
        before = path.read_bytes(), path.stat().st_mode
        with pytest.raises(ForeignStore, match="another program"):
            Connections(path)
        assert (path.read_bytes(), path.stat().st_mode) == before

    def test_name_a_database_of_a_newer_version(self, tmp_path: Path) -> None:
        """A step of the schema that this version does not know: nothing is written by rules that have changed."""
        path = tmp_path / "a.db"
        Connections(path).close()
        with closing(sqlite3.connect(path)) as newer:
            newer.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('coppice', 'm999_later')"
            )
            newer.commit()
        with pytest.raises(ForeignStore, match="newer version \\(m999_later\\)"):
            Connections(path)

    def test_name_a_row_that_is_no_text(self, store: Store) -> None:
        """A page was overwritten. The message has none of its content, whose words must not decide about the error."""
        with pytest.raises(DamagedStore, match="coppice restore") as caught:
            store.db.value("SELECT CAST(? AS TEXT)", (b"the disk is full \xff" + b"a" * 5_000,))
        assert "the disk" not in str(caught.value)
        with pytest.raises(DamagedStore):
            store.check()

    def test_name_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        """A path below a file is an error of ours."""
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError):
            Connections(tmp_path / "file" / "a.db")

    @pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")
    def test_name_a_disk_that_fails_when_a_thread_begins(self, tmp_path: Path) -> None:
        """A thread's first statement opens its connection, which reads the file."""
        with disk(tmp_path) as failing, closing(Connections(tmp_path / "a.db")) as db:
            with ThreadPoolExecutor(1) as pool, failing.failing("read fails", 0):
                first = pool.submit(db.rows, "SELECT 1")
                with pytest.raises(StoreError, match="opening .*a.db failed: disk I/O error"):
                    first.result()
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(db.rows, "SELECT 1").result() == [(1,)]

    def test_keep_the_cause(self, store: Store) -> None:
        """SQLite's own error is chained for the log."""
        with pytest.raises(StoreError, match="no such table: x") as caught:
            store.db.rows("SELECT 1 FROM x")
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)


class TestUpkeep:
    """Upkeep that appends do not pay for."""

    def test_empties_the_log_file_without_a_writer(self, store: Store) -> None:
        """A checkpoint moves the written data into the database file."""
        with store.write():
            store.small.put_setting("x", "y" * 100_000)
        before = file_of(store).path.stat().st_size
        store.db.checkpoint()
        assert file_of(store).path.stat().st_size > before


class TestProcessesThatShareAStore:
    """Two servers of one store, or an import beside a server."""

    def test_take_turns(self, tmp_path: Path) -> None:
        """One that writes without a pause keeps no other out."""
        ended, written = Event(), list[int]()
        with closing(Store(tmp_path / "a.db", busy_seconds=PATIENCE)) as one:

            def write_on() -> None:
                while not ended.is_set():
                    with one.write():
                        one.small.put_setting("x", len(written))
                        time.sleep(0.02)
                    written.append(1)

            writing = Thread(target=write_on)
            writing.start()
            with closing(Store(tmp_path / "a.db", busy_seconds=PATIENCE)) as other:
                until(lambda: written)
                before = len(written)
                for n in range(TURNS):
                    with other.write():
                        other.small.put_setting("y", n)
                between = len(written) - before
            ended.set()
            writing.join()
        assert between < 10 * TURNS  # one or two each; hundreds where both only ask again and again


class TestAStoreThatAKilledProcessLeft:
    """A process was killed as it created the store, or put a copy back; SQLite then writes without its log."""

    @pytest.fixture
    def left(self, tmp_path: Path) -> Path:
        """A store with half of a change in its file, and what was there before in a journal."""
        path = tmp_path / "s.db"
        with closing(Store(path)) as store, store.write():
            store.small.put_setting("x", "before")
        code = (
            "import os, sqlite3, sys; connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "for sql in ('PRAGMA journal_mode=DELETE', 'PRAGMA cache_size=5', 'BEGIN', 'CREATE TABLE filler (text)',\n"
            "            'UPDATE settings SET value = 1'): connection.execute(sql)\n"
            "connection.executemany('INSERT INTO filler VALUES (?)', [('y' * 1000,)] * 500); os._exit(1)"
        )
        assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 1
        assert path.with_name("s.db-journal").stat().st_size
        return path

    def test_is_as_it_was_before_the_change(self, left: Path) -> None:
        """It is opened like any other, and can be written to."""
        with closing(Store(left)) as store:
            assert setting(store) == "before"
            with store.write():
                store.small.put_setting("x", "after")
            assert setting(store) == "after"

    def test_can_be_copied(self, left: Path) -> None:
        """A copy is made before anything opens it as well."""
        back_up(left, left.with_name("copy.db"))
        with closing(Store(left.with_name("copy.db"))) as store:
            assert setting(store) == "before"


class TestAStoreThatAnotherProcessLocks:
    """Bounded waits: one wait for each, a few at a time, and short ones after a long one in vain."""

    @pytest.fixture
    def other(self, tmp_path: Path) -> Iterator[sqlite3.Connection]:
        """A connection that holds the write lock."""
        Store(tmp_path / "l.db").close()
        made = sqlite3.connect(tmp_path / "l.db", isolation_level=None)
        made.execute("BEGIN IMMEDIATE")
        yield made
        made.close()

    @pytest.fixture
    def locked(self, tmp_path: Path, other: sqlite3.Connection) -> Iterator[Store]:
        """A store over the same database."""
        store = Store(tmp_path / "l.db", busy_seconds=0.5)
        yield store
        store.close()

    def refused(self, store: Store) -> int:
        """Try to write in vain; return for how many milliseconds the lock was waited for at most."""
        with pytest.raises(BusyStore), store.write():
            pass
        return int(store.db.value("PRAGMA busy_timeout"))

    def test_is_waited_for_shortly_after_a_wait_in_vain(self, locked: Store) -> None:
        """Requests do not queue up with a full wait each."""
        assert 200 < self.refused(locked) <= 500
        assert [self.refused(locked) <= 50 for _ in range(3)] == [True] * 3

    def test_is_waited_for_by_one_of_those_that_come_together(self, locked: Store) -> None:
        """Requests behind one that timed out are refused with it, without a wait of their own."""
        with ThreadPoolExecutor(8) as pool:
            with file_of(locked)._writing:
                waits = [pool.submit(self.refused, locked) for _ in range(8)]
                until(lambda: file_of(locked)._waiting._value == WAITING - 8)
            waited = sorted(wait.result() for wait in waits)
        assert (waited[:7], 200 < waited[7] <= 500) == ([0] * 7, True)

    def test_is_not_waited_for_by_more_than_a_few(self, locked: Store) -> None:
        """The next one is refused immediately, with the number of waiting requests."""
        taken = [file_of(locked)._waiting.acquire(blocking=False) for _ in range(WAITING)]
        assert all(taken)
        with pytest.raises(BusyStore, match=f"{WAITING} others wait"), locked.write():
            pass

    def test_is_written_to_once_it_is_free(self, locked: Store, other: sqlite3.Connection) -> None:
        """Refused requests keep no place in the queue."""
        for _ in range(3):
            self.refused(locked)
        assert file_of(locked)._waiting._value == WAITING
        other.execute("ROLLBACK")
        with locked.write():
            locked.small.put_setting("x", 1)
        assert setting(locked) == 1
