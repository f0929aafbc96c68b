"""Webhooks: the addresses that events are sent to, with the signing secrets, and the log of deliveries.

A waiting delivery has the time of its next try; one without a time is finished. The log keeps the newest deliveries of
each webhook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from webapp.errors import NotFound
from webapp.store.engine import Subject

# Deliveries that are kept for each webhook, including those that still wait.
DELIVERIES_KEPT = 200
# The longest wait for the next try, in seconds.
LONGEST_WAIT = 86_400


class WebhookRow(NamedTuple):
    """One webhook. `events` are the names of the events it receives; it receives none unless it is `active`.

    If they are damaged it receives none either: `verify` reports it, and they can be chosen again.
    """

    id: int
    url: str
    secret: str
    events: tuple[str, ...]
    active: bool
    created_at: int


class DeliveryRow(NamedTuple):
    """One message to one webhook, with its `body` as it is sent.

    `next_at` is None after it was delivered or given up. `status` is the last answer of the receiver, `problem` the
    reason why the last try failed, "" if it did not.
    """

    id: int
    webhook: int
    message_id: str
    event: str
    session_id: str | None
    at: int
    body: str
    tries: int
    next_at: int | None
    status: int | None
    problem: str
    tried_at: int | None


_HOOK, _DELIVERY = ", ".join(WebhookRow._fields), ", ".join(DeliveryRow._fields)


class Webhooks(Subject):
    """Rows of `webhooks` and `webhook_deliveries`."""

    def all(self) -> list[WebhookRow]:
        """Return every webhook, oldest first."""
        return [_hook(row) for row in self._db.rows(f"SELECT {_HOOK} FROM webhooks ORDER BY id")]

    def get(self, number: int) -> WebhookRow:
        """Return one webhook.

        Raises:
            NotFound: none has this number.
        """
        row = self._db.row(f"SELECT {_HOOK} FROM webhooks WHERE id = ?", (number,))
        if row is None:
            raise NotFound("webhook", number)
        return _hook(row)

    def add(self, url: str, secret: str, events: Sequence[str], at: int) -> WebhookRow:
        """Add a webhook; return it with its number."""
        values = (url, secret, orjson.dumps(list(events)).decode(), 1, at)
        sql = (
            "INSERT INTO webhooks (url, secret, events, active, created_at) VALUES (?, ?, ?, ?, ?) "
            f"RETURNING {_HOOK}"
        )
        [row] = self._db.rows(sql, values)
        return _hook(row)

    def put(self, row: WebhookRow) -> None:
        """Store a changed webhook."""
        values = (row.url, row.secret, orjson.dumps(list(row.events)).decode(), int(row.active), row.id)
        self._db.run("UPDATE webhooks SET url = ?, secret = ?, events = ?, active = ? WHERE id = ?", values)

    def remove(self, number: int) -> None:
        """Delete a webhook with its log."""
        self._db.run("DELETE FROM webhook_deliveries WHERE webhook = ?", (number,))
        self._db.run("DELETE FROM webhooks WHERE id = ?", (number,))

    # -- deliveries

    def add_delivery(
        self, webhook: int, message_id: str, event: str, session_id: str | None, body: str, at: int
    ) -> None:
        """Add a delivery that is due at once; delete the oldest ones of the webhook if there are too many."""
        self._db.run(
            "INSERT INTO webhook_deliveries (webhook, message_id, event, session_id, at, body, tries, next_at, problem)"
            " VALUES (?, ?, ?, ?, ?, ?, 0, ?, '')",
            (webhook, message_id, event, session_id, at, body, at),
        )
        self._db.run(
            "DELETE FROM webhook_deliveries WHERE webhook = ? AND id NOT IN "
            "(SELECT id FROM webhook_deliveries WHERE webhook = ? ORDER BY id DESC LIMIT ?)",
            (webhook, webhook, DELIVERIES_KEPT),
        )

    def deliveries(self, webhook: int, limit: int = DELIVERIES_KEPT) -> list[DeliveryRow]:
        """Return the log of a webhook, newest first."""
        sql = f"SELECT {_DELIVERY} FROM webhook_deliveries WHERE webhook = ? ORDER BY id DESC LIMIT ?"
        return [DeliveryRow(*row) for row in self._db.rows(sql, (webhook, limit))]

    def delivery(self, webhook: int, number: int) -> DeliveryRow:
        """Return one delivery of a webhook.

        Raises:
            NotFound: it has none of this number.
        """
        sql = f"SELECT {_DELIVERY} FROM webhook_deliveries WHERE webhook = ? AND id = ?"
        row = self._db.row(sql, (webhook, number))
        if row is None:
            raise NotFound("delivery", number)
        return DeliveryRow(*row)

    def due(self, now: int) -> list[DeliveryRow]:
        """Return the oldest of the due deliveries of each active webhook; one that waits for a retry holds up none.

        One that would wait for twice as long as any does is due: it was stored while the clock was wrong.
        """
        sql = (
            f"SELECT {_DELIVERY} FROM webhook_deliveries WHERE id IN (SELECT MIN(d.id) FROM webhook_deliveries d "
            "JOIN webhooks w ON w.id = d.webhook WHERE w.active = 1 AND (d.next_at <= ? OR d.next_at > ?) "
            "GROUP BY d.webhook) ORDER BY id"
        )
        return [DeliveryRow(*row) for row in self._db.rows(sql, (now, now + 2_000 * LONGEST_WAIT))]

    def next_at(self) -> int | None:
        """Return when the next delivery is due, in milliseconds; None if none waits."""
        sql = (
            "SELECT MIN(next_at) FROM webhook_deliveries WHERE next_at IS NOT NULL "
            "AND webhook IN (SELECT id FROM webhooks WHERE active = 1)"
        )
        found = self._db.value(sql)
        return None if found is None else int(found)

    def claim(self, delivery: DeliveryRow, until: int) -> bool:
        """Reserve a delivery for this process until then; return False if another process has reserved it."""
        sql = "UPDATE webhook_deliveries SET next_at = ? WHERE id = ? AND next_at = ?"
        return self._db.run(sql, (until, delivery.id, delivery.next_at)) > 0

    def put_delivery(self, delivery: DeliveryRow) -> None:
        """Store the result of a try."""
        sql = "UPDATE webhook_deliveries SET tries = ?, next_at = ?, status = ?, problem = ?, tried_at = ? WHERE id = ?"
        values = (delivery.tries, delivery.next_at, delivery.status, delivery.problem, delivery.tried_at)
        self._db.run(sql, (*values, delivery.id))


def _hook(row: tuple[Any, ...]) -> WebhookRow:
    number, url, secret, stored, active, at = row
    try:
        events = orjson.loads(stored)
    except orjson.JSONDecodeError:
        events = None
    names = [one for one in events if isinstance(one, str)] if isinstance(events, list) else []
    return WebhookRow(number, url, secret, tuple(names), bool(active), at)
