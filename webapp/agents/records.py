"""Records: the facts of a transcript, one value each, the same for every agent.

Decoders turn lines into these records; `services/ingest` turns records into the log. A record contains what was
written, and no conclusions from other sessions. The order of records is the order of arrival.

`stream` is the conversation of a record: "" is the session of the file, "agent-<id>" a sub-agent in the same file. Ids
(`source_id`) are unique within a session; a repeated id is either a copy (to be ignored) or, if `supersedes` names it,
a newer version of the same entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from scoring.messages import REMINDER, Message

TIER_CHARS = 40
# A byte of a path that is not UTF-8, as `path_text` writes it.
_ESCAPED = re.compile(r"\\u(dc[89a-f][0-9a-f])")

EntryKind = Literal["message", "compaction_summary"]
COMPACTION_SUMMARY: EntryKind = "compaction_summary"


@dataclass(frozen=True, slots=True)
class Inference:
    """The tokens of one of several inferences of a call, by `model`.

    Like those of `Usage`: the input includes what was read from the cache and written to it.
    """

    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_hour_tokens: int = 0


_GROWING = (
    "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens",
    "cache_write_hour_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one API call.

    Where a provider runs tools itself, a call is several inferences, and the figures are their sums, as billed.
    """

    input_tokens: int
    """The real total input, including cached tokens."""
    output_tokens: int
    cached_tokens: int = 0
    """The part of the input that was read from the cache."""
    cache_write_tokens: int = 0
    """The part of the input that was written to the cache."""
    reasoning_tokens: int = 0
    """The part of the output that is reasoning."""
    window: int | None = None
    """The context window that the agent reports."""
    cache_write_hour_tokens: int = 0
    """The part of `cache_write_tokens` that stays cached for an hour."""
    unsent_tokens: int = 0
    """Thoughts in the output that the agent does not send again."""
    whole: bool = True
    """The input includes cached tokens for certain."""
    tier: str = ""
    """The name of the provider's service, such as "batch"; empty if none is named."""
    first_tokens: int = 0
    """The input of the first of several inferences, else 0."""
    last_tokens: int = 0
    """The context after the last of several inferences, else 0."""
    extra_inferences: tuple[Inference, ...] = ()
    """Inferences that the sums leave out, such as advice."""

    def merged(self, later: Usage) -> Usage:
        """Return the usage after a `later` report of the same call.

        While an answer streams, a report can lack its output, or its input where a gateway counts that at the end.
        """
        newer = later if later.output_tokens >= self.output_tokens else self
        larger = {name: max(getattr(self, name), getattr(later, name)) for name in _GROWING}
        return replace(newer, **larger)

    @property
    def sent_tokens(self) -> int:
        """Return the size of the context that was sent with the call."""
        return self.first_tokens or self.input_tokens

    @property
    def answer_tokens(self) -> int:
        """Return the tokens of the answer that are part of the next call's input."""
        if self.first_tokens:
            return max(0, self.last_tokens - self.first_tokens)
        return self.output_tokens - self.unsent_tokens


