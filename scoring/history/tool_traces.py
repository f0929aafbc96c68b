"""Traces of one message for the stages before dropping: the files that its calls read or write, and its outputs.

They depend on no other message and are stored as text: one line for each call, then one for each result, in order. The
line of a result has a digest of the output, its length, and its length when shortened. A file is identified by its
place (`scoring.history.cues.places`) and its path as the agent wrote it, normalised, and joined to the folder that the
call names. Only tools known to return the text of one file count as reading it; a tool that is not recognised
supersedes nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from scoring.history.cues.places import (
    FOLDER_KEYS,
    PATH,
    QUOTES,
    adds_to_file,
    entered,
    moves_of,
    place_of,
    plain_path,
)
from scoring.messages import ToolResult
from scoring.summary import PATH_KEYS, command_of, first_string, shortened_text

READ, WRITE = "r", "w"
MOVE = "m"  # a command changes the folder of its shell
FAILED = "!"  # precedes the digest of a failed output
# A shorter output, in characters, is not worth replacing by a line.
LEAST_CHARS = 200
# The number of lines that a reading tool returns by default; the same for all coding agents.
READ_LINES = 2_000

# Names of tools in lower case, without underscores and the prefix of an MCP server ("server__").
_READ_TOOLS = (
    "read",
    "readfile",
    "readtextfile",
    "view",
    "viewfile",
    "openfile",
    "cat",
    "fsread",
    "notebookread",
)
_WRITE_TOOLS = ("write", "writefile", "writetofile", "createfile", "fswrite", "savefile")
_KINDS: Mapping[str, str] = {**dict.fromkeys(_READ_TOOLS, READ), **dict.fromkeys(_WRITE_TOOLS, WRITE)}
# Editors that are one tool for everything name the action in `command`.
_EDITORS = frozenset({"strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor"})
_COMMANDS: Mapping[str, str] = {"view": READ, "create": WRITE}
_FIRST_KEYS, _COUNT_KEYS = ("offset", "start_line", "startLine"), ("limit", "max_lines")
_LAST_KEYS = ("end_line", "endLine")

_SED = r"""sed\s+-n\s+["']?(?P<a>\d+),(?P<b>\d+)p["']?"""
_CAT = r"(?:cat(?:\s+-n)?|nl\s+-ba)"
_SHELL_READS = (
    re.compile(rf"{_CAT}\s+{PATH}\s*"),
    re.compile(rf"{_SED}\s+{PATH}\s*"),
    re.compile(rf"{_CAT}\s+{PATH}\s*\|\s*{_SED}\s*"),
    re.compile(rf"head\s+(?:-n\s*|-)(?P<b>\d+)\s+{PATH}\s*"),
)
_SHELL_WRITE = re.compile(rf"cat\s*>\s*{PATH}\s*<<")
_LONGEST_READ = 400  # a longer command does more than read a file
_ADDED = re.compile(r"^\*\*\* Add File: (.+?)\s*$", re.MULTILINE)


class Touch(NamedTuple):
    """A file that a call reads, or writes as a whole; `first` and `last` are lines, a `last` of 0 is the end.

    A `first` of 0 is a request for the whole file by a means that can leave out its middle, as shells do. `place` is a
    code for where the file is, "" for the agent's own machine. With `in_shell` a relative path is meant from the folder
    of a shell, which earlier calls may have changed.
    """

    kind: str
    path: str
    first: int = 1
    last: int = 0
    place: str = ""
    in_shell: bool = False

    def covers(self, other: Touch) -> bool:
        """Return whether this shows everything of the file that the other shows.

        A part never does, not even the same part: if the file was edited in between, its lines have moved.
        """
        if self.kind == WRITE:
            return True
        if self.last or self.first > 1:
            return False
        return other.last <= READ_LINES if self.first else not other.last

    @property
    def name(self) -> str:
        """Return the file's name without folders."""
        return posixpath.basename(self.path) or self.path


class Output(NamedTuple):
    """One tool output: its digest, its length in characters, and its length with only head, tail and error lines.

    Equal texts have equal digests. Without a `digest` it is too short to be replaced, or part of a message with other
    content. `failed` is what the tool reported.
    """

    digest: str = ""
    chars: int = 0
    short: int = 0
    failed: bool = False


NO_OUTPUT = Output()


class Traces(NamedTuple):
    """The traces of one message: files by call, and outputs by result."""

    touches: Sequence[tuple[Touch, ...]]
    outputs: Sequence[Output]


def of_call(name: str, arguments: str, parsed: object) -> str:
    """Return the line of one call: the files it reads or writes, "" for none. `parsed` are its arguments as JSON."""
    given: Mapping[str, Any] = parsed if type(parsed) is dict else {}
    if "*** Begin Patch" in arguments:
        return "\t".join(_of_patch(name, arguments, given))
    if not given:
        return ""
    plain = _plain_name(name)
    kind = _KINDS.get(plain)
    if plain in _EDITORS:
        kind = _COMMANDS.get(given.get("command", "")) if isinstance(given.get("command"), str) else None
    elif kind is None:
        return "\t".join(_of_command(name, given))
    if not kind or not (path := first_string(given, PATH_KEYS)) or (kind is WRITE and adds_to_file(given)):
        return ""
    first, last = _lines(given) if kind is READ else (1, 0)
    path = plain_path(path, first_string(given, FOLDER_KEYS))
    return _line(Touch(kind, path, first, last, place_of(name, given)))


def of_result(result: ToolResult, alone: bool) -> str:
    """Return the line of one result; `alone` is True if its message has only outputs, so that they can be replaced."""
    failed = FAILED if result.is_error else ""
    text = result.text
    if not alone or len(text) < LEAST_CHARS:
        return failed
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
    return f"{failed}{digest}:{len(text)}:{len(shortened_text(text))}"


def written(lines: Sequence[str]) -> str:
    """Return the lines of calls and results as they are stored; "" if all are empty."""
    return "\n".join(lines) if any(lines) else ""


def read(text: str, calls: int, results: int) -> Traces:
    """Return the traces that `written` wrote for a message with these numbers of calls and results."""
    lines = text.split("\n")
    if not text or len(lines) != calls + results:
        return Traces([()] * calls, [NO_OUTPUT] * results)
    return Traces(list(map(_files, lines[:calls])), [read_output(line) for line in lines[calls:]])


def touches_in(name: str, arguments: str, parsed: object) -> tuple[Touch, ...]:
    """Return the files that one call reads or writes as a whole; `parsed` are its arguments as JSON."""
    return _files(of_call(name, arguments, parsed))


def acts_of(text: str, calls: int) -> list[tuple[Touch, ...]]:
    """Return the files that each call of a message reads or writes, and then the moves of its shell."""
    return [_touches(line) for line in text.split("\n")[:calls]] if text else [()] * calls


def output_lines(text: str, calls: int) -> list[str]:
    """Return the unparsed lines of the results; "" or `FAILED` for those that cannot be replaced."""
    return text.split("\n")[calls:]


def _line(touch: Touch) -> str:
    """Return a touch as it is stored; without a place it is what earlier versions stored."""
    place = f"{'$' if touch.in_shell else '@'}{touch.place}" if touch.in_shell or touch.place else ""
    return f"{touch.kind}{touch.first}:{touch.last}{place}:{touch.path}"


def _touches(line: str) -> tuple[Touch, ...]:
    return tuple(map(_touch, line.split("\t"))) if line else ()


def _touch(said: str) -> Touch:
    first, last, path = said[1:].split(":", 2)
    if last.isdigit():
        return Touch(said[0], path, int(first), int(last))
    in_shell = "$" in last
    last, _, place = last.partition("$" if in_shell else "@")
    return Touch(said[0], path, int(first), int(last), place, in_shell)


def _files(line: str) -> tuple[Touch, ...]:
    """Return the files of a stored line, without the moves of a shell."""
    return tuple(touch for touch in _touches(line) if touch.kind in (READ, WRITE))


def read_output(line: str) -> Output:
    """Return the output of one line."""
    if len(line) < 2:
        return Output(failed=True) if line else NO_OUTPUT
    digest, chars, short = line.lstrip(FAILED).split(":")
    return Output(digest, int(chars), int(short), line[0] == FAILED)


@lru_cache(maxsize=1 << 10)
def _plain_name(name: str) -> str:
    return name.rpartition("__")[2].lower().replace("_", "").replace("-", "")


def _lines(parsed: Mapping[str, Any]) -> tuple[int, int]:
    """Return the lines that a call reads: by default the whole file."""
    view = parsed.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(n, int) for n in view):
        return max(1, view[0]), max(0, view[1])
    first, count, last = (_number(parsed, keys) for keys in (_FIRST_KEYS, _COUNT_KEYS, _LAST_KEYS))
    if last:
        return max(1, first), last
    if first <= 1 and not count:
        return 1, 0
    first = max(1, first)
    return first, first + (count or READ_LINES) - 1


