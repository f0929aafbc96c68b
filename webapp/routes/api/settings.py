"""Routes of the settings and the model table."""

from __future__ import annotations

from webapp.access.identity import VIEWER
from webapp.answers import Ok
from webapp.app import App
from webapp.bodies import AnySettings, EmptyBody, ModelRow, Suggest
from webapp.routes.api.routing import Table
from webapp.services.settings.answers import Model, Models, SettingsDoc, Suggestion

table = Table("settings")


@table.get("/settings")
def get_settings(app: App) -> SettingsDoc:
    """Return the current settings, their defaults, the presets and the range of each field."""
    return app.settings.get()


@table.route("PUT", "/settings")
def put_settings(app: App, body: AnySettings) -> SettingsDoc:
    """Save settings, checked as a whole; 422 names every invalid field and saves nothing."""
    return app.settings.put(body.fields, preset=body.preset)


@table.post("/settings/reset")
def reset_settings(app: App, body: EmptyBody) -> SettingsDoc:
    """Reset all settings to the defaults."""
    return app.settings.reset()


@table.post("/settings/suggest", role=VIEWER, errors=(404, 409))
def suggest_settings(app: App, body: Suggest) -> Suggestion:
    """Suggest weights that would have kept more of what sessions needed later; takes seconds, saves nothing."""
    return app.suggesting.suggest(body.sessions)


@table.get("/models")
def list_models(app: App) -> Models:
    """List the limits of all known models, with source and date, and the user's overrides."""
    return app.models.list()


@table.route("PUT", "/models/<path:name>")
def put_model(app: App, name: str, body: ModelRow) -> Model:
    """Override the limits of a model."""
    return app.models.put(name, body)


@table.route("DELETE", "/models/<path:name>", errors=(404,))
def delete_model(app: App, name: str) -> Ok:
    """Remove an override; the limits of the table apply again."""
    app.models.delete(name)
    return Ok(ok=True)
