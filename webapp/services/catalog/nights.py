"""The nights in which the limits on sessions are applied, in the server's own time; each has the date it begins on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

# The hour of the day from which a night counts.
NIGHT = 3


def _local(at: int) -> datetime:
    """Return a time in ms since 1970 in the server's own time zone."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone()


def night_of(now: int) -> str:
    """Return the date of the last night that has begun; limits set after it wait for the next one."""
    today = _local(now)
    return (today if today.hour >= NIGHT else today - timedelta(days=1)).date().isoformat()


def after(night: object, other: object) -> timedelta:
    """Return how long a night comes after another; infinite if one of them is no date."""
    try:
        return date.fromisoformat(str(night)) - date.fromisoformat(str(other))
    except ValueError:
        return timedelta.max


def next_night(now: int) -> datetime:
    """Return when the limits are applied next."""
    today = _local(now)
    night = today.replace(hour=NIGHT, minute=0, second=0, microsecond=0)
    return night if today < night else night + timedelta(days=1)
