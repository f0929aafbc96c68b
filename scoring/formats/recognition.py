"""Recognises the wire format of a message list or request body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.errors import UnknownFormat, shown
from scoring.formats.base import Format
from scoring.formats.reading import ROLE_NAMES, json_type
from scoring.formats.table import FORMATS

# A list that is recognised with at least this certainty can only be in that format.
SURE = 0.8
_SHAPES = (
    "'role' and 'content' (OpenAI, Anthropic), 'role' and 'parts' (Gemini), 'type' and 'data' (LangChain), "
    "or an item of OpenAI Responses"
)


def recognise(value: Any) -> Format:
    """Return the most certain format of a message list or request body; OpenAI chat if several are equal.

    Raises:
        UnknownFormat: no format recognises it.
    """
    return surest_format(value, certainties_of(value))


def surest_format(value: Any, certainties: Mapping[str, float]) -> Format:
    """Return the most certain format. Raises UnknownFormat if none is certain at all."""
    best = max(certainties, key=certainties.__getitem__, default="")
    if not certainties.get(best):
        raise UnknownFormat(_unrecognised(value))
    return FORMATS[best]


def certainties_of(value: Any) -> dict[str, float]:
    """Return the certainty of each format, 0…1, for a list or body; {} for any other value."""
    if not isinstance(value, list | tuple | Mapping):
        return {}
    seen = value if isinstance(value, Mapping) else _distinct(value)
    return {name: format.recognise(seen) for name, format in FORMATS.items()}


def is_sure(value: Any, format: str) -> bool:
    """Return True if a list can only be in this format: a list of flat texts is the same in three formats."""
    return FORMATS[format].recognise(value) >= SURE


def could_be(value: Any, format: str) -> bool:
    """Return True if a list that no format recognises can be in this format."""
    possible = FORMATS[format].could_be if format in FORMATS else None
    return possible is not None and isinstance(value, list | tuple) and possible(value)


def _distinct(items: Sequence[Any]) -> list[Any]:
    """Return the items, but only one for each role of those that have just a role and a text."""
    flat: dict[str, Any] = {}
    others = []
    for item in items:
        if type(item) is dict and len(item) == 2 and type(item.get("content")) is str:
            role = item.get("role")
            if type(role) is str:
                flat[role] = item
                continue
        others.append(item)
    return [*flat.values(), *others]


def _unrecognised(value: Any) -> str:
    """Return the error message for a value that no format recognises."""
    if isinstance(value, list) and value:
        return f"message 0 {_unrecognised_message(value[0])}"
    if isinstance(value, Mapping) and isinstance(value.get("role"), str):
        return f"the message {_unrecognised_message(value)}"
    return f"the list is {kind_in_words(value)}; expected a list of messages, or a request body with one"


def _unrecognised_message(value: Any) -> str:
    role = value.get("role") if isinstance(value, Mapping) else None
    if isinstance(role, str) and role not in ROLE_NAMES:
        return f"has the role {shown(role)}; expected one of {', '.join(ROLE_NAMES)}"
    return f"is {kind_in_words(value)}; expected {_SHAPES}"


def kind_in_words(value: Any) -> str:
    """Return the kind of a value for an error message: its JSON type, or the fields of an object."""
    if isinstance(value, Mapping):
        return "an object with the fields " + (", ".join(sorted(map(str, value))[:8]) or "(none)")
    return json_type(value)
