"""Statements that a later one of the same speaker replaces, by what both are about.

A later statement of the model replaces an earlier one if it has a word of revising, or if both tell an order of steps,
and the two share much of their topic. A later message of a user lifts a strict rule if it has a word of permitting or
revising and is about the same. Both are made of words alone: a message with a call, and a command that a program
answers in the user's place, are acts, which stay true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

from scoring.history import MACHINE_MADE, ORDERED, PERMITTING, REVISING, STRICT, Cues, History

LONGEST = 1_500  # characters; a longer statement says much that stays true
# The parts of the shorter topic that two statements share at least: with one cue, with both, and with a rule.
SHARED, SHARED_WITH_BOTH, SHARED_WITH_RULE = 0.4, 0.25, 0.2
# Codes in more than this share of the statements tell nothing about one of them, if there are enough to tell.
COMMON_SHARE, COMMON_FROM = 0.3, 8
NEVER = 2.0  # more than all of a topic
# A statement that replaces another one has one of these cues.
REPLACING = frozenset({ORDERED, REVISING, PERMITTING})
NEWEST = 8  # statements that are compared for each code, so that the cost of a plan is linear

Cue = tuple[int, Cues]  # the position and the cues of a statement


def replaced_statements(history: History) -> Iterator[tuple[int, int]]:
    """Yield pairs of a statement of the model and the newest one that replaces it."""
    features, roles = history.features, history.roles
    said = [
        (position, features[position].cues)
        for position, role in enumerate(roles)
        if role == "assistant" and features[position].cues.topic and not _is_command(history, position)
    ]
    short = {position for position, _ in said if history.chars[position] <= LONGEST}
    return _pairs(said, short, _replacing_share, 2)


def lifted_rules(history: History, spoken: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a strict rule and the newest of the messages of users, `spoken`, that lifts it."""
    if "assistant" not in history.roles:  # among people nobody sets rules for a model
        return iter(())
    said = [(position, history.features[position].cues) for position in spoken]
    bans = {position for position, cues in said if STRICT in cues.speech}
    return _pairs([one for one in said if one[1].topic], bans, _lifting_share, 1)


def _is_command(history: History, position: int) -> bool:
    """Return whether a program answers this message in the user's place."""
    after = position + 1
    return after < len(history) and MACHINE_MADE in history.features[after].cues.speech


def _replacing_share(old: str, new: str) -> float:
    """Return the part of a topic by which a statement replaces another one, given the cues of both."""
    ordered = ORDERED in old and ORDERED in new
    if REVISING in new:
        return SHARED_WITH_BOTH if ordered else SHARED
    return SHARED if ordered else NEVER


def _lifting_share(_: str, new: str) -> float:
    return SHARED_WITH_RULE if PERMITTING in new or REVISING in new else NEVER


def _pairs(
    said: Sequence[Cue], replaceable: Collection[int], share: Callable[[str, str], float], least: int
) -> Iterator[tuple[int, int]]:
    """Yield each replaceable statement with the newest one that replaces it, newest first.

    `share` returns the part of the shorter topic that two statements have to share, `least` is the number of codes.
    """
    replacing = {position for position, cues in said if not REPLACING.isdisjoint(cues.speech)}
    if not replacing:
        return
    often = Counter(chain.from_iterable([cues.topic for _, cues in said]))
    most = max(COMMON_FROM, COMMON_SHARE * len(said))
    topics: dict[int, list[str]] = {}
    speech = {position: cues.speech for position, cues in said}
    by_code: dict[str, list[int]] = {}
    for position, cues in reversed(said):
        topics[position] = own = [code for code in cues.topic if often[code] <= most]
        if by_code and position in replaceable:
            met = Counter(chain.from_iterable([by_code[code] for code in own if code in by_code]))
            for newer in sorted([one for one, count in met.items() if count >= least], reverse=True):
                length = min(len(own), len(topics[newer]))
                if met[newer] >= share(cues.speech, speech[newer]) * length:
                    yield position, newer
                    break
        if position in replacing:
            for code in own:
                found = by_code.setdefault(code, [])
                if len(found) < NEWEST:
                    found.append(position)
