"""Transactions over PostgreSQL: locks, connections and queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from psycopg_pool.base import AttemptWithBackoff

from tests.browser.cable import Cable
from tests.outside import program
from tests.postgresql import WAITING, Cluster
from tests.waiting import until
from webapp.config import PostgresqlAddress
from webapp.errors import BusyStore, ClosedStore, LostStore, StoreError
from webapp.store import Store
from webapp.store.postgresql import engine
from webapp.store.postgresql.engine import CONNECTIONS, WRITERS


@pytest.fixture
def server(cluster: Cluster) -> Iterator[PostgresqlAddress]:
    """The address of an empty store."""
    with cluster.database() as lent:
        yield lent


@pytest.fixture
def store(server: PostgresqlAddress) -> Iterator[Store]:
    """A store that does not wait long."""
    made = Store(server, busy_seconds=0.02)
    yield made
    made.close()


@pytest.fixture
def other(server: PostgresqlAddress) -> Iterator[Store]:
    """A second store, as of another process."""
    made = Store(server, busy_seconds=10)
    yield made
    made.close()


def waiting(store: Store) -> int:
    """Return the number of connections that wait for a lock."""
    return int(store.db.value(WAITING))


class TestLocks:
    """Reads inside a write are still true at its end."""

    def test_allow_writes_to_different_sessions_at_once(self, store: Store, other: Store) -> None:
        """An append to one session does not wait for another session."""
        with other.write("a"):
            other.small.put_revision("a", 1)
            done = Event()

            def write() -> None:
                with store.write("b"):
                    store.small.put_revision("b", 1)
                done.set()

            thread = Thread(target=write)
            thread.start()
            thread.join()
            assert done.is_set()

    @pytest.mark.parametrize(("held", "asked"), [("a", "a"), ("a", None), (None, "a"), (None, None)])
    def test_exclude_conflicting_writes(
        self, store: Store, other: Store, held: str | None, asked: str | None
    ) -> None:
        """Writes to the same session and to the whole store wait."""
        refused = list[BusyStore]()

        def write() -> None:
            try:
                with store.write(asked):
                    pass
            except BusyStore as error:
                refused.append(error)

        with other.write(held):
            thread = Thread(target=write)
            thread.start()
            thread.join()
        assert len(refused) == 1

    def test_lose_no_update_between_processes(self, store: Store, other: Store) -> None:
        """Two pools read and then write."""

        def add(one: Store) -> None:
            for _ in range(10):
                with one.write("a"):
                    one.small.put_setting("x", int(one.small.setting("x") or 0) + 1)

        patient = Store(store.db.server, busy_seconds=10)  # type: ignore[attr-defined]  # this engine's
        threads = [Thread(target=add, args=(one,)) for one in (patient, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        patient.close()
        assert store.small.setting("x") == 20
        assert list(store.verify()) == []

    def test_let_two_sessions_add_to_one_setting(self, store: Store, other: Store) -> None:
        """The later write waits for the earlier one."""
        for first in (True, False):  # even if it does not exist yet
            with store.write("a"):
                store.small.put_setting("x", {**store.small.locked_fields("x"), f"a {first}": 1})
                done = Thread(target=self._add, args=(other, f"b {first}"))
                done.start()
                until(lambda: waiting(store) == 1)
            done.join()
        assert store.small.fields("x") == {"a True": 1, "b True": 1, "a False": 1, "b False": 1}

    @staticmethod
    def _add(other: Store, name: str) -> None:
        with other.write("b"):
            other.small.put_setting("x", {**other.small.locked_fields("x"), name: 1})

    def test_leave_connections_to_readers(self, store: Store, other: Store) -> None:
        """Reads continue while many writers wait."""
        refused = list[BusyStore]()

        def write() -> None:
            try:
                with other.write("a"):
                    pass
            except BusyStore as error:
                refused.append(error)

        threads = [Thread(target=write) for _ in range(CONNECTIONS)]
        with store.write("a"):
            for thread in threads:
                thread.start()
            until(lambda: waiting(store) == WRITERS)
            assert other.small.setting("x") is None
            assert waiting(store) == WRITERS
        for thread in threads:
            thread.join()
        assert refused == []

    def test_allow_a_server_to_start_during_a_long_write(
        self, store: Store, server: PostgresqlAddress
    ) -> None:
        """A start writes only to an incomplete database."""
        with store.write():
            Store(server, busy_seconds=0.02).close()

    def test_apply_to_one_session(self, store: Store) -> None:
        """A nested write to more is a programming error."""
        with pytest.raises(StoreError, match="beyond session a"), store.write("a"), store.write("b"):
            pytest.fail("it began")

    def test_of_a_suspended_process_expire(
        self, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A machine that hangs or lost power delays others for a limited time, and stores nothing."""

        def is_free() -> bool:
            try:
                with store.write("a"):
                    return True
            except BusyStore:
                return False
            except StoreError:  # the lock was free, and this process was slow with it
                return True

        def stop() -> None:
            with other.write("a"):
                other.small.put_setting("x", 1)
                thread = Thread(target=lambda: until(is_free))
                thread.start()
                thread.join()

        with monkeypatch.context() as patched:
            patched.setattr(engine, "IDLE_MS", 50)
            with pytest.raises(StoreError):
                stop()
        assert store.small.setting("x") is None
        with other.write("a"):
            other.small.put_setting("x", 2)
        assert store.small.setting("x") == 2


