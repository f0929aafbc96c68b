"""Operations: everything that changed a context, with the reasons given at the time, and the data that undo needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import orjson

from scoring.tokens import Certainty
from webapp.store.engine import Subject
from webapp.store.keys import bounds, key, number
from webapp.store.sql import insert, listed


@dataclass(kw_only=True)
class Facts:
    """Facts of an operation beside its columns, stored as JSON; None where one does not apply.

    Regions are tokens by name.
    """

    strategy: str | None = None
    """The strategy of a prune, with its budget in tokens, its preset and its weights."""
    max_tokens: int | None = None
    preset: str | None = None
    weights: dict[str, float] = field(default_factory=dict)
    note: str | None = None
    """The note of an emergency."""
    agent_before: int | None = None
    """The tokens of the agent's context before and after an operation of the agent."""
    agent_after: int | None = None
    summary: int | None = None
    """The number of a summary, its shown tokens, and the number of messages that it covers (`summarised`)."""
    summary_tokens: int | None = None
    summarised: int | None = None
    level: str | None = None
    """The writer of a summary, with its `model`."""
    model: str | None = None
    cost: float | None = None
    """The cost of a summary in US dollars."""
    problems: list[str] = field(default_factory=list)
    """The reasons for which texts of a summary were rejected."""
    number: int | None = None
    """The last message before the operation."""
    removed: int | None = None
    """The number of messages that were taken out."""
    shortened: int | None = None
    """The number of messages that were shortened."""
    regions_before: dict[str, int] | None = None
    regions_after: dict[str, int] | None = None
    certainty: Certainty = "estimated"
    estimates: dict[str, int] | None = None
    """The estimated regions of the context afterwards."""
    sample: int | None = None
    """The first sample of the chart with them."""


@dataclass(kw_only=True)
class Detail:
    """The reason why an operation changed a message, stored as JSON. A prune adds the score and the unit.

    `parts` are the ratings of the signals, 0…1; `unit` is the number of the unit's first message; `tokens_after` is
    the estimate of a message that a prune shortened.
    """

    fate: str | None = None
    reason: str | None = None
    cause: str | None = None
    score: float | None = None
    parts: dict[str, float] | None = None
    unit: int | None = None
    unit_size: int = 1
    tokens_after: int | None = None


OperationKind = Literal[
    "prune", "pin", "unpin", "drop", "drop_first", "unmark", "restore", "summary", "expand",
    "compaction", "clearing", "rewind",
]  # fmt: skip
Actor = Literal["user", "automatic", "emergency", "agent"]
KINDS: tuple[OperationKind, ...] = get_args(OperationKind)
BY_AGENT: tuple[OperationKind, ...] = ("compaction", "clearing", "rewind")


@dataclass(slots=True)
class OperationRow:
    """One operation. `seq` is the log's length when it happened."""

    n: int
    kind: OperationKind
    actor: Actor
    reason: str
    at: int
    seq: int
    tokens_before: int
    tokens_after: int
    messages: int
    facts: Facts
    undone_at: int | None = None


class ItemRow(NamedTuple):
    """One operation's change to one message: the `change`, the state `before` it, and the explanation in `detail`."""

    no: int
    change: str
    before: str | None
    detail: Detail | None


class RemovalReason(NamedTuple):
    """The reason why a message left the context, as given at the time, and the weights of its score."""

    detail: Detail
    weights: dict[str, float]


COLUMNS = (
    "key", "kind", "actor", "reason", "at", "seq", "tokens_before", "tokens_after", "messages", "plan", "undone_at",
)  # fmt: skip
ITEM_COLUMNS = ("operation", *ItemRow._fields)
_SELECT = f"SELECT {listed(COLUMNS)} FROM operations"
_ITEM = f"SELECT {listed(ItemRow._fields)} FROM operation_items"
_ITEMS = f"{_ITEM} WHERE operation = ? ORDER BY no, change"
_REMOVED = f"{_ITEM} WHERE no IN ({{}}) AND operation = ? AND change = 'out'"


