"""The contract between the gate and the keys: roles, passes, and the count of wrong guesses."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

# Whoever may look, and whoever may change things as well.
VIEWER, OPERATOR = "viewer", "operator"

FAILURES = 10
FAILURES_SECONDS = 60.0
# Addresses whose failures are remembered; the oldest goes first.
ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class Pass:
    """The pass of a request that was let in. `key` names its token and does not reveal it."""

    role: str
    key: str


class Keyring(Protocol):
    """The questions of the gate: is a token needed, and which role has a token or a session. All raise StoreError."""

    def is_asked(self) -> bool:
        """Return whether a token is needed."""

    def admit(self, token: str) -> Pass | None:
        """Return the pass of a token."""

    def begin(self, token: str, server: str) -> str | None:
        """Return the secret of a new session for a token."""

    def resume(self, secret: str, server: str) -> Pass | None:
        """Return the pass of a session."""

    def still_holds(self, held: Pass) -> bool:
        """Return whether a pass would still be given."""


class Unasked:
    """A keyring that asks nobody for a token and lets nobody in with one."""

    def is_asked(self) -> bool:
        """Return False."""
        return False

    def admit(self, token: str) -> Pass | None:
        """Return None."""

    def begin(self, token: str, server: str) -> str | None:
        """Return None."""

    def resume(self, secret: str, server: str) -> Pass | None:
        """Return None."""

    def still_holds(self, held: Pass) -> bool:
        """Return False: no pass was ever given."""
        return held is None


class Failures:
    """The wrong tokens of the last minute, by address; ten of them block the address until the first is a minute old.

    An IPv6 address counts with all of its /64, which one customer is given.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def blocked_seconds(self, address: str) -> int:
        """Return for how many seconds no token is taken from an address; 0 if one is."""
        with self._lock:
            times = self._times.get(network(address))
            if times is None or len(times) < FAILURES:
                return 0
            return max(0, math.ceil(times[0] + FAILURES_SECONDS - self._clock()))

    def add(self, address: str) -> None:
        """Note a wrong token."""
        with self._lock:
            self._times.setdefault(network(address), deque(maxlen=FAILURES)).append(self._clock())
            self._times.move_to_end(network(address))
            if len(self._times) > ADDRESSES:
                self._times.popitem(last=False)


def network(address: str) -> str:
    """Return what an address is counted by."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
    return str(found)
