"""What every service works with: store, bus, tokenizers, and the settings and limits that hold for a session.

Settings and model overrides are read from the store once and kept until they change. A session's lock keeps two
threads from preparing the same append; other processes are kept apart by the session's version.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from scoring.errors import InvalidSettings
from scoring.lexicon import lexicon_of
from scoring.models import ModelLimits, find_model
from scoring.settings import DEFAULT_PRESET, PRESETS, Settings
from webapp.bus import Bus
from webapp.services.clock import now_ms
from webapp.services.measure import CountsTokens, Measure
from webapp.store import Store
from webapp.store.sessions import SessionRow

SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a session may hold, in tokens. `limit` is what utilization divides by (SPEC X10)."""

    model: ModelLimits
    window: int
    limit: int
    output_reserve: int
    target_percent: float
    target_tokens: int
    aim_percent: float
    aim_tokens: int
    source: str


class Desk:
    """The common ground of the services."""

    def __init__(
        self, store: Store, bus: Bus, tokenizers: CountsTokens, clock: Callable[[], int] = now_ms
    ) -> None:
        self.store, self.bus, self.tokenizers, self.clock = store, bus, tokenizers, clock
        self._locks: dict[str, threading.RLock] = {}
        self._guard = threading.Lock()
        self._settings: Settings | None = None
        self._models: list[ModelLimits] | None = None

    def lock(self, session_id: str) -> threading.RLock:
        """The session's lock; held while an append or an operation is worked out and written."""
        with self._guard:
            return self._locks.setdefault(session_id, threading.RLock())

    # -- settings

    def settings(self) -> Settings:
        """The settings that hold for all sessions."""
        if self._settings is None:
            stored = self.store.small.setting(SETTINGS)
            try:
                self._settings = Settings.from_dict(stored or {}, base=PRESETS[DEFAULT_PRESET])
            except InvalidSettings:  # written by another version: what we do not know cannot hold
                self._settings = PRESETS[DEFAULT_PRESET]
        return self._settings

    def settings_of(self, row: SessionRow) -> Settings:
        """The settings that hold for one session."""
        if not row.settings:
            return self.settings()
        try:
            return Settings.from_dict(row.settings, base=self.settings())
        except InvalidSettings:
            return self.settings()

    def forget(self) -> None:
        """Reads settings and models anew at the next look."""
        self._settings = self._models = None

    def automatic(self, row: SessionRow) -> bool:
        """Whether the session prunes by itself."""
        return bool(row.automatic) if row.automatic is not None else self.settings_of(row).automatic

    # -- limits

    def model(self, name: str | None) -> ModelLimits:
        """The limits of a model, the user's overrides first."""
        return find_model(name, self.overrides(), self.settings())

    def overrides(self) -> list[ModelLimits]:
        """The user's own rows of the model table."""
        if self._models is None:
            rows: list[ModelLimits] = []
            for name, data in self.store.small.model_overrides().items():
                with suppress(InvalidSettings):  # written by another version
                    rows.append(ModelLimits.from_dict({**data, "name": name}, rows))
            self._models = rows
        return self._models

    def limits(self, row: SessionRow, settings: Settings | None = None) -> Limits:
        """What holds for a session: its model's limits, the window its agent reports, its settings."""
        settings = settings or self.settings_of(row)
        return limits_of(self.model(row.model), row.window, settings)

    # -- measuring

    def measure(self, row: SessionRow) -> Measure:
        """Counts and rates messages of a session."""
        counter = self.tokenizers.counter(self.model(row.model).encoding)
        return Measure(counter, lexicon_of(self.settings_of(row).keywords))


def limits_of(model: ModelLimits, reported_window: int | None, settings: Settings) -> Limits:
    """The limits that follow from a model's row, the window that the agent reports, and settings.

    The target is the least of `target_percent` of the input limit, window less output reserve, and the cap.
    """
    window, limit = model.window, model.input_limit or model.window
    source = model.source
    if reported_window and reported_window != window:
        limit = min(model.input_limit or reported_window, reported_window) if model.known else reported_window
        window, source = reported_window, "reported by the agent"
    reserve = min(settings.response_reserve, window)
    target = min(int(limit * settings.target_percent / 100), window - reserve)
    if settings.cap_tokens is not None:
        target = min(target, settings.cap_tokens)
    target = max(1, target)
    aim = min(int(limit * settings.aim_percent / 100), target)
    return Limits(
        model,
        window,
        limit,
        reserve,
        round(100 * target / limit, 1),
        target,
        round(100 * aim / limit, 1),
        aim,
        source,
    )
