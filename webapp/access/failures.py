"""The count of wrong tokens by address, so that nobody can guess one by trying."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

FAILURES = 10
FAILURES_SECONDS = 60.0
# Addresses whose failures are remembered; the oldest goes first.
ADDRESSES = 10_000


class Failures:
    """The wrong tokens of the last minute, by address; ten of them block the address until the first is a minute old.

    An IPv6 address counts with all of its /64, because one customer gets all of it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def blocked_seconds(self, address: str) -> int:
        """Return the seconds until tokens from an address are checked again; 0 if they are checked now."""
        with self._lock:
            times = self._times.get(network(address))
            if times is None or len(times) < FAILURES:
                return 0
            return max(0, math.ceil(times[0] + FAILURES_SECONDS - self._clock()))

    def add(self, address: str) -> None:
        """Count a wrong token."""
        with self._lock:
            self._times.setdefault(network(address), deque(maxlen=FAILURES)).append(self._clock())
            self._times.move_to_end(network(address))
            if len(self._times) > ADDRESSES:
                self._times.popitem(last=False)


def network(address: str) -> str:
    """Return the key under which the failures of an address are counted."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
    return str(found)
