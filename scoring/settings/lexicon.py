"""Keyword groups, the lexicon compiled from them, and the search for words in lines.

A word matches in upper or lower case, and only as a whole word: no letter, digit or underscore touches it. A word that
ends in a sign, such as `CREATE:`, can be followed by anything. A group counts once, however often it is found.
The digest identifies the lexicon, so that a stored rating of another lexicon is recognised as stale.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from ahocorasick_rs import BytesAhoCorasick, MatchKind


@dataclass(frozen=True, slots=True)
class KeywordGroup:
    """Words that count as one for the score. Finding any of them adds `share` (0...1) to the rating."""

    name: str
    share: float
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON-ready data."""
        return {"name": self.name, "share": self.share, "words": list(self.words)}

    @classmethod
    def of(cls, name: str, share: float, words: str) -> KeywordGroup:
        """Return a group of the words in a text, separated by blanks."""
        return cls(name, share, tuple(words.split()))


class Lexicon:
    """Compiled keyword groups. Make one with `lexicon_of`, which compiles each list once."""

    __slots__ = ("_finder", "_groups", "_groups_of", "_longest", "_overlap", "_shares", "digest")

    def __init__(self, groups: Sequence[KeywordGroup]) -> None:
        self._groups = tuple(groups)
        groups_of: dict[str, list[int]] = {}
        for n, group in enumerate(groups):
            for word in group.words:
                if word.strip():
                    groups_of.setdefault(word.strip().lower(), []).append(n)
        words = [_spelled(word) for word in groups_of]
        self._shares = [group.share for group in groups]
        self._groups_of = list(groups_of.values())
        self._longest = max(map(len, words), default=0)
        self._overlap = _may_hide(list(groups_of))
        # If no word can hide another, only the longest at each place is searched for, in a third of the time.
        kind = MatchKind.Standard if self._overlap else MatchKind.LeftmostLongest
        self._finder = BytesAhoCorasick(words, matchkind=kind)
        named = repr([(g.name, g.share, g.words) for g in groups])
        self.digest = blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the groups alone; the other process compiles them once."""
        return lexicon_of, (self._groups,)

    def rate(self, text: str) -> float:
        """Return the keyword rating of a text, 0...1: the shares of the groups found, at most 1 in all."""
        said = _spelled(text)
        found: set[int] = set()
        if len(said) <= SLICE_BYTES:
            self._note(found, said, 0, said)
        else:
            for start in range(0, len(said), SLICE_BYTES):
                self._note(found, said, start, said[start : start + SLICE_BYTES + self._longest])
        return min(1.0, sum([self._shares[group] for group in sorted(found)])) if found else 0.0

    def _note(self, found: set[int], said: bytes, start: int, piece: bytes) -> None:
        """Add to `found` the groups with a whole-word match in a piece of `said` that begins at `start`."""
        for word, begin, end in self._finder.find_matches_as_indexes(piece, overlapping=self._overlap):
            groups = self._groups_of[word]
            if (
                found.issuperset(groups)
                or _is_within_word(said, start + begin)
                or _is_within_word(said, start + end)
            ):
                continue
            found.update(groups)


class Finder:
    """Finds the lines of a text that contain any of some words, in upper or lower case, also within other words."""

    __slots__ = ("_finder",)

    def __init__(self, words: Sequence[str]) -> None:
        self._finder = BytesAhoCorasick([_spelled(word) for word in words])

    def lines_of(self, text: str) -> list[int]:
        """Return the numbers of these lines, in rising order."""
        said = _spelled(text)
        found = self._finder.find_matches_as_indexes(said)
        if not found:
            return []
        ends = list(accumulate([len(line) + 1 for line in said.split(b"\n")]))
        return list(dict.fromkeys([bisect_right(ends, begin) for _, begin, _ in found]))


def _may_hide(words: Sequence[str]) -> bool:
    """Return whether a match of one of the words can hide a whole-word match of another at the same place.

    A whole word reaches from one edge between a sign and a letter to the next. So only a word with such an edge inside
    can hide another: one that ends at the edge, or one that begins there and continues with the same letters.
    """
    for word in words:
        for at in range(1, len(word)):
            if _is_of_word(word[at - 1]) and _is_of_word(word[at]):
                continue
            rest = word[at:]
            if word[:at] in words or any(rest.startswith(one) or one.startswith(rest) for one in words):
                return True
    return False


# Characters searched at a time: each match is an object, and a text may consist of keywords only. A word across the
# edge of two pieces belongs to the piece that it begins in.
SLICE_BYTES = 200_000
_CHARACTER_BYTES = 4  # the most that one takes in UTF-8


def _spelled(text: str) -> bytes:
    """Return a text in lower case as bytes, the form that is searched: offsets in bytes need no counting of characters.

    Half of a surrogate pair, which occurs in transcripts, is passed through and is not part of a word.
    """
    return text.lower().encode("utf-8", "surrogatepass")


def _is_within_word(said: bytes, at: int) -> bool:
    """Return whether there are letters, digits or underscores on both sides of this place."""
    if not 0 < at < len(said):
        return False
    if said[at - 1] < 128 and said[at] < 128:
        return _IS_OF_WORD[said[at - 1]] and _IS_OF_WORD[said[at]]
    before = said[max(0, at - _CHARACTER_BYTES) : at].decode("utf-8", "replace")[-1:]
    after = said[at : at + _CHARACTER_BYTES].decode("utf-8", "replace")[:1]
    return _is_of_word(before) and _is_of_word(after)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_IS_OF_WORD = [_is_of_word(chr(code)) for code in range(128)]


@lru_cache(maxsize=64)
def lexicon_of(groups: tuple[KeywordGroup, ...]) -> Lexicon:
    """Return the lexicon of these groups; the same object for equal groups."""
    return Lexicon(groups)
