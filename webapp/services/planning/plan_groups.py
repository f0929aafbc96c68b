"""Groups the messages that a plan drops or shortens by reason."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from scoring.tokens.calibration import shares
from webapp.services.planning.answers import PlanGroup
from webapp.services.planning.cause_labels import label_of
from webapp.services.planning.planning import SessionPlan

Group = tuple[str, Literal["goes", "shortened"]]


def groups_of(planned: SessionPlan) -> list[PlanGroup]:
    """Return the groups of a plan, the one that frees most first.

    Together they free what the plan frees, to the token, and what its summary will take.
    """
    plan, tokens = planned.plan, planned.view.history.tokens
    counts, freed = Counter[Group](), Counter[Group]()
    for i in plan.removed:
        group: Group = plan.cause(i), "goes"
        counts[group] += 1
        freed[group] += tokens[i]
    for i in plan.shortened:
        group = plan.cause(i), "shortened"
        counts[group] += 1
        freed[group] += tokens[i] - plan.shortenings[i].tokens
    summary, part = plan.summary, planned.scale.part
    written = part(summary.tokens) - part(summary.absorbed) if summary is not None else 0
    parts = shares(freed, planned.freed + written)
    return [
        PlanGroup(
            cause=cause,
            label=label_of(cause, fate),
            fate=fate,
            messages=counts[cause, fate],
            tokens=parts[cause, fate],
        )
        for (cause, fate), _ in freed.most_common()
    ]
