"""The errors of `scoring`: a base class, and subclasses that carry their subject as data.

Messages are lower-case and say what was expected and what came.
"""

from __future__ import annotations

from dataclasses import dataclass


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
