"""The contract of an engine: statements, transactions and the few things that SQLite and PostgreSQL do differently.

Statements are written once, in the SQL that SQLite and PostgreSQL share (see `sql`), with values bound as `?`. A
difference between the two is a method here or of `WordIndex`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from webapp.errors import ClosedStore, DamagedStore, ForeignStore, StoreError
from webapp.store.parts import Part
from webapp.store.search_index import WordIndex

BATCH = 500  # values of a query that are bound at a time


class Engine(ABC):
    """One database. Every method raises only errors of `webapp.errors`.

    `name` is the database's name in messages, without a password. `damage` is the first fault of the database that a
    statement met, "" before that. With `short_ids` its indexes hold no id longer than `keys.ID_BYTES`.
    """

    words: WordIndex
    short_ids = False

    def __init__(self, name: str) -> None:
        self.name, self.damage = name, ""
        self._closed = threading.Event()

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    @abstractmethod
    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query without holding them all; inside `read()` or `write()`."""

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run a statement inside `write()`; return the number of rows it changed."""

    @abstractmethod
    def run_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values, inside `write()`."""

    def rows_in(self, sql: str, values: Sequence[Any], more: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query with `IN ({})` for these values, in batches, with `more` bound after them."""
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(values), BATCH):
            some = values[start : start + BATCH]
            found += self.rows(sql.format(", ".join("?" * len(some))), (*some, *more))
        return found

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        return next(iter(self.rows(sql, values)), None)

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        found = self.row(sql, values)
        return found[0] if found else None

    @abstractmethod
    def write(self, session_id: str | None = None) -> AbstractContextManager[None]:
        """Open a transaction: all of it is stored or nothing, and what was read inside it is still true at commit.

        With `session_id` it writes to that session only, and others may write to other sessions meanwhile.

        Raises:
            BusyStore: another process holds the lock for too long.
            FullDisk: there is no room; nothing was stored.
            ReadOnlyStore: the database cannot be written to.
            StoreError: the thread is inside a `read()`, whose snapshot takes no lock and may be out of date; or inside
                a `write()` to another session alone.
        """

    @abstractmethod
    def read(self) -> AbstractContextManager[None]:
        """Run several queries on one snapshot; a write cannot begin inside it."""

    @abstractmethod
    def seals_of(self, part: Part, session: int | None = None) -> dict[tuple[int, str], int]:
        """Return the seals of the rows of a part as they are now, by session and part: all, or one session's."""

    @abstractmethod
    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table, each with INTEGER, REAL, TEXT or BLOB."""

    @abstractmethod
    def last_number(self, table: str, column: str) -> int:
        """Return the last number that was given to a row of a table, 0 before the first."""

    @abstractmethod
    def set_last_number(self, table: str, column: str, number: int) -> None:
        """Make the next row of a table get a number after this one, inside `write()`."""

    @abstractmethod
    def faults(self) -> Iterator[str]:
        """Yield faults of the database itself, as it finds them."""

    @abstractmethod
    def inspect(self) -> None:
        """Check the whole database, in a thread of its own; record a fault in `damage`."""

    @abstractmethod
    def size(self) -> int:
        """Return the size of the database on the disk in bytes."""

    @abstractmethod
    def checkpoint(self) -> None:
        """Do maintenance now that the engine would do later: empty its log, merge its word index."""

    @abstractmethod
    def close(self) -> None:
        """Close the database once running statements have ended; it cannot be used afterwards."""

    # -- errors

    @abstractmethod
    def _store_error(self, error: BaseException, doing: str) -> StoreError | None:
        """Return an error of the database as ours; None for any other error."""

    def _translated(self, doing: str) -> _Translated:
        """Raise errors as ours, and record damage of the database; once it is closed, raise `ClosedStore`."""
        return _Translated(self._raise, doing)

    def _raise(self, error: BaseException, doing: str) -> None:
        """Raise an error of the database as ours, chained to its cause; return for one that stays as it is."""
        ours = error if isinstance(error, StoreError) else self._store_error(error, doing)
        if ours is None:
            return
        if ours is not error:
            ours.__cause__ = error
        if self._closed.is_set():
            raise self._ending() from ours
        if isinstance(ours, DamagedStore):
            self.damage = self.damage or str(ours)
        if ours is not error:
            raise ours

    def _ending(self) -> ClosedStore:
        return ClosedStore(f"{self.name} is closed: the server is ending; try again once it runs")


class _Translated:
    """The block of `Engine._translated`: a class, because a generator for each statement takes four times as long."""

    __slots__ = ("_doing", "_raise")

    def __init__(self, raise_: Callable[[BaseException, str], None], doing: str) -> None:
        self._raise, self._doing = raise_, doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._raise(error, self._doing)


class Subject:
    """The tables of one subject, such as sessions. Methods that write belong inside `Engine.write()`."""

    def __init__(self, db: Engine) -> None:
        self._db = db


def refuse_newer(name: str, steps: Collection[str]) -> None:
    """Raise ForeignStore if the database has `steps` of its schema that this version does not know."""
    if steps:
        raise ForeignStore(
            f"{name} was written by a newer version ({min(steps)}); update Coppice, or restore a backup"
        )
