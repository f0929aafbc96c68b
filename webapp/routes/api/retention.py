"""Routes of the limits on the age and size of sessions."""

from __future__ import annotations

from webapp.access.identity import VIEWER
from webapp.app import App
from webapp.bodies import ConfirmedDeletion, SessionLimits
from webapp.routes.api.routing import Table
from webapp.services.catalog.answers import Retention, RetentionLimits

table = Table("retention")


@table.get("/retention")
def get_retention(app: App) -> Retention:
    """Return the limits on sessions, and the sessions that will be deleted by them; without limits there are none."""
    return app.retention.preview()


@table.route("PUT", "/retention")
def put_retention(app: App, body: SessionLimits) -> Retention:
    """Set the limits, which are applied every night; an empty object removes them."""
    return app.retention.put(limits_of(body))


@table.post("/retention/preview", role=VIEWER)
def preview_retention(app: App, body: SessionLimits) -> Retention:
    """Return the sessions that limits would delete; stores nothing."""
    return app.retention.preview(limits_of(body))


@table.post("/retention/apply", errors=(409,))
def apply_retention(app: App, body: ConfirmedDeletion) -> Retention:
    """Delete now the sessions that the stored limits select; 409 if their number is not the confirmed one."""
    return app.retention.apply(body.sessions)


def limits_of(body: SessionLimits) -> RetentionLimits:
    """Return limits in the form in which they are stored and answered."""
    return RetentionLimits(days=body.days, size_mib=body.size_mib, user_size_mib=body.user_size_mib)
