"""Codex's rollouts: rows of JSON with an envelope, or, before late 2025, bare items without one.

The items of `response_item` rows are sent to the model; most `event_msg` rows repeat them for the screen and are
ignored. Usage is in separate rows, several for each call and the first one empty; a call is identified by the running
totals, which no two calls share. Its usage is before its items, after them, or, from 0.133, after the outputs of its
tools, which are not part of its input. The row of a compaction contains the new history; from 0.154 it names the call
that wrote the summary, whose usage is in a `token_usage_record` before it, and in no running total if OpenAI wrote it.

A fork or sub-agent begins with its parent's context: with a copy of its rows (all until the one that a newer version's
first row names by its number, else until a turn whose id, a UUID with a time in it, is not older than the session
itself), or, in newer versions, with rows of the parent's rollout (`earlier_rollouts`). Of these, the messages that are
sent are its own, too; usage and what had left the context are not. A reverted session begins with rows of its earlier
rollouts, of which those behind the revert have left the context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from scoring.messages import REMINDER, Message, Text
from webapp.agents.codex import files
from webapp.agents.codex.earlier_rollouts import Segment, beginning_of, earlier_rollouts, lines_in
from webapp.agents.codex.items import (
    COMPACTION_ITEMS,
    Items,
    agent_message,
    is_empty,
    unread,
)
from webapp.agents.codex.truncation import Budget, row_budget, truncated, turn_budget
from webapp.agents.codex.turns import SUMMARY_START, Turns, rolled_back, turns_of
from webapp.agents.reading.finding import reason_of
from webapp.agents.reading.known_meta import KnownMeta
from webapp.agents.reading.rows import (
    count_of,
    digest,
    dumps,
    lacking,
    object_of,
    optional,
    parse,
    short_title,
    text_of,
    uncounted_input,
    when,
)
from webapp.agents.reading.tail import Line, decode_line
from webapp.agents.records import (
    Compaction,
    Entry,
    EntryKind,
    Meta,
    Problem,
    Record,
    Rewind,
    TranscriptFile,
    Unknown,
    Usage,
    UsageReport,
)

# Events for the screen; those with these endings repeat what other rows have.
_SCREEN_EVENTS = frozenset({
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
    "context_compacted", "deprecation_notice", "entered_review_mode", "error", "exited_review_mode",
    "guardian_assessment", "plan_update", "session_configured", "shutdown_complete", "sub_agent_activity",
    "turn_aborted", "turn_diff", "user_message", "view_image_tool_call", "warning",
})  # fmt: skip
_SCREEN_ENDS = (
    "_applied", "_begin", "_complete", "_completed", "_delta", "_end", "_error", "_event", "_request", "_response",
    "_started", "_updated", "_warning",
)  # fmt: skip
# Rows with an envelope that do not concern what is sent, or repeat it.
_OWN_ROWS = frozenset({
    "dynamic_tools_updated", "id_allocation", "inter_agent_communication_metadata", "realtime_item",
    "retained_context", "security_risk_score", "world_state",
})  # fmt: skip
_KEPT_CHARS = 80_000  # of user messages that an older compaction kept: 20,000 tokens of 4 bytes
_REPLAY_SECONDS = 1.0  # rows without turn ids are copies up to this long after the session began


class _Live(NamedTuple):
    """A message of the agent's context."""

    source_id: str
    message: Message
    turns: Turns


class _New(NamedTuple):
    """A message that enters the context, with the row that it is from."""

    message: Message
    turns: Turns
    kind: EntryKind = "message"
    raw: bytes | None = None


