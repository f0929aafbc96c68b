"""Keyword groups and the lexicon compiled from them.

A word counts where it stands whole (no letter, digit or underscore touches it) in any case; a word that ends
in a sign, such as `CREATE:`, needs nothing behind the sign. A group counts once however often it is found.
The digest names what was compiled, so that a stored rating can be told from one of another lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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

    __slots__ = ("_always", "_compiled", "_firsts", "digest")

    def __init__(self, groups: Sequence[KeywordGroup]) -> None:
        self._compiled = tuple(_Compiled(group) for group in groups if any(w.strip() for w in group.words))
        self._firsts = frozenset(word for group in self._compiled for word in group.firsts)
        self._always = any(group.wordless for group in self._compiled)
        spelled = repr([(g.name, g.share, g.words) for g in groups])
        self.digest = blake2b(spelled.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def rate(self, text: str) -> float:
        """The keyword rating of a text, 0...1: the shares of the groups found, at most 1 in all."""
        return min(1.0, sum([group.share for group in self._found(text)], 0.0))

    def _found(self, text: str) -> list[_Compiled]:
        # Most texts have no keyword at all: one look at their words, without a set of them, is enough to know.
        seen: frozenset[str] = frozenset()
        for piece in slices(text):
            words = words_in(piece)
            if not self._firsts.isdisjoint(words):
                seen |= self._firsts.intersection(words)
        if not seen and not self._always:
            return []
        return [group for group in self._compiled if group.stands_in(text, seen)]


# One call of `translate` makes plain text small and parts it at every sign: many times as fast as an expression.
_PLAIN = {c: " " for c in range(128) if not re.match(r"\w", chr(c))} | {c: chr(c + 32) for c in range(65, 91)}
_WORD, _SIGN = re.compile(r"\w+"), re.compile(r"\W")
SLICE_CHARS = 200_000


def words_in(text: str) -> list[str]:
    """The whole words of a text, in lower case and in order."""
    if text.isascii():
        return text.translate(_PLAIN).split()
    return _WORD.findall(text.lower())


def slices(text: str, chars: int = SLICE_CHARS) -> Iterator[str]:
    """The text in pieces of about so many characters, no word cut: the words of all of it take ten times its room."""
    start = 0
    while len(text) - start > chars:
        sign = _SIGN.search(text, start + chars)
        end = sign.end() if sign else len(text)
        yield text[start:end]
        start = end
    if start < len(text) or not text:
        yield text[start:] if start else text


class _Compiled:
    """One group, ready to be looked for. `firsts` are the words with which any of its words begins."""

    __slots__ = ("_pattern", "_plain", "firsts", "share", "wordless")

    def __init__(self, group: KeywordGroup) -> None:
        words = {w.strip().lower() for w in group.words if w.strip()}
        self.share = group.share
        self._plain = frozenset(w for w in words if _WORD.fullmatch(w))
        # Phrases and words with signs: where their first word stands, an expression looks for the whole.
        spelled = sorted(words - self._plain, key=lambda w: (-len(w), w))
        begins = [_WORD.search(w) for w in spelled]
        self.firsts = self._plain.union(m[0] for m in begins if m)
        self.wordless = not all(begins)  # a sign alone, which no word leads to
        self._pattern = re.compile("|".join(map(_whole, spelled)), re.IGNORECASE) if spelled else None

    def stands_in(self, text: str, seen: frozenset[str]) -> bool:
        """Whether any word of the group stands whole in the text; `seen` are the first words found in it."""
        if not self._plain.isdisjoint(seen):
            return True
        if self._pattern is None or not (self.wordless or not self.firsts.isdisjoint(seen)):
            return False
        return self._pattern.search(text) is not None


def _whole(word: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w$", word) else ""
    return before + re.escape(word) + after


@lru_cache(maxsize=64)
def lexicon_of(groups: tuple[KeywordGroup, ...]) -> Lexicon:
    """The lexicon of these groups; the same object for equal groups."""
    return Lexicon(groups)
