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
        self._compiled = tuple(_Compiled(group) for group in groups if any(w.strip() for w in group.words))
        spelled = repr([(g.name, g.share, g.words) for g in groups])
        self.digest = blake2b(spelled.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def rate(self, text: str) -> float:
        """The keyword rating of a text, 0...1: the shares of the groups found, at most 1 in all."""
        words = words_in(text)
        total = 0.0
        for group in self._compiled:
            if group.stands_in(text, words):
                total += group.share
                if total >= 1:
                    return 1.0
        return total

    def groups_in(self, text: str) -> list[str]:
        """The names of the groups of which a word stands in the text."""
        words = words_in(text)
        return [group.name for group in self._compiled if group.stands_in(text, words)]


# One call of `translate` makes plain text small and parts it at every sign: many times as fast as an expression.
_PLAIN = {c: " " for c in range(128) if not re.match(r"\w", chr(c))} | {c: chr(c + 32) for c in range(65, 91)}
_WORD = re.compile(r"\w+")


def words_in(text: str) -> set[str]:
    """The whole words of a text, in lower case."""
    if text.isascii():
        return set(text.translate(_PLAIN).split())
    return set(_WORD.findall(text.lower()))


class _Compiled:
    """One group, ready to be looked for."""

    __slots__ = ("_plain", "_spelled", "name", "share")

    def __init__(self, group: KeywordGroup) -> None:
        words = {w.strip().lower() for w in group.words if w.strip()}
        self.name, self.share = group.name, group.share
        self._plain = frozenset(w for w in words if _WORD.fullmatch(w))
        # Phrases and words with signs: where their first word stands, an expression looks for the whole.
        spelled = sorted(words - self._plain, key=lambda w: (-len(w), w))
        firsts = frozenset(m[0] for w in spelled if (m := _WORD.search(w)))
        wordless = any(not _WORD.search(w) for w in spelled)
        pattern = re.compile("|".join(map(_whole, spelled)), re.IGNORECASE)
        self._spelled = (None if wordless else firsts, pattern) if spelled else None

    def stands_in(self, text: str, words: set[str]) -> bool:
        """Whether any word of the group stands whole in the text, whose words are given."""
        if not self._plain.isdisjoint(words):
            return True
        if self._spelled is None:
            return False
        firsts, pattern = self._spelled
        return (firsts is None or not firsts.isdisjoint(words)) and pattern.search(text) is not None


def _whole(word: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w$", word) else ""
    return before + re.escape(word) + after


@lru_cache(maxsize=64)
def lexicon_of(groups: tuple[KeywordGroup, ...]) -> Lexicon:
    """The lexicon of these groups; the same object for equal groups."""
    return Lexicon(groups)
