"""Messages as a list shows them, with score, fate and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from webapp.services.planning.answers import Call, Fate, Message
from webapp.services.planning.planning import SessionPlan
from webapp.services.session.cards import read_card
from webapp.services.session.replacements import Replacement, sent_tokens
from webapp.services.session.scale import Scale
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.operations import Detail, RemovalReason

SHORTENED = "its output was shortened by an earlier prune"
CLEARED = "the agent probably cleared its output, without recording it"  # where it did, `recorded` says so

BRIEF_CHARS = 80  # a line in a narrow list


def message_answer(row: MessageRow, planned: SessionPlan, removal: RemovalReason | None) -> Message:
    """Return a message. `planned` is the plan that gives its fate; `removal` is how it left the context, if it did."""
    position = planned.view.index.get(row.no)
    return out_answer(row, planned.scale, removal) if position is None else _planned(row, planned, position)


def out_answer(
    row: MessageRow, scale: Scale, removal: RemovalReason | None, text: str | None = None
) -> Message:
    """Return a message that is not in the context; `text` is the replacement that it had there, if it had one."""
    detail, weights = removal if removal is not None else (Detail(), {})
    found = _answer(row, detail, weights, "out", scale.part(sent_tokens(row, text)))
    return replace(found, reason=detail.reason or "not in the context", cause=detail.cause or "out")


def pending_answer(row: MessageRow, scale: Scale, text: str | None, removal: RemovalReason | None) -> Message:
    """Return a message before there is a plan: unless it is out of the context, its fate is pending.

    `text` is its replacement, if it has one.
    """
    found = out_answer(row, scale, removal, text)
    if row.out_operation is not None:
        return found
    return replace(
        found, fate="pending", reason=None, cause="pending", in_context=True, shortened=text is not None
    )


def without_parts(message: Message, *, brief: bool) -> Message:
    """Return a message without the parts of its score, for a long list; with `brief` its text is cut, too."""
    said = message.text
    if brief and len(said) > BRIEF_CHARS:
        said = said[: BRIEF_CHARS - 1] + "…"
    return replace(message, text=said, signals={}, contributions={})


def explain(planned: SessionPlan, position: int) -> Detail:
    """Return a plan's decision on one message and the reasons for it, as the operation keeps them.

    The reason of a shortened one is that of its shortening, even if it is protected.
    """
    plan, nos = planned.plan, planned.view.nos
    unit, short = planned.view.history.unit(position), plan.shortenings.get(position)
    if short is not None and short.why is not None:
        cause, reason = short.why()
    else:
        cause, reason = plan.cause(position), plan.reason(position)
    return Detail(
        score=round(plan.scores[position], 2),
        parts={name: round(column[position], 4) for name, column in plan.parts.items()},
        fate=plan.fate(position),
        reason=reason,
        cause=cause,
        unit=nos[unit[0]],
        unit_size=len(unit),
        tokens_after=short.tokens if short is not None else None,
    )


def _planned(row: MessageRow, planned: SessionPlan, position: int) -> Message:
    view, scale, fate = planned.view, planned.scale, planned.plan.fate(position)
    detail, text = explain(planned, position), view.replacements.get(row.no)
    if text is not None and fate in ("kept", "protected"):
        replaced = Replacement.of_text(text)
        detail.reason = (replaced.recorded or CLEARED) if replaced.by_agent else SHORTENED
    found = _answer(row, detail, planned.settings.weights, fate, scale.part(view.history.tokens[position]))
    short = planned.plan.shortenings.get(position)
    return replace(
        found,
        shortened=text is not None,
        tokens_after=scale.part(short.tokens) if short else None,
        in_context=True,
        operation=None,
    )


def _answer(
    row: MessageRow, detail: Detail, weights: Mapping[str, float], fate: Fate, tokens: int
) -> Message:
    """Return a message with the reasons for its fate, out of the context and in its full length."""
    card, signals = read_card(row.card), detail.parts or {}
    return Message(
        id=row.mid,
        number=row.no,
        role=row.role,
        kind=row.kind,
        text=card["text"],
        chars=row.chars,
        tokens=tokens,
        tokens_after=None,
        score=detail.score,
        signals=signals,
        contributions=contributions(signals, weights),
        unit=row.no if detail.unit is None else detail.unit,
        unit_size=detail.unit_size,
        fate=fate,
        reason=detail.reason,
        cause=detail.cause or "",
        pinned=bool(row.pinned),
        drop_first=bool(row.drop_first),
        shortened=False,
        in_context=False,
        operation=row.out_operation,
        at=iso(row.at),
        turn=row.turn,
        calls=[Call(name=c["name"], summary=c["summary"]) for c in card.get("calls", ())],
        tool=card.get("tool"),
        is_error=bool(row.is_error),
        media=card.get("media", 0),
    )


def contributions(signals: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the points of the score that each signal gave."""
    return {name: round(weights.get(name, 0.0) * rating, 2) for name, rating in signals.items()}
