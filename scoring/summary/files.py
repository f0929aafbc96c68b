"""The files that a conversation read or changed, from the arguments of tool calls and never guessed from text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scoring.messages import Message, ToolCall, parsed_json
from scoring.summary.changing_commands import changed_by

PATH_KEYS = (
    "path", "file_path", "filepath", "filename", "file", "target_file", "notebook_path", "absolute_path", "filePath",
)  # fmt: skip
COMMAND_KEYS = ("command", "cmd", "script")
# The first word found in a tool's name decides the kind of access; order matters ("str_replace" before "place").
_VERBS: tuple[tuple[str, str], ...] = (
    ("delete", "deleted"), ("remove", "deleted"), ("rename", "moved"), ("move", "moved"), ("create", "created"),
    ("write", "written"), ("edit", "edited"), ("replace", "edited"), ("patch", "edited"), ("insert", "edited"),
    ("update", "edited"), ("append", "edited"), ("modify", "edited"), ("save", "written"),
)  # fmt: skip
READ = "read"
_READ_VERBS = ("read", "view", "cat", "open", "show", "get")
_PATCH = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_PATCHED = {"Add": "created", "Update": "edited", "Delete": "deleted"}


def first_string(arguments: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first argument under one of these keys that is a string, "" if there is none."""
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), "")


def command_of(arguments: Mapping[str, Any]) -> str:
    """Return the command that a call runs in a shell, "" if there is none; of `bash -c …` only what bash runs."""
    command = next((value for key in COMMAND_KEYS if (value := arguments.get(key))), "")
    if isinstance(command, list):
        words = [str(word) for word in command]
        command = words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    return command if isinstance(command, str) else ""


def files_touched(messages: Sequence[Message]) -> dict[str, dict[str, int]]:
    """Return path -> kind of access -> count, paths in the order of their last change (or read).

    A call that failed touches nothing, but a command that failed may have changed files before.
    """
    found: dict[str, dict[str, int]] = {}
    failed = {result.call_id for message in messages for result in message.results if result.is_error}
    for message in messages:
        for call in message.calls:
            for path, how in _by_command(call) if call.id in failed else touches(call):
                ways = found.pop(path, {})
                ways[how] = ways.get(how, 0) + 1
                found[path] = ways
    return found


def touches(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield each path that a call accesses, with the kind of access."""
    arguments = _arguments(call)
    for kind, path in _PATCH.findall(call.arguments.replace("\\n", "\n") if "*** " in call.arguments else ""):
        yield path.strip('"} '), _PATCHED[kind]
    how = _how(call.name, arguments)
    if how:
        for key in PATH_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and value.strip() and "\n" not in value:
                yield value.strip(), how
                break
    yield from _by_command(call)


def _by_command(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield each path that a call changes by a command of the shell, with the kind of access."""
    command = command_of(_arguments(call))
    if "*** Begin Patch" not in command:
        yield from dict.fromkeys((one.path, one.how) for one in changed_by(command))


def described(path: str, ways: Mapping[str, int]) -> str:
    """Return one line with the path and its changes, or its reads if it was not changed."""
    changes = [(how, n) for how, n in ways.items() if how != READ] or list(ways.items())
    return f"{path} ({', '.join(how if n == 1 else f'{how} {n} times' for how, n in changes)})"


def _arguments(call: ToolCall) -> dict[str, Any]:
    value = parsed_json(call.arguments)
    return value if isinstance(value, dict) else {}


def _how(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a tool's kind of access to a file; an editor with one tool for everything has it in its arguments."""
    command = arguments.get("command")
    said = [command] if isinstance(command, str) and " " not in command else []
    for plain in (one.lower() for one in (*said, name)):
        verb = next((how for part, how in _VERBS if part in plain), "")
        if verb or any(part in plain for part in _READ_VERBS):
            return verb or READ
    return ""
