"""The files that a command of the shell changes.

They are found by the shape of the command: programs that change the files they name, redirected outputs, and scripts
that open a file to write. A program that is not known, such as a formatter, changes nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from scoring.summary.changing_scripts import FILE, changed_by_script, plain_text

WRITTEN, ADDED, EDITED, DELETED, CREATED = "written", "added to", "edited", "deleted", "created"
MOVED, RESTORED = "moved", "restored"
READ_CHARS = 20_000  # of a command

_WORD = r"""(?:[^\s;&|<>"'`]|"(?:\\.|[^"\\])*"|'[^']*')+"""
# The beginning of a command, which can follow a word that runs it.
_BEGIN = r"""(?:^|[;&|(\n]|\b(?:sudo|xargs|then|do|else|time)[ \t]|-l?c[ \t]+["'])[ \t]*"""
_PROGRAM = re.compile(
    rf"{_BEGIN}(sed|perl|ruby|rm|touch|tee|cp|mv|git[ \t]+(?:mv|rm|checkout|restore))((?:[ \t]+{_WORD})+)"
)
_WORDS = re.compile(_WORD)
_IN_PLACE = re.compile(r"-(?:(?![MI])[a-zA-Z0-9]*i|-in-place\b)")
_EXPRESSION = re.compile(r"-[a-zA-Z0-9]*e|--expression")
_NOTHING = ("''", '""')  # the suffix of copies, which sed of macOS wants after `-i`
# An expression of sed: the lines it is for, by numbers or a pattern, and what it does.
_SED = re.compile(r"(?:[\d,$!~+ ]+|/((?:\\.|[^/\\])*)/)?\s*([a-zA-Z])(.*)", re.DOTALL)
_PATH = re.compile(r"[\w./~@+-]*[\w~-]\.[\w.-]+|[\w.~@+-]*/[\w./~@+-]*\w|\w[\w-]*")
_REDIRECTED = re.compile(r"(?<![0-9&>=<-])(>{1,2})\s*([\w./~-]*[\w~-]\.[\w.-]+|[\w.~-]*/[\w./~-]+)")
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)")


class Change(NamedTuple):
    """A file that a command changes, and how; `ADDED` if it only adds to it.

    `old` is the text that it replaces by `new`, as far as the command says it: a part of a line, or whole lines.
    """

    path: str
    how: str
    old: str = ""
    new: str = ""


def changed_by(command: str) -> Iterator[Change]:
    """Yield what a command changes, a file more than once if it replaces several texts."""
    command = command[:READ_CHARS]
    plain = _without_here_texts(command) if "<<" in command else command
    for sign, path in _REDIRECTED.findall(plain):
        if path != "/dev/null":
            yield Change(path, WRITTEN if sign == ">" else ADDED)
    for program, rest in _PROGRAM.findall(plain):
        yield from _by_program(program.split()[-1], _WORDS.findall(rest), of_git=program.startswith("git"))
    yield from (Change(path, EDITED, old, new) for path, old, new in changed_by_script(command))


def _without_here_texts(command: str) -> str:
    """Return a command without the texts that it gives to programs as their input."""
    kept: list[str] = []
    end = ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        if found := _HERE.search(line):
            end = found[1]
    return "\n".join(kept)


def _by_program(program: str, words: Sequence[str], *, of_git: bool) -> Iterator[Change]:
    """Yield the files that a program changes; `words` are its options and arguments."""
    options = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    files = [path for word in plain if FILE.fullmatch(path := word.strip("'\""))]
    if program in ("sed", "perl", "ruby"):
        if any(map(_IN_PLACE.match, options)):
            yield from _in_place(words, plain)
    elif program in ("checkout", "restore"):
        yield from (Change(path, RESTORED) for path in files)
    elif program == "cp":
        yield from (Change(path, WRITTEN) for path in files[1:][-1:] if path == plain[-1])
    elif program == "mv":
        yield from (Change(path, MOVED) for path in plain[1:][-1:])
    elif program == "tee":
        how = ADDED if {"-a", "--append"} & set(options) else WRITTEN
        yield from (Change(path, how) for path in files)
    elif not (of_git and "--cached" in options):
        how = CREATED if program == "touch" else DELETED
        yield from (Change(path, how) for path in plain if _PATH.fullmatch(path))


def _in_place(words: Sequence[str], plain: Sequence[str]) -> Iterator[Change]:
    """Yield what `sed -i` and its like change: the files after the expressions."""
    named = [after for word, after in pairwise(words) if _EXPRESSION.fullmatch(word)]
    expressions = [one.strip("'\"") for one in named or [word for word in plain if word not in _NOTHING][:1]]
    for path in plain:
        if FILE.fullmatch(path) and path not in expressions:
            yield from (_by_expression(path, one) for one in expressions)


def _by_expression(path: str, expression: str) -> Change:
    """Return what an expression of sed or perl changes in a file."""
    found = _SED.match(expression)
    if found is None:
        return Change(path, EDITED)
    pattern, act, rest = found.groups()
    parts = _parts(rest) if act == "s" else None
    if act in "air" or (parts and parts[0] in ("^", "$")):
        return Change(path, ADDED)
    if parts:
        return Change(path, EDITED, *parts)
    return Change(path, EDITED, plain_text(pattern or ""))


def _parts(rest: str) -> tuple[str, str] | None:
    """Return the two texts of `s/…/…/`; None if it is incomplete."""
    sign = re.escape(rest[:1])
    found = (
        re.match(rf"{sign}((?:\\.|(?!{sign})[^\\])*){sign}((?:\\.|(?!{sign})[^\\])*)", rest) if sign else None
    )
    return (plain_text(found[1]), plain_text(found[2])) if found else None
