"""Turns: what only one at a time may do, in one process and among several."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until
from webapp.config import Database
from webapp.services.session import alone, turns
from webapp.services.session.alone import Alone
from webapp.services.session.turns import LEASE_MS, Turns
from webapp.store import Store


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """A store that several serve."""
    made = Store(database)
    yield made
    made.close()


class Clock:
    """A time that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        """Return the time in ms."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of both workers."""
    return Clock()


@pytest.fixture
def pair(store: Store, clock: Clock) -> Iterator[tuple[Turns, Turns]]:
    """Two workers."""
    made = Turns(store, shared=True, clock=clock), Turns(store, shared=True, clock=clock)
    yield made
    for one in made:
        one.close()


class TestTurns:
    """One at a time."""

    def test_are_had_by_one_worker(self, pair: tuple[Turns, Turns]) -> None:
        """The other knows, and gets it once it is given back."""
        first, second = pair
        assert first.take("x")
        assert not second.take("x")
        assert (first.holds("x"), second.holds("x"), second.is_taken("x")) == (True, False, True)
        first.release("x")
        assert not second.is_taken("x")
        assert second.take("x")

    def test_are_had_once_in_a_process(self, store: Store) -> None:
        """Also where no other worker serves the store; then nothing is written."""
        alone_here = Turns(store)
        assert alone_here.take("x")
        assert not alone_here.take("x")
        assert not store.leases.is_held("x", 0)
        alone_here.release("x")
        assert alone_here.take("x")

    def test_of_a_killed_worker_run_out(self, pair: tuple[Turns, Turns], clock: Clock) -> None:
        """After the time of a lease, and not before."""
        first, second = pair
        first.take("x")
        clock.now += LEASE_MS - 1
        assert not second.take("x")
        clock.now += 1
        assert second.take("x")

    def test_are_renewed_by_their_holder(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As long as it lives."""
        monkeypatch.setattr(turns, "RENEW_SECONDS", 0.01)
        first, second = (Turns(store, shared=True, clock=clock) for _ in range(2))
        first.take("x")
        clock.now += LEASE_MS - 1
        until(lambda: store.leases.is_held("x", clock.now + LEASE_MS - 1))
        clock.now += 1
        assert not second.take("x")
        first.close()

    def test_are_cancelled_by_another_worker(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Their holder is told."""
        monkeypatch.setattr(turns, "RENEW_SECONDS", 0.01)
        first, second = (Turns(store, shared=True, clock=clock) for _ in range(2))
        ended = threading.Event()
        first.take("x", ended.set)
        assert second.cancel("x")
        until(ended.is_set)
        first.close()
        assert not second.cancel("x")


class TestAlone:
    """A job that runs in one worker."""

    def test_goes_to_the_next_worker(
        self, pair: tuple[Turns, Turns], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Once the first has stopped; never in both."""
        monkeypatch.setattr(alone, "LOOK_SECONDS", 0.01)
        said: list[str] = []
        jobs = [
            Alone(one, "job", lambda n=n: said.append(f"begin {n}"), lambda n=n: said.append(f"end {n}"))  # type: ignore[misc]
            for n, one in enumerate(pair)
        ]
        jobs[0].start()
        until(lambda: said == ["begin 0"])
        jobs[1].start()
        jobs[0].stop()
        until(lambda: said == ["begin 0", "end 0", "begin 1"])
        jobs[1].stop()
        assert said[-1] == "end 1"

    def test_starts_at_once_where_there_is_one_process(self, store: Store) -> None:
        """Nothing is taken, and nothing written."""
        said: list[str] = []
        job = Alone(Turns(store), "job", lambda: said.append("begin"), lambda: said.append("end"))
        job.start()
        assert said == ["begin"]
        job.stop()
        assert said == ["begin", "end"]
