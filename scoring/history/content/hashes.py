"""Hashes by which plans know text lines."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from scoring.history.content.rows import text_line

_REMEMBERED = 200  # hashes of lines up to so many characters are remembered: tools say the same lines again


def line_hash(line: str) -> int:
    """Return the hash by which plans know a text line."""
    return _short_hash(line) if len(line) <= _REMEMBERED else _hash(line)


def hashes_of(text: str) -> frozenset[int]:
    """Return the hashes of the text lines in a text."""
    return frozenset(line_hash(said) for line in text.splitlines() if (said := text_line(line)))


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode("utf-8", "replace"), digest_size=8).digest(), "little")


_short_hash = lru_cache(maxsize=1 << 15)(_hash)
