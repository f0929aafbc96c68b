"""Task types: the kinds of sessions, and their own weights and keywords where the common settings do not fit.

A type either follows the common weights and keywords (None) or has its own. Own weights are used only where they
retain at least one point more than the common ones in held-out sessions, which no type's do so far
(docs/retention.md). `scoring.history.task_recognition` recognises the type of a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from scoring.settings.frozen_table import Table
from scoring.settings.lexicon import KeywordGroup
from scoring.signals import weights_of

# The common settings for all sessions, or the recognised type of each session.
ANY, AUTO = "any", "auto"


@dataclass(frozen=True, slots=True)
class TypeOverrides:
    """The own weights and keywords of a task type; None follows the common settings."""

    weights: Table | None = None
    keywords: tuple[KeywordGroup, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the weights and keywords as JSON-ready data."""
        return {
            "weights": None if self.weights is None else dict(self.weights),
            "keywords": None if self.keywords is None else [group.to_dict() for group in self.keywords],
        }


# Shares are parts of the 25 points that keywords are worth in *Blueprint*, as in the common list.
SUPPORT = (
    KeywordGroup.of(
        "dealings",
        20 / 25,
        "order orders refund refunds refunded reservation booking booked return returned exchange exchanged payment "
        "paid invoice account subscription delivery shipment ticket",
    ),
    KeywordGroup.of(
        "problems",
        15 / 25,
        "error failed failure wrong missing damaged broken late delayed cancel cancelled canceled cancellation "
        "declined refused denied complaint",
    ),
    KeywordGroup.of(
        "outcomes",
        10 / 25,
        "confirm confirmed confirmation approved resolved completed done success successful issued processed escalated",
    ),
    KeywordGroup.of(
        "rules", 10 / 25, "policy allowed eligible entitled require required requires insurance warranty"
    ),
)
RESEARCH = (
    KeywordGroup.of(
        "findings",
        20 / 25,
        "found finding findings shows showed suggests result results evidence conclude concluded conclusion estimated",
    ),
    KeywordGroup.of(
        "sources",
        15 / 25,
        "source sources according cited citation reference references paper study report survey dataset author authors "
        "published doi",
    ),
    KeywordGroup.of(
        "figures",
        10 / 25,
        "figure figures table percent percentage million billion average median total rate increase decrease",
    ),
    KeywordGroup.of(
        "doubts",
        10 / 25,
        "however contradicts contradicted unclear uncertain disputed retracted outdated unavailable failed error",
    ),
)
CHAT = (
    KeywordGroup.of(
        "decisions",
        20 / 25,
        "decided decide decision decisions agreed agree choose chose chosen settled conclude concluded",
    ),
    KeywordGroup.of(
        "wishes",
        15 / 25,
        "prefer prefers preferred rather want wants wanted need needs favourite favorite always never",
    ),
    KeywordGroup.of(
        "to remember",
        10 / 25,
        "remember remind important promise promised deadline birthday appointment meeting",
    ),
    KeywordGroup.of(
        "corrections", 10 / 25, "actually instead wrong mistake correction corrected meant changed"
    ),
)


# Length counts for more here and repetition for less: the details of an order are given once, in a long message.
SUPPORT_WEIGHTS = Table({**weights_of("Foresight"), "keywords": 10.0, "length": 1.0})


@dataclass(frozen=True, slots=True)
class TaskTypes:
    """The own settings of each task type; the defaults of the fields are those we ship."""

    coding: TypeOverrides = TypeOverrides()
    support: TypeOverrides = TypeOverrides(SUPPORT_WEIGHTS, SUPPORT)
    research: TypeOverrides = TypeOverrides(None, RESEARCH)
    chat: TypeOverrides = TypeOverrides(None, CHAT)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def of(self, name: str) -> TypeOverrides:
        """Return a type's own weights and keywords; none for an unknown type or "any"."""
        return getattr(self, name) if name in TASK_TYPES else NOTHING

    def to_dict(self) -> dict[str, Any]:
        """Return all types as JSON-ready data."""
        return {name: self.of(name).to_dict() for name in self}


NOTHING = TypeOverrides()
# Task type -> its distinguishing features.
TASK_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "coding": "works on files: edits, reads and runs them",
        "support": "serves customers by rules: orders, accounts, refunds",
        "research": "looks things up: searches and reads the web",
        "chat": "talks, and uses hardly any tool",
    }
)
DEFAULT_TASK_TYPES = TaskTypes()
