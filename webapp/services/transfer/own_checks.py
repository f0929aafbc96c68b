"""Checks of an imported export of ours: every value has the type that its readers expect.

The store's own checks (`store.verify`) show whether a log is consistent. These check the rest: the fields of a
session, and the JSON inside rows. A refusal is a ValueError that names the record and the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from scoring.history import Cues, Features
from scoring.messages import Role, part_from_dict
from scoring.tokens import GREATEST_FACTOR, LEAST_FACTOR
from webapp.services.session.state import SessionState
from webapp.store.operations import Detail, Facts
from webapp.store.sessions import SessionRow

Record = Mapping[str, Any]


@dataclass
class Call:
    """A call on a message's card."""

    id: str
    name: str
    summary: str


@dataclass
class Card:
    """The card of a message, as a row of the list shows it."""

    text: str
    tool: str | None = None
    media: int = 0
    calls: list[Call] = field(default_factory=list)


@dataclass
class Replacement:
    """The replacement of a message: of some of its results, or of all its parts."""

    tokens: int
    results: dict[str, str] | None = None
    parts: list[dict[str, Any]] | None = None
    by: str | None = None
    recorded: str = ""


def check(session: Record, rows: Sequence[Record]) -> None:
    """Raise ValueError for content that our export never writes.

    Raises:
        ValueError: a value has the wrong type, or a count does not fit its rows.
    """
    for name, hint in {**get_type_hints(SessionRow), "envelope": dict[str, Any]}.items():
        if session.get(name) is not None and name != "last_entry_id":
            _check(session, name, partial(_has_type, hint))
    _check(session, "state", partial(_is_state, session.get("source")))
    if session.get("parent_id") == session["id"]:
        raise ValueError("session: it is its own parent")
    for table, column in (
        ("entries", "next_seq"),
        ("operations", "next_operation"),
        ("samples", "next_sample"),
    ):
        last = max((row["n"] for row in rows if row["type"] == table), default=-1)
        if session[column] <= last or (table == "entries" and session[column] != last + 1):
            raise ValueError(f"session: {column} does not fit its {table}")
    for row in rows:
        for name, checked in _COLUMNS.get(row["type"], {}).items():
            _check(row, name, checked)


def _check(row: Record, name: str, checked: Callable[[Any], None]) -> None:
    try:
        checked(row.get(name))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        place, reason = f"{row['type']} {row.get('n', '')}".rstrip(), str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            name, reason = ".".join(map(str, (name, *first["loc"]))), first["msg"].lower()
        raise ValueError(f"{place}: bad value for {name}: {reason}") from error


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)


def _has_type(hint: Any, value: Any) -> None:
    """Raise ValueError unless a value, with everything inside it, has this type; a bool is not a number."""
    _adapter(hint).validate_json(orjson.dumps(value), strict=True)


def _json(hint: Any, empty: str = "") -> Callable[[Any], None]:
    """Return the check of a column that holds JSON of a type; `empty` is used if it holds nothing."""
    return lambda text: _adapter(hint).validate_json(text or empty, strict=True)


def _is_state(source: Any, value: Any) -> None:
    state = SessionState.from_dict(value or {}, source)
    _has_type(SessionState, state)
    _has_type(type(state.unwritten), state.unwritten)
    for factor in (state.calibration.factor, state.calibration.prior):
        if not LEAST_FACTOR <= factor <= GREATEST_FACTOR:
            raise ValueError(f"a factor of {factor}")


def _are_parts(parts: Iterable[Any]) -> None:
    for part in map(part_from_dict, parts):
        _has_type(type(part), part)


def _are_features(text: Any) -> None:
    found = Features.from_dict(orjson.loads(text))
    if found.content is not None:
        _ = found.content.lines, found.content.stems, found.content.rows  # unpacked when they are needed
    _adapter(Cues).validate_python(found.cues, strict=True)
    hints = {**get_type_hints(Features), "role": Role}
    del hints["content"], hints["cues"]
    for name, hint in hints.items():
        _has_type(hint, getattr(found, name))


def _is_replacement(text: Any) -> None:
    if text is None:
        return
    stored: Replacement = _adapter(Replacement).validate_json(text, strict=True)
    if stored.parts is None and stored.results is None:
        raise ValueError("neither results nor parts")
    _are_parts(stored.parts or ())


def _is_earlier_replacement(text: Any) -> None:
    if text is not None and not text.isdecimal():
        _is_replacement(text)


_ROLE, _EITHER = partial(_has_type, Role), partial(_has_type, Literal[0, 1])
_COLUMNS: Mapping[str, Mapping[str, Callable[[Any], None]]] = {
    "entries": {"parts": lambda text: _are_parts(orjson.loads(text)), "role": _ROLE},
    "messages": {"features": _are_features, "card": _json(Card), "role": _ROLE},
    "operations": {"plan": _json(Facts, "{}")},
    "operation_items": {"before": _is_earlier_replacement, "detail": _json(Detail, "{}")},
    "summaries": {"covers": _json(list[tuple[int, int]])},
    "context_items": {"view": _EITHER, "kind": _EITHER, "stand_in": _is_replacement},
    "totals": {"view": _EITHER},
    "aftermaths": {"complete": _EITHER},
}
