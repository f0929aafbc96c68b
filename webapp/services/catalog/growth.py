"""The growth of a context explained: its regions after each sample, and the message that each step came from (X19).

The log tells which message came when and which operation took it out. What no message explains is left to `unseen`, and
the parts always add up to the size that the sample holds.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from webapp.store.log import MessageRow

# Steps that are named by the file or command of their call; smaller ones by their tool alone.
NAMED = 80
# Messages before a result among which its call is looked for.
CALL_WITHIN = 12
LABEL_CHARS = 60


class Grown(NamedTuple):
    """A message of the log: it came as number `no` and left after number `left`, None while it is in the context."""

    no: int
    tokens: int
    region: str
    left: int | None


class Step(NamedTuple):
    """The largest message between two samples."""

    no: int
    tokens: int


def regions_at(messages: Iterable[Grown], numbers: Sequence[int]) -> list[dict[str, int]]:
    """Return the estimated tokens of each region after the messages with these numbers, which ascend."""
    changes: list[Counter[str]] = [Counter() for _ in numbers]
    for one in messages:
        if (came := bisect_right(numbers, one.no - 1)) < len(numbers):
            changes[came][one.region] += one.tokens
        if one.left is not None and (left := bisect_right(numbers, one.left)) < len(numbers):
            changes[max(came, left)][one.region] -= one.tokens
    now, found = Counter[str](), []
    for change in changes:
        now.update(change)
        found.append({region: tokens for region, tokens in now.items() if tokens > 0})
    return found


def steps_at(messages: Sequence[Grown], numbers: Sequence[int]) -> list[Step | None]:
    """Return the largest message that came between each sample and the one before; None where none came.

    `messages` are all of the log in order.
    """
    found: list[Step | None] = []
    for before, number in pairwise((0, *numbers)):
        came = messages[before:number]
        largest = max(came, key=lambda one: one.tokens, default=None)
        found.append(Step(largest.no, largest.tokens) if largest is not None and largest.tokens else None)
    return found


def to_name(steps: Iterable[Step | None]) -> list[int]:
    """Return the numbers of the messages whose calls name the largest steps."""
    known = sorted((one for one in steps if one is not None), key=lambda one: -one.tokens)[:NAMED]
    return [no for one in known for no in range(max(1, one.no - CALL_WITHIN), one.no)]


def label_of(row: MessageRow, others: Mapping[int, MessageRow]) -> str:
    """Return what a message is, in a few words: "Read spec.md" for a result, the tools of calls, or its role."""
    card = orjson.loads(row.card)
    if tool := card.get("tool"):
        about = _about(row.no, tool, others)
        return _short(f"{tool} {about}".strip())
    if calls := card.get("calls"):
        return _short(f"{calls[0]['name']} {_named(calls[0]['summary'])}")
    return "summary" if row.kind == "compaction_summary" else row.role


def _about(no: int, tool: str, others: Mapping[int, MessageRow]) -> str:
    """Return the file or command of the call that a result answers: as many results of it stand between."""
    results = 0
    for before in range(no - 1, no - CALL_WITHIN - 1, -1):
        if (row := others.get(before)) is None:
            return ""
        card = orjson.loads(row.card)
        calls: list[dict[str, Any]] = card.get("calls") or []
        if calls:
            same = [call for call in calls if call["name"] == tool]
            return _named(same[results]["summary"]) if results < len(same) else ""
        results += card.get("tool") == tool
    return ""


def _named(summary: str) -> str:
    """Return a path's own name, and any other argument as it is."""
    return posixpath.basename(summary) or summary if summary and " " not in summary else summary


def _short(label: str) -> str:
    return label if len(label) <= LABEL_CHARS else label[: LABEL_CHARS - 1] + "…"
