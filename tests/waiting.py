"""Waiting for a condition, for as long as a busy machine needs."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds until a test gives up. Only a failing test waits that long.
PATIENCE = 60.0
PAUSE = 0.01


def until(condition: Callable[[], object], pause: Callable[[float], object] = time.sleep) -> None:
    """Return once `condition` holds. Raises AssertionError when it does not within `PATIENCE` seconds.

    The longer it has waited, the less often it checks, because checks take processor time from what it waits for.
    """
    start = time.monotonic()
    while not condition():
        waited = time.monotonic() - start
        assert waited < PATIENCE, f"waited {PATIENCE:g} s in vain"
        pause(max(PAUSE, waited / 10))
