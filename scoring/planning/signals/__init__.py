"""The signals of the score: one file each, one function each, one line each in the table.

A signal rates every message of a history at once, because a column is cheaper than a call a message. Ratings
are 0...1; the weight a signal has in the score is a setting. *Foresight* rates the marks of messages instead, by the
functions beside each `rate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scoring.history import History
from scoring.planning.signals import keywords, length, recency, relevance, role
from scoring.settings import Settings

Signal = Callable[[History, Settings], list[float]]

SIGNALS: Mapping[str, Signal] = {
    "recency": recency.rate,
    "role": role.rate,
    "keywords": keywords.rate,
    "length": length.rate,
    "relevance": relevance.rate,
}