class Operations(Subject):
    """Operations of all sessions."""

    def add(self, session: int, row: OperationRow, items: Iterable[ItemRow]) -> None:
        """Write one operation and its items."""
        values = (
            key(session, row.n), row.kind, row.actor, row.reason, row.at, row.seq, row.tokens_before, row.tokens_after,
            row.messages, _json(row.facts), row.undone_at,
        )  # fmt: skip
        self._db.run(insert("operations", COLUMNS), values)
        self._db.run_many(
            insert("operation_items", ITEM_COLUMNS),
            ((values[0], i.no, i.change, i.before, _json(i.detail) if i.detail else None) for i in items),
        )

    def get(self, session: int, n: int) -> OperationRow | None:
        """Return one operation, or None."""
        row = self._db.row(f"{_SELECT} WHERE key = ?", (key(session, n),))
        return _operation(row) if row else None

    def all(self, session: int) -> list[OperationRow]:
        """Return all operations of a session, newest first."""
        sql = f"{_SELECT} WHERE key BETWEEN ? AND ? ORDER BY key DESC"
        return [_operation(row) for row in self._db.rows(sql, bounds(session))]

    def count(self, session: int, kind: str) -> int:
        """Return the number of operations of one kind that were not undone."""
        sql = "SELECT count(*) FROM operations WHERE key BETWEEN ? AND ? AND kind = ? AND undone_at IS NULL"
        return int(self._db.value(sql, (*bounds(session), kind)))

    def live_since(self, session: int, n: int) -> list[OperationRow]:
        """Return operations `n` and later that were not undone, newest first."""
        sql = f"{_SELECT} WHERE key BETWEEN ? AND ? AND undone_at IS NULL ORDER BY key DESC"
        return [_operation(row) for row in self._db.rows(sql, (key(session, n), bounds(session)[1]))]

    def last_at(self, session: int) -> int:
        """Return the time of the last operation or undo in milliseconds; 0 before the first."""
        sql = "SELECT max(at), max(undone_at) FROM operations WHERE key BETWEEN ? AND ?"
        return max(int(at or 0) for at in self._db.row(sql, bounds(session)) or (0,))

    def items(self, session: int, n: int) -> list[ItemRow]:
        """Return the items of an operation, by message number."""
        return [_item(row) for row in self._db.rows(_ITEMS, (key(session, n),))]

    def removal_reasons(self, session: int, pairs: Sequence[tuple[int, int]]) -> dict[int, RemovalReason]:
        """Return why messages left the context, by message number; `pairs` are (operation, message number)."""
        removed: defaultdict[int, list[int]] = defaultdict(list)
        for n, no in pairs:
            removed[n].append(no)
        found: dict[int, RemovalReason] = {}
        for n, nos in removed.items():
            operation = self.get(session, n)
            weights = operation.facts.weights if operation is not None else {}
            for row in self._db.rows_in(_REMOVED, nos, (key(session, n),)):
                found[row[0]] = RemovalReason(_item(row).detail or Detail(), weights)
        return found

    def mark_undone(self, session: int, n: int, at: int) -> None:
        """Mark an operation as undone at this time."""
        self._db.run("UPDATE operations SET undone_at = ? WHERE key = ?", (at, key(session, n)))

    def complete(self, session: int, row: OperationRow) -> None:
        """Write the tokens after an operation, and its facts, when the rest of it has arrived."""
        sql = "UPDATE operations SET tokens_after = ?, plan = ? WHERE key = ?"
        self._db.run(sql, (row.tokens_after, _json(row.facts), key(session, row.n)))

    def remove(self, session: int, n: int) -> None:
        """Remove an operation that did not take place after all, with its items."""
        self._db.run("DELETE FROM operation_items WHERE operation = ?", (key(session, n),))
        self._db.run("DELETE FROM operations WHERE key = ?", (key(session, n),))


Stored = TypeVar("Stored", Facts, Detail)


def _json(value: Facts | Detail) -> str:
    """Return the facts that are not None as JSON."""
    return orjson.dumps({name: one for name, one in vars(value).items() if one is not None}).decode()


def _read(kind: type[Stored], text: str) -> Stored:
    """Return what `_json` wrote; fields of other versions are left out."""
    known = {one.name for one in fields(kind)}
    return kind(**{name: one for name, one in orjson.loads(text).items() if name in known})


def _operation(row: tuple[Any, ...]) -> OperationRow:
    values: list[Any] = [number(row[0]), *row[1:9], _read(Facts, row[9]), *row[10:]]
    return OperationRow(*values)


def _item(row: tuple[Any, ...]) -> ItemRow:
    return ItemRow(row[0], row[1], row[2], _read(Detail, row[3]) if row[3] else None)
