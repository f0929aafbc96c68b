"""Labels of what a context needed later, on which weights are fitted.

A session says so itself: what the agent's next messages name, and could only know from before, was needed. People say
so too: what they restored, pinned, or took back from a prune was needed; what they dropped by hand was not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scoring.history import Features, History

AHEAD = 10  # the number of the agent's next messages that are read
LEAST_BEFORE = 20  # a shorter context is never pruned
LONGEST = 600  # messages before a cut; a bound on work
LONGEST_JUDGED = 2 * LONGEST


@dataclass(frozen=True, slots=True)
class Case:
    """One context, and what of it was needed afterwards.

    `steps` are the needed names of each later message, `needed` and `unneeded` positions that people judged. Cases of
    one `session` are never parted between training and trial.
    """

    session: str
    history: History
    steps: tuple[frozenset[str], ...] = ()
    needed: frozenset[int] = frozenset()
    unneeded: frozenset[int] = frozenset()


def names_of(features: Features) -> set[str]:
    """Return the names that a message says."""
    content = features.content
    return set(content.names.split("\n")) if content is not None and content.names else set()


def needed_names(features: Sequence[Features], cut: int) -> tuple[frozenset[str], ...]:
    """Return, for each of the agent's next messages, the names in it that are before `cut` and nowhere between.

    Messages that need nothing are left out.
    """
    before = set().union(*map(names_of, features[:cut]))
    between: set[str] = set()
    steps: list[frozenset[str]] = []
    seen = 0
    for one in features[cut:]:
        if seen == AHEAD:
            break
        names = names_of(one)
        if one.role == "assistant":
            seen += 1
            if found := (names & before) - between:
                steps.append(frozenset(found))
        between |= names
    return tuple(steps)


def cuts_of(features: Sequence[Features], most: int) -> list[int]:
    """Return at most `most` places at which the agent's answer comes next, spread evenly, half of them after a user's
    words.

    Places, not labels: whether anything was needed there `case_at` finds out.
    """
    upto = min(len(features) - 1, LONGEST)
    open_to = [
        at
        for at in range(LEAST_BEFORE, upto + 1)
        if features[at].role == "assistant" and features[at - 1].role != "assistant"
    ]
    asked = [at for at in open_to if features[at - 1].own_words]
    worked = [at for at in open_to if not features[at - 1].own_words]
    first = _spread(asked, most - most // 2)
    return sorted(first + _spread(worked, most - len(first)))


def case_at(session: str, features: Sequence[Features], cut: int) -> Case | None:
    """Return the case of a context that ends before `cut`; None where nothing of it was needed."""
    steps = needed_names(features, cut)
    return Case(session, History.of_features(features[:cut]), steps) if steps else None


def judged(
    session: str, features: Sequence[Features], needed: Collection[int], unneeded: Collection[int]
) -> Case | None:
    """Return the case of messages that people judged, by their positions; None where they judged nothing.

    What they asked for last counts in the caller's lists: a position in both is one that nobody can learn from.
    """
    first = max(0, len(features) - LONGEST_JUDGED)
    wanted = frozenset(at - first for at in needed if at >= first and at not in unneeded)
    gone = frozenset(at - first for at in unneeded if at >= first and at not in needed)
    if not wanted and not gone:
        return None
    return Case(session, History.of_features(features[first:]), (), wanted, gone)


def _spread(places: Sequence[int], most: int) -> list[int]:
    """Return some of the places, evenly, the last among them."""
    if len(places) <= most:
        return list(places)
    return [places[(k + 1) * len(places) // most - 1] for k in range(most)]
