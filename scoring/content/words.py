"""The words of a text for relevance: stems with their counts, and whether a text asks something.

Rough on purpose: question and answer only have to be cut the same way. English; words of other languages are
taken as they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

LONGEST = 60  # a longer word is data and has no ending

_WORD = re.compile(r"[A-Za-z0-9_]+")
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
_ASKING = re.compile(
    r"\?(?:\s|$|[\"'”’)])|^\W*(?:what|who|whom|whose|when|where|why|which|how|summari[sz]e|describe|explain|"
    r"remind|recall|list|tell|find|give|show|name)\b",
    re.IGNORECASE,
)


def stems(text: str) -> dict[str, int]:
    """How often each stem stands in a text, without stop words and single characters."""
    found: dict[str, int] = {}
    for word, count in Counter(_WORD.findall(text.lower())).items():
        if len(word) > 1 and word not in _STOP:
            short = stem(word) if len(word) <= LONGEST else word[:LONGEST]
            found[short] = found.get(short, 0) + count
    return found


def word_count(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


def asks(text: str) -> bool:
    """Whether a text puts a question, or a request to tell something, in words rather than in code."""
    words = _WORD.findall(text.lower())
    plain = sum(1 for word in words if word in _STOP)
    return 5 * plain >= len(words) > 0 and _ASKING.search(text) is not None


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A word without its English ending."""
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
