"""Operations: everything that changed a context, with the reasons given at the time, and the data that undo needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from webapp.store.engine import Engine
from webapp.store.keys import bounds, key, number


@dataclass(slots=True)
class OperationRow:
    """One operation. `seq` is the log's length when it happened; `plan` is JSON-ready data about the decision."""

    n: int
    kind: str
    actor: str
    reason: str
    at: int
    seq: int
    tokens_before: int
    tokens_after: int
    messages: int
    plan: dict[str, Any]
    undone_at: int | None = None


class ItemRow(NamedTuple):
    """One operation's change to one message: the `change`, the state `before` it, and the explanation in `detail`."""

    no: int
    change: str
    before: str | None
    detail: dict[str, Any] | None


class RemovalReason(NamedTuple):
    """The reason why a message left the context, as given at the time, and the weights of its score."""

    detail: dict[str, Any]
    weights: dict[str, float]


_COLUMNS = "key, kind, actor, reason, at, seq, tokens_before, tokens_after, messages, plan, undone_at"


class Operations:
    """Operations of all sessions."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def add(self, session: int, row: OperationRow, items: Iterable[ItemRow]) -> None:
        """Write one operation and its items."""
        values = (
            key(session, row.n), row.kind, row.actor, row.reason, row.at, row.seq, row.tokens_before, row.tokens_after,
            row.messages, orjson.dumps(row.plan).decode(), row.undone_at,
        )  # fmt: skip
        self._db.run(f"INSERT INTO operations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        self._db.run_many(
            "INSERT INTO operation_items (operation, no, change, before, detail) VALUES (?, ?, ?, ?, ?)",
            (
                (
                    key(session, row.n),
                    i.no,
                    i.change,
                    i.before,
                    orjson.dumps(i.detail).decode() if i.detail else None,
                )
                for i in items
            ),
        )

    def get(self, session: int, n: int) -> OperationRow | None:
        """Return one operation, or None."""
        row = self._db.row(f"SELECT {_COLUMNS} FROM operations WHERE key = ?", (key(session, n),))
        return _operation(row) if row else None

    def all(self, session: int) -> list[OperationRow]:
        """Return all operations of a session, newest first."""
        sql = f"SELECT {_COLUMNS} FROM operations WHERE key BETWEEN ? AND ? ORDER BY key DESC"
        return [_operation(row) for row in self._db.rows(sql, bounds(session))]

    def live_since(self, session: int, n: int) -> list[OperationRow]:
        """Return operations `n` and later that were not undone, newest first."""
        sql = f"SELECT {_COLUMNS} FROM operations WHERE key BETWEEN ? AND ? AND undone_at IS NULL ORDER BY key DESC"
        return [_operation(row) for row in self._db.rows(sql, (key(session, n), bounds(session)[1]))]

    def last_at(self, session: int) -> int:
        """Return the time of the last operation or undo in milliseconds; 0 before the first."""
        sql = "SELECT max(at), max(undone_at) FROM operations WHERE key BETWEEN ? AND ?"
        return max(int(at or 0) for at in self._db.row(sql, bounds(session)) or (0,))

    def items(self, session: int, n: int) -> list[ItemRow]:
        """Return the items of an operation, by message number."""
        sql = "SELECT no, change, before, detail FROM operation_items WHERE operation = ? ORDER BY no, change"
        return [_item(row) for row in self._db.rows(sql, (key(session, n),))]

    def left(self, session: int, pairs: Sequence[tuple[int, int]]) -> dict[int, RemovalReason]:
        """Return, for (operation, message number) pairs, message number -> the reason it left the context."""
        weights: dict[int, dict[str, float]] = {}
        found: dict[int, RemovalReason] = {}
        sql = "SELECT no, change, before, detail FROM operation_items WHERE operation = ? AND no = ? AND change = 'out'"
        for n, no in pairs:
            if n not in weights:
                operation = self.get(session, n)
                weights[n] = operation.plan.get("weights", {}) if operation is not None else {}
            row = self._db.row(sql, (key(session, n), no))
            if row:
                found[no] = RemovalReason(_item(row).detail or {}, weights[n])
        return found

    def mark_undone(self, session: int, n: int, at: int) -> None:
        """Mark an operation as undone at this time."""
        self._db.run("UPDATE operations SET undone_at = ? WHERE key = ?", (at, key(session, n)))

    def remove(self, session: int, n: int) -> None:
        """Remove an operation that never happened, with its items."""
        self._db.run("DELETE FROM operation_items WHERE operation = ?", (key(session, n),))
        self._db.run("DELETE FROM operations WHERE key = ?", (key(session, n),))


def _operation(row: tuple[Any, ...]) -> OperationRow:
    kind, actor, reason, at, seq, before, after, messages, plan, undone_at = row[1:]
    return OperationRow(
        number(row[0]), kind, actor, reason, at, seq, before, after, messages, orjson.loads(plan), undone_at
    )


def _item(row: tuple[Any, ...]) -> ItemRow:
    return ItemRow(row[0], row[1], row[2], orjson.loads(row[3]) if row[3] else None)
