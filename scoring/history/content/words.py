"""The words of a text for relevance: stems with their counts, and whether a text asks something.

Stemming is rough on purpose: question and answer only have to be treated the same way. English words lose their
endings, those of other languages are kept unchanged. Unspaced writing (Chinese, Japanese, Korean, Thai and their
neighbours; Korean has blanks, but particles are attached to its words) is cut into pairs of adjacent characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from scoring.history.content.pieces import pieces

LONGEST = 60  # a longer word is data and is not stemmed
# Thai, Lao, Burmese, Khmer; Japanese and Chinese; Korean.
UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)

_PLAIN = re.compile(r"[A-Za-z0-9_]+")
# Letters, and the vowel signs of Indic scripts, which are not letters themselves.
_WORD = re.compile(r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff]+")
_RUN = re.compile(f"([{UNSPACED}]+)")
_STOP = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing done down during each few for from further get go got had
    has have having he her here hers him his how i if in into is it its itself just let like ll me more most
    my no nor not now of off ok okay on once only or other our out over own please re s same say said she
    should so some such than that the their them then there these they think this those through to too uh um
    under until up us ve very was we well were what when where which while who whom why will with would yeah
    yes you your
    """.split()  # noqa: SIM905
)
_ENDINGS = (
    *(("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", "")),
    *(("ed", ""), ("ly", ""), ("es", ""), ("s", "")),
)
_SUFFIXES = ("ation", "ion", "ment", "ness", "abl", "er", "al", "or")
_QUESTION = re.compile(r"\?(?:\s|$|[\"'”’)»])")
_QUESTION_ELSEWHERE = re.compile(r"[¿？؟]|か[。．]?\s*$")
_QUESTION_OPENING = re.compile(
    r"\W*(?:what|who|whom|whose|when|where|why|which|how|summari[sz]e|describe|explain|remind|recall|list|tell|find|"
    r"give|show|name)\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\\/_={}\[\]<>()|&$#@~*+`]|--|\w[.:]\w")


class Words(NamedTuple):
    """The words of a text.

    `stems` has the number of occurrences of each stem, without stop words and single characters. `total` is the number
    of words; two characters of unspaced writing count as one. `asks` is True if the text asks a question, or asks to be
    told something.
    """

    stems: dict[str, int]
    total: int
    asks: bool


def is_unspaced(text: str) -> bool:
    """Return whether a text contains unspaced writing."""
    return not text.isascii() and _RUN.search(text) is not None


def words_of(text: str) -> Words:
    """Return the words of a text, found in one pass."""
    unspaced = is_unspaced(text)
    counted = Counter[str]()
    for piece in pieces(text):
        counted.update(_pairs(piece) if unspaced else _words(piece))
    count = sum(counted.values())
    if unspaced:  # two characters are about a word, and each makes one pair
        count -= sum([often for word, often in counted.items() if _RUN.match(word)]) // 2
    return Words(_stems(counted), count, _asks(text, count, counted))


def _stems(counted: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word, count in counted.items():
        short = _counted_stem(word) if len(word) <= LONGEST else word[:LONGEST]
        if short:
            found[short] = found.get(short, 0) + count
    return found


@lru_cache(maxsize=1 << 15)
def _counted_stem(word: str) -> str:
    """Return the stem of a word; "" for a stop word or a single character, which are not counted."""
    return stem(word) if len(word) > 1 and word not in _STOP else ""


def _asks(text: str, count: int, counted: Mapping[str, int]) -> bool:
    """Return whether a text of `count` words asks in words rather than in code.

    Prose is recognised by its stop words or, in any language, by the lack of characters that code has.
    """
    if not _is_question(text):
        return False
    plain = sum([often for word, often in counted.items() if word in _STOP])
    return 5 * plain >= count > 0 or (count > 1 and _SIGNS.search(text) is None)


def _is_question(text: str) -> bool:
    """Return whether a text contains the end of a question, or begins as one."""
    if _QUESTION.search(text) or _QUESTION_OPENING.match(text):
        return True
    return not text.isascii() and _QUESTION_ELSEWHERE.search(text) is not None


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case and in one Unicode form."""
    if text.isascii():
        return _PLAIN.findall(text.lower())
    return [word if word.isascii() else normalize("NFKC", word) for word in _WORD.findall(text.lower())]


def _pairs(text: str) -> Iterator[str]:
    """Yield the words of a text, with unspaced writing in pairs of characters."""
    for word in _words(text):
        for number, run in enumerate(_RUN.split(word)):
            if number % 2 and len(run) > 1:
                yield from map("".join, pairwise(run))
            elif run:
                yield run


def stem(word: str) -> str:
    """Return a word without its English ending."""
    if len(word) <= 4:
        return word
    word = _undoubled(_without_ending(word))
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 6:
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 4:
                return word[: -len(suffix)]
    return word


def _without_ending(word: str) -> str:
    for ending, put in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)] + put
    return word


def _undoubled(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz" else word
