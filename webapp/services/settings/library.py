"""What holds for all sessions: settings and the model table, checked as a whole before anything is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.errors import Fault, InvalidSettings
from scoring.models import ModelLimits, known_models
from scoring.settings import (
    DEFAULT_PRESET,
    LIMITS,
    PRESETS,
    STRATEGY_NAMES,
    TASK_TYPE_CHOICES,
    Settings,
    preset_of,
)
from webapp.errors import NotFound
from webapp.events import ModelsChanged, SettingsChanged
from webapp.services.session.environment import SETTINGS, Environment


class SettingsService:
    """The settings of the application."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def get(self) -> dict[str, Any]:
        """Settings in force, defaults, presets, and what each number may be."""
        settings = self._environment.settings()
        limits: dict[str, Any] = {name: limit.to_dict() for name, limit in LIMITS.items()}
        limits["strategy"] = {"choices": list(STRATEGY_NAMES)}
        limits["task_type"] = {"choices": list(TASK_TYPE_CHOICES)}
        return {
            "settings": settings.to_dict(),
            "defaults": PRESETS[DEFAULT_PRESET].to_dict(),
            "presets": {name: preset.to_dict() for name, preset in PRESETS.items()},
            "preset": preset_of(settings),
            "limits": limits,
        }

    def put(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Saves settings, in whole or in part; `{preset: name}` takes a preset, `{settings: {…}}` is unwrapped.

        Raises:
            InvalidSettings: one fault a wrong field; nothing is saved.
        """
        base = self._environment.settings()
        if "preset" in data:
            base = _preset(data["preset"])
        inner = data.get("settings")
        fields = inner if isinstance(inner, Mapping) else {k: v for k, v in data.items() if k != "preset"}
        return self._save(Settings.from_dict(fields, base=base).to_dict())

    def reset(self) -> dict[str, Any]:
        """Goes back to the defaults."""
        return self._save(None)

    def _save(self, settings: dict[str, Any] | None) -> dict[str, Any]:
        with self._store.write():
            self._store.small.put_setting(SETTINGS, settings)
        self._environment.forget()
        self._environment.bus.publish(SettingsChanged())
        return self.get()


def _preset(name: Any) -> Settings:
    if name not in PRESETS:
        raise InvalidSettings([Fault("preset", f"expected one of {', '.join(PRESETS)}, got {name}")])
    return PRESETS[name]


class Models:
    """The model table with the user's own rows on top."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def list(self) -> list[dict[str, Any]]:
        """All rows, the user's own first; `overridden` says that a row of the table does not count."""
        own = self._environment.overrides()
        names = {row.name for row in own}
        rows = [_model_json(row, overridden=True) for row in own]
        return rows + [_model_json(row, overridden=False) for row in known_models() if row.name not in names]

    def put(self, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Overrides what is known of a model.

        Raises:
            InvalidSettings: a number is out of range; one fault a field.
        """
        others = [row for row in self._environment.overrides() if row.name != name]
        row = ModelLimits.from_dict({**data, "name": name}, others)
        with self._store.write():
            self._store.small.put_model_override(name, dict(data))
        self._environment.forget()
        self._environment.bus.publish(ModelsChanged())
        return _model_json(row, overridden=True)

    def delete(self, name: str) -> None:
        """Takes an override away.

        Raises:
            NotFound: there is none for this name.
        """
        with self._store.write():
            if not self._store.small.put_model_override(name, None):
                raise NotFound("override of a model", name)
        self._environment.forget()
        self._environment.bus.publish(ModelsChanged())


def _model_json(row: ModelLimits, overridden: bool) -> dict[str, Any]:
    return row.to_dict() | {"overridden": overridden}
