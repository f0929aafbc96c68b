"""Full-text search over all messages: what is looked for, and the contract of a word index.

The index of entries holds words only; their text stays in the log.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from operator import add
from typing import Any, NamedTuple

from scoring.history import UNSPACED
from webapp.store.keys import bounds

# Words of a search. The time of FTS5 grows with the square of their number, and it cannot be stopped in between.
MOST_WORDS = 16
# Words of a search for any of them.
ANY_WORDS = 64
_TERMS = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"\w+")
_RUN = re.compile(f"[{UNSPACED}]+")
_AFTER_A_PAIR = re.compile(rf"(?<=[{UNSPACED}]{{2}}) [{UNSPACED}](?=\W*$)")
_ONE_AT_THE_END = re.compile(rf"(?<![{UNSPACED}])[{UNSPACED}]\W*$")


class Term(NamedTuple):
    """A word, or several in a row; `begins` is True if the last one may be only the beginning of a word."""

    text: str
    begins: bool


def terms(q: str) -> list[Term]:
    """Return the terms of a search: all words, "phrases in quotes", the last word as a beginning. Operators are words.

    NUL and half surrogates, which a database does not accept, are replaced, and the text is cut to 500 characters.
    A word that is repeated counts once, and words after the first `MOST_WORDS` do not count. Of scripts without spaces
    the words are pairs of letters, as `in_pairs` cuts them.
    """
    found = [(_sought(phrase or word), bool(phrase)) for phrase, word in _TERMS.findall(clean(q[:500]))]
    found = _few([(text, quoted) for text, quoted in found if _WORD.search(text)])
    return [
        Term(text, (n == len(found) and not quoted) or bool(_ONE_AT_THE_END.search(text)))
        for n, (text, quoted) in enumerate(found, 1)
    ]


def in_pairs(text: str) -> str:
    """Return the text with spaces in it where a script has none: "文件名" becomes "文件 件名 名".

    An index takes such a run for one word, whose middle no search would find. Each letter is followed by its
    neighbour, so that a word is the pairs it consists of, in a row.
    """
    return text if text.isascii() else _RUN.sub(_pairs, text)


def _pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(map(add, letters, letters[1:]))} {letters[-1]} "


def _sought(text: str) -> str:
    """Return a term in pairs, without the last letter of a run at its end, which may go on in the text found."""
    return _AFTER_A_PAIR.sub("", in_pairs(text)).strip()


def _few(terms: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the terms without repetitions, each at its last place, as far as they have `MOST_WORDS` together."""
    kept: list[tuple[str, bool]] = []
    left = MOST_WORDS
    for text, quoted in reversed(dict.fromkeys(reversed(terms))):
        ends = [found.end() for found in _WORD.finditer(text)][:left]
        if ends:
            kept.append((text[: ends[-1]], quoted))
            left -= len(ends)
    return kept


def any_words(words: Iterable[str]) -> list[str]:
    """Return the words of a search for any of them, each once; signs only separate words."""
    found = _WORD.findall(clean(" ".join(words)))
    return list(dict.fromkeys(one for word in found for one in _sought(word).split()))[:ANY_WORDS]


def clean(text: str) -> str:
    """Return the text without NUL and half surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


class SearchFilter(NamedTuple):
    """The messages that a search is limited to; times are in milliseconds, `until` is exclusive."""

    session: int | None = None
    role: str | None = None
    tool: str | None = None
    since: int | None = None
    until: int | None = None

    def condition(self, key: str, of_tool: str) -> tuple[str, list[Any]]:
        """Return the SQL condition on entries and their messages `m`, and its values.

        `key` is the column with an entry's key, `of_tool` the condition on a card with two values for the tool.
        """
        low, high = bounds(self.session) if self.session is not None else (None, None)
        parts: list[tuple[str, list[Any]]] = [
            (f"{key} BETWEEN ? AND ?", [low, high]),
            ("m.role = ?", [self.role]),
            (of_tool, [self.tool, self.tool]),
            ("m.at >= ?", [self.since]),
            ("m.at < ?", [self.until]),
        ]
        asked = [(sql, values) for sql, values in parts if values[0] is not None]
        return "".join(f"AND {sql} " for sql, _ in asked), [one for _, values in asked for one in values]


class WordIndex(ABC):
    """The words of entries, one row per entry, and those of memories and learnings. Writes belong inside `write()`."""

    @abstractmethod
    def add(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Index texts, each (seq, text)."""

    @abstractmethod
    def remove(self, session: int, texts: Iterable[tuple[int, str]]) -> None:
        """Remove texts from the index; they have to be exactly those that were added."""

    @abstractmethod
    def clear(self) -> None:
        """Empty the index of entries, so that it can be filled again from the log."""

    @abstractmethod
    def merge(self) -> bool:
        """Do some of the index's upkeep, a bounded amount of work; return whether more may be needed."""

    @abstractmethod
    def numbers(self, session: int) -> set[int]:
        """Return the seqs of a session's entries that are in the index."""

    @abstractmethod
    def in_session(self, session: int, q: str) -> list[int]:
        """Return the numbers of a session's messages that match, ascending."""

    @abstractmethod
    def everywhere(
        self, q: str, within: SearchFilter, limit: int, offset: int = 0
    ) -> list[tuple[int, int, int]]:
        """Return (session, seq, message number) of the best matching entries, best first, from the `offset`-th on."""

    @abstractmethod
    def put_memory(self, number: int, text: str) -> None:
        """Index a memory or learning that is new or has changed."""

    @abstractmethod
    def remove_memory(self, number: int) -> None:
        """Remove a memory or learning that was deleted."""

    @abstractmethod
    def memories(self) -> set[int]:
        """Return the numbers of the memories and learnings that are in the index."""

    @abstractmethod
    def memories_with(
        self, kind: str, words: Iterable[str], columns: Sequence[str], limit: int
    ) -> list[tuple[Any, ...]]:
        """Return columns of the memories of a kind with any of the words, best match first, then the latest."""
