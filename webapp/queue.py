"""The queue between several workers that serve one store: a stream of events in Redis, and values for a while.

Each worker adds its events to the stream and reads those of all workers, its own too, in one order. Events only
say what to read again from the store. A worker that vanishes may have stored a change without reporting it; the
others then learn that events are missing. Redis is imported only where a queue is configured.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import orjson

from webapp.errors import Invalid, StoreError, install_command
from webapp.events import Event

log = logging.getLogger("coppice.queue")

# Entries that the stream keeps, and that a worker reads when it starts.
EVENTS_KEPT = 20_000
# Events that wait while Redis does not answer. If there are more, the workers learn that events are missing.
WAITING = 20_000
# The time between two reports of a worker that it is alive, and that after which a silent one counts as gone.
BEAT_SECONDS, GONE_SECONDS = 2.0, 8
RETRY_SECONDS = 0.5
CONNECT_SECONDS = 5.0
BLOCK_MS = 1_000
TOGETHER = 500
# Milliseconds of the year 2024, from which revisions count, so that they stay whole numbers in JavaScript until 2093.
SINCE_MS, SEQUENCE_BITS = 1_704_067_200_000, 12
# Entries that are no events: some are missing; and the first of a stream, after which others are read.
LOST, NOTHING = b"lost", b""

KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in Event.__subclasses__()}
Heard = Callable[[int, Event], None]


def masked(url: str) -> str:
    """Return the address of a queue without its password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def encode(event: Event) -> bytes:
    """Return an event as the queue carries it."""
    return orjson.dumps([type(event).__name__, asdict(event)])


def decode(text: bytes) -> Event | None:
    """Return the event of an entry; None for one of another version of Coppice that this one does not know."""
    try:
        name, fields = orjson.loads(text)
        values = {key: tuple(one) if isinstance(one, list) else one for key, one in fields.items()}
        return KINDS[name](**values)
    except (ValueError, TypeError, KeyError):
        log.warning("an event of another version is left out; run one version in all workers")
        return None


def revision_of(entry: bytes) -> int:
    """Return the revision of an entry by its id: larger than those of all entries before."""
    ms, _, sequence = entry.decode().partition("-")
    return ((int(ms) - SINCE_MS) << SEQUENCE_BITS) + int(sequence)


