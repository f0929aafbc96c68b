"""JSON text with the places of its values, so that parts can be replaced and every other byte stays the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode
# Values whose text shows where they end: the same text is always the same value.
_CLOSED = ("{", "[", '"')


class Place(NamedTuple):
    """A value in a text: its start, its end, the value itself, and its text."""

    start: int
    end: int
    value: Any
    raw: str


def value_at(text: str, at: int, known: Place | None = None) -> Place:
    """Return the value at `at`, after white space.

    A value with the same text as `known`, which is from an earlier text, is not decoded again.

    Raises:
        ValueError: there is no value.
    """
    start = _skip(text, at)
    if known is not None and known.raw.startswith(_CLOSED) and text.startswith(known.raw, start):
        return Place(start, start + len(known.raw), known.value, known.raw)
    value, end = _decode(text, start)
    return Place(start, end, value, text[start:end])


def elements(text: str, at: int, known: Sequence[Place]) -> tuple[list[Place], int]:
    """Return the elements of the array at `at`, and the end of the array.

    `known` are its elements in an earlier text.

    Raises:
        ValueError: there is no array.
    """
    at = _expect(text, at, "[")
    found: list[Place] = []
    if text[at : at + 1] == "]":
        return found, at + 1
    while True:
        number = len(found)
        found.append(value_at(text, at, known[number] if number < len(known) else None))
        at = _skip(text, found[-1].end)
        if text[at : at + 1] == "]":
            return found, at + 1
        at = _expect(text, at, ",")


def members(
    text: str,
    listed: str | None = None,
    known: Mapping[str, Place] | None = None,
    known_elements: Sequence[Place] = (),
) -> tuple[dict[str, Place], list[Place]]:
    """Return the members of the object that a text begins with, and the elements of its array `listed`, if it has one.

    `known` and `known_elements` are the same from an earlier text.

    Raises:
        ValueError: there is no object, or it has a name twice.
    """
    at = _expect(text, 0, "{")
    found: dict[str, Place] = {}
    inner: list[Place] = []
    if text[at : at + 1] == "}":
        return found, inner
    while True:
        name = value_at(text, at)
        if not isinstance(name.value, str) or name.value in found:
            raise ValueError(f"no new name at {name.start}")
        at = _expect(text, name.end, ":")
        if name.value == listed and text[at : at + 1] == "[":
            inner, end = elements(text, at, known_elements)
            found[name.value] = Place(at, end, [one.value for one in inner], "")
        else:
            found[name.value] = value_at(text, at, (known or {}).get(name.value))
        at = _skip(text, found[name.value].end)
        if text[at : at + 1] == "}":
            return found, inner
        at = _expect(text, at, ",")


def spliced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Return the text with replaced parts, each given as (start, end, new text). They must not overlap."""
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(changes):
        pieces += (text[at:start], new)
        at = end
    return "".join([*pieces, text[at:]])


def written(value: Any) -> str:
    """Return a new value as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] > " ":  # usually there is no white space
        return at
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, sign: str) -> int:
    """Return the place after a sign and the white space that follows it."""
    at = _skip(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"expected {sign} at {at}")
    return _skip(text, at + 1)
