"""Records: the facts of a transcript, one value each, the same for every agent.

Decoders turn lines into these records; `services/ingest` turns records into the log. A record carries what was
written, and no conclusion from other sessions. The order of records is the order of arrival.

`stream` is the conversation of a record: "" the session of the file, "agent-<id>" a sub-agent in the same file. Ids
(`source_id`) are unique within a session; an id seen again is either a copy (to be ignored) or, where `supersedes`
names it, a newer version of the same entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from scoring.messages import Message

REMINDER = "reminder"

EntryKind = Literal["message", "compaction_summary"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one API call. `input_tokens` is the call's real total input, cached tokens included;
    `cached_tokens` (read) and `cache_write_tokens` are parts of it. `reasoning_tokens` is part of `output_tokens`.
    `window` is the context window the agent itself reports. `cache_write_hour_tokens`, part of `cache_write_tokens`,
    stay cached for an hour. `unsent_tokens`, part of `output_tokens`, are thoughts that the agent does not send again.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    window: int | None = None
    cache_write_hour_tokens: int = 0
    unsent_tokens: int = 0

    @property
    def answer_tokens(self) -> int:
        """Return the tokens of the answer as the next call's input has it."""
        return self.output_tokens - self.unsent_tokens


@dataclass(frozen=True, slots=True)
class Entry:
    """One row or block of a conversation, as it arrived.

    A message of role "user" that no human wrote (a reminder, an attachment, a command's output) has the name
    `REMINDER`, so that it is neither the user's words nor the start of a turn.

    Entries with one `group` form one message (the blocks of one API call). `parent` is the source id of the entry
    this one follows in the conversation, never one that was not delivered (skipped rows are bridged). `usage` stands
    on every entry of a call, `call_key` says which call; count a call once, its largest output. `raw` is the row as
    it stands in the file, without the line end. `supersedes` is the source id of the entry this one replaces.
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


@dataclass(frozen=True, slots=True)
class Compaction:
    """The agent replaced its context. `tokens_before` as the agent says.

    `replacement` is the whole new context in order; an entry in it whose `source_id` was delivered before is that
    entry, still in the context, and no new one. None: everything before leaves the context except `kept` (source
    ids, placed behind the summary), and the entries that follow (the summary first) are the new one. `unreadable`: the
    summary is encrypted.
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
    """The conversation goes on from an earlier point, or on another branch.

    `live` is the agent's whole context from here on, as source ids in order: what is not in it leaves, what left
    before and is in it (another branch, or what a compaction took) comes back. `to_source_id` is the point gone
    back to (None: the very beginning). `source_id` names the rewind: the entry that shows it (it follows as an
    Entry), or, where no entry does, a name that nothing else has.
    """

    to_source_id: str | None
    source_id: str | None
    at: datetime | None = None
    stream: str = ""
    live: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """The agent took the outputs of `calls` out of its context, and recorded it. `tokens` as the agent says, or 0."""

    calls: tuple[str, ...]
    tokens: int
    source_id: str | None
    at: datetime | None = None
    stream: str = ""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage that comes apart from a message.

    `input_end` is the last entry that was input of the call; the assistant's entries behind it, whether they came
    before this report or come after it, are its output. A `call_key` seen before is the same call again.
    """

    usage: Usage
    at: datetime | None
    call_key: str
    model: str | None = None
    stream: str = ""
    input_end: str | None = None


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about the session; None means: not said here. A later one replaces an earlier one."""

    title: str | None = None
    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    parent: str | None = None
    agent_type: str | None = None
    window: int | None = None
    stream: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line (from 1; None: the file as a whole) that could not be used, and why. Counted and shown, never fatal.

    `used`: it was mended as the reason says, and used; shown and not counted.
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

    `own_question`: the agent asked it itself, for a compaction or a suggestion. That is no session, and nobody's.
    """

    session_id: str | None = None
    parent_id: str | None = None
    title: str | None = None
    agent_type: str | None = None
    own_question: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript found on disk. `session_id` is stable and unique; `parent_id` the session that started it.

    `modified` is the file's time of last change in seconds since 1970, `size` its bytes, both as seen at discovery.
    `shared` says that the file holds other sessions too, as a database does.
    """

    path: Path
    session_id: str
    parent_id: str | None
    source: str
    title: str | None = None
    agent_type: str | None = None
    modified: float = 0.0
    size: int = 0
    shared: bool = False

    @property
    def key(self) -> str:
        """Return the key of the stored read position. Sessions in one database each have their own."""
        return f"{self.path}#{self.session_id}" if self.shared else str(self.path)
