"""Keyword groups and the lexicon compiled from them.

A word counts where it stands whole (no letter, digit or underscore touches it) in any case; a word that ends
in a sign, such as `CREATE:`, needs nothing behind the sign. A group counts once however often it is found.
The digest names what was compiled, so that a stored rating can be told from one of another lexicon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ahocorasick_rs import BytesAhoCorasick, MatchKind


@dataclass(frozen=True, slots=True)
class KeywordGroup:
    """Words that mean the same to the score. `share` (0...1) is what finding any of them adds to the rating."""

    name: str
    share: float
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON-ready data."""
        return {"name": self.name, "share": self.share, "words": list(self.words)}

    @classmethod
    def of(cls, name: str, share: float, words: str) -> KeywordGroup:
        """Return a group of the words in a text, parted by blanks."""
        return cls(name, share, tuple(words.split()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> KeywordGroup:
        """Return the group that `to_dict` wrote."""
        return cls(data["name"], data["share"], tuple(data["words"]))


class Lexicon:
    """Keyword groups, compiled. Make one with `lexicon_of`, which compiles each list once."""

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
        # Where no word can hide another, only the longest at each place is looked for, in a third of the time.
        kind = MatchKind.Standard if self._overlap else MatchKind.LeftmostLongest
        self._finder = BytesAhoCorasick(words, matchkind=kind)
        named = repr([(g.name, g.share, g.words) for g in groups])
        self.digest = blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the groups alone to another process, which compiles them once."""
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
        """Add the groups of which a word stands whole in a piece of what is said, which begins at `start`."""
        for word, begin, end in self._finder.find_matches_as_indexes(piece, overlapping=self._overlap):
            groups = self._groups_of[word]
            if found.issuperset(groups) or _goes_on(said, start + begin) or _goes_on(said, start + end):
                continue
            found.update(groups)


def _may_hide(words: Sequence[str]) -> bool:
    """Return whether a place where one of the words is found may hide another one that stands whole there.

    A word stands whole from one edge between a sign and a letter to another. So only a word with such an edge inside
    can hide one: one that ends at the edge, or one that begins there and goes on as this word does.
    """
    for word in words:
        for at in range(1, len(word)):
            if _is_of_word(word[at - 1]) and _is_of_word(word[at]):
                continue
            rest = word[at:]
            if word[:at] in words or any(rest.startswith(one) or one.startswith(rest) for one in words):
                return True
    return False


# Each find is an object, and a text may hold nothing but keywords: no more of it at a time than this, and a word over
# the edge belongs to the piece that it begins in.
SLICE_BYTES = 200_000
_CHARACTER_BYTES = 4  # the most that one takes in UTF-8


def _spelled(text: str) -> bytes:
    """Return a text as it is searched: in lower case, in bytes, which need no counting of characters for a find's
    place.

    Half of a surrogate pair, which transcripts do hold, is spelled as it is and no part of a word.
    """
    return text.lower().encode("utf-8", "surrogatepass")


def _goes_on(said: bytes, at: int) -> bool:
    """Return whether a word goes on over this place: letters, digits or underscores on both sides of it."""
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
