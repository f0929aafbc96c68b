"""Recognises the task type of a session from a few counts, made as messages arrive.

The counts are running sums over the whole log, so recognition costs the same for ten messages as for 100,000, and a
prune of the tool outputs does not change the type. If there are tool calls, the words in the names of the tools decide;
otherwise the names of files in messages, and a system prompt with rules for serving customers. `settings_for` is the
one place that turns a type into weights and keywords.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from scoring.history.content import clipped, content_of
from scoring.history.content.names import identifiers
from scoring.history.features import Features
from scoring.settings import ANY, AUTO, Settings

FEW_MESSAGES = 4  # fewer do not show what a session is about
FEW_CALLS = 0.05  # with fewer calls than this share of the messages, a session is a conversation
NAMING_FILES = 0.2  # if this share of the messages without tools name a file, the session is about code
RULES = 4  # this many of the words below mean that a system prompt has rules for serving customers
TOOLS_KEPT = 30  # tools that are counted by name; calls of others are counted together
NAME_CHARS = 60

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_FILE = re.compile(
    r"(?m)/[^\n]*\.[A-Za-z]{1,5}$|\.(?:py|js|ts|go|rs|c|cpp|java|rb|sh|sql|json|toml|ya?ml|html|css)$"
)
_ENDING = re.compile(r"\.[A-Za-z]")  # every name of a file has one; a fast test for most texts
_CODING = frozenset(
    """
    bash shell terminal exec execute command edit multiedit patch write grep glob file files dir directory folder code
    codebase notebook lsp git lint test tests build python editor
    """.split()  # noqa: SIM905
)
_RESEARCH = frozenset(
    """
    web websearch webfetch fetch browse browser crawl scrape url page pages site google bing duckduckgo brave tavily exa
    serp serper perplexity wikipedia arxiv pubmed scholar paper papers article articles retrieve
    """.split()  # noqa: SIM905
)
_SUPPORT = frozenset(
    """
    order orders refund refunds return returns exchange reservation reservations booking bookings flight flights hotel
    ticket tickets customer customers account accounts payment payments invoice invoices subscription shipping shipment
    delivery product products warranty loyalty baggages human
    """.split()  # noqa: SIM905
)
_ALONE: Mapping[str, str] = {"read": "coding", "ls": "coding", "replace": "coding", "search": "research"}
# Hashes of stems, the form in which the words of a message are stored.
_OF_RULES = frozenset(
    content_of(
        "policy customer agent cancel refund reservation order booking confirm eligible compensation transfer "
        "complaint representative account passenger delivery exchange payment"
    ).stems.codes
)


class RecognisedType(NamedTuple):
    """A task type by its name ("any" if none fits), and the reason in words."""

    name: str
    reason: str


@dataclass(slots=True)
class TaskCounts:
    """Counts over the messages of a session; bounded in size.

    `messages` excludes system messages; `outputs` are those with tool outputs; `talk` those of user and agent without
    any tool, `files` those of them that name a file. `rules` is the largest number of words from rules for serving
    customers in one system message. `tools` counts calls by tool, `others` those of further tools.
    """

    messages: int = 0
    outputs: int = 0
    talk: int = 0
    files: int = 0
    rules: int = 0
    others: int = 0
    tools: dict[str, int] = field(default_factory=dict)

    def extend(self, features: Iterable[Features]) -> None:
        """Count messages."""
        talk = 0
        for one in features:
            if one.calls or one.results or one.names_file or one.content is not None:
                self.add(one)
            elif one.role != "system":
                talk += 1
        self.messages += talk
        self.talk += talk

    def add(self, features: Features, sign: int = 1) -> None:
        """Count a message; with `sign` -1 subtract it, before it is counted again."""
        content = features.content
        if features.role == "system":
            if content is not None and sign > 0:
                self.rules = max(self.rules, len(_OF_RULES.intersection(content.stems.codes)))
            return
        self.messages += sign
        if features.results:
            self.outputs += sign
        if features.calls:
            for name in features.names[0]:
                self._call(name[: NAME_CHARS + 1], sign)  # one more than is shown, which tells that it is cut
        elif not features.results:
            self.talk += sign
            if features.names_file or (content is not None and _is_file_in(content.names)):
                self.files += sign

    def _call(self, name: str, sign: int) -> None:
        if name and (name in self.tools or len(self.tools) < TOOLS_KEPT):
            self.tools[name] = self.tools.get(name, 0) + sign
        else:
            self.others += sign

    def copy(self) -> TaskCounts:
        """Return a copy, which can be continued."""
        return replace(self, tools=dict(self.tools))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "tools": dict(self.tools)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> TaskCounts:
        """Return the counts that `to_dict` wrote; all are 0 for None."""
        known = {name: value for name, value in (data or {}).items() if name in cls.__slots__}
        return cls(**{**known, "tools": dict(known.get("tools", {}))})


def names_file(text: str) -> bool:
    """Return whether a text names a file; the same answer that its analysed content gives."""
    return _ENDING.search(text) is not None and _is_file_in("\n".join(identifiers(clipped(text))))


def _is_file_in(names: str) -> bool:
    """Return whether one of the names (one per line) is that of a file."""
    return "." in names and _FILE.search(names) is not None


def recognise(counts: TaskCounts) -> RecognisedType:
    """Return the task type that these counts suggest."""
    if counts.messages < FEW_MESSAGES:
        return RecognisedType(ANY, "too little was said yet to tell what it looks like")
    calls = counts.others + sum(counts.tools.values())
    if calls < FEW_CALLS * counts.messages:
        return _by_talk(counts, calls)
    return _by_tools(counts, calls)


def settings_for(settings: Settings, counts: TaskCounts) -> Settings:
    """Return the settings that apply to a session: with the weights and keywords of its task type.

    The result has the task type "any", so applying this again changes nothing.
    """
    if settings.task_type == ANY:
        return settings
    own = settings.task_types.of(task_type_of(settings, counts))
    return replace(
        settings,
        task_type=ANY,
        weights=settings.weights if own.weights is None else own.weights,
        keywords=settings.keywords if own.keywords is None else own.keywords,
    )


def task_type_of(settings: Settings, counts: TaskCounts) -> str:
    """Return the name of the task type that applies; "any" if the common settings do."""
    return recognise(counts).name if settings.task_type == AUTO else settings.task_type


def _by_talk(counts: TaskCounts, calls: int) -> RecognisedType:
    tools = (
        "no tool was used"
        if not calls
        else f"hardly any tool was used ({calls:,} in {counts.messages:,} messages)"
    )
    if counts.files >= NAMING_FILES * counts.talk > 0:
        return RecognisedType(
            "coding",
            f"looks like coding: {_percent(counts.files, counts.talk)} of its messages name files; {tools}",
        )
    if counts.rules >= RULES:
        return _support(tools)
    return RecognisedType("chat", f"looks like chat: {tools}")


def _by_tools(counts: TaskCounts, calls: int) -> RecognisedType:
    kinds: dict[str, list[str]] = {}
    for name in sorted(counts.tools, key=lambda one: (-counts.tools[one], one)):
        if counts.tools[name] > 0:
            kinds.setdefault(type_of_tool(name), []).append(name)
    by_kind = {
        kind: sum(counts.tools[name] for name in names) for kind, names in kinds.items() if kind != ANY
    }
    best = max(by_kind, key=lambda kind: (by_kind[kind], kind), default=ANY)
    share = f"{_percent(counts.outputs, counts.messages)} of its messages are tool outputs"
    if best != ANY and 2 * by_kind[best] >= calls:
        what = "most of them of" if by_kind[best] < calls else "of"
        return RecognisedType(best, f"looks like {best}: {share}, {what} {_listed(kinds[best])}")
    if counts.rules >= RULES and best != "coding":
        return _support(share)
    named = _listed([name for names in kinds.values() for name in names]) or "tools without a name"
    return RecognisedType(ANY, f"looks like none of the types: {share}, of {named}")


def _support(tools: str) -> RecognisedType:
    said = f"looks like support: its system prompt has rules for serving customers; {tools}"
    return RecognisedType("support", said)


@lru_cache(maxsize=1 << 12)
def type_of_tool(tool: str) -> str:
    """Return the task type that a tool suggests, by the words in its name; "any" if none does."""
    words = [word.lower() for word in _WORDS.findall(tool)]
    for kind, known in (("coding", _CODING), ("research", _RESEARCH), ("support", _SUPPORT)):
        if not known.isdisjoint(words):
            return kind
    return _ALONE.get(words[0], ANY) if len(words) == 1 else ANY


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…" for name in names]
    *first, last = [*shown[:2], "others"] if len(shown) > 3 else shown or [""]
    return f"{', '.join(first)} and {last}" if first else last
