"""Numbers with their nouns, for reasons, answers and commands."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """Return a number with its noun: "1 message", "2,000 messages"."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
