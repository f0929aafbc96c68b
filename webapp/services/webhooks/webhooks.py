"""Webhooks: adding, changing and testing them, and their log (X16)."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.errors import Conflict, Invalid
from webapp.events import WebhooksChanged
from webapp.services.session.environment import Environment
from webapp.services.session.times import iso
from webapp.services.webhooks import answers
from webapp.services.webhooks.answers import Deliveries, Delivery, Webhook, WebhookEvent, WebhookSecret
from webapp.services.webhooks.sending import EVENTS, WebhookClient, WebhookSender
from webapp.store.webhooks import DeliveryRow, WebhookRow

TEST = "webhook:test"
MOST_WEBHOOKS = 20
SHOWN = 100


class WebhookService:
    """The use cases of webhooks."""

    def __init__(self, environment: Environment, client: WebhookClient, sender: WebhookSender) -> None:
        self._environment, self._store = environment, environment.store
        self._client, self._sender = client, sender

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
            self._sender.add(
                [self._active(number)], TEST, None, self._environment.clock(), {"webhook": number}
            )
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
        self._sender.wake_up()


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