class Decoder:
    """Decodes the rows of one rollout. `is_earlier`: it is not the newest one of its session, which was reverted."""

    def __init__(self, file: TranscriptFile | None = None, *, is_earlier: bool = False) -> None:
        self._file, self._is_earlier = file, is_earlier
        self._items = Items()
        self._live: list[_Live] = []
        self._budget: Budget | None = None  # for the outputs of the turn
        self._meta = KnownMeta(has_title=file is not None and file.title is not None)
        self._group: str | None = None  # the API call that the assistant's items belong to
        self._input_end: str | None = None
        self._asked: list[str | None] = []  # the last input of each run of items without usage yet
        self._ahead = False  # the usage of a call came before its items
        self._total = 0  # input of all calls so far, as reported
        self._calls: set[str] = set()
        self._window = 0  # of the turn, before it names its model
        self._record: dict[str, Any] = {}  # the last `token_usage_record`, until a running total has its call
        self._tokens: int | None = None  # of the context, as last reported
        self._own_id: str | None = None
        self._has_parent = False
        self._began: datetime | None = None
        self._own_start = 0  # number of the first row that is no copy, if that is known
        self._replaying = False
        self._turns_named = False  # whether turns have ids with a time in them
        self._in_parent = False  # the rows are in a rollout of the parent
        self._is_inherited = False  # the row is the parent's
        self._inherited: dict[str | None, Entry] = {}  # the parent's entries, until its rows end
        self._inherited_facts: list[Meta] = []
        # Tells calls after a revert from the reverted ones: their running totals can be the same.
        self._after = ""

    def feed(self, line: Line) -> Iterator[Record]:
        """Yield the records of one line."""
        row = parse(line.data)
        if isinstance(row, str):
            yield Problem(line.number, row)
            return
        kind, payload, at = text_of(row.get("type")), row.get("payload"), when(row.get("timestamp"))
        if not isinstance(payload, dict):
            yield from self._bare(line, row)
            return
        self._is_inherited = (
            self._in_parent
            or self._is_before_own(row)
            or (self._replaying and self._is_copy(kind, payload, at))
        )
        if not self._is_inherited:
            yield from self._inherit()
            yield from self._row(line, row, kind, payload, at)
        elif kind != "session_meta":
            for record in self._row(line, row, kind, payload, at):
                self._keep_from_parent(record)

    def _row(
        self, line: Line, row: dict[str, Any], kind: str, payload: dict[str, Any], at: datetime | None
    ) -> Iterator[Record]:
        if kind == "response_item":
            yield from self._item(line, truncated(payload, row_budget(row, self._budget)), at)
        elif kind == "inter_agent_communication":
            yield from self._item(line, agent_message(payload), at)
        elif kind == "event_msg":
            yield from self._event(line, payload, at)
        elif kind == "turn_context":
            self._budget = turn_budget(payload)
            yield from self._turn(payload)
        elif kind == "session_meta":
            yield from self._session(line, payload, at)
        elif kind == "compacted":
            yield from self._summarised(line, payload, at)
            yield from self._compacted(line, payload, at)
        elif kind == "token_usage_record":
            self._record = payload
        elif kind not in _OWN_ROWS:
            yield Unknown(line.number, kind or "row without type")

    # Facts about the session

    def _session(self, line: Line, meta: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        session = text_of(meta.get("id"))
        if self._own_id is not None:
            # The parent's own first row: what follows is a copy. A resumed session repeats its own row.
            self._replaying = session != self._own_id and not self._live
            if self._replaying and not self._has_parent:  # older versions name the parent only here
                yield from self._meta.changed(parent=session, agent_type="fork")
            return
        self._own_id, self._began = session, when(meta.get("timestamp"))
        origin = files.origin_of(meta)
        self._has_parent = origin.parent_id is not None
        # A file that names the rollout with its beginning has no copies of it.
        self._replaying = bool(optional(meta.get("forked_from_id"))) and not meta.get("history_base")
        self._own_start = count_of(meta.get("subagent_history_start_ordinal"))
        cwd, version = optional(meta.get("cwd")), optional(meta.get("cli_version"))
        title = short_title(origin.title or "")
        yield from self._meta.changed(
            title=title, cwd=cwd, version=version, parent=origin.parent_id, agent_type=origin.agent_type
        )
        self._after = f" after {text_of(meta.get('timestamp'))}" if meta.get("history_base") else ""
        yield from self._earlier_rollouts()
        beginning = beginning_of(self._file.path if self._file is not None else None, meta)
        if beginning.missing:
            reason = (
                f"it continues the rollout {beginning.missing[:40]}, which cannot be read; shown without it"
            )
            yield Meta(inherits=True)
            yield Problem(line.number, reason, used=True)
        yield from self._begin(beginning.segments, _source_id(line), at)

    def _earlier_rollouts(self) -> Iterator[Record]:
        """Yield the records of the session's earlier rollouts, also of what was reverted in them: it was paid."""
        if self._file is None or self._is_earlier:
            return
        for path in earlier_rollouts(self._file.path):
            decoder = Decoder(replace(self._file, path=path), is_earlier=True)
            for row in _readable(path, lines_in(path)):
                if isinstance(row, Problem):
                    yield row
                    continue
                for record in decode_line(decoder, row):
                    if isinstance(record, Problem):
                        reason = f"{path.name}, line {row.number}: {record.reason}"
                        record = replace(record, line=None, reason=reason)  # noqa: PLW2901
                    yield record

    def _begin(self, segments: list[Segment], source_id: str, at: datetime | None) -> Iterator[Record]:
        """Take the rows before those of the file into the context; yield the messages of a parent, or the rewind."""
        for segment in segments:
            self._in_parent = not segment.is_own
            for row in _readable(segment.path, segment.lines()):
                if isinstance(row, Line):
                    decode_line(self, row)
                elif self._in_parent:  # of its own one it is known
                    yield row
        self._in_parent = False
        inherited = list(self._inherit())
        if not any(segment.is_own for segment in segments):
            yield from inherited
            return
        yield self._went_back(source_id, at)
        if self._meta.model:
            yield Meta(model=self._meta.model)  # another one may have been reverted

    def _keep_from_parent(self, record: Record) -> None:
        """Keep the messages and facts in a record of the parent."""
        if isinstance(record, Meta):
            self._inherited_facts.append(record)
        for entry in (record,) if isinstance(record, Entry) else getattr(record, "replacement", None) or ():
            self._inherited[entry.source_id] = replace(entry, inherited=True)

    def _inherit(self) -> Iterator[Record]:
        """Yield the facts and messages of the parent with which the session begins, once its own rows follow."""
        if self._inherited or self._inherited_facts:
            yield from self._inherited_facts
            yield from (found for one in self._live if (found := self._inherited.get(one.source_id)))
            self._inherited, self._inherited_facts = {}, []

    def _is_before_own(self, row: dict[str, Any]) -> bool:
        """Return whether a row's number says that it is the parent's; from the first own one on, none is a copy."""
        number = row.get("ordinal")
        if not self._own_start or not isinstance(number, int):
            return False
        self._replaying = False
        return number < self._own_start

    def _is_copy(self, kind: str, payload: dict[str, Any], at: datetime | None) -> bool:
        """Return whether the row is still a copy of the parent's; the first one that is not ends the copy."""
        if kind == "session_meta":
            return True
        passed_on = object_of(payload.get("internal_chat_message_metadata_passthrough"))
        turn = text_of(payload.get("turn_id")) or text_of(passed_on.get("turn_id"))
        begun, own = _time_in(turn), _time_in(self._own_id or "")
        if begun is not None and own is not None:
            self._turns_named = True
            self._replaying = begun < own
        elif (
            not self._turns_named
            and kind in ("turn_context", "event_msg", "response_item")
            and at
            and self._began
        ):
            later = (at - self._began).total_seconds() > _REPLAY_SECONDS
            self._replaying = not (later and text_of(payload.get("type")) in ("user_message", "message"))
        return self._replaying

    def _turn(self, payload: dict[str, Any]) -> Iterator[Record]:
        changed = list(self._meta.changed(model=optional(payload.get("model"))))
        yield from changed
        if changed and self._window:
            yield Meta(window=self._window)  # the turn began with that of its own model
        self._window = 0

    def _event(self, line: Line, payload: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        kind = text_of(payload.get("type"))
        if kind == "token_count":
            info = object_of(payload.get("info"))
            yield from (Unknown(line.number, field) for field in _unread_usage(payload, info))
            yield from self._usage(info, at)
        elif kind == "task_started" and (window := count_of(payload.get("model_context_window"))):
            self._window = window
            yield Meta(window=window)
        elif kind == "thread_name_updated":
            name = text_of(payload.get("thread_name") or payload.get("name"))
            yield from self._meta.changed(title=None if self._is_inherited else short_title(name))
        elif kind == "thread_rolled_back":
            yield from self._rolled_back(_source_id(line), count_of(payload.get("num_turns")), at)
        elif kind not in _SCREEN_EVENTS and not kind.endswith(_SCREEN_ENDS):
            yield Unknown(line.number, f"event {kind or 'without type'}")

    def _usage(self, info: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        last = object_of(info.get("last_token_usage"))
        window = count_of(info.get("model_context_window")) or None
        usage = _usage_of(last, window)
        if not usage.input_tokens:
            if window:
                yield Meta(window=window)
            return
        key, total = _call_key(info), count_of(_totals(info).get("input_tokens"))
        if key in self._calls:
            return
        self._calls.add(key)
        self._record = {}
        self._tokens = usage.input_tokens + usage.output_tokens
        missed = bool(self._total) and total - self._total > usage.input_tokens
        self._ahead = not self._asked
        input_end = self._input_end if self._ahead else self._asked[-1 if missed else 0]
        self._asked, self._total = [], total
        yield UsageReport(usage, at, f"{key}{self._after}", self._meta.model, "", input_end)

    # Messages

    def _item(self, line: Line, item: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        source_id = _source_id(line)
        message = self._items.message(item, source_id)
        if message is None:
            return
        if isinstance(message, str):
            yield Unknown(line.number, message)
            return
        missing = list(unread(item))
        yield from (Unknown(line.number, field) for field in missing)
        if not message.parts:
            if not missing and not is_empty(item):
                yield Unknown(line.number, f"{text_of(item.get('type')) or 'message'} without content")
            return
        summary = text_of(item.get("type")) in COMPACTION_ITEMS or _is_summary(message)
        kind: EntryKind = "compaction_summary" if summary else "message"
        turns = turns_of(item)
        yield self._entry(_New(message, turns, kind, line.data), source_id, at)
        yield from self._meta.first_words(None if self._is_inherited else turns.words)

    def _entry(self, new: _New, source_id: str, at: datetime | None) -> Entry:
        message = new.message
        if message.role == "assistant":
            if self._group is None:
                self._group = f"call {source_id}"
                self._asked += [] if self._ahead else [self._input_end]
        else:
            self._group, self._input_end, self._ahead = None, source_id, False
            if message.role != "tool":
                self._asked = []
        before = self._live[-1].source_id if self._live else None
        self._live.append(_Live(source_id, message, new.turns))
        model = self._meta.model if message.role == "assistant" else None
        return Entry(message, source_id, before, self._group, at, model, kind=new.kind, raw=new.raw)

    def _bare(self, line: Line, row: dict[str, Any]) -> Iterator[Record]:
        """Yield the records of a row without envelope: an item, or the facts at the top of the file."""
        at = when(row.get("timestamp") or row.get("created_at"))
        if "type" in row or "role" in row:
            yield from self._turn(row)
            yield from self._item(line, row, at)
        elif "id" in row and "timestamp" in row and self._own_id is None:
            self._own_id = text_of(row.get("id"))
            cwd, version = optional(row.get("cwd")), optional(row.get("cli_version"))
            yield from self._meta.changed(cwd=cwd, version=version)
        elif "record_type" not in row:
            yield Unknown(line.number, "row without type")

    # Changes of the context

    def _rolled_back(self, source_id: str, turns: int, at: datetime | None) -> Iterator[Record]:
        left = rolled_back([one.turns for one in self._live], turns)
        if left is None:
            return
        self._live = self._live[:left]
        yield self._went_back(source_id, at)

    def _went_back(self, source_id: str, at: datetime | None) -> Rewind:
        """Return a rewind to the last message of the context, before which a call may have been unfinished."""
        self._group, self._asked = None, []
        inputs = (one.source_id for one in reversed(self._live) if one.message.role != "assistant")
        self._input_end = next(inputs, None)
        to = self._live[-1].source_id if self._live else None
        return Rewind(to, source_id, at, "", tuple(one.source_id for one in self._live))

    def _summarised(self, line: Line, payload: dict[str, Any], at: datetime | None) -> Iterator[UsageReport]:
        """Yield the usage of the call that wrote a compaction's summary, if a row before it has that."""
        call = text_of(payload.get("compaction_response_id"))
        usage = _usage_of(object_of(self._record.get("usage")))
        if call and call == self._record.get("response_id") and usage.input_tokens:
            name = f"compaction {_source_id(line)}"
            yield UsageReport(usage, at, name, self._meta.model, apart=True)

    def _compacted(self, line: Line, payload: dict[str, Any], at: datetime | None) -> Iterator[Record]:
        source_id, summary = _source_id(line), text_of(payload.get("message"))
        history = payload.get("replacement_history")
        unknown: list[Record] = []
        if not summary:
            missing = lacking(payload, "replacement_history", kind="compacted")
            unknown += (Unknown(line.number, field) for field in missing)
        if isinstance(history, list):
            messages = self._replacement(line, history, unknown)
        else:
            messages = self._kept_by_older(summary)
        known: dict[Message, list[str]] = {}
        for one in self._live:
            known.setdefault(one.message, []).append(one.source_id)
        self._live, self._group, before = [], None, self._tokens
        entries: list[Entry] = []
        for number, new in enumerate(messages):
            ids = known.get(new.message) if new.kind == "message" else None
            name = ids.pop(0) if ids else f"{source_id}.{number}"
            entries.append(self._entry(new, name, at))
        self._group, self._tokens, self._asked = None, None, []
        yield from unknown
        trigger = text_of(payload.get("trigger")) or "unknown"
        unreadable = any(e.kind == "compaction_summary" and not e.message.text for e in entries)
        yield Compaction(at, trigger, before, source_id, tuple(entries), unreadable=unreadable)

    def _replacement(self, line: Line, history: list[Any], unknown: list[Record]) -> list[_New]:
        """Return the items of a new history; add those that cannot be used to `unknown`."""
        found: list[_New] = []
        for number, item in enumerate(map(object_of, history)):
            message = self._items.message(item, f"{_source_id(line)}.{number}")
            if isinstance(message, Message):
                unknown += [Unknown(line.number, f"in a new history: {field}") for field in unread(item)]
            if isinstance(message, Message) and message.parts:
                summary = text_of(item.get("type")) in COMPACTION_ITEMS
                kind: EntryKind = "compaction_summary" if summary else "message"
                found.append(_New(message, turns_of(item), kind, dumps(item).encode()))
            elif message is not None and not is_empty(item):
                fault = message if isinstance(message, str) else "message without content"
                unknown.append(Unknown(line.number, f"in a new history: {fault}"))
        if all(new.kind == "message" for new in found):
            last = next((n for n in range(len(found) - 1, -1, -1) if _is_summary(found[n].message)), None)
            if last is not None:
                found[last] = found[last]._replace(kind="compaction_summary")
        return found

    def _kept_by_older(self, summary: str) -> list[_New]:
        """Return the context after a compaction that only names its summary: instructions, user messages, summary."""
        left, kept = _KEPT_CHARS, list[_New]()
        for _, message, turns in reversed(self._live):
            instructions = message.role == "system" or message.name == REMINDER
            if instructions or (turns.words is not None and left > 0):
                kept.append(_New(message, turns))
                left -= 0 if instructions else len(turns.words or "")
        kept.reverse()
        if summary:
            message = Message("user", (Text(summary),), REMINDER)
            kept.append(_New(message, Turns(begins=True), "compaction_summary"))
        return kept


def _readable(path: Path, lines: Iterator[Line]) -> Iterator[Line | Problem]:
    """Yield the lines of another rollout as far as it can be read, then the problem, if any."""
    try:
        yield from lines
    except OSError as error:
        yield Problem(None, f"{path.name} {reason_of(error)}; shown without that", used=True)


def _source_id(line: Line) -> str:
    return f"{line.number}-{digest(line.data, 6)}"


def _is_summary(message: Message) -> bool:
    """Return whether a message of a new history is Codex's summary, by its introduction."""
    return message.role == "user" and message.text.startswith(SUMMARY_START)


def _usage_of(said: dict[str, Any], window: int | None = None) -> Usage:
    return Usage(
        count_of(said.get("input_tokens")),
        count_of(said.get("output_tokens")),
        count_of(said.get("cached_input_tokens")),
        count_of(said.get("cache_write_input_tokens")),
        count_of(said.get("reasoning_output_tokens")),
        window,
    )


def _totals(info: dict[str, Any]) -> dict[str, Any]:
    """Return the running totals of a usage report; the first ones can be those of the call alone."""
    return object_of(info.get("total_token_usage")) or object_of(info.get("last_token_usage"))


def _call_key(info: dict[str, Any]) -> str:
    """Return what identifies the call of a usage report: the running totals with it."""
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    return "total " + "/".join(str(count_of(_totals(info).get(name))) for name in names)


def _unread_usage(payload: dict[str, Any], info: dict[str, Any]) -> Iterator[str]:
    """Yield the required fields that a usage report lacks."""
    yield from lacking(payload, "info", kind="token_count")
    if info:
        yield from lacking(info, "last_token_usage", kind="token_count")
    if last := object_of(info.get("last_token_usage")):
        yield from uncounted_input(last, "input_tokens")


def _time_in(turn: str) -> int | None:
    """Return the milliseconds since 1970 in a UUID of version 7; None if it is not one."""
    parts = turn.split("-")
    if len(parts) != 5 or not parts[2].startswith("7"):
        return None
    try:
        return int(parts[0] + parts[1], 16)
    except ValueError:
        return None