def _number(parsed: Mapping[str, Any], keys: Sequence[str]) -> int:
    return next((v for k in keys if isinstance(v := parsed.get(k), int) and v > 0), 0)


def _of_patch(name: str, arguments: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that a patch adds; nothing if a command passes the patch to another program than its own."""
    folder, command = entered(given)
    if command and not command.startswith(("apply_patch", "applypatch")):
        return
    place, in_shell = place_of(name, given, is_shell=bool(command)), bool(command) and not folder
    for path in _ADDED.findall(arguments.replace("\\n", "\n")):
        yield _line(Touch(WRITE, plain_path(path, folder), 1, 0, place, in_shell))


def _of_command(name: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the file that a shell command only reads or only writes, and the folders that it changes to."""
    whole = command_of(given)
    if not whole:
        return
    has_folder = bool(first_string(given, FOLDER_KEYS))  # then it starts there, whatever ran before
    found = []
    if len(whole) <= _LONGEST_READ or "<<" in whole[:_LONGEST_READ]:
        folder, command = entered(given)
        found = list(_in_shell(command.strip(), folder))
    if not has_folder:
        found += [Touch(MOVE, plain_path(folder)) for folder in moves_of(whole)]
    if found:
        place = place_of(name, given, is_shell=True)
        for touch in found:
            yield _line(touch._replace(place=place, in_shell=not has_folder))


def _in_shell(command: str, folder: str) -> Iterator[Touch]:
    if not command.startswith(("cat", "sed", "nl", "head")):
        return
    if wrote := _SHELL_WRITE.match(command):
        yield Touch(WRITE, plain_path(wrote["path"].strip(QUOTES), folder))
        return
    for pattern in _SHELL_READS:
        if found := pattern.fullmatch(command):
            said = found.groupdict()
            last = said.get("b") or 0
            first = said.get("a") or (1 if last else 0)
            yield Touch(READ, plain_path(said["path"].strip(QUOTES), folder), int(first), int(last))
            return
