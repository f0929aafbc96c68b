"""SQL as another program would run it on a store, for both engines."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from webapp.config import Database

TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    "postgresql": "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
}
# Statements for SQLite, and the same in PostgreSQL.
DIALECT = (
    (re.compile(r"\bx'([0-9a-f]*)'"), r"'\\x\1'::bytea"),
    (re.compile(r"entry_words_docsize WHERE id"), "entry_words WHERE key"),
    (re.compile(r"entry_words_docsize$"), "entry_words"),
    (re.compile(r"memory_words WHERE rowid"), "memory_words WHERE id"),
    (re.compile(r"json_set\(features, .*?\)"), "jsonb_set(features::jsonb, '{keywords}', '1')"),
)


def in_dialect(database: Database, statement: str) -> str:
    """Return a statement for SQLite as the database takes it."""
    if not isinstance(database, Path):
        for pattern, other in DIALECT:
            statement = pattern.sub(other, statement)
    return statement


@contextmanager
def program(database: Database) -> Iterator[Any]:
    """Yield a connection of another program; each statement is a transaction unless it says otherwise."""
    if isinstance(database, Path):
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            yield connection
    else:
        import psycopg

        with closing(psycopg.connect(database.url, autocommit=True)) as server:
            yield server


def outside(database: Database, *statements: str) -> None:
    """Run statements as another program."""
    with program(database) as connection:
        for statement in statements:
            connection.execute(in_dialect(database, statement))
