"""Routes of webhooks. Only an operator may use them: an address can itself be a secret."""

from __future__ import annotations

from webapp.access.identity import OPERATOR
from webapp.answers import Ok
from webapp.app import App
from webapp.bodies import EmptyBody, NewWebhook, WebhookChange
from webapp.routes.api.routing import Table, number
from webapp.services.webhooks.answers import Deliveries, Delivery, Webhook, Webhooks, WebhookSecret

table = Table("webhooks")


@table.get("/webhooks", role=OPERATOR)
def list_webhooks(app: App) -> Webhooks:
    """List the webhooks, oldest first, and all events."""
    return app.webhooks.listed()


@table.post("/webhooks", status=201, errors=(409,))
def add_webhook(app: App, body: NewWebhook) -> WebhookSecret:
    """Add a webhook; only this answer shows its secret."""
    return app.webhooks.add(body.url, body.events, body.secret)


@table.route("PATCH", "/webhooks/<webhook_id>", errors=(404,))
def change_webhook(app: App, webhook_id: str, body: WebhookChange) -> Webhook:
    """Change the address or the events of a webhook, pause or resume it."""
    return app.webhooks.change(number("webhook", webhook_id), body.url, body.events, body.active)


@table.route("DELETE", "/webhooks/<webhook_id>", errors=(404,))
def delete_webhook(app: App, webhook_id: str) -> Ok:
    """Delete a webhook with its log; waiting messages are not sent."""
    app.webhooks.remove(number("webhook", webhook_id))
    return Ok(ok=True)


@table.post("/webhooks/<webhook_id>/rotate", errors=(404,))
def rotate_webhook(app: App, webhook_id: str, body: EmptyBody) -> WebhookSecret:
    """Replace the secret of a webhook at once; only this answer shows the new one."""
    return app.webhooks.rotate(number("webhook", webhook_id))


@table.post("/webhooks/<webhook_id>/test", errors=(404, 409))
def test_webhook(app: App, webhook_id: str, body: EmptyBody) -> Deliveries:
    """Send a message of type `webhook:test`; return the log that includes it."""
    return app.webhooks.test(number("webhook", webhook_id))


@table.get("/webhooks/<webhook_id>/deliveries", role=OPERATOR, errors=(404,))
def list_deliveries(app: App, webhook_id: str) -> Deliveries:
    """List the newest 100 messages to a webhook, newest first."""
    return app.webhooks.deliveries(number("webhook", webhook_id))


@table.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/again", errors=(404, 409))
def send_again(app: App, webhook_id: str, delivery_id: str, body: EmptyBody) -> Delivery:
    """Send a message again now, with the same id."""
    return app.webhooks.send_again(number("webhook", webhook_id), number("delivery", delivery_id))