class Queue:
    """The events of one store, named `store`, and values that all its workers can read."""

    def __init__(self, url: str, store: str) -> None:
        self.url, self.worker = url, secrets.token_hex(6)
        self._redis = connected(url)
        self._stream, self._alive = f"coppice:{store}:events", f"coppice:{store}:workers"
        self._value = f"coppice:{store}:value:"
        self._wake = threading.Condition()
        self._out: deque[bytes] = deque()
        self._closed = threading.Event()
        self._trouble = ""
        self._threads: list[threading.Thread] = []
        self._last = b""
        self._beat_at = 0.0

    # -- events

    def start(self, heard: Heard, lost: Callable[[], None]) -> None:
        """Pass the last events to `heard`, each with its revision, then all that come; `lost` if some are missing.

        Raises:
            StoreError: Redis does not answer.
        """
        try:
            self._beat()
            found = self._redis.xrevrange(self._stream, count=EVENTS_KEPT)
            if not found:
                self._last = self._redis.xadd(self._stream, {"e": NOTHING})
        except self._redis.faults as error:
            raise StoreError(
                f"the queue {masked(self.url)} does not answer: {error}; start it, or correct --queue"
            ) from error
        for entry, fields in reversed(found):
            self._take(entry, fields, heard, lost)
        for name, run in (
            ("queue in", lambda: self._read(heard, lost)),
            ("queue out", self._write),
        ):
            thread = threading.Thread(target=run, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def publish(self, event: Event) -> None:
        """Add an event; the caller does not wait for Redis."""
        self._add(encode(event))

    def _add(self, text: bytes) -> None:
        with self._wake:
            if len(self._out) >= WAITING:
                self._out.clear()
                self._out.append(LOST)
            self._out.append(text)
            self._wake.notify()

    def _write(self) -> None:
        """Send what waits, and report that this worker is alive at least every BEAT_SECONDS."""
        while not self._closed.is_set():
            with self._wake:
                if not self._out:
                    self._wake.wait(BEAT_SECONDS)
            try:
                self._send()
                if time.monotonic() >= self._beat_at:
                    self._beat()
            except self._redis.faults as error:
                self._failed(error)
                self._closed.wait(RETRY_SECONDS)

    def _send(self) -> None:
        """Send some of the waiting events; after a failure they are sent again, so some may arrive twice."""
        with self._wake:
            some = [self._out.popleft() for _ in range(min(len(self._out), TOGETHER))]
        if not some:
            return
        try:
            pipe = self._redis.pipeline(transaction=True)
            for text in some:
                pipe.xadd(self._stream, {"e": text}, maxlen=EVENTS_KEPT, approximate=True)
            pipe.execute()
        except BaseException:
            with self._wake:
                self._out.extendleft(reversed(some))
            raise

    def _beat(self) -> None:
        """Report that this worker is alive, and report workers that ended without signing off."""
        self._beat_at = time.monotonic() + BEAT_SECONDS
        now = int(self._redis.time()[0])
        self._redis.hset(self._alive, self.worker, now)
        for worker, at in self._redis.hgetall(self._alive).items():
            # The clock of Redis may have gone back. Only one of the workers that see it reports it.
            if abs(now - int(at)) > GONE_SECONDS and self._redis.hdel(self._alive, worker):
                log.warning("a worker ended without signing off; pages read again what they show")
                self._redis.xadd(self._stream, {"e": LOST}, maxlen=EVENTS_KEPT, approximate=True)

    def _read(self, heard: Heard, lost: Callable[[], None]) -> None:
        broken = False
        while not self._closed.is_set():
            try:
                entries, complete = self._next()
            except self._redis.faults as error:
                broken = True
                self._failed(error)
                self._closed.wait(RETRY_SECONDS)
                continue
            self._trouble = ""
            if broken:
                log.warning("the queue %s answers again", masked(self.url))
            if broken or not complete:  # Redis may have begun with nothing, so events are gone
                broken = False
                lost()
            for entry, fields in entries:
                self._take(entry, fields, heard, lost)

    def _next(self) -> tuple[list[tuple[bytes, dict[bytes, bytes]]], bool]:
        """Wait for entries after the last one; return them, and whether none is missing between."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.xread({self._stream: self._last}, count=TOGETHER, block=BLOCK_MS)
        # After the reading, because the stream may be cut meanwhile.
        pipe.xrange(self._stream, self._last, self._last)
        found, last = pipe.execute()
        entries = [one for _, some in found or () for one in some]
        if not last and not entries:  # the stream began again, perhaps with a clock that has gone back
            ms, _, sequence = self._last.partition(b"-")
            after = b"%s-%d" % (ms, int(sequence) + 1)
            self._last = self._redis.xadd(self._stream, {"e": NOTHING}, id=after)
        return entries, bool(last)

    def _take(self, entry: bytes, fields: dict[bytes, bytes], heard: Heard, lost: Callable[[], None]) -> None:
        self._last = entry
        text = fields.get(b"e", NOTHING)
        try:
            if text == LOST:
                lost()
            elif text != NOTHING and (event := decode(text)) is not None:
                heard(revision_of(entry), event)
        except Exception:
            log.exception("an event of the queue could not be taken")

    def _failed(self, error: Exception) -> None:
        if not self._trouble and not self._closed.is_set():
            log.warning("the queue %s does not answer, trying again: %s", masked(self.url), error)
        self._trouble = str(error)

    def check(self) -> None:
        """Raise StoreError while Redis does not answer."""
        if self._trouble:
            raise StoreError(f"the queue {masked(self.url)} does not answer: {self._trouble}")

    # -- values

    def put(self, name: str, value: bytes, seconds: int) -> None:
        """Keep a value for some seconds; without Redis it is not kept."""
        if self._trouble:  # known, so nobody waits for it
            return
        with suppress(self._redis.faults):
            self._redis.set(self._value + name, value, ex=seconds)

    def get(self, name: str) -> bytes | None:
        """Return a value that any worker put; None if it is gone, or Redis does not answer."""
        if self._trouble:
            return None
        with suppress(self._redis.faults):
            found: bytes | None = self._redis.get(self._value + name)
            return found
        return None

    def close(self) -> None:
        """Send what waits, sign off, and stop; can be called twice."""
        if self._closed.is_set():
            return
        self._closed.set()
        with self._wake:
            self._wake.notify()
        if not self._trouble:
            with suppress(self._redis.faults):  # wakes the thread that waits for events
                self._redis.xadd(self._stream, {"e": NOTHING}, maxlen=EVENTS_KEPT, approximate=True)
        for thread in self._threads:
            thread.join(timeout=2 * BLOCK_MS / 1000)
        with suppress(self._redis.faults):
            while self._out:
                self._send()
            self._redis.hdel(self._alive, self.worker)
        self._redis.close()


def connected(url: str) -> Any:
    """Return a client of Redis that answers; its attribute `faults` are the errors of an answer that does not come.

    Raises:
        Invalid: the package is missing, the address is not valid, or nothing answers there.
    """
    try:
        import redis
    except ImportError as error:
        raise Invalid(f"--queue needs the package redis: {install_command('redis')}", "queue") from error
    try:
        client: Any = redis.Redis.from_url(
            url, socket_timeout=CONNECT_SECONDS, socket_connect_timeout=CONNECT_SECONDS, protocol=2
        )
        client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        reason = str(error).rstrip(".")
        message = f"cannot reach the queue {masked(url)}: {reason}; start Redis there, or leave out --queue"
        raise Invalid(message, "queue") from error
    client.faults = (redis.RedisError, OSError)
    return client
