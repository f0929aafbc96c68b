"""Transactions over PostgreSQL: who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread

import pytest

from tests.outside import program
from tests.postgresql import Cluster
from tests.waiting import until
from webapp.config import Server
from webapp.errors import BusyStore, ClosedStore, StoreError
from webapp.store import Store
from webapp.store.postgresql import locks
from webapp.store.postgresql.engine import CONNECTIONS, WRITERS


@pytest.fixture
def server(cluster: Cluster) -> Iterator[Server]:
    """An empty store's address."""
    with cluster.database() as lent:
        yield lent


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    """A store that does not wait long."""
    made = Store(server, busy_seconds=0.02)
    yield made
    made.close()


@pytest.fixture
def other(server: Server) -> Iterator[Store]:
    """The store of another process."""
    made = Store(server, busy_seconds=10)
    yield made
    made.close()


def waiting(store: Store) -> int:
    """Return the number of connections that wait for a lock."""
    return int(store.db.value("SELECT count(*) FROM pg_locks WHERE NOT granted"))


class TestLocks:
    """Reads inside a write are still true at its end."""

    def test_let_different_sessions_be_written_to_at_once(self, store: Store, other: Store) -> None:
        """An append to one waits for no append to another."""
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
    def test_keep_out_whoever_could_change_what_was_read(
        self, store: Store, other: Store, held: str | None, asked: str | None
    ) -> None:
        """The same session, and the store as a whole."""
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
        """Read-then-write from two pools."""

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
        """As to the windows that agents report: the later one waits for the other's."""
        for first in (True, False):  # also where it is not there yet
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
        """However many writers wait, a page is read."""
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

    def test_let_a_server_start_beside_a_long_write(self, store: Store, server: Server) -> None:
        """Only a database that lacks something is written to."""
        with store.write():
            Store(server, busy_seconds=0.02).close()

    def test_hold_for_one_session_alone(self, store: Store) -> None:
        """A nested write that would reach further is a mistake in the program."""
        with pytest.raises(StoreError, match="beyond session a"), store.write("a"), store.write("b"):
            pytest.fail("it began")

    def test_of_a_process_that_stopped_in_the_middle_are_taken_back(
        self, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A machine that hangs or lost its power holds up the others for a while only, and stores nothing."""
        monkeypatch.setattr(locks, "IDLE_MS", 50)

        def is_free() -> bool:
            try:
                with store.write("a"):
                    return True
            except BusyStore:
                return False

        def stop() -> None:
            with other.write("a"):
                other.small.put_setting("x", 1)
                thread = Thread(target=lambda: until(is_free))
                thread.start()
                thread.join()

        with pytest.raises(StoreError):
            stop()
        assert store.small.setting("x") is None
        with other.write("a"):
            other.small.put_setting("x", 2)
        assert store.small.setting("x") == 2


class TestConnections:
    """Connections that go."""

    def test_are_made_again_after_the_server_has_ended_them(self, store: Store, server: Server) -> None:
        """One statement fails, in our words; later ones do not."""
        store.small.put_setting("x", 1)
        with program(server) as another:
            another.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND datname = current_database()"
            )
        with pytest.raises(StoreError):
            store.small.setting("x")
        assert store.small.setting("x") == 1

    def test_hear_of_nothing_but_seals(self, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        """The server says other things too, for example before it ends."""
        with store.write():
            store.db.run("DO 'BEGIN RAISE WARNING $$the server is ending now$$; END'")
        assert caplog.records == []

    def test_that_end_inside_a_write_store_nothing(self, store: Store, server: Server) -> None:
        """The next write is whole, and its seals are those of what is there."""

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

    def test_are_not_made_after_the_end(self, store: Store) -> None:
        """A closed store says so."""
        store.close()
        with pytest.raises(ClosedStore, match="is closed"):
            store.small.setting("x")


class TestTransactions:
    """All or nothing."""

    def test_that_failed_inside_store_nothing(self, store: Store) -> None:
        """Also where the error of a statement was passed over."""

        def pass_over() -> None:
            with store.write():
                store.small.put_setting("x", 1)
                with suppress(StoreError):
                    store.db.run("SELECT no_such_thing")

        with pytest.raises(StoreError):
            pass_over()
        assert store.small.setting("x") is None


class TestQueriesThatAreReadBitByBit:
    """They end with their transaction, whoever still holds them."""

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

    def test_are_not_read_on(self, store: Store) -> None:
        """Neither in no transaction nor in another."""
        rows = self.begun(store)
        with store.read(), pytest.raises(StoreError, match="has ended"):
            list(rows)
