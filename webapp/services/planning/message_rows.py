"""Messages as a list shows them, with score, fate and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import orjson

from scoring.planning import PrunePlan, Why
from webapp.services.planning.answers import Call, Fate, Message
from webapp.services.planning.planning import SessionPlan
from webapp.services.session.replacements import is_agents
from webapp.services.session.session import Scale
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.operations import Detail, RemovalReason

SHORTENED = "its output was shortened by an earlier prune"
CLEARED = "the agent probably cleared its output, without recording it"


def message_answer(row: MessageRow, planned: SessionPlan | None, left: RemovalReason | None) -> Message:
    """Return a message. `planned` is the plan that gives its fate; `left` is how it left the context, if it did."""
    position = planned.view.index.get(row.no) if planned is not None else None
    if planned is not None and position is not None:
        return _planned(row, planned, position)
    return _out(row, planned.scale.part(row.tokens) if planned is not None else row.tokens, left)


def pending_answer(row: MessageRow, scale: Scale, left: RemovalReason | None) -> Message:
    """Return a message before there is a plan: unless it is out of the context, its fate is pending."""
    found = _out(row, scale.part(row.tokens), left)
    if row.out_operation is not None:
        return found
    return replace(found, fate="pending", reason=None, cause="pending", in_context=True)


def _said(row: MessageRow) -> dict[str, Any]:
    """Return the fields of a message that the log gives."""
    card = orjson.loads(row.card)
    return {
        "id": row.mid,
        "number": row.no,
        "role": row.role,
        "kind": row.kind,
        "text": card["text"],
        "chars": row.chars,
        "pinned": bool(row.pinned),
        "drop_first": bool(row.drop_first),
        "at": iso(row.at),
        "turn": row.turn,
        "calls": [Call(name=c["name"], summary=c["summary"]) for c in card.get("calls", ())],
        "tool": card.get("tool"),
        "is_error": bool(row.is_error),
        "media": card.get("media", 0),
    }


def _planned(row: MessageRow, planned: SessionPlan, position: int) -> Message:
    plan, weights = planned.plan, planned.settings.weights
    signals = {name: round(column[position], 4) for name, column in plan.parts.items()}
    unit = planned.view.history.unit(position)
    replaced = planned.view.replacements.get(planned.view.nos[position])
    cause, reason = why(plan, position)
    if replaced is not None and plan.fate(position) in ("kept", "protected"):
        reason = CLEARED if is_agents(replaced) else SHORTENED
    short = plan.shortenings.get(position)
    return Message(
        **_said(row),
        shortened=replaced is not None,
        tokens=planned.scale.part(planned.view.history.tokens[position]),
        tokens_after=planned.scale.part(short.tokens) if short else None,
        score=round(plan.scores[position], 2),
        signals=signals,
        contributions=contributions(signals, weights),
        unit=planned.view.nos[unit[0]],
        unit_size=len(unit),
        fate=cast("Fate", plan.fate(position)),
        reason=reason,
        cause=cause,
        in_context=True,
        operation=None,
    )


def why(plan: PrunePlan, position: int) -> Why:
    """Return why a message has its fate; for a shortened one that is the reason even if it is protected."""
    short = plan.shortenings.get(position)
    if short is not None and short.why is not None:
        return short.why()
    return Why(plan.cause(position), plan.reason(position))


def _out(row: MessageRow, tokens: int, left: RemovalReason | None) -> Message:
    detail = left.detail if left is not None else Detail()
    signals = detail.parts or {}
    return Message(
        **_said(row),
        shortened=False,
        tokens=tokens,
        tokens_after=None,
        score=detail.score,
        signals=signals,
        contributions=contributions(signals, left.weights if left is not None else {}),
        unit=row.no if detail.unit is None else detail.unit,
        unit_size=detail.unit_size,
        fate="out",
        reason=detail.reason or "not in the context",
        cause=detail.cause or "out",
        in_context=False,
        operation=row.out_operation,
    )


def contributions(signals: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the points of the score that each signal gave."""
    return {name: round(weights.get(name, 0.0) * rating, 2) for name, rating in signals.items()}
