"""Environment: store, bus, tokenizers, clock, and the common settings and models, shared by all services.

Settings and model overrides are cached until they change; once a second the store is checked for changes by
another process. A session's lock keeps two threads from preparing the same append; other processes are kept
apart by the session's version.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypedDict, TypeVar
from weakref import WeakValueDictionary

from scoring.errors import InvalidSettings
from scoring.models import ModelLimits, find_model
from scoring.settings import DEFAULT_PRESET, PRESETS, Settings
from webapp.bus import Bus
from webapp.errors import BusyStore
from webapp.redaction import Redactor
from webapp.services.session.leases import Leases
from webapp.services.session.limits import compatible_settings
from webapp.services.session.measuring import CounterProvider, MeasureMessage, measure
from webapp.services.session.prices import Prices
from webapp.services.session.times import now_ms
from webapp.store import Store

T = TypeVar("T")

SETTINGS, WINDOWS = "settings", "windows"
CHECK_MS = 1_000
# The number of threads that may wait to change one session, and for how long. The longest change of a very
# long session takes less.
WAITING = 12
WAIT_SECONDS = 30.0


class SessionLock:
    """One thread's lock of a session; the same thread may take it again.

    A few threads may wait, for a limited time.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._lock = threading.RLock()
        self._waiting = threading.Semaphore(WAITING)

    def __enter__(self) -> None:
        """Wait for the lock.

        Raises:
            BusyStore: too many threads wait for it, or the wait timed out.
        """
        if self._lock.acquire(blocking=False):
            return
        if not self._waiting.acquire(blocking=False):
            raise BusyStore(
                f"session {self._session_id} is busy: {WAITING} others wait to change it; try again"
            )
        try:
            if not self._lock.acquire(timeout=WAIT_SECONDS):
                raise BusyStore(f"session {self._session_id} is busy: it is being changed; try again")
        finally:
            self._waiting.release()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class SharedValues(Protocol):
    """Values that all workers can read for a while; `webapp.queue` has the real one."""

    def put(self, name: str, value: bytes, seconds: int) -> None:
        """Keep a value for some seconds."""

    def get(self, name: str) -> bytes | None:
        """Return a value; None if it is gone."""


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The maximum bytes of a message, of the log of a session, and of the store; 0 for no limit."""

    message: int = 0
    session: int = 0
    store: int = 0


class RememberedWindow(TypedDict):
    """The window that an agent reported for a model, in tokens, why it is known, and when it was reported, in ms."""

    window: int
    why: str
    at: int


class CachedValue(Generic[T]):
    """A value that is read from the store once and cached until it is forgotten.

    What is read in a transaction, or a snapshot, that began before the value was last forgotten may be the value before
    the change: it is returned, but not cached.
    """

    def __init__(self, store: Store, read: Callable[[], T]) -> None:
        self._store, self._read = store, read
        self._value: T | None = None
        self._forgotten_at = 0  # in ns of the monotonic clock
        self._guard = threading.Lock()

    def get(self) -> T:
        """Return the value."""
        if (value := self._value) is None:
            began = self._store.began()
            value = self._read()
            with self._guard:
                if began > self._forgotten_at:
                    self._value = value
        return value

    def forget(self) -> None:
        """Read the value again at its next use."""
        with self._guard:
            self._forgotten_at = time.monotonic_ns()
            self._value = None


class Environment:
    """The store, the bus, the tokenizers and the clock, with the settings and models common to all sessions."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        tokenizers: CounterProvider,
        redactor: Redactor | None,
        sizes: SizeLimits,
        shared_values: SharedValues | None,
        leases: Leases,
    ) -> None:
        self.store, self.bus, self.tokenizers = store, bus, tokenizers
        self.clock: Callable[[], int] = now_ms
        self.redactor, self.sizes = redactor, sizes
        self.shared_values, self.leases = shared_values, leases
        self.measure: MeasureMessage = measure
        self.prices = Prices()
        self._locks: WeakValueDictionary[str, SessionLock] = WeakValueDictionary()
        self._guard = threading.Lock()
        self._settings = CachedValue(store, self._read_settings)
        self._overrides = CachedValue(store, self._read_overrides)
        self._windows = CachedValue[dict[str, RememberedWindow]](store, lambda: store.small.fields(WINDOWS))
        self._checked_at = 0
        self.damaged: list[str] = []  # stored settings and model limits that cannot be read
        self._stored: object = None

    def lock(self, session_id: str) -> SessionLock:
        """Return the session's lock, which lives while a thread holds it; hold it to prepare and write a change."""
        with self._guard:
            return self._locks.setdefault(session_id, SessionLock(session_id))

    def settings(self) -> Settings:
        """Return the settings common to all sessions."""
        self._drop_outdated()
        return self._settings.get()

    def _read_settings(self) -> Settings:
        stored = self.store.small.fields(SETTINGS)
        self.damaged = self.store.small.damaged()
        # Another version may have written fields that this one does not know.
        return compatible_settings(stored, PRESETS[DEFAULT_PRESET])[0]

    def model(self, name: str | None) -> ModelLimits:
        """Return the limits of a model, the user's overrides first."""
        return find_model(name, self.overrides(), self.settings())

    def overrides(self) -> list[ModelLimits]:
        """Return the user's own rows of the model table."""
        self._drop_outdated()
        return self._overrides.get()

    def _read_overrides(self) -> list[ModelLimits]:
        rows: list[ModelLimits] = []
        for name, data in self.store.small.model_overrides().items():
            with suppress(InvalidSettings):  # written by another version
                rows.append(ModelLimits.from_dict({**data, "name": name}, rows))
        return rows

    def windows(self) -> dict[str, RememberedWindow]:
        """Return the windows that agents have reported, by agent and model."""
        self._drop_outdated()
        return self._windows.get()

    def remember_window(self, key: str, window: int, why: str, at: int) -> None:
        """Remember the window that an agent reported, inside the caller's transaction; the last one counts."""
        known = self.store.small.locked_fields(WINDOWS)
        if known.get(key, {}).get("at", -1) <= at:
            known[key] = {"window": window, "why": why, "at": at}
            self.store.small.put_setting(WINDOWS, known)
            self._windows.forget()
            self.store.at_end(self._windows.forget)  # others read the old windows until the commit

    def forget(self) -> None:
        """Read settings and models from the store at the next use."""
        for one in (self._settings, self._overrides, self._windows):
            one.forget()

    def _drop_outdated(self) -> None:
        """Drop the cache where another process has written settings or models since the last check."""
        now = self.clock()
        if abs(now - self._checked_at) < CHECK_MS:
            return
        self._checked_at = now
        stored = tuple(map(self.store.small.setting, (SETTINGS, WINDOWS))), self.store.small.model_overrides()
        if stored != self._stored:
            self._stored = stored
            self.forget()
