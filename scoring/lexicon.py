"""Keyword groups and the lexicon compiled from them.

A word counts where it stands whole (no letter, digit or underscore touches it) in any case; a word that ends
in a sign, such as `CREATE:`, needs nothing behind the sign. A group counts once however often it is found.
The digest names what was compiled, so that a stored rating can be told from one of another lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any


@dataclass(frozen=True, slots=True)
class KeywordGroup:
    """Words that mean the same to the score. `share` (0...1) is what finding any of them adds to the rating."""

    name: str
    share: float
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The group as JSON-ready data."""
        return {"name": self.name, "share": self.share, "words": list(self.words)}

    @classmethod
    def of(cls, name: str, share: float, words: str) -> KeywordGroup:
        """A group of the words in a text, parted by blanks."""
        return cls(name, share, tuple(words.split()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> KeywordGroup:
        """The group that `to_dict` wrote."""
        return cls(data["name"], data["share"], tuple(data["words"]))


class Lexicon:
    """Keyword groups, compiled. Make one with `lexicon_of`, which compiles each list once."""

    __slots__ = ("_compiled", "digest")

    def __init__(self, groups: Sequence[KeywordGroup]) -> None:
        self._compiled = tuple(
            (group.name, group.share, words, _pattern(words))
            for group in groups
            if (words := tuple(sorted({w.lower() for w in group.words if w.strip()}, key=len)))
        )
        spelled = repr([(g.name, g.share, g.words) for g in groups])
        self.digest = blake2b(spelled.encode(), digest_size=8).hexdigest()

    def rate(self, text: str) -> float:
        """The keyword rating of a text, 0...1: the shares of the groups found, at most 1 in all."""
        lowered = text.lower()
        found = (share for _, share, words, pattern in self._compiled if _found(lowered, words, pattern))
        return min(1.0, sum(found, 0.0))

    def groups_in(self, text: str) -> list[str]:
        """The names of the groups of which a word stands in the text."""
        lowered = text.lower()
        return [name for name, _, words, pattern in self._compiled if _found(lowered, words, pattern)]


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """One alternation for a group, longest word first."""

    def whole(word: str) -> str:
        before = r"(?<!\w)" if re.match(r"\w", word) else ""
        after = r"(?!\w)" if re.search(r"\w$", word) else ""
        return before + re.escape(word) + after

    return re.compile("|".join(whole(w) for w in sorted(words, key=len, reverse=True)))


def _found(lowered: str, words: Sequence[str], pattern: re.Pattern[str]) -> bool:
    # A plain substring search is some twenty times as fast as the alternation, and mostly finds nothing.
    return any(word in lowered for word in words) and pattern.search(lowered) is not None


@lru_cache(maxsize=64)
def lexicon_of(groups: tuple[KeywordGroup, ...]) -> Lexicon:
    """The lexicon of these groups; the same object for equal groups."""
    return Lexicon(groups)
