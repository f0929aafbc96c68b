"""What every service works with: store, bus, tokenizers, and the settings and limits that hold for a session.

Settings and model overrides are kept until they change; whether another process has changed them is looked up once a
second. A session's lock keeps two threads from preparing the same append; other processes are kept apart by the
session's version.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from scoring.budget import targets
from scoring.errors import InvalidSettings
from scoring.history import Facts, settings_for
from scoring.models import ModelLimits, find_model
from scoring.settings import DEFAULT_PRESET, PRESETS, Settings, lexicon_of
from scoring.tokens import AGENTS, Calibration, ModelCounter, Overheads, Traits, expected, family_of, started
from webapp.bus import Bus
from webapp.services.session.measuring import CountsTokens, Measure
from webapp.services.session.times import now_ms
from webapp.store import Store
from webapp.store.sessions import SessionRow, Taught

SETTINGS = "settings"
LOOK_MS = 1_000
# A session without a reported call by then has none; it is not asked again what others have taught.
SETTLED = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """What a session may hold, in tokens. `limit` is what utilization divides by (SPEC X10), `least_gain` what makes an
    automatic prune worth it (X9).
    """

    model: ModelLimits
    window: int
    limit: int
    output_reserve: int
    target_percent: float
    target_tokens: int
    aim_percent: float
    aim_tokens: int
    least_gain: int
    source: str


class Environment:
    """The common ground of the services."""

    def __init__(
        self, store: Store, bus: Bus, tokenizers: CountsTokens, clock: Callable[[], int] = now_ms
    ) -> None:
        self.store, self.bus, self.tokenizers, self.clock = store, bus, tokenizers, clock
        self._locks: WeakValueDictionary[str, threading.RLock] = WeakValueDictionary()
        self._guard = threading.Lock()
        self._settings: Settings | None = None
        self._models: list[ModelLimits] | None = None
        self._looked_at = 0
        self._stored: object = None

    def lock(self, session_id: str) -> threading.RLock:
        """The session's lock, there while somebody holds it; held while something is worked out and written."""
        with self._guard:
            return self._locks.setdefault(session_id, threading.RLock())

    # -- settings

    def settings(self) -> Settings:
        """The settings that hold for all sessions."""
        self._look()
        if (settings := self._settings) is None:
            stored = self.store.small.setting(SETTINGS)
            # Where another version has written them: what we do not know cannot hold.
            settings = self._settings = what_goes(stored or {}, PRESETS[DEFAULT_PRESET])[0]
        return settings

    def _look(self) -> None:
        """Forgets what is kept where the store says something else by now, because another process has written."""
        now = self.clock()
        if abs(now - self._looked_at) < LOOK_MS:
            return
        self._looked_at = now
        stored = (self.store.small.setting(SETTINGS), self.store.small.model_overrides())
        if stored != self._stored:
            self._stored = stored
            self.forget()

    def settings_of(self, row: SessionRow) -> Settings:
        """The settings that hold for one session."""
        return what_goes(row.settings, self.settings())[0] if row.settings else self.settings()

    def left_aside(self, row: SessionRow) -> list[str]:
        """What of the session's own settings does not go with those that hold for all by now, and why."""
        faults = what_goes(row.settings, self.settings())[1] if row.settings else []
        return [f"its own {name} is left aside: {why}" for name, why in faults]

    def settled(self, row: SessionRow) -> Settings:
        """The settings that hold for one session, with the weights and keywords of its task type."""
        return settings_for(self.settings_of(row), self.facts(row))

    def facts(self, row: SessionRow) -> Facts:
        """What the session's task type is recognised by."""
        return Facts.from_dict((row.state or {}).get("facts"))

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
        self._look()
        if (rows := self._models) is None:
            rows = []
            for name, data in self.store.small.model_overrides().items():
                with suppress(InvalidSettings):  # written by another version
                    rows.append(ModelLimits.from_dict({**data, "name": name}, rows))
            self._models = rows
        return rows

    def limits(self, row: SessionRow, settings: Settings | None = None) -> Limits:
        """What holds for a session: its model's limits, the window its agent reports, its settings."""
        settings = settings or self.settings_of(row)
        return limits_of(self.model(row.model), row.window, settings)

    # -- measuring

    def measure(self, row: SessionRow) -> Measure:
        """Counts and rates messages of a session."""
        name = row.model or self._usual_model(row.source)
        limits = find_model(name, self.overrides())
        counter = ModelCounter(self.tokenizers.counter(limits.encoding), family_of(name), limits.token_factor)
        lexicon = lexicon_of(self.settled(row).keywords)
        own = find_model(row.model, self.overrides())
        return Measure(counter, lexicon, self._begun(row, name, limits), own)

    def _usual_model(self, source: str) -> str | None:
        """The model of an agent's newest session: that of the next one, until it says so itself."""
        return self.store.sessions.latest_model(source) if source in AGENTS else None

    def _begun(self, row: SessionRow, model: str | None, limits: ModelLimits) -> Calibration | None:
        """What a session starts with, from other sessions of its agent; None once it has a call of its own."""
        known = (row.state or {}).get("calibration") or {}
        if row.source not in AGENTS or known.get("known") or row.next_no > SETTLED:
            return None
        like = Traits(
            row.source, row.parent_id is not None, row.agent_type, row.cwd, model, limits.token_factor
        )
        found = expected(like, [self._taught(t, row.source) for t in self.store.sessions.taught(row.source)])
        return started(found.unseen, found.second or 0, found.restored or 0)

    def _taught(self, taught: Taught, source: str) -> tuple[Traits, Overheads]:
        factor = find_model(taught.model, self.overrides()).token_factor
        traits = Traits(source, taught.child, taught.agent_type, taught.cwd, taught.model, factor)
        second = taught.second if taught.calls > 1 else None
        restored = taught.restored if taught.compactions else None
        return traits, Overheads(taught.unseen, second, restored, taught.calls)


