"""The settings that all sessions share, checked as a whole before they are saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.errors import Fault, InvalidSettings
from scoring.settings import CHOICES, DEFAULT_PRESET, LIMITS, PRESETS, STRATEGIES, Choice, Settings, preset_of
from scoring.signals import SIGNALS, Signal
from webapp.events import SettingsChanged
from webapp.services.session.environment import SETTINGS, Environment
from webapp.services.settings.answers import ChoiceText, Range, SettingsDoc, SignalText


def choice_texts() -> dict[str, list[ChoiceText]]:
    """Return the labelled values that each setting with a fixed choice accepts, by the setting's name."""
    return {name: [_text(one) for one in table.values()] for name, table in CHOICES.items()}


def weighing_texts() -> dict[str, list[ChoiceText]]:
    """Return the strategies that use the weights of signals, and those of them that weigh whole messages."""
    return {
        "weighing": [_name(one) for one in STRATEGIES.values() if one.uses_weights],
        "weighing_messages": [_name(one) for one in STRATEGIES.values() if one.weighs_messages],
    }


def signal_texts() -> list[ChoiceText]:
    """Return the signals as pages name them."""
    return [_name(one) for one in SIGNALS.values()]


def _text(choice: Choice) -> ChoiceText:
    return ChoiceText(name=choice.name, label=choice.label, meaning=choice.meaning)


def _name(choice: Choice | Signal) -> ChoiceText:
    """Return a value without its meaning, which would be sent with every page."""
    return ChoiceText(name=choice.name, label=choice.label, meaning="")


class SettingsService:
    """The settings of the application."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def get(self) -> SettingsDoc:
        """Return the current settings, the presets, the range of each field, and the labels of signals and choices."""
        settings = self._environment.settings()
        ranges = {
            name: Range(min=one.minimum, max=one.maximum, step=one.step) for name, one in LIMITS.items()
        }
        return SettingsDoc(
            settings=settings,
            defaults=PRESETS[DEFAULT_PRESET],
            presets=dict(PRESETS),
            preset=preset_of(settings),
            limits=ranges,
            signals=[SignalText(**signal.to_dict()) for signal in SIGNALS.values()],
            choices=choice_texts(),
        )

    def put(self, fields: Mapping[str, Any] | None = None, *, preset: str | None = None) -> SettingsDoc:
        """Save these fields on top of a preset, by default on top of the current settings.

        Raises:
            InvalidSettings: one error for each wrong field; nothing is saved.
        """
        if preset is not None and preset not in PRESETS:
            raise InvalidSettings([Fault("preset", f"expected one of {', '.join(PRESETS)}, got {preset}")])
        with self._store.write():
            self._environment.forget()  # another worker may have saved others
            base = self._environment.settings() if preset is None else PRESETS[preset]
            self._store.small.put_setting(SETTINGS, Settings.from_dict(fields or {}, base=base).to_dict())
        return self._saved()

    def reset(self) -> SettingsDoc:
        """Reset all settings to the defaults."""
        with self._store.write():
            self._store.small.put_setting(SETTINGS, None)
        return self._saved()

    def _saved(self) -> SettingsDoc:
        self._environment.forget()
        self._environment.bus.publish(SettingsChanged())
        return self.get()
