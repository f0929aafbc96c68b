"""The base of all answers: what a service returns, as a value with types and descriptions.

An answer is declared once, in the `answers.py` of the service room that returns it. From that declaration come the
type that mypy checks, the JSON on the wire, the closed schema in the OpenAPI document, the page `docs/api.md` and the
browser's types. Every field is always present; one without a value is null. A string below a field describes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")

# Read by pydantic when `routes` makes the schema: no other fields, and field descriptions from the strings below them.
SCHEMA = {"extra": "forbid", "use_attribute_docstrings": True, "arbitrary_types_allowed": True}


@dataclass_transform(kw_only_default=True, frozen_default=True)
def answer(cls: type[T]) -> type[T]:
    """Make a class an answer: a dataclass made from keyword arguments alone.

    Only the type checker refuses changes. Frozen or slotted, a page of 500 rows would take four times as long to write.
    """
    cls.__pydantic_config__ = SCHEMA  # type: ignore[attr-defined]
    return dataclass(kw_only=True)(cls)


@answer
class Ok:
    """The request was carried out."""

    ok: bool
    """False where there was nothing to do."""


@answer
class Detail:
    """One fault of a request."""

    field: str
    """The dotted path of the field."""
    message: str


@answer
class Problem:
    """The reason a request failed."""

    type: str
    """A short, stable name."""
    message: str
    details: list[Detail]
    """One for each invalid field."""


@answer
class Failure:
    """The answer of every failed request."""

    error: Problem
