"""The errors of `scoring`: a base class, and subclasses that carry their subject as data.

Messages are lower-case and say what was expected and what came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# The length of a value in an error message.
SHOWN_CHARS = 40


class ScoringError(Exception):
    """Base of every error this package raises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one field. `field` is a dotted path such as `weights.recency`."""

    field: str
    message: str


class InvalidSettings(ScoringError):
    """Settings or a budget were refused as a whole. `faults` holds one entry for each wrong field."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{f.field}: {f.message}" for f in faults))


class UnknownFormat(ScoringError):
    """No wire format recognises the value. The error says where it is, what it looks like, and what is expected."""

    def __init__(self, seen: str) -> None:
        super().__init__(f"unknown message format: {seen}")


class MalformedMessage(ScoringError):
    """A list is in a known format but one of its messages is not. `index` counts from 0; `reason` says why."""

    def __init__(self, index: int, message: str) -> None:
        self.index, self.reason = index, message
        super().__init__(f"message {index}: {message}")


class InvalidList(ScoringError):
    """A list of messages cannot be made valid for its wire format (X6). `problems` says why."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problems))


def json_string(text: str) -> str:
    """Return a text as a JSON string; if part of it cannot be printed, with escapes."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def shown(value: Any) -> str:
    """Return a wrong value for an error message: as JSON, cut to `SHOWN_CHARS`; a list or an object by its kind.

    An empty text, which a field of a page holds once it is emptied, is "nothing".
    """
    if value == "":
        return "nothing"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, str):
        text = json_string(value[: SHOWN_CHARS + 1])
    else:
        text = json.dumps(value) if isinstance(value, int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 3]}..."
