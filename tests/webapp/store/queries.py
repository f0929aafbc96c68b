"""The queries that a test's own thread makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from webapp.store import Store


@contextmanager
def rows_read(store: Store) -> Iterator[list[int]]:
    """Yield a list that gets the number of rows of each query; those of the application's own threads do not count."""
    own, read, counts = threading.get_ident(), store.db.rows, list[int]()

    def counted(sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found = read(sql, values)
        if threading.get_ident() == own:
            counts.append(len(found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.db, "rows", counted)
        yield counts
