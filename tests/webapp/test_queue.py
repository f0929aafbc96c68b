"""The queue between workers, on a real Redis."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.queues import Redis, missing, redis_server
from tests.waiting import PATIENCE, until
from webapp import queue as queues
from webapp.errors import Invalid, StoreError
from webapp.events import ContextPruned, Event, MessagesAppended, SettingsChanged
from webapp.queue import Queue, decode, encode, revision_of

PRUNED = ContextPruned("a", 1, "manual", 9, 5, 2, ("x", "y"), 12.5)


class Listener:
    """A worker's end of the queue, and what came by it."""

    def __init__(self, url: str, store: str) -> None:
        self.queue = Queue(url, store)
        self.heard: list[tuple[int, Event]] = []
        self.lost, self._awake = threading.Event(), threading.Event()
        self._awake.set()
        self.queue.start(self._hear, self.lost.set)

    def _hear(self, revision: int, event: Event) -> None:
        self._awake.wait(PATIENCE)
        self.heard.append((revision, event))

    @contextmanager
    def sleeps(self) -> Iterator[None]:
        """Read nothing from the queue, as a process that is stopped."""
        self._awake.clear()
        try:
            yield
        finally:
            self._awake.set()

    def vanish(self) -> None:
        """End as a killed process does: without a goodbye."""
        self.queue._closed.set()
        with self.queue._wake:
            self.queue._wake.notify()
        for thread in self.queue._threads:
            thread.join(PATIENCE)


@pytest.fixture
def pair(queue_url: str, request: pytest.FixtureRequest) -> Iterator[tuple[Listener, Listener]]:
    """Two workers of one store."""
    made = Listener(queue_url, request.node.name), Listener(queue_url, request.node.name)
    yield made
    for one in made:
        one.queue.close()


