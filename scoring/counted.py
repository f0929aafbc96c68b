"""Numbers with their nouns, as reasons, answers and commands say them."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """Return a number with its noun: "1 message", "2,000 messages"."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
