"""Messages as JSON rows: what a list shows of each, with its score, its fate and the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from scoring.planning import PrunePlan, Why
from webapp.services.planning.planning import SessionPlan
from webapp.services.session.session import Scale
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.operations import Left


def message_json(row: MessageRow, made: SessionPlan | None, left: Left | None = None) -> dict[str, Any]:
    """One message. `made` is the plan that says its fate, `left` how it left the context, if it did."""
    position = made.view.index.get(row.no) if made is not None else None
    tokens = made.scale.part(row.tokens) if made is not None else row.tokens
    if made is not None and position is not None and position < made.size:
        return _said(row, tokens) | _in_view(made, position)
    return _said(row, tokens) | _gone(row, left)


def pending_json(row: MessageRow, scale: Scale, left: Left | None = None) -> dict[str, Any]:
    """One message before there is a plan: what is out says so, the fate of all else is pending."""
    said = _said(row, scale.part(row.tokens)) | _gone(row, left)
    if row.out_operation is not None:
        return said
    return said | {"fate": "pending", "reason": None, "cause": "pending", "in_context": True}


def _said(row: MessageRow, tokens: int) -> dict[str, Any]:
    """What the log says of a message."""
    card = orjson.loads(row.card)
    return {
        "id": row.mid,
        "number": row.no,
        "role": row.role,
        "kind": row.kind,
        "text": card["text"],
        "chars": row.chars,
        "tokens": tokens,
        "pinned": bool(row.pinned),
        "drop_first": bool(row.drop_first),
        "at": iso(row.at),
        "turn": row.turn,
        "calls": [{"name": c["name"], "summary": c["summary"]} for c in card.get("calls", ())],
        "tool": card.get("tool"),
        "is_error": bool(row.is_error),
        "media": card.get("media", 0),
    }


def _in_view(made: SessionPlan, position: int) -> dict[str, Any]:
    plan, weights = made.plan, made.settings.weights
    signals = {name: round(column[position], 4) for name, column in plan.parts.items()}
    unit = made.view.history.unit(position)
    shortened = made.view.nos[position] in made.view.replacements
    cause, reason = why(plan, position)
    if shortened and plan.fate(position) in ("kept", "protected"):
        reason = "its output stands shortened since an earlier prune"
    return {
        "shortened": shortened,
        "tokens": made.scale.part(made.view.history.tokens[position]),
        "tokens_after": made.scale.part(short.tokens) if (short := plan.shortenings.get(position)) else None,
        "score": round(plan.scores[position], 2),
        "signals": signals,
        "contributions": contributions(signals, weights),
        "unit": made.view.nos[unit[0]],
        "unit_size": len(unit),
        "fate": plan.fate(position),
        "reason": reason,
        "cause": cause,
        "in_context": True,
        "operation": None,
    }


def why(plan: PrunePlan, position: int) -> Why:
    """Why a plan does to a message what it does; what is shortened says so even where it is protected."""
    short = plan.shortenings.get(position)
    if short is not None and short.why is not None:
        return short.why()
    return Why(plan.cause(position), plan.reason(position))


def _gone(row: MessageRow, left: Left | None) -> dict[str, Any]:
    detail = left.detail if left is not None else {}
    signals = detail.get("parts") or {}
    return {
        "shortened": False,
        "tokens_after": None,
        "score": detail.get("score"),
        "signals": signals,
        "contributions": contributions(signals, left.weights if left is not None else {}),
        "unit": detail.get("unit", row.no),
        "unit_size": detail.get("unit_size", 1),
        "fate": "out",
        "reason": detail.get("reason") or "not in the context",
        "cause": detail.get("cause") or "out",
        "in_context": False,
        "operation": row.out_operation,
    }


def contributions(signals: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """The points of the score that each signal gave."""
    return {name: round(weights.get(name, 0.0) * rating, 2) for name, rating in signals.items()}