class TestEvents:
    """All workers hear what one tells."""

    @pytest.mark.parametrize("event", [PRUNED, MessagesAppended("a", (1, 2), 2), SettingsChanged()])
    def test_arrive_as_they_were(self, event: Event) -> None:
        """With every field, and its lists as tuples."""
        assert decode(encode(event)) == event

    def test_of_another_version_are_left_out(self) -> None:
        """A worker that is not updated yet goes on."""
        assert decode(b'["SomethingNew", {}]') is None
        assert decode(b'["SettingsChanged", {"by": 1}]') is None

    def test_have_revisions_that_grow(self) -> None:
        """In one millisecond and after it; as whole numbers that JavaScript holds exactly."""
        found = [revision_of(one) for one in (b"1800000000000-0", b"1800000000000-1", b"1800000000001-0")]
        assert found == sorted(set(found))
        assert revision_of(b"3800000000000-4095") < 2**53

    def test_reach_every_worker_in_one_order(self, pair: tuple[Listener, Listener]) -> None:
        """The worker that published an event gets it, too."""
        for n in range(30):
            pair[n % 2].queue.publish(MessagesAppended("a", (n,), 1))
        until(lambda: all(len(one.heard) == 30 for one in pair))
        assert pair[0].heard == pair[1].heard

    def test_are_read_by_a_worker_that_starts_later(self, pair: tuple[Listener, Listener]) -> None:
        """Pages can resume on that worker at once."""
        pair[0].queue.publish(PRUNED)
        until(lambda: pair[0].heard)
        late = Listener(pair[0].queue.url, pair[0].queue._stream.split(":")[1])
        late.queue.close()
        assert late.heard == pair[0].heard

    def test_are_not_waited_for_at_the_end(
        self, queue_url: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The thread that waits for them is woken, however long it would wait."""
        monkeypatch.setattr(queues, "BLOCK_MS", 4_000 * PATIENCE)
        monkeypatch.setattr(queues, "CONNECT_SECONDS", 4 * PATIENCE)
        closing = threading.Thread(target=Listener(queue_url, request.node.name).queue.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive()

    def test_of_another_store_do_not_come(self, pair: tuple[Listener, Listener], queue_url: str) -> None:
        """One Redis can serve several stores."""
        other = Listener(queue_url, "another")
        pair[0].queue.publish(PRUNED)
        until(lambda: pair[1].heard)
        other.queue.publish(SettingsChanged())
        until(lambda: other.heard)
        other.queue.close()
        assert [event for _, event in other.heard] == [SettingsChanged()]

    def test_that_wait_are_sent_before_the_end(self, pair: tuple[Listener, Listener]) -> None:
        """A worker that ends tells everything it has stored."""
        for n in range(1000):
            pair[0].queue.publish(MessagesAppended("a", (n,), 1))
        pair[0].queue.close()
        until(lambda: len(pair[1].heard) == 1000)


class TestLoss:
    """Events that nobody can tell any more."""

    def test_of_a_worker_that_vanished_is_told(
        self, pair: tuple[Listener, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It may have stored a change and not said so. One that says goodbye loses nothing."""
        monkeypatch.setattr(queues, "GONE_SECONDS", 0)
        monkeypatch.setattr(queues, "BEAT_SECONDS", 0.05)
        pair[0].vanish()
        until(pair[1].lost.is_set)

    def test_is_told_once_more_wait_than_are_kept(
        self, pair: tuple[Listener, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Rather than a page that shows an old state."""
        monkeypatch.setattr(queues, "WAITING", 3)
        with pair[0].queue._wake:  # the sender cannot take any
            for n in range(5):
                pair[0].queue.publish(MessagesAppended("a", (n,), 1))
        until(pair[1].lost.is_set)

    def test_is_told_to_a_worker_that_slept_longer_than_the_stream_reaches_back(
        self, pair: tuple[Listener, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is told even if the entry about it has gone from the stream with the others."""
        monkeypatch.setattr(queues, "EVENTS_KEPT", 100)
        teller, sleeper = pair
        with sleeper.sleeps():
            for n in range(2 * queues.TOGETHER):
                teller.queue.publish(MessagesAppended("a", (n,), 1))
                if n % 50 == 0:  # or the teller itself would lag
                    until(lambda n=n: len(teller.heard) == n + 1)  # type: ignore[misc]
        until(sleeper.lost.is_set)
        assert not teller.lost.is_set()

    def test_is_told_when_the_stream_is_gone(self, pair: tuple[Listener, Listener]) -> None:
        """Somebody emptied Redis, or it ran out of memory; no connection broke."""
        pair[0].queue.publish(PRUNED)
        until(lambda: pair[1].heard)
        pair[0].queue._redis.delete(pair[0].queue._stream)
        until(lambda: all(one.lost.is_set() for one in pair))

    def test_ends_though_the_clock_of_redis_went_back(self, pair: tuple[Listener, Listener]) -> None:
        """A stream that begins again goes on with larger ids than were read."""
        queue = pair[0].queue
        queue._redis.xadd(queue._stream, {"e": encode(PRUNED)}, id="9000000000000-7")
        until(lambda: all(one.heard for one in pair))
        queue._redis.delete(queue._stream)
        until(lambda: all(one.lost.is_set() for one in pair))
        pair[1].queue.publish(SettingsChanged())
        until(lambda: all(one.heard[-1][1] == SettingsChanged() for one in pair))
        revisions = [revision for revision, _ in pair[0].heard]
        assert revisions == sorted(set(revisions))

    def test_of_a_worker_that_vanished_is_told_though_the_clock_of_redis_went_back(
        self, pair: tuple[Listener, Listener]
    ) -> None:
        """Its last sign of life is then in the future."""
        queue = pair[0].queue
        queue._redis.hset(queue._alive, "vanished", 9_000_000_000)
        until(pair[1].lost.is_set)

    def test_before_the_start_is_told(self, pair: tuple[Listener, Listener]) -> None:
        """A page that resumes on a worker that started later needs a snapshot too."""
        queue = pair[0].queue
        queue._add(queues.LOST)
        until(pair[0].lost.is_set)
        late = Listener(queue.url, queue._stream.split(":")[1])
        late.queue.close()
        assert late.lost.is_set()

    def test_while_events_are_sent_does_not_end_the_sending(
        self, pair: tuple[Listener, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The events being sent when too many waited are not taken for those that wait now."""
        monkeypatch.setattr(queues, "WAITING", 3)
        queue, client = pair[0].queue, pair[0].queue._redis
        make, begun = client.pipeline, threading.Event()

        def slow(**options: bool) -> Any:
            if not begun.is_set() and options["transaction"]:
                begun.set()
                for n in range(5):
                    queue.publish(MessagesAppended("a", (n,), 1))
            return make(**options)

        monkeypatch.setattr(client, "pipeline", slow)
        queue.publish(PRUNED)
        until(pair[1].lost.is_set)
        queue.publish(SettingsChanged())
        until(lambda: pair[1].heard and pair[1].heard[-1][1] == SettingsChanged())


class TestOutage:
    """Redis stops and comes back."""

    @pytest.fixture
    def redis(self, tmp_path: Path) -> Iterator[Redis]:
        """A Redis of its own."""
        if reason := missing():
            pytest.skip(reason)
        with redis_server(tmp_path) as made:
            yield made

    def test_is_survived(self, redis: Redis) -> None:
        """Events told meanwhile come afterwards, the state says what is wrong, and pages read again."""
        one = Listener(redis.url, "s")
        redis.stop()
        one.queue.publish(PRUNED)
        one.queue.put("x", b"1", 10)
        assert one.queue.get("x") is None

        def ails() -> bool:
            try:
                one.queue.check()
            except StoreError as error:
                return redis.url in str(error)
            return False

        until(ails)
        redis.start()
        until(lambda: [event for _, event in one.heard] == [PRUNED])
        until(one.lost.is_set)
        one.queue.check()
        one.queue.close()

    def test_at_the_start_is_refused(self, redis: Redis) -> None:
        """With the address, but not its password."""
        redis.stop()
        address = redis.url.replace("redis://", "redis://:secret@")
        with pytest.raises(Invalid, match="cannot reach the queue redis://127.0.0.1") as caught:
            Queue(address, "s")
        assert "secret" not in str(caught.value)


class TestValues:
    """Any worker can read them for a while."""

    def test_are_read_by_another_worker(self, pair: tuple[Listener, Listener]) -> None:
        """Under their name."""
        pair[0].queue.put("plan", b"1", 60)
        assert pair[1].queue.get("plan") == b"1"
        assert pair[1].queue.get("other") is None
