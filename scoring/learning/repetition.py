"""Repetitions: the files, commands, errors and words of one message that stood in a log before a place in it.

A file is its path, joined to the session's folder; only lines that were read before are read again. A command, or the
search of another tool, is its text. An edit by the agent behind the place makes later reads and runs new: it checks its
own work. Earlier edits do not, for it knew its own text. An error is the line that reports it, without numbers,
addresses and temporary folders. A user says something again where most runs of three words of a message stood in
earlier ones.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scoring.history import (
    LOOK,
    PLANS,
    READ,
    CallCue,
    Touch,
    cue_of_call,
    error_lines,
    touches_in,
)
from scoring.messages import REMINDER, Message, Text, ToolCall, parsed_json
from scoring.summary import command_of

# Shorter messages ("go on", "yes, both please") say nothing that was said before.
LEAST_WORDS = 8
# Of the runs of three words of a message, the share that makes it a repetition.
SAID_SHARE = 0.6
READ_CHARS = 8_000  # of a user's message; the rest is pasted
_RUN = 3
_WORD = re.compile(r"\w+")
_TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/folders|/var/tmp)/[^\s:'\")]*|[A-Za-z]:\\[^\s:'\"]*\\Temp\\[^\s:'\"]*"
)
_VARYING = re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-fA-F-]*\d)[0-9a-fA-F][0-9a-fA-F-]{6,}\b|\d+")


class Repeats(NamedTuple):
    """The repetitions of one message, each by a name of its own; `works` is True if it also does something new."""

    files: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    errors: tuple[frozenset[str], ...] = ()
    """For each output with errors met before, these."""
    said: bool = False
    works: bool = False


class RepetitionFinder:
    """Finds repetitions of everything that was read, run, met and said so far. Numbers of messages only ever grow."""

    def __init__(self, folder: str) -> None:
        """Start with nothing; `folder` is the working directory, to which relative paths are joined."""
        self._folder = folder
        self._reads: dict[tuple[str, str], list[_Read]] = {}  # by place and path
        # Name of a file without folders, as patches and scripts give it -> the number of its last edit.
        self._edits: dict[str, int] = {}
        self._edited = -1
        self._commands: dict[str, int] = {}
        self._errors: dict[str, int] = {}
        self._said: dict[str, int] = {}
        # Calls without a result so far -> whether they show a file.
        self._shows: dict[str, bool] = {}

    def add(self, number: int, message: Message, before: int) -> Repeats:
        """Take message `number`, and return what it repeats of the messages before number `before`."""
        calls = [self._call(number, call, before) for call in message.calls]
        return Repeats(
            files=frozenset(path for one in calls for path in one.files),
            commands=frozenset(one.command for one in calls if one.command),
            errors=tuple(self._outputs(number, message, before)),
            said=self._says_again(number, message, before),
            works=any(one.works for one in calls),
        )

    # -- calls

    def _call(self, number: int, call: ToolCall, before: int) -> _Call:
        parsed = parsed_json(call.arguments)
        cue = cue_of_call(call.name, call.arguments, parsed)
        touched = touches_in(call.name, call.arguments, parsed)
        read = [one for one in touched if one.kind == READ]
        self._shows[call.id] = bool(read) or cue.kind == LOOK
        changed = [edit.file for edit in cue.edits if not edit.is_of_output]
        if changed or len(read) < len(touched):
            self._edit(number, (*changed, *(one.name for one in touched)))
            return _Call(works=True)
        if read:
            files = [path for one in read if (path := self._read(number, one, before))]
            return _Call(files, works=len(files) < len(read))
        if cue.kind in PLANS:
            return _Call()
        name = _text_of(call, cue, parsed)
        again = bool(name) and self._run(number, name, before)
        return _Call(command=name if again else "", works=not again)

    def _edit(self, number: int, names: Sequence[str]) -> None:
        self._edited = number
        self._edits.update(dict.fromkeys(names, number))

    def _read(self, number: int, touch: Touch, before: int) -> str:
        """Note a read, and return the path of a file whose lines were read before; "" for one that is new."""
        path = posixpath.normpath(posixpath.join(self._folder, touch.path))
        known = self._reads.setdefault((touch.place, path), [])
        now = _Read(number, max(1, touch.first), touch.last or None)
        again = any(one.number < before and one.overlaps(now) for one in known)
        again = again and self._edits.get(touch.name, -1) < before
        if not any(one[1:] == now[1:] for one in known):
            known.append(now)
        return path if again else ""

    def _run(self, number: int, name: str, before: int) -> bool:
        return self._commands.setdefault(name, number) < before and self._edited < before

    # -- outputs and words

    def _outputs(self, number: int, message: Message, before: int) -> Iterator[frozenset[str]]:
        """Yield the errors of each output that were met before; what a file contains is not an error."""
        for result in message.results:
            if self._shows.pop(result.call_id, False) and not result.is_error:
                continue
            lines = frozenset(map(plain_error, error_lines(result.text)))
            again = frozenset(one for one in lines if self._errors.get(one, number) < before)
            for one in lines:
                self._errors.setdefault(one, number)
            if again:
                yield again

    def _says_again(self, number: int, message: Message, before: int) -> bool:
        if message.role != "user" or message.name == REMINDER:
            return False
        text = " ".join(part.text for part in message.parts if isinstance(part, Text))[:READ_CHARS]
        words = _WORD.findall(text.lower())
        runs = {" ".join(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1)}
        known = sum(self._said.get(run, number) < before for run in runs)
        for run in runs:
            self._said.setdefault(run, number)
        return len(words) >= LEAST_WORDS and known >= SAID_SHARE * len(runs)


class _Read(NamedTuple):
    """Lines of a file that a message read; `last` is None for the end."""

    number: int
    first: int
    last: int | None

    def overlaps(self, other: _Read) -> bool:
        return (self.last is None or other.first <= self.last) and (
            other.last is None or self.first <= other.last
        )


@dataclass(frozen=True, slots=True)
class _Call:
    """The repetitions of one call: files, or a command."""

    files: list[str] = field(default_factory=list)
    command: str = ""
    works: bool = False


def _text_of(call: ToolCall, cue: CallCue, parsed: Any) -> str:
    """Return the text of a command, or of a search by another tool; "" for a call that may mean to happen again."""
    if isinstance(parsed, dict) and (command := command_of(parsed)):
        return " ".join(command.split())
    if cue.kind != LOOK:
        return ""
    return f"{call.name} {call.arguments if parsed is None else json.dumps(parsed, sort_keys=True)}"


def plain_error(line: str) -> str:
    """Return the line of an error without what differs each time: numbers, addresses, temporary folders."""
    return " ".join(_VARYING.sub("0", _TEMPORARY.sub("…", line)).split())
