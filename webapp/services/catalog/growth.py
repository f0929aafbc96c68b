"""The growth of a context explained: its regions after each sample, and the message that each step came from (X19).

The log tells which message came when, and each operation the regions that it left. The rest, which no message
explains, counts as `unseen`; the parts always add up to the size in the sample.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.session.cards import read_card
from webapp.store.log import MessageRow
from webapp.store.usage import Sample

# Steps that are named by the file or command of their call; smaller ones by their tool alone.
NAMED = 80
# Messages before a result among which its call is looked for.
CALL_WITHIN = 12
LABEL_CHARS = 36
ARGUMENT_CHARS = 24
# The words for a message that has no call: a result whose call is not in the log says "tool result".
ROLES = {"tool": "tool result", "system": "system prompt"}
_SHELL = re.compile(r"bash|shell|terminal|exec|command", re.IGNORECASE)
# Prefixes of a command: another shell, a change of folder, variables, programs that run another.
_WRAPPED = re.compile(r"""^\s*(?:\S*/)?(?:ba|z)?sh\s+-\w*c\s+["']?""")
_BEFORE = re.compile(
    r"^(?:\s*(?:cd\s+[^&;]+(?:&&|;)|\w+=\S*\s|(?:sudo|env|time|nohup|exec)\s|(?:timeout|nice)(?:\s+-\w+)*\s+\d\S*\s))+"
)
_END = re.compile(r"\s(?:\|\|?|&&)\s|;\s|\s\d?>")
_SUBCOMMAND = re.compile(r"[a-z][\w:-]*")
_FILE = re.compile(r"[^\s<>|*?:(){}$]*(?:/[^\s<>|*?:(){}$]+|\.[A-Za-z]\w{0,5})|[\w .-]+\.[A-Za-z]\w{0,5}")
_FIRST_VALUE = re.compile(r"""\{\s*"\w+":\s*"?([^"\s,{}\[\]]{1,24})["},]""")


class GrowthMessage(NamedTuple):
    """A message of the log: its number, its estimated tokens and its region."""

    no: int
    tokens: int
    region: str


class GrowthOperation(NamedTuple):
    """An operation on the context at a time in ms, after message `no` and before the sample numbered `sample`.

    `after` are the estimated tokens by region that it left, `undone_at` is the time of its undo, None without one.
    """

    at: int
    no: int
    sample: int
    after: Mapping[str, int]
    undone_at: int | None


class Step(NamedTuple):
    """The largest message between two samples."""

    no: int
    tokens: int


def regions_at(
    samples: Iterable[Sample],
    messages: Sequence[GrowthMessage],
    operations: Iterable[GrowthOperation] = (),
    outside_messages: Mapping[str, int] | None = None,
) -> list[dict[str, int]]:
    """Return the estimated tokens of each region at each sample.

    `messages` are all of the log in order, `operations` come oldest first, `outside_messages` are other tokens.
    """
    now, came, found = Counter(outside_messages), 0, list[dict[str, int]]()
    waiting, undone = deque(operations), list[tuple[int, Counter[str]]]()

    def grow(number: int) -> None:
        nonlocal came
        for one in messages[came:number]:
            now[one.region] += one.tokens
        came = max(came, number)

    for sample in samples:
        while waiting and waiting[0].sample <= sample.n:
            operation = waiting.popleft()
            grow(operation.no)
            undone = [(at, less) for at, less in undone if at > operation.at]
            if operation.undone_at is not None:
                less = Counter(now)
                less.subtract(operation.after)
                undone.append((operation.undone_at, less))
            now = Counter(operation.after)
        grow(sample.no)
        for at, less in undone:
            if sample.at is not None and sample.at >= at:
                now.update(less)
        undone = [(at, less) for at, less in undone if sample.at is None or sample.at < at]
        found.append({region: tokens for region, tokens in now.items() if tokens > 0})
    return found


def steps_at(messages: Sequence[GrowthMessage], numbers: Sequence[int]) -> list[Step | None]:
    """Return the largest message that came between each sample and the one before; None where none came.

    `messages` are all of the log in order.
    """
    found: list[Step | None] = []
    for before, number in pairwise((0, *numbers)):
        came = messages[before:number]
        largest = max(came, key=lambda one: one.tokens, default=None)
        found.append(Step(largest.no, largest.tokens) if largest is not None and largest.tokens else None)
    return found


def to_name(steps: Iterable[Step | None]) -> list[int]:
    """Return the numbers of the messages whose calls name the largest steps."""
    known = sorted((one for one in steps if one is not None), key=lambda one: -one.tokens)[:NAMED]
    return [no for one in known for no in range(max(1, one.no - CALL_WITHIN), one.no)]


def label_of(row: MessageRow, others: Mapping[int, MessageRow]) -> str:
    """Return what a message is, in a few words: "Read spec.md" for a result, "git log" for a command, or its role."""
    card = read_card(row.card)
    if tool := card.get("tool"):
        return _call_label(tool, _call_summary(row.no, tool, others))
    if calls := card.get("calls"):
        return _call_label(calls[0]["name"], calls[0]["summary"])
    return "summary" if row.kind == COMPACTION_SUMMARY else ROLES.get(row.role, row.role)


def _call_summary(no: int, tool: str, others: Mapping[int, MessageRow]) -> str:
    """Return the file or command of the call that a result answers; other results of the call may lie between them."""
    results = 0
    for before in range(no - 1, no - CALL_WITHIN - 1, -1):
        if (row := others.get(before)) is None:
            return ""
        card = read_card(row.card)
        if calls := card.get("calls"):
            same = [call["summary"] for call in calls if call["name"] == tool]
            return same[results] if results < len(same) else ""
        results += card.get("tool") == tool
    return ""


def _call_label(tool: str, about: str) -> str:
    """Return a tool with the file or subject of its call; for a shell, only the command."""
    if _SHELL.search(tool) and (command := _command(about)):
        return _cut(command, LABEL_CHARS)
    name = tool.rpartition("__")[2] or tool  # without the name of its MCP server
    return _cut(f"{name} {_argument(about)}".strip(), LABEL_CHARS)


def _argument(text: str) -> str:
    """Return a path's own name, the first words of a sentence, or the first value of an object if it is a word."""
    if text.startswith(("{", "[")):
        found = _FIRST_VALUE.match(text)
        return found[1] if found else ""
    if " " in text:
        return _cut(text, ARGUMENT_CHARS)
    return posixpath.basename(text.rstrip("/")) or text


def _command(line: str) -> str:
    """Return the program of a command line, its subcommand and the first file that it names: "mix test a_test.exs"."""
    inner = _WRAPPED.sub("", line)
    words = [word.strip("'\"") for word in _words(_END.split(_BEFORE.sub("", inner))[0])]
    if not words:
        return ""
    program, *rest = words
    spoken = [word for word in rest if not word.startswith("-")]
    subcommand = spoken[0] if spoken and _SUBCOMMAND.fullmatch(spoken[0]) else ""
    file = next((posixpath.basename(word.rstrip("/")) for word in spoken if _FILE.fullmatch(word)), "")
    return " ".join(filter(None, (posixpath.basename(program), subcommand, file)))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # the line is cut within a quotation
        return line.split()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
