"""Sends events to webhooks, signed, retried and logged (X16).

An event waits in a bounded queue until the sending thread stores one delivery for each webhook that wants it;
no append waits for that. Deliveries are in the store, so that tries go on after a restart. Only a serving
process sends; events of another command are stored when it ends, and sent by the server. Each message arrives
at least once, and the messages to one webhook are sent one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from webapp.errors import CoppiceError, NotFound
from webapp.events import (
    ContextPruned,
    ContextSummarized,
    Event,
    ProblemReported,
    TargetCrossed,
    WebhooksChanged,
)
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment
from webapp.services.session.times import iso
from webapp.store.webhooks import LONGEST_WAIT, DeliveryRow, WebhookRow

log = logging.getLogger(__name__)

# The events that webhooks get, by name, each in words.
PostedEvent = ContextPruned | ContextSummarized | TargetCrossed
EVENTS: Mapping[str, str] = {
    ContextPruned.name: "a context was pruned, or a message dropped by hand",
    ContextSummarized.name: "a summary replaced messages; carries its text",
    TargetCrossed.name: "a session at work grew above its target",
}
# Events that wait to be stored; further ones are counted and dropped.
QUEUED = 1_000
# Waits before each further try, in seconds; about eleven hours together.
WAITS = (5, 60, 300, 1_800, 7_200, 28_800)
# The time for which a delivery belongs to the process that sends it, and that between checks of other processes'.
CLAIM_MS = 60_000
LOOK_SECONDS = 5.0
# Another worker may have stored a delivery.
SHARED_LOOK_SECONDS = 1.0
LEASE = "webhooks"


class DeliveryAttempt(Protocol):
    """The outcome of one try; `webapp.providers.webhook` has the real one."""

    @property
    def status(self) -> int | None:
        """Return the HTTP status, None without an answer."""

    @property
    def problem(self) -> str:
        """Return the reason why it failed, "" if it arrived."""

    @property
    def wait_seconds(self) -> float | None:
        """Return the seconds that the receiver asks to wait, None if it names none."""

    @property
    def gone(self) -> bool:
        """Return True if the receiver wants nothing more."""


class WebhookClient(Protocol):
    """Posts messages, and checks addresses and secrets."""

    async def post(self, url: str, secret: str, message_id: str, at: int, body: bytes) -> DeliveryAttempt:
        """Post a body, signed by a secret at a time in seconds since 1970."""

    def new_secret(self) -> str:
        """Return a new secret."""

    def check_url(self, url: str) -> str:
        """Return an address that is allowed. Raises Invalid."""

    def check_secret(self, secret: str) -> str:
        """Return a secret that can sign. Raises Invalid."""


@dataclass(slots=True)
class Counts:
    """Numbers since the start: tries by how they ended, and events that found the queue full."""

    delivered: int = 0
    failed: int = 0
    dropped: int = 0


class WebhookSender:
    """The queue of events, and the thread that sends them."""

    def __init__(self, environment: Environment, client: WebhookClient) -> None:
        self._environment, self._store, self._client = environment, environment.store, client
        self._leases = environment.leases
        self._queue: deque[tuple[str, str, int, dict[str, object]]] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._closed = False
        self._sending: dict[int, asyncio.Task[None]] = {}
        self.counts = Counts()
        self._unsubscribe = environment.bus.subscribe(self._on_event)

    def start(self) -> None:
        """Begin to send, on a thread of its own."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=lambda: asyncio.run(self._run()), name="webhooks", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Stop sending, and store queued events; waiting deliveries are sent after the next start."""
        self._unsubscribe()
        self._closed = True
        self.wake_up()
        if self._thread is not None:
            self._thread.join(timeout=5)
        try:
            self.store_queued()
        except Exception as error:  # noqa: BLE001  # nothing may keep the application from closing its store
            log.warning("%d events for webhooks were not stored: %s", len(self._queue), error)

    def _on_event(self, event: Event) -> None:
        """Queue an event that webhooks get; the publishing thread does not wait."""
        if not isinstance(event, PostedEvent):
            return
        with self._lock:
            if len(self._queue) >= QUEUED:
                self.counts.dropped += 1
                return
            self._queue.append((event.name, event.session_id, self._environment.clock(), event.payload()))
        self.wake_up()

    def store_queued(self) -> None:
        """Store a delivery for each queued event and each webhook that wants it. Raises StoreError."""
        while True:
            with self._lock:
                waiting = list(self._queue)
            if not waiting:
                return
            with self._store.write():
                hooks = [hook for hook in self._store.webhooks.all() if hook.active]
                for name, session_id, at, data in waiting:
                    self.add([hook for hook in hooks if name in hook.events], name, session_id, at, data)
            with self._lock:
                for _ in waiting:
                    self._queue.popleft()

    def add(
        self, hooks: Sequence[WebhookRow], name: str, session: str | None, at: int, data: Mapping[str, Any]
    ) -> None:
        """Store a delivery of one message to each of these webhooks, inside the caller's transaction."""
        message_id = f"msg_{secrets.token_hex(12)}"
        body = json_bytes({"type": name, "timestamp": iso(at), "data": data}).decode()
        for hook in hooks:
            self._store.webhooks.add_delivery(hook.id, message_id, name, session, body, at)

    def wake_up(self) -> None:
        """Let the sending thread look for deliveries at once, if it runs."""
        loop, wake = self._loop, self._wake
        if loop is not None and wake is not None and not loop.is_closed():
            try:
                loop.call_soon_threadsafe(wake.set)
            except RuntimeError:  # it ended in this moment
                return

    async def _run(self) -> None:
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        while not self._closed:
            self._wake.clear()
            try:
                self.store_queued()
                self._send_due()
                wait = self._seconds_to_next()
            except CoppiceError as error:
                log.info("webhooks wait for the store: %s", error)
                wait = LOOK_SECONDS
            except Exception:  # a damaged row, for example
                log.exception("webhooks could not all be sent")
                wait = LOOK_SECONDS
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue
        for task in self._sending.values():
            task.cancel()
        await asyncio.gather(*self._sending.values(), return_exceptions=True)

    def _seconds_to_next(self) -> float:
        longest = SHARED_LOOK_SECONDS if self._leases.shared else LOOK_SECONDS
        at = self._store.webhooks.next_at() if self._leases.holds(LEASE) else None
        return longest if at is None else max(0.05, min(longest, (at - self._environment.clock()) / 1000))

    def _send_due(self) -> None:
        """Start sending due deliveries, one message to a webhook at a time."""
        now = self._environment.clock()
        if not (self._leases.holds(LEASE) or self._leases.acquire(LEASE)):  # another worker sends
            return
        for delivery in self._store.webhooks.due(now):
            if delivery.webhook in self._sending:
                continue
            with self._store.write():
                taken = self._store.webhooks.claim(delivery, now + CLAIM_MS)
            if taken:
                task = asyncio.get_running_loop().create_task(self._send(delivery))
                self._sending[delivery.webhook] = task

    async def _send(self, delivery: DeliveryRow) -> None:
        try:
            hook = self._store.webhooks.get(delivery.webhook)
            now = self._environment.clock() // 1000
            tried = await self._client.post(
                hook.url, hook.secret, delivery.message_id, now, delivery.body.encode()
            )
            self._store_try(hook, delivery, tried)
        except NotFound:  # deleted meanwhile
            pass
        except CoppiceError as error:
            log.warning("an attempt to deliver to a webhook could not be stored: %s", error)
        finally:
            self._sending.pop(delivery.webhook, None)
            self.wake_up()

    def _store_try(self, hook: WebhookRow, delivery: DeliveryRow, tried: DeliveryAttempt) -> None:
        """Store a try and the time of the next one, if any."""
        now, tries = self._environment.clock(), delivery.tries + 1
        arrived = not tried.problem
        self.counts.delivered += arrived
        self.counts.failed += not arrived
        ends = arrived or tried.gone or tries > len(WAITS)
        waits = 0.0 if ends else max(WAITS[tries - 1], tried.wait_seconds or 0)
        next_at = None if ends else now + int(min(waits, LONGEST_WAIT) * 1000)
        with self._store.write():
            self._store.webhooks.put_delivery(
                delivery._replace(
                    tries=tries, next_at=next_at, status=tried.status, problem=tried.problem, tried_at=now
                )
            )
            if tried.gone:
                self._store.webhooks.put(self._store.webhooks.get(hook.id)._replace(active=False))
        events: list[Event] = [WebhooksChanged()]
        if ends and not arrived:
            host = urlsplit(hook.url).hostname
            why = f"{tried.problem}; it is paused" if tried.gone else f"{tried.problem}, {tries} tries"
            events.append(ProblemReported(None, f"a webhook message to {host} failed: {why}", failed=True))
        self._environment.bus.publish(*events)
