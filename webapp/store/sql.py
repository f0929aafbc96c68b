"""Statements in the SQL that SQLite and PostgreSQL share. Names come from constants; values are bound as `?`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Names of columns that are words of SQL.
RESERVED = frozenset({"window"})


def quoted(name: str) -> str:
    """Return the name of a column as a statement needs it, in quotes if it is a word of SQL."""
    return f'"{name}"' if name in RESERVED else name


def listed(names: Iterable[str], before: str = "") -> str:
    """Return names of columns with commas, each with a prefix like "NEW." before it."""
    return ", ".join(before + quoted(name) for name in names)


def insert(table: str, columns: Sequence[str]) -> str:
    """Return the statement that adds a row."""
    return f"INSERT INTO {table} ({listed(columns)}) VALUES ({', '.join('?' * len(columns))})"


def upsert(table: str, columns: Sequence[str], *, keys: int) -> str:
    """Return the statement that adds a row, or replaces the one with the same values in the first `keys` columns."""
    sets = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in columns[keys:])
    return f"{insert(table, columns)} ON CONFLICT ({listed(columns[:keys])}) DO UPDATE SET {sets}"
