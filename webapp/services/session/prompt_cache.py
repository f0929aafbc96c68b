"""The provider's cache of a session's context: how long it lasts after a call, and how much of it is still of use.

A provider keeps the prefix of a call for some time, and each further call renews that. Reading it costs a tenth of
writing it or less, so a prune is cheapest when the next call writes everything anyway: because the cache has expired,
or because something before the pruned place has changed since the last call (X26).
"""

from __future__ import annotations

from dataclasses import dataclass

from scoring.models import ModelLimits
from webapp.services.session.answers import PromptCache
from webapp.services.session.state import SessionState
from webapp.services.session.times import iso

# The life of an unused cache. Anthropic: five minutes, or an hour for what is written with `ttl: 1h`. OpenAI and
# Google charge nothing for writing and keep it for up to an hour. Their documentation, November 2026.
BRIEF_MS = 5 * 60 * 1000
HOUR_MS = 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class CacheState:
    """The state of the cache now. Times are in ms.

    `changed_from` is the number of the first message that differs from what the last call sent, 0 for none: from there
    the next call writes everything anyway.
    """

    called_at: int
    lasts: int
    now: int
    changed_from: int

    @property
    def cold_at(self) -> int:
        """Return the time at which the cache expires if no call comes."""
        return self.called_at + self.lasts

    @property
    def cold(self) -> bool:
        """Return True if the cache has expired, so that the next call writes everything.

        A call yet to come was noted by a clock that was set back since; nothing is known of when it was made.
        """
        return not self.called_at - self.lasts <= self.now <= self.cold_at

    def answer(self) -> PromptCache:
        """Return the state of the cache as pages show it."""
        return PromptCache(
            called_at=iso(self.called_at) or "",
            cold_at=iso(self.cold_at) or "",
            minutes=self.lasts // 60_000,
            cold=self.cold,
            changed=self.changed_from > 0,
        )


def prompt_cache(state: SessionState, model: ModelLimits, now: int) -> CacheState | None:
    """Return the provider's cache of a session; None before its first reported call, or if its price is not known.

    A cache lives for an hour, or for five minutes where the provider charges for writing to it and no call asked for
    more.
    """
    if not state.called_at or model.cached_price is None or model.free:
        return None
    brief = not state.cached_for_hour and model.cache_write_price is not None
    return CacheState(state.called_at, BRIEF_MS if brief else HOUR_MS, now, state.changed_from)
