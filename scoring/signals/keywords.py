"""Keywords: words that indicate errors, outcomes, tool use and changes."""

from __future__ import annotations

from scoring.signals.contract import Mentions, Messages, Options, Ratings, Signal

MOST_COUNTED = 16


def rate(history: Messages, settings: Options) -> list[float]:
    """Return each message's rating by its text and the keyword lists, which was made when it was analysed."""
    return history.keywords[:]


def rate_mentions(mentions: Mentions, messages: int) -> Ratings:
    """Rate mentions by the number of messages with them, up to `MOST_COUNTED`: a session's own keywords recur."""
    counted = [min(count, MOST_COUNTED) for count in range(messages + 1)]
    return Ratings(mentions.count, [count / (count + 1) for count in counted])


SIGNAL = Signal(
    "keywords",
    "Keywords",
    "words that tell of errors, outcomes, changes",
    rate,
    in_foresight="how many messages name it",
    weights={"Foresight": 20, "Blueprint": 25},
    rate_mentions=rate_mentions,
)