def what_goes(data: Mapping[str, Any], base: Settings) -> tuple[Settings, list[tuple[str, str]]]:
    """The settings of `data` on top of `base` as far as they go together, and what does not, with the reason.

    What was valid when it was saved need not be once what lies below it has changed; the rest of it holds.
    """
    try:
        return Settings.from_dict(data, base=base), []
    except InvalidSettings:
        settings, left = base, dict(data)
    faults: dict[str, str] = {}
    before = len(left) + 1
    while len(left) < before:  # one may only go once another has
        before = len(left)
        for name in [*left]:
            try:
                settings = Settings.from_dict({name: left[name]}, base=settings)
                del left[name]
            except InvalidSettings as error:
                faults[name] = error.faults[0].message
    return settings, [(name, faults[name]) for name in left]


def limits_of(model: ModelLimits, reported_window: int | None, settings: Settings) -> Limits:
    """The limits that follow from a model's row, the window that the agent reports, and settings."""
    window, limit = model.window, model.input_limit or model.window
    source = model.source
    if reported_window and reported_window != window:
        above = model.known and reported_window > window
        limit = reported_window if above or not model.known else min(limit, reported_window)
        window, source = reported_window, "seen in real usage" if above else "reported by the agent"
    found = targets(replace(model, window=window, input_limit=limit), settings)
    target = max(1, found.target)
    aim = min(found.aim, target)
    # Of a limit that a cap makes smaller, or it could ask for a gain that no prune down to the cap can have.
    least_gain = min(limit, 100 * target / settings.target_percent) * settings.minimum_gain_percent / 100
    return Limits(
        model,
        window,
        limit,
        min(settings.response_reserve, window),
        round(100 * target / limit, 1),
        target,
        round(100 * aim / limit, 1),
        aim,
        max(1, round(least_gain)),
        source,
    )
