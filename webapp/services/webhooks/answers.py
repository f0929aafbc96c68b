"""Answers about webhooks. The secret of one is in the answer to its creation or its rotation, and in no other."""

from __future__ import annotations

from typing import Literal

from webapp.answers import answer

DeliveryState = Literal["waiting", "delivered", "failed"]


@answer
class WebhookEvent:
    """An event that webhooks get, in words."""

    name: str
    meaning: str


@answer
class Delivery:
    """One message to one webhook."""

    id: int
    message_id: str
    """The same in every try, as the header `webhook-id`."""
    event: str
    session_id: str | None
    at: str
    state: DeliveryState
    tries: int
    tried_at: str | None
    next_try_at: str | None
    """None if it is finished, or its webhook is paused."""
    status: int | None
    """The HTTP status of the last answer."""
    problem: str
    """The reason why the last try failed; empty if it did not."""


@answer
class Webhook:
    """An address that gets events."""

    id: int
    url: str
    events: list[str]
    active: bool
    """False while it is paused: events of that time are not sent."""
    created_at: str
    waiting: int
    """Messages that wait for their next try."""
    last: Delivery | None
    """The newest message that was tried."""


@answer
class Webhooks:
    """All webhooks, and the events that there are."""

    webhooks: list[Webhook]
    events: list[WebhookEvent]


@answer
class WebhookSecret:
    """A webhook with its secret, which is shown only this once."""

    webhook: Webhook
    secret: str


@answer
class Deliveries:
    """The messages to one webhook, newest first."""

    deliveries: list[Delivery]
