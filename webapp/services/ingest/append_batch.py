"""AppendBatch: entries to be written to the log. It computes everything first and writes nothing until `write`.

A batch is prepared for one version of a session, outside any transaction, because counting tokens takes long;
the caller checks before writing that the version is unchanged. Entries of one group become one message,
counted once, after the last entry of the group in the batch. The cost depends on the batch alone, never on
the session.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.history import Features
from scoring.messages import REMINDER, Message, Text
from scoring.tokens import calibration
from webapp.agents.reading.rows import short_title
from webapp.agents.records import Entry, UsageReport
from webapp.services.ingest.call_reports import CallReports, ReportedCall, unsure_tokens
from webapp.services.ingest.open_messages import OpenMessage, OpenMessages
from webapp.services.ingest.remembered_windows import remember_marker
from webapp.services.session.cards import read_card
from webapp.services.session.codec import storable, wire_bytes
from webapp.services.session.measuring import region_of, starts_turn
from webapp.services.session.replacements import sent_tokens
from webapp.services.session.session import Session, SessionContext
from webapp.services.session.times import latest, to_ms
from webapp.store.context import PRUNED
from webapp.store.indexed_text import indexed
from webapp.store.log import EntryRow, MessageRow, entry_id, parts_text
from webapp.store.usage import Sample

# If the model is named only after the first messages, at most this many of them are counted again.
RECOUNTED = 64
NOTICE = "notice"
OPENING_CHARS = 40


class AppendBatch:
    """Entries to append to one session, which is changed in memory as they are added."""

    def __init__(self, session: Session) -> None:
        self.session, self.row, self.state = session, session.row, session.state
        self._store = session.environment.store
        # A clock that is ahead must not make a session current for years.
        self._now = session.environment.clock()
        self._factor = session.model_row.token_factor
        self.base_version = session.version
        self._redactor = session.environment.redactor
        session.own_calibration_only = True
        self.entries: list[EntryRow] = []
        self.messages: dict[int, MessageRow] = {}
        self.placed: list[tuple[int, int]] = []
        self.fresh: list[tuple[int, Features]] = []
        self.changed: list[int] = []
        self.samples: list[Sample] = []
        self.reports = CallReports(session)
        self.met_again: set[int] = set()
        # Positions in the pruned view whose replacement text no longer applies.
        self._restored: set[int] = set()
        self._words: list[tuple[int, str]] = []
        self._open = OpenMessages(session, self.entries, self.messages)
        self._sources: dict[str, tuple[int, int]] = {}
        self._tools: dict[str, str] = {}

    # -- taking entries in

    def add(self, entries: Sequence[Entry]) -> AppendBatch:
        """Add entries; those whose source id is in the log already are skipped."""
        named = (name for e in entries for name in (e.source_id, e.supersedes))
        wanted = {name for name in named if name}
        self._sources.update(self._store.log.known(self.row.key, sorted(wanted)))
        for entry in entries:
            if entry.source_id is not None and entry.source_id in self._sources:
                self.met_again.add(self._sources[entry.source_id][1])
                if entry.usage is not None:
                    self.reports.add_output(entry.call_key, entry.usage)
            else:
                if not self._open.has(entry.group):
                    self.close_all()  # results can come between the entries of an answer, which is reopened then
                self._take(entry)
        return self

    def notice(self, source_id: str | None, text: str, at: int | None) -> None:
        """Add a log entry that is not a message: a compaction, a rewind."""
        row = EntryRow(
            seq=self.row.next_seq, id=b"", message_no=0, source_id=source_id, parent=None, group=None,
            kind=NOTICE, role="system", name="", parts=parts_text(Message("system", (Text(text),))), raw=None,
            format=None, at=at, model=None, supersedes=None,
        )  # fmt: skip
        self._chain(row)

    def _take(self, entry: Entry) -> None:
        redacted, raw = self._redacted(entry)
        message, parts = storable(redacted)
        self.state.add_unwritten(entry, self.session.counter, self._factor)
        replaced = self._sources.get(entry.supersedes) if entry.supersedes else None
        opened = self._open.of(entry, replaced[1] if replaced else None)
        seq = self.row.next_seq
        raw, wire_format = (raw, None) if entry.raw else wire_bytes(redacted)
        if not entry.raw and raw is not None and self._redactor is not None:
            raw = self._redactor.redact_bytes(raw)
        self.state.stored += len(parts) + len(raw or b"")
        row = EntryRow(
            seq=seq, id=b"", message_no=opened.no, source_id=entry.source_id, parent=entry.parent,
            group=entry.group, kind=entry.kind, role=message.role, name=message.name, parts=parts, raw=raw,
            format=wire_format, at=to_ms(entry.at), model=entry.model,
            supersedes=replaced[0] if replaced else None,
        )  # fmt: skip
        self._chain(row)
        opened.entry_id = opened.entry_id or row.id
        opened.last_seq, opened.last_source = seq, entry.source_id or opened.last_source
        if replaced:
            opened.by_seq.pop(replaced[0], None)
        opened.by_seq[seq] = message
        opened.model = entry.model or opened.model
        if entry.usage is not None:
            opened.usage = opened.usage.merged(entry.usage) if opened.usage else entry.usage
            opened.call_key = entry.call_key or entry.source_id
        self._words.append((seq, indexed(message)))
        if entry.group is None:
            self._close(opened)

    def _redacted(self, entry: Entry) -> tuple[Message, bytes | None]:
        """Return an entry's message and row, with credentials redacted if that is configured."""
        if self._redactor is None:
            return entry.message, entry.raw
        message, found = self._redactor.redact_message(entry.message)
        for kind, count in found.items():
            self.state.redacted[kind] = self.state.redacted.get(kind, 0) + count
        return message, self._redactor.redact_bytes(entry.raw) if entry.raw else None

    def _chain(self, row: EntryRow) -> None:
        row.id = entry_id(self.row.last_entry_id, row)
        self.row.last_entry_id = row.id
        self.row.next_seq += 1
        if row.source_id is not None:
            self._sources[row.source_id] = (row.seq, row.message_no)
        if row.at is not None:
            self.row.last_activity_at = latest(self.row.last_activity_at, row.at, self._now)
        self.entries.append(row)

    def count_again(self) -> None:
        """Count the first messages again, now that the model, and so the tokenizer, is known."""
        first = range(1, self.row.next_no)
        if len(first) > RECOUNTED:
            return
        sources: dict[str | None, int] = {}
        for no in first:
            opened = self._open.reopened(no)
            if opened is not None:
                self._close(opened)
                sources[opened.last_source] = no
        size = self.session.main.estimate - sum(m.tokens for m in self.messages.values())
        for source, no in sources.items():
            size += self.messages[no].tokens
            if source in self.state.ends:
                self.state.ends[source][0] = size

    # -- finishing messages

    def close_all(self) -> AppendBatch:
        """Finish every message that is still open."""
        for opened in self._open.finished():
            self._close(opened)
        return self

    def _close(self, opened: OpenMessage) -> None:
        message = opened.message()
        session = self.session
        if opened.no == 1 and not self.state.opening:
            self.state.opening = opening_of(message)
        named = self._tool_names(message)
        measured = session.environment.measure(message, session.counter, session.lexicon, named)
        for call in message.calls:
            self._tools[call.id] = call.name
        if not self.row.followed:
            self.state.note_calls(message)
            self.state.note_thoughts(message)
        old, features = opened.old, measured.features
        self.state.count(features, old.features if old else None)
        if old is None and starts_turn(message, opened.kind):
            self.row.turns += 1
            self.state.remember_turn(self.session.main.tokens)
            self.row.title = self.row.title or short_title(message.text)
        # The parts of an answer are messages in a row where its agent does not say which belong together.
        if (
            old is None
            and opened.role == "assistant"
            and message.name != REMINDER
            and not opened.inherited
            and (opened.group or self.state.last_role != "assistant")
        ):
            self.state.count_call(opened.estimate_before)
        self.messages[opened.no] = MessageRow(
            no=opened.no, role=opened.role, kind=opened.kind, tokens=features.tokens, chars=features.chars,
            features=measured.features_text, card=measured.card, is_error=int(measured.is_error),
            pinned=old.pinned if old else 0, drop_first=old.drop_first if old else 0,
            turn=old.turn if old else self.row.turns, first_seq=opened.first_seq, last_seq=opened.last_seq,
            group_key=opened.group, at=opened.at, id=opened.entry_id,
            out_operation=old.out_operation if old else None,
        )  # fmt: skip
        self._place(opened, features)
        if opened.role == "assistant":
            self.state.answered += features.tokens - (old.tokens if old else 0)
        if not self.row.followed:
            self.state.unsure += unsure_tokens(session, message)
        if opened.inherited:
            self.state.inherited = max(self.state.inherited, opened.no)
        self._learn(opened, features.tokens)
        self.state.expect(self.state.unwritten.waiting(self._factor))
        self.state.last_role, self.state.tools_open = opened.role, bool(message.calls)
        self.state.remember_end(opened.last_source, self.session.main.estimate)
        self._sample(opened)

    def _place(self, opened: OpenMessage, features: Features) -> None:
        region, old = region_of(opened.role, opened.kind), opened.old
        if old is None:
            self.placed.append((opened.first_seq, opened.no))
            self.fresh.append((opened.no, features))
        else:
            self.changed.append(opened.no)
        for context in self.session.contexts:
            if old is None:
                context.count(region, features.tokens, 1)
            elif (before := self._cost_before(context, opened, old)) is not None:
                context.count(region, features.tokens - before, 0)

    def _cost_before(self, context: SessionContext, opened: OpenMessage, old: MessageRow) -> int | None:
        """Return the tokens of a message in a context so far, None if it is not there; drop its replacement text."""
        if any(no == opened.no for _, no in reversed(self.placed)):
            return old.tokens
        item = self._store.contexts.at(self.row.key, context.view, [opened.first_seq]).get(opened.first_seq)
        if item is None or item.replacement is None or opened.first_seq in self._restored:
            return None if item is None else old.tokens
        self._restored.add(opened.first_seq)
        return sent_tokens(old, item.replacement)

    def _tool_names(self, message: Message) -> dict[str, str]:
        unknown = {r.call_id for r in message.results if not r.name} - self._tools.keys()
        for row in reversed(self._open.recent()) if unknown else ():
            for call in read_card(row.card).get("calls", ()):
                self._tools.setdefault(call["id"], call["name"])
            if unknown <= self._tools.keys():
                break
        return self._tools

    # -- usage

    def _learn(self, opened: OpenMessage, tokens: int) -> None:
        state = self.state
        if opened.usage is not None and opened.call_key is not None:
            self.reports.add(
                ReportedCall(
                    key=opened.call_key,
                    usage=opened.usage,
                    at=opened.at,
                    model=opened.model,
                    before=opened.estimate_before,
                    own=tokens,
                    no=opened.no,
                    inherited=opened.inherited,
                )
            )
            state.absorbing = False
        elif opened.role != "assistant":
            state.absorbing = False
        elif state.absorbing:
            more = tokens - (opened.old.tokens if opened.old else 0)
            state.calibration = calibration.absorbed(state.calibration, more)

    def add_report(self, report: UsageReport) -> None:
        """Add usage reported apart from a message, compared with the estimate after the last input it covers."""
        self.close_all()
        session, state = self.session, self.state
        if report.apart:
            self.reports.add_apart(report)
            return
        known = self._store.usage.reported_at(session.key, report.call_key) is not None
        if known or report.call_key in self.reports.calls:
            return
        now = session.main.estimate
        before, answered = state.ends.get(report.input_end or "", (now, state.answered))
        self.reports.add(
            ReportedCall(
                key=report.call_key,
                usage=report.usage,
                at=to_ms(report.at),
                model=report.model,
                before=before,
                own=max(0, state.answered - answered),
                no=self.row.next_no - 1,
            )
        )
        state.absorbing = state.last_role == "assistant" or before == now

    def _sample(self, opened: OpenMessage) -> None:
        grown = opened.old is not None
        if grown and self.state.sampled != opened.no:
            return
        pruned = self.session.pruned.tokens
        agent = self.session.agent.tokens if self.session.agent is not None else None
        number = self.row.next_sample - grown
        self.samples.append(Sample(number, opened.at, opened.no, agent, pruned))
        self.row.next_sample, self.state.sampled = number + 1, opened.no
        self.state.remember_gauge(pruned if agent is None else agent, grown=grown)

    # -- writing

    @property
    def empty(self) -> bool:
        """Return True if there is nothing to write."""
        return not self.entries and not self.reports.calls and not self.messages

    def write(self) -> None:
        """Write everything, the session with a new version, inside the caller's transaction."""
        remember_marker(self.session)
        store, key = self._store, self.row.key
        store.log.add_entries(key, self.entries)
        store.log.put_messages(key, self.messages.values())
        for context in self.session.contexts:
            store.contexts.add(key, context.view, self.placed)
        store.contexts.set_replacements(key, PRUNED, ((position, None) for position in self._restored))
        store.usage.put_calls(key, self.reports.own_calls())
        store.usage.add_samples(key, self.samples)
        store.words.add(key, self._words)
        self.session.touch()
        self.session.save()


def opening_of(message: Message) -> str:
    """Return how a session begins: the first words to the agent, or a note that its transcript has none."""
    return message.text[:OPENING_CHARS] if message.role != "assistant" else "an answer"
