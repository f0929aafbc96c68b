"""The units that a plan may not drop, each with its cause.

Always kept, whatever they cost: system messages, the last unit, pinned and spared messages, the fresh tail. The
last user message and the user's own words are protected as far as there is room beside those. A unit is
protected whole, for the first cause below that applies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain

from scoring.history import History
from scoring.settings import Settings

# Causes in order of precedence, with the reason shown.
REASONS = {
    "system": "protected: system message",
    "last_unit": "protected: last message",
    "pinned": "protected: pinned",
    "spared": "protected: spared in this plan",
    "fresh_tail": "protected: fresh tail",
    "last_user": "protected: the last user message",
    "user_words": "protected: the user's words",
}
# Of the user's own words the first message is kept too, unless it takes more than this share of the budget.
FIRST_USER_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Protection:
    """The cause for each protected head, and the tokens of those that are always kept and of all."""

    causes: dict[int, str]
    always_tokens: int
    tokens: int
    last_user_left_out: int | None  # the position of the last user message where there is no room for it


def protect(
    history: History,
    settings: Settings,
    max_tokens: int,
    spare: Collection[int] = (),
    drop: Collection[int] = (),
) -> Protection:
    """Find what is protected. What the user drops (`drop`) is protected only as system message, last unit or pinned."""
    causes: dict[int, str] = {}
    dropped = {history.units.head[p] for p in drop} - {history.units.head[p] for p in spare}
    always = _mark(history, causes, "system", history.systems, ())
    always += _mark(history, causes, "last_unit", _last(history, 1), ())
    always += _mark(history, causes, "pinned", history.pinned, ())
    always += _mark(history, causes, "spared", spare, ())
    always += _mark(history, causes, "fresh_tail", _last(history, settings.fresh_tail), dropped)
    room = max_tokens - always
    last_user = history.own_words[-1:]
    left_out = None
    if last_user and room < _cost(history, causes, last_user[0]):
        left_out = last_user[0]
    else:
        room -= _mark(history, causes, "last_user", last_user, ())
    spoken = _user_words(history, settings, max_tokens, room, causes, dropped)
    spent = _mark(history, causes, "user_words", spoken, dropped)
    return Protection(causes, always, max_tokens - room + spent, left_out)


def _mark(
    history: History, causes: dict[int, str], cause: str, positions: Iterable[int], but: Collection[int]
) -> int:
    """Give the cause to the units of these positions that have none yet; answers their tokens."""
    head, costs = history.units.head, history.unit_tokens
    tokens = 0
    for position in positions:
        unit = head[position]
        if unit not in causes and unit not in but:
            causes[unit] = cause
            tokens += costs[unit]
    return tokens


def _cost(history: History, causes: dict[int, str], position: int) -> int:
    """Return what protecting a position's unit adds: nothing where it is protected already."""
    head = history.units.head[position]
    return 0 if head in causes else history.unit_tokens[head]


def _last(history: History, count: int) -> range:
    """Return the positions of the last `count` messages."""
    return range(max(0, len(history) - count), len(history))


def _user_words(
    history: History,
    settings: Settings,
    max_tokens: int,
    room: int,
    causes: dict[int, str],
    dropped: Collection[int],
) -> list[int]:
    """Return the user messages kept for their words: the first, then the newest first, passing over what does not fit.

    Only where users write few of the messages, an agent at work: in a conversation it is the coverage of all that
    was said that keeps what matters, and half of a budget for one side costs what the other said.

    Those that are protected anyway count against the cap, because it says how much of a context is the user's.
    """
    cap = min(settings.user_words_tokens, int(max_tokens * settings.user_words_percent / 100))
    few = len(history.own_words) * 100 <= settings.user_words_messages_percent * len(history)
    if cap <= 0 or not history.own_words or not few:
        return []
    first = history.own_words[0]
    taken: list[int] = []
    seen: set[int] = set()
    head, costs = history.units.head, history.unit_tokens
    if costs[head[first]] > max_tokens * FIRST_USER_SHARE:
        seen.add(head[first])
    else:
        cap = max(cap, costs[head[first]])
    for position in chain([first], reversed(history.own_words)):
        unit = head[position]
        cost = costs[unit]
        new = 0 if unit in causes else cost
        if unit in seen or unit in dropped or cost > cap or new > room:
            continue
        seen.add(unit)
        cap -= cost
        room -= new
        taken.append(position)
        if cap <= 0:
            break
    return taken
