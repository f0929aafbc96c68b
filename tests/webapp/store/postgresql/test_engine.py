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
