"""Codes of acts: attempts at the same have the same code, anything else has another.

A failure counts as resolved once the same act succeeds. So words that say what is done are part of the code, and words
that say how (options, redirections, messages, timeouts) are not. Where two calls cannot be told to be the same, their
codes differ: a failure that stays although it was resolved misleads less than one that is dropped although it was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any
from zlib import crc32

READ_CHARS = 2_000  # of a command or an argument
COMMAND_WORDS, TEXT_WORDS, ARGUMENTS = 8, 3, 12  # those that tell acts apart
PATH_PARTS = 2  # of a path, from its end: agents name one file with and without the folder of the project

_ENTER = re.compile(r"^(?:\s*(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\w+)\s*(?:&&|;|\n)\s*)+")
_WRAPPER = re.compile(
    r"^(?:(?:\w+=\S*|sudo|time|env|nice|timeout\s+\S+|npx|bunx|(?:uv|poetry|pipenv|pdm|bundle)\s+(?:run|exec)|"
    r"python[\d.]*\s+-m|xvfb-run)\s+)+"
)
_COMMENTS = re.compile(r"\A(?:\s*(?:#[^\n]*)?\n)+")
_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|\d*[<>]+&?\s*[^\s|;&<>]*|[|;&]+|[^\s'\"|;&<>]+")
# Options whose text only describes what is done.
_DESCRIBING = frozenset({"-m", "--message", "-t", "--title", "-b", "--body", "--description"})
# Options and arguments that say how something is done or shown.
_HOW = re.compile(
    r"^(?:time_?out|retries|attempt|limit|offset|description|explanation|reason|verbos|colou?r|format|tb|width|max|log|"
    r"report|output|jobs|workers|run_in_background|background|yield)",
    re.IGNORECASE,
)


def of_command(name: str, command: str) -> int:
    """Return the code of a shell command that the tool `name` runs."""
    return _code(name, islice(_command_words(bare(command)[:READ_CHARS]), COMMAND_WORDS))


def of_file(name: str, path: str) -> int:
    """Return the code of a call whose act is known by its file, such as an edit."""
    return _code(name, path.replace("\\", "/").split("/")[-PATH_PARTS:])


def of_arguments(name: str, given: Mapping[str, Any]) -> int:
    """Return the code of a call by what its arguments begin with."""
    said = (f"{key}={word}" for key, value in given.items() if not _HOW.match(key) for word in _gist(value))
    return _code(name, sorted(islice(said, ARGUMENTS)))


def bare(command: str) -> str:
    """Return a command without comments before it, and without leading `cd`, `export`, `sudo` and similar prefixes."""
    return _WRAPPER.sub("", _ENTER.sub("", _COMMENTS.sub("", command.strip())))


def _code(name: str, words: Iterator[str] | list[str]) -> int:
    return crc32(" ".join([name, *words]).encode("utf-8", "replace"))


def _command_words(command: str) -> Iterator[str]:
    """Yield the words of the first simple command that say what it does, those of a quoted program included."""
    first, _, rest = command.partition("\n")
    before = ""
    for token in _TOKEN.findall(first.split("<<", 1)[0]):
        if token[0] in "|;&":
            return
        if token[0] in "'\"":
            yield from () if before in _DESCRIBING else _gist(token[1:-1])
        elif token.startswith("-"):
            option, _, value = token.lstrip("-").partition("=")
            yield from [token] if value and not _HOW.match(option) else ()
        elif "<" not in token and ">" not in token:
            yield token
        before = token
    if "<<" in first:
        yield from _gist(rest)


def _gist(value: Any, depth: int = 3) -> Iterator[str]:
    """Yield the first words of a text, or of the texts and numbers in lists and objects of a few levels."""
    if isinstance(value, str):
        yield from _COMMENTS.sub("", value[:READ_CHARS]).split(None, TEXT_WORDS)[:TEXT_WORDS]
    elif isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        yield from chain.from_iterable(
            _gist(one, depth - 1) for one in islice(inner, ARGUMENTS if depth else 0)
        )
    elif value is not None:
        yield str(value)
