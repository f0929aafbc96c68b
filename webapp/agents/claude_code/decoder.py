"""Claude Code's transcripts: rows of JSON, decoded one after the other.

One API call is several rows, one for each content block: they share `group`, made of message.id and requestId, and
repeat the call's usage. Rows that are not messages only link the tree of uuid and parentUuid; a row with a known uuid
is a copy and adds nothing. `content` decides what is a message, `branches` which rows are live.

Dropped, and counted: rows without any usage that no model wrote, that have no tool call and that are not marked as
other than an error of the API (the client's own words, which it sends: "No response requested."). Many gateways
report no usage at all, also those that pass calls on to Claude.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from scoring.errors import json_string, shown
from scoring.messages import REMINDER, Media, Message, Part, Text, ToolCall, ToolResult
from webapp.agents.claude_code.branches import LiveTree
from webapp.agents.claude_code.clearings import (
    COLLAPSED,
    REPLACED,
    clearing_of,
    collapse_of,
    is_clearing,
    replacements_in,
)
from webapp.agents.claude_code.content import (
    Content,
    attachment_parts,
    is_unsent,
    is_users_own,
    own_words,
    unread_attachment,
)
from webapp.agents.claude_code.rows import (
    OWN_ROWS,
    as_read_back,
    call_key,
    dropped,
    forked_from,
    is_clients_own,
    is_notification,
    model_of,
    unread_fields,
    unread_kind,
    usage_of,
)
from webapp.agents.reading.rows import (
    count_of,
    dumps,
    list_of,
    object_of,
    optional,
    parse,
    short_title,
    text_of,
    when,
)
from webapp.agents.reading.tail import Line
from webapp.agents.records import (
    Cleared,
    Compaction,
    Entry,
    EntryKind,
    Meta,
    Problem,
    Record,
    Rewind,
    TranscriptFile,
    Unknown,
)

# The beginnings of own rows that can be long: requests repeat all that was said.
_SKIP_STARTS = (
    b'{"type":"file-history-snapshot"', b'{"type":"queue-operation"', b'{"type":"last-prompt"',
    b'{"type":"api-request"', b'{"type":"api-request-blob"', b'{"type":"api-request-shape"',
)  # fmt: skip
_TYPE = b'"type":"'
_MESSAGE = b'{"parentUuid":'  # the beginning of a message
_PARENT = re.compile(rb'"parentUuid":(?:"([^"\\]*)"|null)')
_NO_AGENT = "side"
# The first row of a sub-agent that begins with its parent's context, which only the parent's file contains.
_FORKED = "fork-context-ref"
_OF_SESSION = COLLAPSED | {"summary", "custom-title", "ai-title", REPLACED, _FORKED}
# The rows that a compaction kept: the first and the last, and in newer versions, which has precedence, all of them.
_PRESERVED = ("preservedSegment", "preservedMessages")
_TITLE_RANKS = {"words": 1, "summary": 2, "ai": 3, "custom": 4}


@dataclass(slots=True)
class _Stream:
    """The memory of one conversation in the file; `name` is that of its records."""

    name: str
    tree: LiveTree = field(default_factory=LiveTree)
    seen: dict[str, int] = field(default_factory=dict)  # uuid -> hash of its message
    rounds: dict[str, str] = field(default_factory=dict)  # uuid or call id -> round
    early: dict[str, list[str]] = field(default_factory=dict)  # uuid or call id to come -> rows of its round
    open_calls: dict[str, list[str]] = field(default_factory=dict)  # row -> calls named by us
    groups: set[str] = field(default_factory=set)  # calls that had an entry
    title_rank: int = 0
    model: str | None = None
    compacting: bool = False  # after a boundary, until its summary
    described: bool = False  # its folder and version were reported
    has_parent: bool = False  # its parent was reported


class Decoder:
    """Decodes the rows of one file. `file` describes the file; without it the first rows do."""

    def __init__(self, file: TranscriptFile | None = None) -> None:
        self._streams: dict[str, _Stream] = {}
        self._side: dict[str, str] = {}  # uuid of a sub-agent's row in a main file -> stream
        self._own_agent: bool | None = None if file is None else file.parent_id is not None
        self._summaries: dict[str, str] = {}  # leafUuid -> title, of leaves not seen yet
        self._tasks: dict[str, tuple[str, str]] = {}  # prompt of a Task call -> (description, type)
        self._answered: set[str] = set()  # calls that have a result and are sent with it
        self._shorter: dict[str, str] = {}  # call -> the text that its result, yet to come, is sent as
        if file is not None and file.title:
            self._stream("").title_rank = _TITLE_RANKS["summary"]

    def feed(self, line: Line) -> Iterator[Record]:
        """Yield the records of one line."""
        data = line.data
        if data.startswith(_SKIP_STARTS) and not _has_message_behind(data):
            return
        at = data.find(_TYPE)
        is_progress = at >= 0 and data.startswith(b'progress"', at + 8)
        if is_progress and len(data) < 8192 and self._skip_progress(data):
            return
        row = parse(data)
        if isinstance(row, str):
            yield Problem(line.number, row)
            return
        if text_of(row.get("type")) not in OWN_ROWS:
            yield from self._row(line, as_read_back(row))

    def _skip_progress(self, line: bytes) -> bool:
        """Link a progress row without parsing it. Rows of sub-agents are parsed, to know whose they are."""
        if (b'"isSidechain":true' in line and self._own_agent is not True) or _has_message_behind(line):
            return False
        parent, at = _PARENT.search(line), line.rfind(b'"uuid":"')
        if parent is None or at < 0:
            return False
        uuid = line[at + 8 : line.find(b'"', at + 8)].decode("ascii", "replace")
        tree = self._stream("").tree
        if tree.awaits(uuid):
            return False
        tree.link(uuid, parent[1].decode("ascii", "replace") if parent[1] else None)
        return True

    def _row(self, line: Line, row: dict[str, Any]) -> Iterator[Record]:
        kind = text_of(row.get("type"))
        if kind in _OF_SESSION:
            yield from self._session_row(line, kind, row)
            return
        stream = self._stream_of(row)
        if is_unsent(row):
            yield from self._link(row, stream)
        elif kind in ("user", "assistant") and isinstance(row.get("message"), dict):
            yield from self._message_row(line, row, stream)
        elif kind == "system" and row.get("subtype") == "compact_boundary":
            yield from self._boundary(row, stream)
        elif is_clearing(row):
            yield from self._cleared(row, stream)
        elif kind == "system" and row.get("subtype") == "local_command":
            said = Text(text_of(row.get("content")))
            yield from self._entry(line, row, stream, "user", [said], REMINDER)
        elif kind == "attachment":
            yield from self._attachment(line, row, stream)
        elif kind in ("tool_use", "tool_result"):
            yield from self._bare_tool_row(line, row, stream)
        else:
            yield from self._link(row, stream)
            if (unread := unread_kind(kind, row)) is not None:
                yield Unknown(line.number, unread)

    # The conversation of a row

    def _stream(self, name: str) -> _Stream:
        return self._streams.setdefault(name, _Stream(name))

    def _stream_of(self, row: dict[str, Any]) -> _Stream:
        agent = optional(row.get("agentId"))
        if row.get("isSidechain") is not True:
            return self._stream("")
        if self._own_agent is None and "uuid" in row:
            self._own_agent = agent is not None  # a sub-agent's own file names it in every row
        if self._own_agent:
            return self._stream("")
        uuid, parent = text_of(row.get("uuid")), text_of(row.get("parentUuid"))
        name = f"agent-{agent}" if agent else self._side.get(parent) or f"agent-{(uuid or _NO_AGENT)[:8]}"
        self._side[uuid] = name
        return self._stream(name)

    def _link(self, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        """Add a row that is not a message to the tree; yield a rewind if rows that came before it move with it."""
        if not (uuid := optional(row.get("uuid"))):
            return
        live = stream.tree.link(uuid, optional(row.get("parentUuid")))
        self._tie(stream, uuid, stream.rounds.get(stream.tree.resolve(uuid)[0] or ""))
        if live is not None:
            yield Rewind(stream.tree.tip, f"{uuid} late", when(row.get("timestamp")), stream.name, live)

    @staticmethod
    def _tie(stream: _Stream, name: str, round_id: str | None) -> None:
        """Set the round of the rows that came before the call or the row that they depend on."""
        if round_id is None:
            return
        for uuid in stream.early.pop(name, ()):
            stream.rounds[uuid] = round_id
            stream.tree.tie(uuid, round_id)

    # Facts about the session

    def _session_row(self, line: Line, kind: str, row: dict[str, Any]) -> Iterator[Record]:
        """Yield what a row without a place in the tree says of the whole session."""
        stream = self._stream("")
        if kind == REPLACED:
            self._shorter |= replacements_in(row)
            yield from self._shortened(self._answered & self._shorter.keys(), row, stream)
        elif kind == "summary":
            leaf, title = text_of(row.get("leafUuid")), text_of(row.get("summary"))
            if leaf in stream.tree:
                yield from self._title(stream, "summary", title)
            elif leaf:
                self._summaries[leaf] = title  # perhaps of another session: older versions keep them here
        elif kind == _FORKED:
            yield Meta(inherits=True)
        elif kind in COLLAPSED:
            yield from self._collapsed(line, row, stream)
        elif kind == "custom-title":
            yield from self._title(stream, "custom", text_of(row.get("customTitle")))
        else:
            yield from self._title(stream, "ai", text_of(row.get("aiTitle")))

    @staticmethod
    def _title(stream: _Stream, kind: str, text: str) -> Iterator[Record]:
        rank, title = _TITLE_RANKS[kind], short_title(text)
        if title and (rank > stream.title_rank or rank == stream.title_rank > 1):
            stream.title_rank = rank
            yield Meta(title=title, stream=stream.name)

    def _facts(self, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        if not stream.described:
            stream.described = True
            cwd, version = optional(row.get("cwd")), optional(row.get("version"))
            is_agent = self._own_agent or bool(stream.name)
            parent = optional(row.get("sessionId")) if is_agent else None
            yield Meta(cwd=cwd, version=version, parent=parent, stream=stream.name)
            stream.has_parent = is_agent
        if not stream.has_parent and (forked := forked_from(row)) is not None:
            stream.has_parent = True
            yield Meta(parent=forked, agent_type="fork")
        model = model_of(object_of(row.get("message")))
        if model and model != stream.model:
            stream.model = model
            yield Meta(model=model, stream=stream.name)

    def _words(self, stream: _Stream, words: str) -> Iterator[Record]:
        """Yield a title from the user's first words; of a sub-agent in the file, from the call that started it."""
        if stream.title_rank:
            return
        description, agent_type = self._tasks.pop(words, ("", "")) if stream.name else ("", "")
        if agent_type:
            yield Meta(agent_type=agent_type, stream=stream.name)
        yield from self._title(stream, "words", description or words)

    # Messages

    def _message_row(self, line: Line, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        message = row["message"]
        content, sent_as = message.get("content"), text_of(row.get("sentAsUuid"))
        if sent_as and sent_as not in stream.tree:
            row = row | {"uuid": sent_as}  # written again, because the row of its own was lost
        if row["type"] == "assistant" and (reason := dropped(row, message, stream.groups)):
            yield from self._link(row, stream)
            yield Unknown(line.number, reason)
            return
        if content is not None and not isinstance(content, str | list):
            yield from self._link(row, stream)
            yield Problem(
                line.number, f"message content: expected text or a list of blocks, got {shown(content)}"
            )
            return
        decoded = Content(text_of(row.get("uuid")) or f"line {line.number}", content)
        yield from (Unknown(line.number, kind) for kind in (*unread_fields(row, message), *decoded.unknown))
        if not decoded.parts and usage_of(object_of(message.get("usage"))) is None:
            yield from self._link(row, stream)  # it has no content
            return
        if row["type"] == "assistant":
            speaker = REMINDER if is_clients_own(message) else ""
            yield from self._entry(line, row, stream, "assistant", decoded.parts, speaker)
            return
        if row.get("isCompactSummary") is True:
            yield from self._summary(line, row, stream, decoded.parts)
            return
        parts = self._tie_results(row, stream, decoded.parts)
        results = [p for p in parts if isinstance(p, ToolResult)]
        only_results = bool(results) and len(results) == len(parts)
        words = None if row.get("isMeta") is True or is_notification(row) else own_words(content)
        spoken = words is not None or any(isinstance(p, Media | ToolResult) for p in parts)
        speaker = "" if spoken else REMINDER
        yield from self._entry(line, row, stream, "tool" if only_results else "user", parts, speaker)
        if results:
            calls = {result.call_id for result in results}
            self._answered |= calls
            yield from self._shortened(calls & self._shorter.keys(), row, stream)
        if words is not None and not only_results:
            yield from self._words(stream, words)

    def _tie_results(self, row: dict[str, Any], stream: _Stream, parts: list[Part]) -> list[Part]:
        """Set the missing call ids of results to the one that the row names, or to its parent's oldest open call."""
        if all(p.call_id for p in parts if isinstance(p, ToolResult)):
            return parts
        source = text_of(row.get("sourceToolAssistantUUID") or row.get("parentUuid"))
        waiting = stream.open_calls.get(source, [])
        tied: list[Part] = []
        for part in parts:
            if not isinstance(part, ToolResult) or part.call_id:
                tied.append(part)
                continue
            call_id = waiting.pop(0) if waiting else text_of(row.get("sourceToolUseID"))
            tied.append(replace(part, call_id=call_id))
        return tied

    def _entry(
        self,
        line: Line,
        row: dict[str, Any],
        stream: _Stream,
        role: Any,
        parts: list[Part],
        speaker: str = "",
        kind: EntryKind = "message",
    ) -> Iterator[Record]:
        message = Message(role, tuple(parts), speaker)
        at = when(row.get("timestamp"))
        uuid = optional(row.get("uuid")) or f"line {line.number}"
        if uuid in stream.seen:
            if stream.seen[uuid] == hash(message):
                return  # a copy, made when a session was resumed or forked
            reason = f"the uuid {json_string(uuid[:40])} is on another row too; this one is kept after the last row"
            yield Problem(line.number, reason)
            uuid, row = f"{uuid}#{line.number}", {k: v for k, v in row.items() if k != "parentUuid"}
        stream.seen[uuid] = hash(message)
        yield from self._facts(row, stream)
        call = object_of(row.get("message")) if role == "assistant" else {}
        key = call_key(row, call) if call else None
        group = key if text_of(call.get("id")) else None
        self._remember_calls(stream, uuid, parts, group)
        parent = optional(row.get("parentUuid")) if "parentUuid" in row else "?"
        round_id = self._round(stream, row, uuid, message, group)
        live = stream.tree.add(uuid, parent, round_id)
        before, is_live = stream.tree.parent_of(uuid), stream.tree.is_live(uuid)
        if live is not None and is_live:
            yield Rewind(before, uuid, at, stream.name, live)
        model = model_of(call)
        usage = usage_of(object_of(call.get("usage")), model)
        yield Entry(
            message=message, source_id=uuid, parent=before, group=group, at=at,
            model=model, usage=usage, call_key=key if usage else None, kind=kind,
            stream=stream.name, raw=line.data,
            supersedes=optional(next(iter(list_of(row.get("supersedesUuids"))), None)),
            inherited=forked_from(row) is not None,
        )  # fmt: skip
        if live is not None and not is_live:  # it came late, after the conversation had left its branch
            yield Rewind(stream.tree.tip, f"{uuid} late", at, stream.name, live)
        if uuid in self._summaries and not stream.name:
            yield from self._title(stream, "summary", self._summaries.pop(uuid))

    def _remember_calls(self, stream: _Stream, uuid: str, parts: list[Part], group: str | None) -> None:
        if group:
            stream.groups.add(group)
        for part in parts:
            if not isinstance(part, ToolCall):
                continue
            stream.rounds[part.id] = group or uuid
            self._tie(stream, part.id, group or uuid)
            if part.id.startswith(f"{uuid}:"):
                stream.open_calls.setdefault(uuid, []).append(part.id)
            if part.name in ("Task", "Agent"):
                task = object_of(parse(part.arguments.encode()))
                prompt = text_of(task.get("prompt")).strip()
                self._tasks[prompt] = (text_of(task.get("description")), text_of(task.get("subagent_type")))

    def _round(
        self, stream: _Stream, row: dict[str, Any], uuid: str, message: Message, group: str | None
    ) -> str | None:
        """Return the API call of a row: its own, that of the call it answers, or, for a reminder, its parent's."""
        parent = text_of(row.get("parentUuid"))
        round_id: str | None = None
        if message.role == "assistant":
            round_id = group or uuid
        elif message.results:
            source = text_of(row.get("sourceToolAssistantUUID")) or parent
            found = (stream.rounds.get(r.call_id) for r in message.results)
            round_id = next((r for r in found if r), None) or stream.rounds.get(source)
        elif message.name == REMINDER:
            round_id = stream.rounds.get(stream.tree.resolve(parent)[0] or "")
        if round_id:
            stream.rounds[uuid] = round_id
            self._tie(stream, uuid, round_id)
        else:
            depends = [r.call_id for r in message.results] or (
                [parent] if message.name == REMINDER and parent not in stream.tree else []
            )
            for one in depends:
                stream.early.setdefault(one, []).append(uuid)
        return round_id

    def _attachment(self, line: Line, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        parts = attachment_parts(row)
        if parts:
            speaker = "" if is_users_own(object_of(row.get("attachment"))) else REMINDER
            yield from self._entry(line, row, stream, "user", parts, speaker)
            return
        yield from self._link(row, stream)
        if (unread := unread_attachment(row)) is not None:
            yield Unknown(line.number, unread)

    def _bare_tool_row(self, line: Line, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        """Yield calls and results in separate rows, as early versions wrote them; matched by name and order."""
        tool = text_of(row.get("name"))
        uuid = text_of(row.get("uuid")) or f"line {line.number}"
        waiting = stream.open_calls.setdefault(f"tool {tool}", [])
        if row["type"] == "tool_use":
            call = ToolCall(text_of(row.get("id")) or uuid, tool, dumps(row.get("input", {})))
            waiting.append(call.id)
            yield from self._entry(line, row, stream, "assistant", [call])
            return
        output = row.get("output", row.get("content"))
        call_id = text_of(row.get("tool_use_id")) or (waiting.pop(0) if waiting else "")
        result = ToolResult(call_id, output if isinstance(output, str) else dumps(output), tool)
        yield from self._entry(line, row, stream, "tool", [result])

    # Compaction

    def _boundary(self, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        uuid = optional(row.get("uuid"))
        if uuid is not None and uuid in stream.tree:
            return  # a copy
        about = object_of(row.get("compactMetadata"))
        at, segment, listed = when(row.get("timestamp")), *map(object_of, map(about.get, _PRESERVED))
        if listed:
            stay = stream.tree.delivered(map(text_of, list_of(listed.get("uuids"))))
        else:
            stay = stream.tree.between(optional(segment.get("headUuid")), optional(segment.get("tailUuid")))
        is_first = uuid is not None and uuid == (listed or segment).get("anchorUuid")
        kept = stream.tree.cut(uuid, stay, at_once=is_first)
        if is_first and about.get("durationMs") == 0:  # the user went back, in a session of the cloud
            yield Rewind(stream.tree.tip, uuid, at, stream.name, kept)
            return
        stream.compacting = True
        trigger = text_of(about.get("trigger")) or "unknown"
        before = count_of(about.get("preTokens")) or None
        yield Compaction(at, trigger, before, uuid, stream=stream.name, kept=kept)

    def _collapsed(self, line: Line, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        """Yield a summary that is sent instead of a span of messages, before those that stay."""
        found = collapse_of(row)
        if found.summary in stream.seen:
            return  # a copy
        span = stream.tree.between(found.first, found.last)
        if not (span and found.summary and found.text):
            yield Unknown(line.number, text_of(row.get("type")))
            return
        kept = stream.tree.collapse(span, found.summary)
        at, name = when(row.get("timestamp")), f"{found.summary} collapse"
        yield Compaction(at, "unknown", None, name, stream=stream.name, kept=kept)
        sent = row | {"uuid": found.summary, "parentUuid": None}
        yield from self._entry(line, sent, stream, "user", [Text(found.text)], REMINDER, "compaction_summary")

    def _cleared(self, row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        """Yield the outputs that the agent removed from its context itself; a copy of the row adds nothing."""
        uuid, found = optional(row.get("uuid")), clearing_of(row)
        copied = uuid is not None and uuid in stream.tree
        yield from self._link(row, stream)
        if found.calls and not copied:
            at = when(row.get("timestamp"))
            yield Cleared(found.calls, found.tokens, uuid, at, stream.name, found.texts)

    def _shortened(self, calls: Collection[str], row: dict[str, Any], stream: _Stream) -> Iterator[Record]:
        """Yield the results of calls that are sent as shorter texts, each once."""
        texts = {call: self._shorter.pop(call) for call in sorted(calls)}
        self._answered -= texts.keys()
        if texts:
            at, name = when(row.get("timestamp")), f"{REPLACED} {next(iter(texts))}"
            yield Cleared(tuple(texts), 0, name, at, stream.name, tuple(texts.values()))

    def _summary(
        self, line: Line, row: dict[str, Any], stream: _Stream, parts: list[Part]
    ) -> Iterator[Record]:
        uuid = optional(row.get("uuid"))
        if not stream.compacting and uuid not in stream.seen:  # older versions write no boundary
            stream.tree.cut(None)
            yield Compaction(
                when(row.get("timestamp")), "unknown", None, uuid or f"line {line.number}", None, stream.name
            )
        stream.compacting = False
        if stream.tree.tip is None:
            row = row | {"parentUuid": None}  # it begins the new context, whatever its parent is
        yield from self._entry(line, row, stream, "user", parts, REMINDER, "compaction_summary")


def _has_message_behind(line: bytes) -> bool:
    """Return whether a message follows a row in the same line, because the agent was killed while it wrote the row."""
    at = line.rfind(_MESSAGE)
    return at > 0 and line[at - 1 : at] not in (b":", b",", b"[")
