"""The place that a call acts on: a host, container, version, repository or server of tools; and the moves of shells.

Two calls with the same path mean one file only in the same place. Every argument is part of it, except those known to
change nothing but the range of lines, the form of the answer, or how the call runs. So an unknown argument can make two
places of one, which keeps an output too many, but never one of two.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from scoring.summary import COMMAND_KEYS, PATH_KEYS, command_of, first_string

FOLDER_KEYS = (
    "workdir", "cwd", "directory", "dir_path", "working_directory", "workingDirectory", "working_dir", "Cwd",
)  # fmt: skip
# A folder of a shell that cannot be told from its command, and the start or end of a shell in a shell.
UNKNOWN, OTHER_SHELL = "?", "!"

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Words in the keys of arguments that do not change which file is meant.
_ASIDE = """
    offset limit line lines start end first last max min count range page pages head tail bytes chars characters tokens
    size length entire encoding format numbers numbered content contents text body patch input output overwrite create
    timeout ms seconds yield wait background blocking approval sandbox escalated permission permissions login tty shell
    prefix risk description explanation reason justification thought thoughts goal note purpose progress title comment
    intent summary
"""
# Tools whose names have only such words run commands on the agent's own machine.
_OF_SHELLS = """
    bash sh zsh shell powershell pwsh local run execute exec command commands cmd script code terminal term process
    container tool tools functions function in the a
"""
# Words in the keys of arguments that name a place.
_OF_PLACES = """
    host hostname server machine node vm instance ref branch tag commit sha revision rev version repo repository owner
    org organization project workspace container pod namespace cluster context environment env device region bucket
    account site tenant database db archive target
"""
_PLACE_WORDS = frozenset(_OF_PLACES.split())
_ASIDE_WORDS, _SHELL_WORDS = frozenset(_ASIDE.split()), frozenset(_OF_SHELLS.split())
_LONGEST_VALUE = 200  # in characters; a longer argument is a text

PATH = r"""(?P<path>'[^'\n]+'|"[^"\n$`\\]+"|[^\s;|&<>()$`'"*?\\{}!#]+)"""
QUOTES = "'\""
# The beginning of a command for another machine, container or version, up to the program that it runs there.
_ELSEWHERE = re.compile(
    r"^\s*(?:sudo\s+)?(?:(?:ssh|docker|podman|kubectl|oc|lxc|chroot|nsenter)\s.*?(?=\s(?:cat|sed|nl|head|tail|tee)\s|['\"]|$)"
    r"|git\s+(?:show|cat-file)\s[^:\s]*)",
    re.MULTILINE,
)
_CD = re.compile(rf"\s*cd\s+{PATH}\s*(?:&&|;)\s*")
_MOVE = re.compile(
    r"(?:^|[;&|\n]|\b(?:do|then)\s)[ \t]*(?:(?:cd|pushd)\b(?:[ \t]+"
    + PATH
    + r"(?=\s*(?:$|[;&|\n])))?|popd\b)"
)
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1(.*)\n(?:.*\n)*?[ \t]*\2\b")
_LONGEST_STRIPPED = 20_000
_SHELL = r"(?:/\w+)*/?(?:ba|z|da|a|fi)?sh"
_OPENS = re.compile(
    rf"(?:sudo\s+)?(?:ssh(?:\s+-\w+(?:\s+[^\s-]\S*(?=\s))?)*\s+[^\s-]\S*|(?:docker|podman|kubectl|oc|lxc)\s.*\s{_SHELL}"
    rf"|(?:su|chroot|nsenter)\b.*|{_SHELL})|sudo\s+-[is]\b.*"
)
_OPENERS = ("ssh", "docker", "podman", "kubectl", "oc", "lxc", "sudo", "su", "chroot", "nsenter", "bash", "sh", "zsh",
            "dash", "ash", "fish", "/")  # fmt: skip
_CLOSES = re.compile(r"\s*(?:exit|logout)(?:\s+\d+)?\s*")