class TestConnections:
    """Connections that end."""

    def test_are_made_again_after_the_server_has_ended_them(
        self, store: Store, server: PostgresqlAddress
    ) -> None:
        """One statement fails with a typed error, and later ones succeed."""
        store.small.put_setting("x", 1)
        with program(server) as another:
            another.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND datname = current_database()"
            )
        with pytest.raises(LostStore):
            store.small.setting("x")
        assert store.small.setting("x") == 1

    def test_are_made_again_as_soon_as_the_server_is_back(
        self, server: PostgresqlAddress, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Requests do not wait for the pool's next attempt, whose pause grows to minutes; until then they say why."""
        monkeypatch.setattr(engine, "RECONNECT_SECONDS", 0.2)
        monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 3600.0)
        port = urlsplit(server.url).port
        assert port is not None
        with closing(Cable(port)) as cable:
            there = PostgresqlAddress(
                server.url.replace(f":{port}", cable.url.removeprefix("http://127.0.0.1"))
            )
            with closing(Store(there)) as store:
                assert isinstance(store.db, engine.Postgresql)
                store.db._pool.timeout = 0.2

                def answers() -> bool:
                    with suppress(LostStore, BusyStore):
                        return store.small.setting("x") is None
                    return False

                cable.cut()
                for _ in range(2):  # the first loses its connection, the second gets none
                    with pytest.raises(LostStore):
                        store.small.setting("x")
                cable.mend()
                until(answers)

    def test_report_only_seals(self, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        """Other notices of the server are ignored."""
        with store.write():
            store.db.run("DO 'BEGIN RAISE WARNING $$the server is ending now$$; END'")
        assert caplog.records == []

    def test_that_end_inside_a_write_store_nothing(self, store: Store, server: PostgresqlAddress) -> None:
        """The next write is complete, with correct seals."""

        def write() -> None:
            with store.write():
                store.small.put_setting("x", 1)
                pid = store.db.value("SELECT pg_backend_pid()")
                with program(server) as another:
                    another.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
                store.small.put_setting("y", 1)

        with pytest.raises(StoreError):
            write()
        with store.write():
            store.small.put_setting("z", 1)
        assert [store.small.setting(name) for name in "xyz"] == [None, None, 1]
        assert list(store.verify()) == []

    def test_are_not_made_after_closing(self, store: Store) -> None:
        """A closed store raises an error."""
        store.close()
        with pytest.raises(ClosedStore, match="is closed"):
            store.small.setting("x")


class TestTransactions:
    """Transactions, which are stored completely or not at all."""

    def test_with_a_failed_statement_store_nothing(self, store: Store) -> None:
        """This holds even if the error was ignored."""

        def pass_over() -> None:
            with store.write():
                store.small.put_setting("x", 1)
                with suppress(StoreError):
                    store.db.run("SELECT no_such_thing")

        with pytest.raises(StoreError):
            pass_over()
        assert store.small.setting("x") is None


class TestStreamedQueries:
    """Queries read row by row, which end with their transaction."""

    @staticmethod
    def begun(store: Store) -> Iterator[tuple[object, ...]]:
        """Return a query of which a row was read in a transaction that has ended."""
        with store.read():
            rows = store.db.each("SELECT generate_series(1, 1000)")
            next(rows)
        return rows

    def test_disturb_no_later_transaction(self, store: Store) -> None:
        """Its connection may be the same one."""
        rows = self.begun(store)
        with store.write():
            store.small.put_setting("x", 1)
            del rows
            store.small.put_setting("y", 1)
        assert store.small.setting("y") == 1

    def test_cannot_be_continued(self, store: Store) -> None:
        """This holds without a transaction and in another one."""
        rows = self.begun(store)
        with store.read(), pytest.raises(StoreError, match="has ended"):
            list(rows)
