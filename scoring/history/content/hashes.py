"""Hashes that identify text lines in plans."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from scoring.history.content.rows import text_line

_REMEMBERED = 200  # hashes of lines up to this length in characters are cached, because tools repeat lines


def line_hash(line: str) -> int:
    """Return the hash that identifies a text line in plans."""
    return _short_hash(line) if len(line) <= _REMEMBERED else _hash(line)


def hashes_of(text: str) -> tuple[int, ...]:
    """Return the hashes of the text lines in a text, in order."""
    return tuple(line_hash(said) for line in text.splitlines() if (said := text_line(line)))


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode("utf-8", "replace"), digest_size=8).digest(), "little")


_short_hash = lru_cache(maxsize=1 << 15)(_hash)
