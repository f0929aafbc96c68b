"""The queries that a test's own thread makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from webapp.store import Store


class Query(NamedTuple):
    """A query and the number of its rows."""

    sql: str
    rows: int


@contextmanager
def queries(store: Store) -> Iterator[list[Query]]:
    """Yield a list that gets each query; those of the application's own threads, such as checkpoints, do not count."""
    own, read, made = threading.get_ident(), store.db.rows, list[Query]()

    def noted(sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found = read(sql, values)
        if threading.get_ident() == own:
            made.append(Query(sql, len(found)))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.db, "rows", noted)
        yield made
