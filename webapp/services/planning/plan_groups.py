"""What a plan takes, grouped by its reason: what goes, and outputs that one of the stages before dropping replaced."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scoring.planning import CAUSES
from webapp.services.planning.planning import SessionPlan

LABELS = {
    "below_cut": "score below the cut",
    "too_large": "dropped to make room",
    "older": "older than what fits",
    "dropped": "taken out in this plan",
    "dropped_first": "marked to go first",
    "summarised": "covered by the summary",
    "opening": "the list has to begin with a user message",
    "duplicate": "the same output again",
    "superseded": "read or written again later",
    "old_shortened": "old outputs shortened",
    "old_cleared": "old outputs cleared",
    "not_named_again": "nothing in it was named again",
    "too_little": "last named long ago",
    "covered": "said again in messages that stay",
    "less_relevant": "less relevant to the last question",
    "empty": "names nothing that could be needed again",
}


def groups_of(made: SessionPlan) -> list[dict[str, Any]]:
    """The groups of a plan: cause, label, how many messages, the tokens they free, and their fate, "goes" or
    "shortened". Other outputs that are shortened stand in no group.
    """
    plan, tokens = made.plan, made.view.history.tokens
    counts, freed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for i in plan.removed:
        group = plan.cause(i), "goes"
        counts[group] += 1
        freed[group] += tokens[i]
    for i in plan.shortened:
        if (cause := plan.cause(i)) in CAUSES:
            counts[cause, "shortened"] += 1
            freed[cause, "shortened"] += tokens[i] - plan.shortenings[i].tokens
    return [
        {
            "cause": cause,
            "label": LABELS.get(cause, cause.replace("_", " ")),
            "fate": fate,
            "messages": count,
            "tokens": made.scale.part(freed[cause, fate]),
        }
        for (cause, fate), count in counts.most_common()
    ]
