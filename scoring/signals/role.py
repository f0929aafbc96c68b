"""Role: who speaks."""

from __future__ import annotations

from scoring.history import History
from scoring.settings import Settings


def rate(history: History, settings: Settings) -> list[float]:
    """What the settings' table says of each message's role."""
    return list(map(settings.roles.__getitem__, history.roles))
