"""JSON as text with the places of its values, so that parts of it can be replaced and all the rest stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode
# Values that say themselves where they end, so that the same text is the same value wherever it stands.
_CLOSED = ("{", "[", '"')


class Place(NamedTuple):
    """A value in a text: where it begins, where it ends, the value itself, and how it is written."""

    start: int
    end: int
    value: Any
    raw: str


def value_at(text: str, at: int, known: Place | None = None) -> Place:
    """Return the value that begins at `at`, behind white space.

    A value that is written as a `known` one, from another text, is that one and is not decoded again.

    Raises:
        ValueError: there is none.
    """
    start = _skip(text, at)
    if known is not None and known.raw.startswith(_CLOSED) and text.startswith(known.raw, start):
        return Place(start, start + len(known.raw), known.value, known.raw)
    value, end = _decode(text, start)
    return Place(start, end, value, text[start:end])


def elements(text: str, at: int, known: Sequence[Place] = ()) -> tuple[list[Place], int]:
    """Return the elements of the array that begins at `at`, and where the array ends.

    `known` are the elements of an earlier text of it.

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
    at: int,
    listed: str | None = None,
    known: Mapping[str, Place] | None = None,
    known_elements: Sequence[Place] = (),
) -> tuple[dict[str, Place], list[Place]]:
    """Return the members of the object that begins at `at`, and the elements of its array `listed`, if it has one.

    `known` and `known_elements` are those of an earlier text of the object.

    Raises:
        ValueError: there is no object, or a name is there twice.
    """
    at = _expect(text, at, "{")
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
    """Return the text with parts replaced; each is given as (start, end, new text), and none overlap."""
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
    if text[at : at + 1] > " ":  # most often there is none
        return at
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, sign: str) -> int:
    """Return the place behind a sign and the white space after it."""
    at = _skip(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"expected {sign} at {at}")
    return _skip(text, at + 1)
