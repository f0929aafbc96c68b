"""The files that calls show and edit, each by its place and path, and edits that only their shape shows.

A cue is found with the names of files without folders. Files of one name in two folders are two files, so the names are
completed here, as far as a call says where its files are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from scoring.history.cues.calls import (
    OTHER,
    PATCHED_FILE,
    PLANS,
    READ_CHARS,
    CallCue,
    Edit,
    edit_of,
    replacements_in,
)
from scoring.history.cues.places import entered, named_place_of, plain_path
from scoring.summary import PATH_KEYS, first_string

SEPARATOR = "\t"  # between the place of a file and its path; a file without it is in no named place
ALIKE = 0.5  # the share of the words of two texts that both have, if one replaces the other
_NAMED_CHARS = 2_000  # of a command, in which its files are searched
_MOST_TEXTS = 4  # arguments; a call with more is not examined
_FILE = re.compile(r"[\w./~+@-]*[\w-]\.[A-Za-z]\w{0,9}\b")
_WORD = re.compile(r"\w+")
_OPPOSED = ({"was", "now"}, {"from", "to"})


def with_files(cue: CallCue, name: str, arguments: str, parsed: Any) -> CallCue:
    """Return the cue of a call with the place and path of each file, and with an edit that only its shape shows."""
    given: Mapping[str, Any] = parsed if type(parsed) is dict else {}
    folder, command = entered(given)
    path = "" if command else first_string(given, PATH_KEYS) or _path_like(given)
    if path and cue.kind == OTHER and not cue.edits:
        cue = cue._replace(edits=tuple(_edits_by_shape(given, path)))
    reads = cue.reads or ((posixpath.basename(path),) if path and cue.kind not in PLANS else ())
    if not cue.edits and not reads:
        return cue
    paths = [plain_path(one, folder) for one in _paths(given, arguments, command, path)]
    place = named_place_of(name, given, command)
    edits = tuple(edit._replace(file=_full(edit.file, paths, place, taken=True)) for edit in cue.edits)
    return cue._replace(reads=tuple(_full(one, paths, place) for one in reads), edits=edits)


def same_files(names: Iterable[str]) -> dict[str, str]:
    """Return a name for each file, the same for names that mean one file: one path that ends with another.

    A path that may be either of two files is a third one.
    """
    by_name: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        by_name.setdefault((name.rpartition(SEPARATOR)[0], own_name(name)), []).append(name)
    return {name: _longest(name, known) for known in by_name.values() for name in known}


def own_path(name: str) -> str:
    """Return the path of a file, its name without its place."""
    return name.rpartition(SEPARATOR)[2]


def own_name(name: str) -> str:
    """Return the name of a file without its place and folders."""
    return posixpath.basename(own_path(name))


def _longest(name: str, known: Sequence[str]) -> str:
    longer = [name, *(one for one in known if _ends_with(one, name))]
    longest = max(longer, key=len)
    return longest if all(one == longest or _ends_with(longest, one) for one in longer) else name


def _ends_with(name: str, other: str) -> bool:
    """Return whether the path of a name ends with the relative one of another name."""
    path = other.rpartition(SEPARATOR)[2]
    while path.startswith(("../", "~/")):
        path = path.partition("/")[2]
    return not path.startswith("/") and name != other and name.rpartition(SEPARATOR)[2].endswith(f"/{path}")


def _paths(given: Mapping[str, Any], arguments: str, command: str, path: str) -> list[str]:
    """Return the paths that a call names, in order; those of a patch, if it has one."""
    texts = [value[:READ_CHARS] for value in given.values() if isinstance(value, str)] or [
        arguments[:READ_CHARS]
    ]
    if patched := [found for text in texts if "\n" in text for found in PATCHED_FILE.findall(text)]:
        return patched
    return _FILE.findall(command[:_NAMED_CHARS]) if command else [path]


def _full(name: str, paths: list[str], place: str, *, taken: bool = False) -> str:
    """Return the place and path of a file by its name without folders; a path that is `taken` is not used again."""
    found = next((path for path in paths if posixpath.basename(path) == name), "")
    if found and taken:
        paths.remove(found)
        paths.append(found)  # the last one, if the call edits the file once more
    return f"{place}{SEPARATOR}{found or name}" if place else found or name


def _path_like(given: Mapping[str, Any]) -> str:
    """Return the one argument that reads as the path of a file, "" if there are several or none."""
    found = [value for value in given.values() if isinstance(value, str) and _FILE.fullmatch(value[:300])]
    return found[0] if len(found) == 1 else ""


def _edits_by_shape(given: Mapping[str, Any], path: str) -> Iterator[Edit]:
    """Yield the edit of a tool that replaces one text by another, whatever its arguments are called.

    The two are alike, or their keys are opposed; the old one comes first. A mistake does no harm where no reading of
    the file has the lines of the first text.
    """
    pairs = [pair for one in replacements_in(given) for pair in _replaced(one, path)]
    if pairs:
        before, after = ("\n".join(texts) for texts in zip(*pairs, strict=True))
        yield edit_of(posixpath.basename(path), before, after)


def _replaced(given: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    texts = {key: v[:READ_CHARS] for key, v in given.items() if isinstance(v, str) and v != path}
    if not 2 <= len(texts) <= _MOST_TEXTS:
        return
    found = [
        (a, b) for a, b in combinations(texts, 2) if {a, b} in _OPPOSED or _are_alike(texts[a], texts[b])
    ]
    if len(found) == 1:
        yield texts[found[0][0]], texts[found[0][1]]


def _are_alike(text: str, other: str) -> bool:
    words, others = frozenset(_WORD.findall(text)), frozenset(_WORD.findall(other))
    return text != other and len(words & others) >= ALIKE * max(len(words), len(others), 1)
