"""Times: milliseconds since 1970 UTC inside, ISO 8601 with Z outside."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the present time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def to_ms(at: datetime | None) -> int | None:
    """Return the milliseconds since 1970 of a time in a record; one without a zone is UTC."""
    if at is None:
        return None
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """Return milliseconds since 1970 as a time in UTC."""
    return EPOCH + timedelta(milliseconds=ms)


def latest(known: int, at: int, now: int) -> int:
    """Return the later one of two times in milliseconds since 1970.

    A time to come is no time of an event: it counts as now, or not at all if it was noted before, by a wrong clock.
    """
    return max(known if known <= now else 0, min(at, now))


def iso(ms: int | None) -> str | None:
    """Return a time as JSON has it: `2026-01-31T12:00:00.250Z`; None if it is in no year of four digits."""
    if ms is None:
        return None
    try:
        return from_ms(ms).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    except OverflowError:
        return None


def day(ms: int | None) -> str:
    """Return the day of a time in UTC: `2026-01-31`; "" if it is unknown."""
    return (iso(ms or None) or "")[:10]
