"""Keys of rows: one number that holds the session and a number within it; and the tables with rows of sessions.

Every large table has `key = session · 2³² + n` as its INTEGER PRIMARY KEY, so that a session's rows lie together in
one B-tree, an append goes to the end of the session's range, and no second index has to be kept.
"""

from __future__ import annotations

from scoring.errors import json_string
from webapp.errors import Invalid

SHIFT = 32
MASK = (1 << SHIFT) - 1
# The tables with rows of sessions, each with the column that has the key of a row, or the number of its session.
SESSION_TABLES = {
    "entries": "key",
    "messages": "key",
    "operations": "key",
    "samples": "key",
    "summaries": "key",
    "operation_items": "operation",
    "context_items": "session",
    "totals": "session",
    "calls": "session",
    "aftermaths": "session",
    "idempotency": "session",
}
# An index of PostgreSQL takes about 2,700 bytes of a row. SQLite takes any, but a store can be moved to PostgreSQL.
ID_BYTES = 2_000


def key(session: int, n: int) -> int:
    """Return the key of row `n` of a session."""
    return (session << SHIFT) | n


def bounds(session: int) -> tuple[int, int]:
    """Return the smallest and the largest key a session can have, both inclusive."""
    return session << SHIFT, (session << SHIFT) | MASK


def of_session(table: str, session: int) -> tuple[str, tuple[int, int]]:
    """Return the SQL condition on a session's rows in one of `SESSION_TABLES`, and its values."""
    column = SESSION_TABLES[table]
    return f"{column} BETWEEN ? AND ?", (session, session) if column == "session" else bounds(session)


def number(row_key: int) -> int:
    """Return the number of a row within its session."""
    return row_key & MASK


def is_long(name: str) -> bool:
    """Return whether an id or a path takes more than ID_BYTES, so that no index can hold it."""
    return 4 * len(name) > ID_BYTES and len(name.encode("utf-8", "surrogatepass")) > ID_BYTES


def refuse_long(name: str, what: str, field: str | None = None) -> None:
    """Raise Invalid if an id or a path takes more than ID_BYTES."""
    if is_long(name):
        size = len(name.encode("utf-8", "surrogatepass"))
        raise Invalid(
            f"{what} takes {size:,} bytes; expected at most {ID_BYTES:,}: {json_string(name[:80])}…", field
        )
