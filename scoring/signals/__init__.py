"""The signals of the score: one file and one row each.

The settings (names, weights, presets), both scoring strategies, the settings page and the documentation read this
table.
"""

from __future__ import annotations

from collections.abc import Mapping

from scoring.signals import keywords, length, recency, relevance, role
from scoring.signals.contract import (
    AGENT,
    ALIKE,
    FLAG_VALUES,
    HAS_DIGIT,
    IS_LINE,
    TASK,
    TOOL,
    USER,
    Messages,
    Options,
    Ratings,
    Signal,
)

SIGNALS: Mapping[str, Signal] = {
    signal.name: signal
    for signal in (recency.SIGNAL, role.SIGNAL, keywords.SIGNAL, length.SIGNAL, relevance.SIGNAL)
}


def weights_of(preset: str) -> dict[str, float]:
    """Return the weight of every signal in a preset, in points."""
    return {name: float(signal.weights.get(preset, 0)) for name, signal in SIGNALS.items()}


__all__ = [
    "AGENT",
    "ALIKE",
    "FLAG_VALUES",
    "HAS_DIGIT",
    "IS_LINE",
    "SIGNALS",
    "TASK",
    "TOOL",
    "USER",
    "Messages",
    "Options",
    "Ratings",
    "Signal",
    "weights_of",
]
