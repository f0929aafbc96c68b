"""Names that an agent may have to spell again: paths, file names, URLs, code names, ids, codes, long numbers.

Dictionary words never count. A path is reduced to its last two components, so that its absolute and its relative form
agree. No name crosses a line break: the names of a text are those of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import chain

from scoring.history.content.pieces import pieces
from scoring.history.content.words import UNSPACED, is_unspaced

_URL = re.compile(r"https?://[^\s\"'`<>()\[\]{}|\\^]+")
# It begins only at the start of a run and never backtracks, so that the cost of a line of a million letters is linear.
_PATH = re.compile(r"(?<![\w.@~+-])[\w.@~+-]*+(?:/[\w.@~+-]++)+")
_FILE = re.compile(
    r"\b[\w-]{1,200}+\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|c|h|cc|cpp|hpp|java|kt|rb|php|cs|swift|sh|sql|md|rst|txt|"
    r"json|jsonl|ya?ml|toml|ini|cfg|xml|html|css|scss|csv|lock|log|proto|gradle|ipynb|env|mod|sum)\b"
)
_WORD = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z][A-Z][a-z]")
_NUMBER = r"[ ]*\d{1,9}(?:→|[\t:|-](?![\d:])|[ ]*$)"
# Line breaks are searched for several times faster than beginnings of lines.
_LINE_NUMBER, _LINE_NUMBERS = re.compile(_NUMBER), re.compile(rf"(?m)\n{_NUMBER}")
_UNSPACED = re.compile(f"[{UNSPACED}\u3001-\u303f\uff01-\uff0f\uff1a-\uff20]+")
_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"\d")
_TELLING = re.compile(r"[_\d.]")
_SIGNS = "()[]{}<>,;:\"'`|"  # around words, and never at the end of a name
_LONGEST_CACHED = 100  # characters of a word or path whose names are cached
_LONGEST = 300  # a longer name (such as an address with its query) is cut to this length
_YEAR = re.compile(r"(?:19|20)\d\d")
# Spelled like code, but common words.
_PRODUCTS = frozenset(
    """
    javascript typescript github gitlab postgresql mysql sqlite nodejs macos openai chatgpt youtube webpack
    graphql pytest numpy linkedin readme wifi ipad iphone redacted python3 sqlite3
    """.split()  # noqa: SIM905
)


def identifiers(text: str) -> set[str]:
    """Return the names in a text; the number before a line of a file is not a name."""
    words = set(_unnumbered(text).split())  # no name contains a blank, so each word is examined once
    if len(text) <= _LONGEST_CACHED or max(map(len, words), default=0) <= _LONGEST_CACHED:
        return set(chain.from_iterable(map(_known_word, words)))
    return set(
        chain.from_iterable(
            [_known_word(word) if len(word) <= _LONGEST_CACHED else _in_word(word) for word in words]
        )
    )


def _unnumbered(text: str) -> str:
    """Return a text without the numbers at the beginning of its lines."""
    if "\n" in text:
        return _LINE_NUMBERS.sub("\n", f"\n{text}")
    number = _LINE_NUMBER.match(text)
    return text[number.end() :] if number else text


def _in_word(word: str) -> Collection[str]:
    """Return the names in a text without blanks."""
    word = word.strip(_SIGNS)
    if word.isalpha() and (word.islower() or word.istitle()):  # an ordinary word
        return ()
    if word.isascii() and "/" not in word and "." not in word:
        parts = [part for part in _WORD.findall(word) if len(part) <= _LONGEST]
        return tuple(chain.from_iterable(map(_names_in, parts)))
    found: set[str] = set()
    _add_names(word, found)
    if is_unspaced(word):  # no blank separates a name from the words around it
        found = {name for name in found if not _UNSPACED.search(name) or not identifiers(_parted(name))}
        _add_names(_parted(word), found)
    return tuple(found)


_known_word = lru_cache(maxsize=1 << 16)(_in_word)


def _parted(text: str) -> str:
    """Return a text with the runs of unspaced writing replaced by blanks."""
    return _UNSPACED.sub(" ", text)


def _add_names(text: str, found: set[str]) -> None:
    """Add the names in a text of words, paths and addresses."""
    for piece in pieces(text):
        rest = piece
        if "/" in rest:
            if "://" in rest:
                rest = _URL.sub(lambda m: _whole(m.group().rstrip(".,;:!?/"), found), rest)
            rest = _PATH.sub(lambda m: _path(m.group(), found), rest)
        if "." in rest:
            rest = _FILE.sub(lambda m: _whole(m.group(), found), rest)
        for word in _WORD.findall(rest):
            if len(word) <= _LONGEST:  # a longer one is data, not a name
                found.update(_names_in(word))


def has_digit(name: str) -> bool:
    """Return whether a name has a digit."""
    return _DIGIT.search(name) is not None


def _whole(name: str, found: set[str]) -> str:
    """Add a name; return a blank, because nothing of it is left to examine."""
    found.add(name[:_LONGEST])
    return " "


def _path(path: str, found: set[str]) -> str:
    """Add a path; return its last component, which is examined further."""
    name, last = _known_path(path) if len(path) <= _LONGEST_CACHED else _name_of_path(path)
    if name:
        found.add(name)
    return f" {last} "


def _name_of_path(path: str) -> tuple[str, str]:
    """Return the name of a path, "" if it is not a path, and its last component."""
    parts = [p for p in path.strip("./~").split("/") if p not in ("", ".", "..")]
    whole = "/".join(parts[-2:])
    named = (len(parts) > 2 or _TELLING.search(whole)) and len(whole) >= 5 and _LETTER.search(whole)
    return whole[:_LONGEST] if named else "", parts[-1] if parts else ""


_known_path = lru_cache(maxsize=1 << 12)(_name_of_path)


@lru_cache(maxsize=1 << 16)
def _names_in(word: str) -> tuple[str, ...]:
    """Return a word that is a name, or the parts of a word with hyphens that are."""
    if "-" not in word:
        return (word,) if _is_name(word) else ()
    pieces = [word] if _DIGIT.search(word) else word.split("-")
    return tuple(piece for piece in pieces if _is_name(piece))


def _is_name(word: str) -> bool:
    if len(word) < 4:
        return False
    if word.isdigit():
        return not _YEAR.fullmatch(word)
    core = word.strip("_")
    if len(core) < 5 or core.lower() in _PRODUCTS:
        return False
    if _DIGIT.search(core):
        return "-" in core or any(c.isalpha() for c in core)
    return "_" in core or word.startswith("_") or core.isupper() or bool(_CAMEL.search(core))
