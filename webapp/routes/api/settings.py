"""What a user sets: weights and all the rest, and the model table."""

from __future__ import annotations

from typing import Any

from webapp.bodies import AnySettings, ModelRow, Nothing, Suggest
from webapp.routes.api import shapes
from webapp.routes.api.routing import Table

table = Table("settings")


@table.get("/settings", answers=shapes.SettingsDoc)
def get_settings(app: Any) -> Any:
    """The settings in force, their defaults, the presets and the limits of each field."""
    return app.settings.get()


@table.route("PUT", "/settings", body=AnySettings, answers=shapes.SettingsDoc)
def put_settings(app: Any, body: AnySettings) -> Any:
    """Saves settings, checked as a whole; 422 has one entry a wrong field and nothing is saved."""
    return app.settings.put(body.given())


@table.post("/settings/reset", body=Nothing, answers=shapes.SettingsDoc)
def reset_settings(app: Any, body: Nothing) -> Any:
    """Goes back to the defaults."""
    return app.settings.reset()


@table.post("/settings/suggest", body=Suggest, answers=shapes.Suggestion, errors=(404, 409))
def suggest_settings(app: Any, body: Suggest) -> Any:
    """Weights that would have kept more of what the sessions needed later; nothing is saved. Takes some seconds."""
    return app.suggesting.suggest(body.sessions)


@table.get("/models", answers=shapes.Models)
def list_models(app: Any) -> Any:
    """The windows of all known models, with source and date, and what overrides them."""
    return {"models": app.models.list()}


@table.route("PUT", "/models/<path:name>", body=ModelRow, answers=shapes.Model)
def put_model(app: Any, name: str, body: ModelRow) -> Any:
    """Overrides the limits of a model."""
    return app.models.put(name, body.given())


@table.route("DELETE", "/models/<path:name>", answers=shapes.Ok, errors=(404,))
def delete_model(app: Any, name: str) -> Any:
    """Takes an override away; the table's row counts again."""
    app.models.delete(name)
    return {"ok": True}