def tier_of(usage: Mapping[str, Any]) -> str:
    """Return the provider's service that a usage report names; empty if it names none.

    Anthropic's fast mode is a `speed` beside the service tier. Its service inside the United States is an
    `inference_geo`, and is named after the tier: "us", "batch us".
    """
    tier = "fast" if usage.get("speed") == "fast" else usage.get("service_tier")
    named = [tier[:TIER_CHARS].lower()] if isinstance(tier, str) else []
    if usage.get("inference_geo") == "us":
        named = [*(name for name in named if name != "standard"), "us"]
    return " ".join(named)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row or block of a conversation, as it arrived.

    A message of role "user" that no human wrote (a reminder, an attachment, a command's output) has the name
    `REMINDER`, so that it is neither the user's words nor the start of a turn; so has one of role "assistant" that no
    model wrote, so that it is not a call.

    Entries with the same `group` form one message (the blocks of one API call). `parent` is the source id of the entry
    that this one follows in the conversation; rows that are not delivered are skipped. `usage` is on every entry of a
    call, and `call_key` identifies the call; count each call once, with its largest output. `kind` is
    `COMPACTION_SUMMARY` for the text in which the agent summarised what a compaction removed. `raw` is the row as it is
    in the file, without the line end. `supersedes` is the source id of the entry that this one replaces. An `inherited`
    entry is a copy of one of the parent session, which also paid for its call.
    """

    message: Message
    source_id: str | None
    parent: str | None = None
    group: str | None = None
    at: datetime | None = None
    model: str | None = None
    usage: Usage | None = None
    call_key: str | None = None
    kind: EntryKind = "message"
    stream: str = ""
    raw: bytes | None = field(default=None, repr=False, compare=False)
    supersedes: str | None = None
    inherited: bool = False

    @property
    def own_words(self) -> str | None:
        """Return the user's own words, for a title; None if a program or the model wrote them."""
        own = self.message.role == "user" and self.message.name != REMINDER
        return self.message.text if own else None


@dataclass(frozen=True, slots=True)
class Compaction:
    """The agent replaced its context. `tokens_before` is the agent's own number.

    `replacement` is the whole new context in order; an entry in it whose `source_id` was delivered before is that
    earlier entry, which stays in the context. If it is None, everything before leaves the context except `kept` (source
    ids), and the entries that follow (the summary first) are the new context. The kept entries are sent after the
    summary if that has no `parent`, else before it. `unreadable`: the summary is encrypted.
    """

    at: datetime | None
    trigger: str
    tokens_before: int | None
    source_id: str | None
    replacement: tuple[Entry, ...] | None = None
    stream: str = ""
    kept: tuple[str, ...] = ()
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Rewind:
    """The conversation continues from an earlier point, or on another branch.

    `live` is the agent's whole context from here on, as source ids in order: entries that are not in it leave the
    context, and entries in it that had left (another branch, or removed by a compaction) come back. `to_source_id` is
    the point it went back to (None: the beginning). `source_id` identifies the rewind: it is that of the entry that
    shows it (which follows as an Entry) or, if there is none, a unique name.
    """

    to_source_id: str | None
    source_id: str | None
    at: datetime | None = None
    stream: str = ""
    live: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """The agent removed the outputs of `calls` from its context and recorded that. `tokens` is its number, or 0.

    `texts` are sent in their place, one for each call; if there are none, the text that the agent always uses is.
    """

    calls: tuple[str, ...]
    tokens: int
    source_id: str | None
    at: datetime | None = None
    stream: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage that is reported separately from a message.

    `input_end` is the last entry of the call's input; the assistant's entries after it, before or after this report,
    are its output. A repeated `call_key` is the same call again. `apart`: the call is no part of the conversation, such
    as one for a compaction or an answer that is not sent again; only its price counts.
    """

    usage: Usage
    at: datetime | None
    call_key: str
    model: str | None = None
    stream: str = ""
    input_end: str | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about the session; None means unknown here. A later one replaces an earlier one.

    `inherits`: the context begins with messages of the parent session that are not among these records.
    """

    title: str | None = None
    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    parent: str | None = None
    agent_type: str | None = None
    window: int | None = None
    stream: str = ""
    inherits: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A line (from 1; None: the file as a whole) that could not be used, and why. Counted and shown, never fatal.

    `used`: it was corrected as the reason says, and used; shown but not counted.
    """

    line: int | None
    reason: str
    used: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A row of an unknown or unused type: counted by type."""

    line: int | None
    type: str


Record = Entry | Compaction | Rewind | Cleared | UsageReport | Meta | Problem | Unknown


class Origin(NamedTuple):
    """The session that a transcript file belongs to, as far as known; `parent_id` is the session that started it.

    `own_question`: a request by the agent itself, for a compaction or a suggestion. Such a file is not a session.
    """

    session_id: str | None = None
    parent_id: str | None = None
    title: str | None = None
    agent_type: str | None = None
    own_question: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript found on disk. `session_id` is stable and unique; `parent_id` the session that started it.

    `modified` is the file's time of last change in seconds since 1970, at discovery. `shared` is True if
    the file contains other sessions too, as a database does. `cwd` is the working directory, if discovery finds it.
    """

    path: Path
    session_id: str
    parent_id: str | None
    source: str
    title: str | None = None
    agent_type: str | None = None
    modified: float = 0.0
    shared: bool = False
    cwd: str | None = None

    @property
    def key(self) -> str:
        """Return the key of the stored read position. Sessions in one database each have their own."""
        path = path_text(self.path)
        return f"{path}#{self.session_id}" if self.shared else path


def path_text(path: Path | str) -> str:
    r"""Return a path as text to store and send: bytes of it that are not UTF-8 become escapes, like "\udcff"."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def path_of(key: str) -> Path:
    """Return the path of the transcript with a key, which need not exist."""
    whole, before = Path(key), Path(key.rpartition("#")[0])
    if not whole.exists() and (escaped := _ESCAPED.sub(lambda found: chr(int(found[1], 16)), key)) != key:
        return path_of(escaped)
    return whole if whole.exists() or "#" not in key else before
