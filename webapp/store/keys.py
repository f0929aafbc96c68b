"""Keys of rows: one number that holds the session and a number within it.

Every large table has `key = session · 2³² + n` as its INTEGER PRIMARY KEY, so that a session's rows lie together in
one B-tree, an append goes to the end of the session's range, and no second index has to be kept.
"""

from __future__ import annotations

SHIFT = 32
MASK = (1 << SHIFT) - 1


def key(session: int, n: int) -> int:
    """Return the key of row `n` of a session."""
    return (session << SHIFT) | n


def bounds(session: int) -> tuple[int, int]:
    """Return the smallest and the largest key a session can have, both inclusive."""
    return session << SHIFT, (session << SHIFT) | MASK


def number(row_key: int) -> int:
    """Return the number of a row within its session."""
    return row_key & MASK
