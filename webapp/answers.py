"""The base of all answers. An answer is the typed value that a service returns.

Each answer is declared once, in the `answers.py` of its service. That declaration gives the type that mypy checks, the
JSON, the closed schema in the OpenAPI document, the page `docs/api.md` and the browser's types. Every field is always
present; one without a value is null. The string below a field describes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

T = TypeVar("T")

# Pydantic reads this for the schema: no other fields are allowed, and strings below fields are their descriptions.
SCHEMA = {"extra": "forbid", "use_attribute_docstrings": True, "arbitrary_types_allowed": True}


@dataclass_transform(kw_only_default=True, frozen_default=True)
def answer(cls: type[T]) -> type[T]:
    """Make a class an answer: a dataclass that takes only keyword arguments.

    Only the type checker forbids changes: frozen or slotted, a page of 500 rows takes four times as long to serialise.
    """
    cls.__pydantic_config__ = SCHEMA  # type: ignore[attr-defined]
    return dataclass(kw_only=True)(cls)


@answer
class Ok:
    """The request was carried out."""

    ok: bool
    """False where there was nothing to do."""


@answer
class Access:
    """The rights of the sender of a request."""

    role: Literal["operator", "viewer"]
    """A viewer reads and plans; an operator also changes things."""


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
