"""Leases: jobs that only one worker may do at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.waiting import until
from webapp.config import Database
from webapp.services.session import leases
from webapp.services.session.leases import LEASE_MS, Leases, OneWorkerJob
from webapp.store import Store


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """A store that several workers share."""
    made = Store(database)
    yield made
    made.close()


class Clock:
    """A clock that a test sets."""

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
def pair(store: Store, clock: Clock) -> Iterator[tuple[Leases, Leases]]:
    """The leases of two workers."""
    made = Leases(store, shared=True, clock=clock), Leases(store, shared=True, clock=clock)
    yield made
    for one in made:
        one.close()


class TestLeases:
    """Leases that one holder has at a time."""

    def test_belong_to_one_worker(self, pair: tuple[Leases, Leases]) -> None:
        """Another worker sees that the lease is taken, and gets it after its release."""
        first, second = pair
        assert first.acquire("x")
        assert not second.acquire("x")
        assert (first.holds("x"), second.holds("x"), second.is_taken("x")) == (True, False, True)
        first.release("x")
        assert not second.is_taken("x")
        assert second.acquire("x")

    def test_belong_to_one_job_of_a_process(self, store: Store) -> None:
        """A second job in the process is refused; without other workers nothing is stored."""
        only_worker = Leases(store)
        assert only_worker.acquire("x")
        assert not only_worker.acquire("x")
        assert not store.leases.is_held("x", 0)
        only_worker.release("x")
        assert only_worker.acquire("x")

    def test_of_a_killed_worker_expire(self, pair: tuple[Leases, Leases], clock: Clock) -> None:
        """Another worker gets the lease when it has expired, and not before."""
        first, second = pair
        first.acquire("x")
        clock.now += LEASE_MS - 1
        assert not second.acquire("x")
        clock.now += 1
        assert second.acquire("x")

    def test_of_a_worker_with_a_wrong_clock_hold_up_nobody(
        self, pair: tuple[Leases, Leases], clock: Clock
    ) -> None:
        """A worker killed before its clock was set back would have its jobs until the day that it believed in."""
        first, second = pair
        clock.now += 86_400_000
        first.acquire("x")
        clock.now -= 86_400_000
        assert not second.is_taken("x")
        assert second.acquire("x")
        assert first.is_taken("x")

    def test_are_renewed_by_their_holder(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The holder renews its lease, so no other worker gets it."""
        monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
        first, second = (Leases(store, shared=True, clock=clock) for _ in range(2))
        first.acquire("x")
        clock.now += LEASE_MS - 1
        until(lambda: store.leases.is_held("x", clock.now + LEASE_MS - 1))
        clock.now += 1
        assert not second.acquire("x")
        first.close()

    def test_are_cancelled_by_another_worker(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The holder is notified, and a released lease cannot be cancelled."""
        monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
        first, second = (Leases(store, shared=True, clock=clock) for _ in range(2))
        ended = threading.Event()
        first.acquire("x", ended.set)
        assert second.cancel("x")
        until(ended.is_set)
        first.close()
        assert not second.cancel("x")

    def test_taken_by_another_worker_are_lost(self, pair: tuple[Leases, Leases], clock: Clock) -> None:
        """A worker suspended for longer than a lease learns of the loss, and can take it again later."""
        first, second = pair
        ended = threading.Event()
        assert first.acquire("x", ended.set)
        clock.now += LEASE_MS
        assert second.acquire("x")
        first._renew()
        assert (ended.is_set(), first.holds("x"), second.holds("x")) == (True, False, True)
        assert not first.acquire("x")
        second.release("x")
        assert first.acquire("x")


class TestOneWorkerJob:
    """A job that runs in one worker at a time."""

    def test_goes_to_the_next_worker(
        self, pair: tuple[Leases, Leases], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The second worker begins after the first has stopped; the job never runs in both."""
        monkeypatch.setattr(leases, "RETRY_SECONDS", 0.01)
        said: list[str] = []
        jobs = [
            OneWorkerJob(one, "job", partial(said.append, f"begin {n}"), partial(said.append, f"end {n}"))
            for n, one in enumerate(pair)
        ]
        jobs[0].start()
        until(lambda: said == ["begin 0"])
        jobs[1].start()
        jobs[0].stop()
        until(lambda: said == ["begin 0", "end 0", "begin 1"])
        jobs[1].stop()
        assert said[-1] == "end 1"

    def test_goes_to_the_next_worker_after_an_error(
        self, pair: tuple[Leases, Leases], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A job that fails is retried, by any worker."""
        monkeypatch.setattr(leases, "RETRY_SECONDS", 0.01)
        begun: list[int] = []

        def fail() -> None:
            begun.append(0)
            raise ValueError("a fault of ours")

        first = OneWorkerJob(pair[0], "job", fail, fail)
        second = OneWorkerJob(pair[1], "job", lambda: begun.append(1), lambda: None)
        first.start()
        until(lambda: begun.count(0) > 2)
        second.start()
        until(lambda: 1 in begun)
        for one in (first, second):
            one.stop()

    def test_starts_at_once_in_a_single_process(self, store: Store) -> None:
        """A single process needs no lease in the store."""
        said: list[str] = []
        job = OneWorkerJob(Leases(store), "job", lambda: said.append("begin"), lambda: said.append("end"))
        job.start()
        assert said == ["begin"]
        job.stop()
        assert said == ["begin", "end"]
