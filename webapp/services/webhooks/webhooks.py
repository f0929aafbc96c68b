"""Webhooks: events posted to other programs, signed, retried and logged (X16).

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

import orjson

from webapp.errors import Conflict, CoppiceError, Invalid, NotFound
from webapp.events import (
    ContextPruned,
    ContextSummarized,
    Event,
    ProblemReported,
    TargetCrossed,
    WebhooksChanged,
)
from webapp.services.session.environment import Environment
from webapp.services.session.times import iso
from webapp.services.webhooks import answers
from webapp.services.webhooks.answers import Deliveries, Delivery, Webhook, WebhookEvent, WebhookSecret
from webapp.store.webhooks import DeliveryRow, WebhookRow

log = logging.getLogger(__name__)

# The events that webhooks get, by name, each in words.
PostedEvent = ContextPruned | ContextSummarized | TargetCrossed
EVENTS: Mapping[str, str] = {
    ContextPruned.name: "a context was pruned, or a message dropped by hand",
    ContextSummarized.name: "a summary replaced messages; carries its text",
    TargetCrossed.name: "a session at work grew above its target",
}
TEST = "webhook:test"
MOST_WEBHOOKS = 20
# Events that wait to be stored; further ones are counted and dropped.
QUEUED = 1_000
# Waits before each further try, in seconds; about eleven hours together.
WAITS = (5, 60, 300, 1_800, 7_200, 28_800)
LONGEST_WAIT = 86_400
# How long a delivery belongs to the process that sends it, and how often deliveries of other processes are checked.
CLAIM_MS = 60_000
LOOK_SECONDS = 5.0
# Another worker may have stored a delivery.
SHARED_LOOK_SECONDS = 1.0
LEASE = "webhooks"
SHOWN = 100


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


class WebhookService:
    """The use cases of webhooks, and the thread that sends."""

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

    # -- use cases

    def listed(self) -> answers.Webhooks:
        """Return every webhook and every event."""
        events = [WebhookEvent(name=name, meaning=meaning) for name, meaning in EVENTS.items()]
        return answers.Webhooks(
            webhooks=[self._answer(row) for row in self._store.webhooks.all()], events=events
        )

    def add(self, url: str, events: Sequence[str] | None = None, secret: str | None = None) -> WebhookSecret:
        """Add a webhook for these events, by default all; a secret is created if none is given.

        Raises:
            Invalid: the address, an event or the secret is not one.
            Conflict: there are too many already.
        """
        checked, wanted = self._client.check_url(url), _checked(list(EVENTS) if events is None else events)
        own = self._client.new_secret() if secret is None else self._client.check_secret(secret)
        with self._store.write():
            if len(self._store.webhooks.all()) >= MOST_WEBHOOKS:
                raise Conflict(f"there are {MOST_WEBHOOKS} webhooks already; delete one first")
            row = self._store.webhooks.add(checked, own, wanted, self._environment.clock())
        self._changed()
        return WebhookSecret(webhook=self._answer(row), secret=own)

    def change(
        self,
        number: int,
        url: str | None = None,
        events: Sequence[str] | None = None,
        active: bool | None = None,
    ) -> Webhook:
        """Change the given fields of a webhook.

        Raises:
            NotFound: there is no such webhook.
            Invalid: the address or an event is not one.
        """
        checked = None if url is None else self._client.check_url(url)
        wanted = None if events is None else _checked(events)
        with self._store.write():
            row = self._store.webhooks.get(number)
            row = row._replace(
                url=checked or row.url,
                events=wanted or row.events,
                active=row.active if active is None else active,
            )
            self._store.webhooks.put(row)
        self._changed()
        return self._answer(row)

    def rotate(self, number: int) -> WebhookSecret:
        """Replace the secret of a webhook.

        Raises:
            NotFound: there is no such webhook.
        """
        with self._store.write():
            row = self._store.webhooks.get(number)._replace(secret=self._client.new_secret())
            self._store.webhooks.put(row)
        self._changed()
        return WebhookSecret(webhook=self._answer(row), secret=row.secret)

    def remove(self, number: int) -> None:
        """Delete a webhook with its log.

        Raises:
            NotFound: there is no such webhook.
        """
        with self._store.write():
            self._store.webhooks.get(number)
            self._store.webhooks.remove(number)
        self._changed()

    def test(self, number: int) -> Deliveries:
        """Send a test message; return the log.

        Raises:
            NotFound: there is no such webhook.
            Conflict: it is paused.
        """
        with self._store.write():
            self._add([self._active(number)], TEST, None, self._environment.clock(), {"webhook": number})
        self._changed()
        return self.deliveries(number)

    def deliveries(self, number: int) -> Deliveries:
        """Return the log of a webhook, newest first.

        Raises:
            NotFound: there is no such webhook.
        """
        active = self._store.webhooks.get(number).active
        rows = self._store.webhooks.deliveries(number, SHOWN)
        return Deliveries(deliveries=[_delivery(row, active) for row in rows])

    def send_again(self, number: int, delivery: int) -> Delivery:
        """Send a delivery again, at once and with all its tries.

        Raises:
            NotFound: there is no such webhook or delivery.
            Conflict: the webhook is paused.
        """
        with self._store.write():
            self._active(number)
            row = self._store.webhooks.delivery(number, delivery)
            row = row._replace(next_at=self._environment.clock(), tries=0)
            self._store.webhooks.put_delivery(row)
        self._changed()
        return _delivery(row, active=True)

    def _active(self, number: int) -> WebhookRow:
        """Return a webhook that is not paused. Raises NotFound or Conflict."""
        row = self._store.webhooks.get(number)
        if not row.active:
            raise Conflict("it is paused; resume it first")
        return row

    def _answer(self, row: WebhookRow) -> Webhook:
        found = self._store.webhooks.deliveries(row.id)
        last = next((one for one in found if one.tried_at is not None), None)
        return Webhook(
            id=row.id,
            url=row.url,
            events=list(row.events),
            active=row.active,
            created_at=iso(row.created_at) or "",
            waiting=sum(one.next_at is not None for one in found),
            last=_delivery(last, row.active) if last is not None else None,
        )

    def _changed(self) -> None:
        self._environment.bus.publish(WebhooksChanged())
        self._wake_up()

    # -- events come in

    def _on_event(self, event: Event) -> None:
        """Queue an event that webhooks get; the publishing thread does not wait."""
        if not isinstance(event, PostedEvent):
            return
        with self._lock:
            if len(self._queue) >= QUEUED:
                self.counts.dropped += 1
                return
            self._queue.append((event.name, event.session_id, self._environment.clock(), event.payload()))
        self._wake_up()

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
                    self._add([hook for hook in hooks if name in hook.events], name, session_id, at, data)
            with self._lock:
                for _ in waiting:
                    self._queue.popleft()

    def _add(
        self, hooks: Sequence[WebhookRow], name: str, session: str | None, at: int, data: Mapping[str, Any]
    ) -> None:
        message_id = f"msg_{secrets.token_hex(12)}"
        body = orjson.dumps({"type": name, "timestamp": iso(at), "data": data}).decode()
        for hook in hooks:
            self._store.webhooks.add_delivery(hook.id, message_id, name, session, body, at)

    # -- messages go out

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
        self._wake_up()
        if self._thread is not None:
            self._thread.join(timeout=5)
        try:
            self.store_queued()
        except Exception as error:  # noqa: BLE001  # nothing may keep the application from closing its store
            log.warning("%d events for webhooks were not stored: %s", len(self._queue), error)

    def _wake_up(self) -> None:
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
            self._wake_up()

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


def _checked(events: Sequence[str]) -> tuple[str, ...]:
    unknown = [name for name in events if name not in EVENTS]
    if unknown or not events:
        raise Invalid(f"expected some of {', '.join(EVENTS)}", "events")
    return tuple(name for name in EVENTS if name in events)


def _delivery(row: DeliveryRow, active: bool) -> Delivery:
    over = row.next_at is None
    return Delivery(
        id=row.id,
        message_id=row.message_id,
        event=row.event,
        session_id=row.session_id,
        at=iso(row.at) or "",
        state="failed" if over and row.problem else "delivered" if over else "waiting",
        tries=row.tries,
        tried_at=iso(row.tried_at),
        next_try_at=iso(row.next_at) if active else None,
        status=row.status,
        problem=row.problem,
    )