def place_of(name: str, arguments: Mapping[str, Any], *, is_shell: bool = False) -> str:
    """Return a short code for the place that a call acts on, "" for the agent's own machine and files.

    It has the server of the tool, the name of a shell that may be one of another machine, and all arguments that can
    change which file is meant, without the path itself and the folder that it is joined to.
    """
    parts = [server] if (server := name.rpartition("__")[0]) else []
    if is_shell and not _is_own_shell(name):
        parts.append(name)
    path = first_string(arguments, PATH_KEYS)
    for key in sorted(arguments):
        value = arguments[key]
        if value in (None, "", False) or key in COMMAND_KEYS or key in FOLDER_KEYS or _is_aside(key):
            continue
        if key in PATH_KEYS and value == path:
            continue
        said = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        if len(said) <= _LONGEST_VALUE:
            parts.append(f"{key}={said}")
    if not parts:
        return ""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def named_place_of(name: str, arguments: Mapping[str, Any], command: str) -> str:
    """Return the place that a call names, "" for none: its server, and arguments or a command known to mean a place.

    Edits have arguments of any name, so that a place cannot be all that is left of them, as in `place_of`.
    """
    parts = [server] if (server := name.rpartition("__")[0]) else []
    if command:
        parts += [name] * (not _is_own_shell(name)) + _ELSEWHERE.findall(command)
    parts += [f"{key}={arguments[key]}" for key in sorted(arguments) if arguments[key] and _is_of_place(key)]
    return " ".join(parts).replace("\n", " ").replace("\t", " ")[:_LONGEST_VALUE]


def plain_path(path: str, folder: str = "") -> str:
    """Return a path normalised, so that files can be compared by it."""
    plain = posixpath.normpath(posixpath.join(folder, path.strip())).replace("\n", " ").replace("\t", " ")
    return plain if plain.isascii() else plain.encode("utf-8", "replace").decode()


def entered(given: Mapping[str, Any]) -> tuple[str, str]:
    """Return the folder in which a command runs, as far as the call names it, and the command without its `cd`."""
    folder, command = first_string(given, FOLDER_KEYS), command_of(given)
    if found := _CD.match(command):
        folder, command = plain_path(found["path"].strip(QUOTES), folder), command[found.end() :]
    return folder, command


def adds_to_file(arguments: Mapping[str, Any]) -> bool:
    """Return whether a call that writes a file keeps what is in it."""
    mode = arguments.get("mode")
    return bool(arguments.get("append")) or (isinstance(mode, str) and mode.lower().startswith("a"))


def moves_of(command: str) -> Iterator[str]:
    """Yield the folders that a command changes to for the calls after it, if its shell keeps them.

    Yield `UNKNOWN` for a folder that it does not name, and `OTHER_SHELL` if it opens or leaves a shell in the shell.
    """
    if "cd" in command or "pushd" in command or "popd" in command:
        rest = _HERE_DOCUMENT.sub(r"\3\n", command) if len(command) < _LONGEST_STRIPPED else command
        for found in _MOVE.finditer(rest):
            folder = (found["path"] or "").strip(QUOTES)
            yield UNKNOWN if folder in ("", "-") else folder
    if _opens_shell(command) or _CLOSES.fullmatch(command):
        yield OTHER_SHELL


def _opens_shell(command: str) -> bool:
    """Return whether a command ends with one that opens a shell on another machine, of another user, or in itself."""
    last = command[max(map(command.rfind, ";&|\n")) + 1 :].strip()
    return last.startswith(_OPENERS) and _OPENS.fullmatch(last) is not None


@lru_cache(maxsize=1 << 10)
def _is_aside(key: str) -> bool:
    words = {word.lower() for word in _WORDS.findall(key)}
    return bool(words & _ASIDE_WORDS) and "id" not in words


@lru_cache(maxsize=1 << 10)
def _is_of_place(key: str) -> bool:
    named = any(word.lower() in _PLACE_WORDS for word in _WORDS.findall(key))
    return named and key not in PATH_KEYS and not _is_aside(key)


@lru_cache(maxsize=1 << 10)
def _is_own_shell(name: str) -> bool:
    words = {word.lower() for word in _WORDS.findall(name.rpartition("__")[2])}
    return words <= _SHELL_WORDS
