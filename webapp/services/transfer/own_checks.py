"""What an export of ours may say: data that came from elsewhere is held against the types that its readers count on.

The store's own proofs (`store.verify`) say whether a log holds together. Here stands what they do not look at: what a
session carries, and the JSON inside of rows. Whatever is refused is a ValueError that says where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import orjson

from scoring.history import Features
from scoring.messages import Role, part_from_dict
from scoring.tokens import GREATEST_FACTOR, LEAST_FACTOR
from webapp.services.session.state import SessionState
from webapp.store.sessions import SessionRow

Record = Mapping[str, Any]

# Figures of an operation that are counted with.
_COUNTS = ("number", "removed", "shortened", "summarised", "summary_tokens", "agent_before", "agent_after")
_VIEWS = Literal[0, 1]
_KINDS = Literal[0, 1]


def check(session: Record, rows: Sequence[Record]) -> None:
    """Refuses what no export of ours says.

    Raises:
        ValueError: something is of the wrong kind.
    """
    _check_session(session)
    for table, column, name in (
        ("entries", "next_seq", "entries"),
        ("operations", "next_operation", "operations"),
        ("samples", "next_sample", "samples"),
    ):
        last = max((row["n"] for row in rows if row["type"] == table), default=-1)
        if session[column] <= last or (table == "entries" and session[column] != last + 1):
            raise ValueError(f"session: {column} does not fit its {name}")
    for row in rows:
        if (refused := _CHECKS.get(row["type"])) is not None:
            for name, sound in refused.items():
                _refuse_unless(sound, row, name)


def _check_session(session: Record) -> None:
    for name, hint in _hints(SessionRow).items():
        if session.get(name) is not None and name != "last_entry_id" and not fits(session[name], hint):
            raise ValueError(f"session: bad value for {name}: {str(session[name])[:80]}")
    if not fits(session.get("envelope"), dict[str, Any] | None):
        raise ValueError("session: bad value for envelope")
    if session.get("parent_id") == session["id"]:
        raise ValueError("session: it is its own parent")
    _refuse_unless(_is_state, session, "state")


def _refuse_unless(sound: Callable[[Any], bool], row: Record, name: str) -> None:
    place = f"{row['type']} {row.get('n', '')}".rstrip()
    try:
        if sound(row.get(name)):
            return
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{place}: bad value for {name}: {error}") from error
    raise ValueError(f"{place}: bad value for {name}: {str(row.get(name))[:80]}")


# Columns that hold JSON, or one of few values


def _is_state(value: Any) -> bool:
    carried = SessionState.from_dict(value or {})
    return fits(carried, SessionState) and LEAST_FACTOR <= carried.calibration.factor <= GREATEST_FACTOR


def _are_parts(text: Any) -> bool:
    return _parts_fit(orjson.loads(text))


def _parts_fit(parts: Iterable[Any]) -> bool:
    found = [part_from_dict(part) for part in parts]
    return all(fits(part, type(part)) for part in found)


def _are_features(text: Any) -> bool:
    found = Features.from_dict(orjson.loads(text))
    if found.content is not None:
        _ = found.content.lines, found.content.stems, found.content.rows  # unpacked when they are asked for
    return fits(found, Features) and fits(found.role, Role)


def _is_card(text: Any) -> bool:
    card = orjson.loads(text)
    calls = card.get("calls", [])
    return (
        fits(card["text"], str)
        and fits(card.get("tool"), str | None)
        and fits(card.get("media", 0), int)
        and fits(calls, list[dict[str, str]])
        and all({"id", "name", "summary"} <= call.keys() for call in calls)
    )


def _is_plan(text: Any) -> bool:
    plan = orjson.loads(text if text is not None else "{}")
    return fits(plan.get("weights", {}), dict[str, float]) and all(
        fits(plan.get(n), int | None) for n in _COUNTS
    )


def _is_detail(text: Any) -> bool:
    detail = orjson.loads(text) if text else {}
    return fits(detail.get("score"), float | None) and fits(detail.get("parts"), dict[str, float] | None)


def _was_before(text: Any) -> bool:
    return text is None or text.isdecimal() or _stands(text)


def _stands(text: Any) -> bool:
    if text is None:
        return True
    standing = orjson.loads(text)
    if not fits(standing["tokens"], int):
        return False
    return _parts_fit(standing["parts"]) if "parts" in standing else fits(standing["results"], dict[str, str])


def _covers(text: Any) -> bool:
    return fits([tuple(pair) for pair in orjson.loads(text)], list[tuple[int, int]])


_CHECKS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "entries": {"parts": _are_parts, "role": lambda value: fits(value, Role)},
    "messages": {"features": _are_features, "card": _is_card, "role": lambda value: fits(value, Role)},
    "operations": {"plan": _is_plan},
    "operation_items": {"before": _was_before, "detail": _is_detail},
    "summaries": {"covers": _covers},
    "context_items": {
        "view": lambda value: fits(value, _VIEWS),
        "kind": lambda value: fits(value, _KINDS),
        "stand_in": _stands,
    },
    "totals": {"view": lambda value: fits(value, _VIEWS)},
}


# Types


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what a type says, all that is inside included. A bool is no number."""
    origin, given = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in given)
    if origin is Literal:
        return type(value) is not bool and value in given
    if origin is not None:
        return isinstance(value, origin) and _inside_fits(value, origin, given)
    if hint is Any:
        return True
    if hint is float:
        return type(value) in (int, float)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return type(value) is hint and all(fits(getattr(value, n), h) for n, h in _hints(hint).items())  # type: ignore[arg-type]
    return isinstance(value, hint) and (hint is bool or type(value) is not bool)


def _inside_fits(value: Any, origin: type, given: tuple[Any, ...]) -> bool:
    """The same for what is in a list, a dict or a tuple."""
    if origin is dict:
        return all(fits(k, given[0]) and fits(v, given[1]) for k, v in value.items())
    if origin is list or given[1:] == (...,):
        return all(fits(one, given[0]) for one in value)
    return len(value) == len(given) and all(map(fits, value, given))


@lru_cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """The fields of a dataclass or a named tuple, with their types."""
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else kind._fields
    return {name: hints[name] for name in names}
