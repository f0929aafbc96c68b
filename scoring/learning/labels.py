"""Labels of the content that a context needed later; weights are fitted to them.

Names in the agent's next messages that it could only know from earlier messages were needed. So were messages that
people restored, pinned or took back from a prune; messages that they dropped by hand were not.
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
    """One context, and the parts of it that were needed afterwards.

    `steps` are the needed names of each later message, `needed` and `unneeded` the positions that people judged. Cases
    of one `session` are never split between search and held-out sessions.
    """

    session: str
    history: History
    steps: tuple[frozenset[str], ...] = ()
    needed: frozenset[int] = frozenset()
    unneeded: frozenset[int] = frozenset()


def names_of(features: Features) -> set[str]:
    """Return the names that a message contains."""
    content = features.content
    return set(content.names.split("\n")) if content is not None and content.names else set()


def needed_names(features: Sequence[Features], cut: int) -> tuple[frozenset[str], ...]:
    """Return, for each of the agent's next messages, its names that occur before `cut` and not in between.

    Messages without such names are left out.
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
    """Return at most `most` positions where the agent's answer comes next, spread evenly, half of them after a user.

    `case_at` finds out if anything was needed after a cut there.
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
    """Return the case of a context that ends before `cut`; None if nothing of it was needed."""
    steps = needed_names(features, cut)
    return Case(session, History.of_features(features[:cut]), steps) if steps else None


def case_of_judgements(
    session: str, features: Sequence[Features], needed: Collection[int], unneeded: Collection[int]
) -> Case | None:
    """Return the case of messages that people judged, by their positions; None if they judged nothing.

    The caller's lists hold the latest judgement on each message. A position in both lists is ignored.
    """
    first = max(0, len(features) - LONGEST_JUDGED)
    wanted = frozenset(at - first for at in needed if at >= first and at not in unneeded)
    gone = frozenset(at - first for at in unneeded if at >= first and at not in needed)
    if not wanted and not gone:
        return None
    return Case(session, History.of_features(features[first:]), (), wanted, gone)


def _spread(places: Sequence[int], most: int) -> list[int]:
    """Return at most `most` of the places, spread evenly, with the last among them."""
    if len(places) <= most:
        return list(places)
    return [places[(k + 1) * len(places) // most - 1] for k in range(most)]
