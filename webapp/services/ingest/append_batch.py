"""A batch of entries on its way into the log: everything is worked out here, nothing is written but by `write`.

A draft is made for one version of a session, outside any transaction, because counting tokens takes long; whoever
writes it checks that the version still holds. Entries of one group become one message: its tokens are counted when
its last entry of the batch is in, once. The cost of a draft depends on the batch alone, never on the session.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from scoring.history import Features
from scoring.messages import Message, Text
from scoring.tokens import calibration
from webapp.agents.claude_code import unwritten
from webapp.agents.records import Entry, Usage
from webapp.services.ingest.open_messages import Open, OpenMessages
from webapp.services.ingest.windows import narrow, widen
from webapp.services.session.codec import storable, wire_bytes
from webapp.services.session.measuring import Measure, region_of, starts_turn, title_of
from webapp.services.session.replacements import cost
from webapp.services.session.state import SessionState, save_progress
from webapp.services.session.times import to_ms
from webapp.store import Store
from webapp.store.context import AGENT, PRUNED
from webapp.store.indexed_text import indexed
from webapp.store.log import EntryRow, MessageRow, entry_id, parts_text
from webapp.store.sessions import SessionRow
from webapp.store.usage import CallRow, Sample

# A model that is named later than after so many messages counts from there on.
RECOUNTED = 64
NOTICE = "notice"


Totals = dict[int, dict[str, tuple[int, int]]]


class AppendBatch:
    """Entries for one session, worked out on top of `row` and `totals` (both are changed as it goes)."""

    def __init__(self, store: Store, row: SessionRow, totals: Totals, measure: Measure, now: int) -> None:
        self._store, self._measure, self._now = store, measure, now
        self.row, self.totals = row, totals
        self.base_version = row.version
        self.carried = SessionState.from_dict(row.state)
        self.carried.begin(measure.begun)
        self.views = (AGENT, PRUNED) if row.followed else (PRUNED,)
        self.main_view = self.views[0]
        self.entries: list[EntryRow] = []
        self.messages: dict[int, MessageRow] = {}
        self.placed: list[tuple[int, int]] = []
        self.fresh: list[tuple[int, Features]] = []
        self.changed: list[int] = []
        self.samples: list[Sample] = []
        self.calls: dict[str, CallRow] = {}
        self.already = 0
        self.noted = False
        self._whole: set[int] = set()  # places in the pruned view where no stand-in fits any more
        self._words: list[tuple[int, str]] = []
        self._openings = OpenMessages(store, row, self.carried, self.entries, self.messages, self.estimate)
        self._sources: dict[str, tuple[int, int]] = {}
        self._tools: dict[str, str] = {}
        self._group_ends: dict[str, int] = {}

    # -- taking entries in

    def add(self, entries: Sequence[Entry]) -> AppendBatch:
        """Takes a batch in; entries whose source id the log holds are passed over."""
        named = (name for e in entries for name in (e.source_id, e.supersedes))
        wanted = {name for name in named if name}
        self._sources.update(self._store.log.known(self.row.key, sorted(wanted)))
        self._group_ends = {e.group: i for i, e in enumerate(entries) if e.group is not None}
        for i, entry in enumerate(entries):
            if entry.source_id is not None and entry.source_id in self._sources:
                self.already += 1
                self._seen_again(entry)
            else:
                self._take(entry)
            if entry.group is not None and self._group_ends[entry.group] == i:
                for opened in self._openings.finished(entry.group):
                    self._close(opened)
        return self

    def notice(self, source_id: str | None, text: str, at: int | None) -> None:
        """Puts a fact into the log that is no message: a compaction, a rewind."""
        row = EntryRow(
            self.row.next_seq, b"", 0, source_id, None, None, NOTICE, "system", "",
            parts_text(Message("system", (Text(text),))), None, None, at, None, None,
        )  # fmt: skip
        self._chain(row)

    def _take(self, entry: Entry) -> None:
        message, parts = storable(entry.message)
        if self.row.source == unwritten.SOURCE:
            self.carried.take(entry, self._measure.counter, self._measure.factor)
        replaced = self._sources.get(entry.supersedes) if entry.supersedes else None
        opened = self._openings.of(entry, replaced[1] if replaced else None)
        seq = self.row.next_seq
        raw, wire_format = (entry.raw, None) if entry.raw else wire_bytes(entry.message)
        row = EntryRow(
            seq, b"", opened.no, entry.source_id, entry.parent, entry.group, entry.kind, message.role, message.name,
            parts, raw, wire_format, to_ms(entry.at), entry.model, replaced[0] if replaced else None,
        )  # fmt: skip
        self._chain(row)
        opened.entry_id = opened.entry_id or row.id
        opened.last_seq, opened.last_source = seq, entry.source_id or opened.last_source
        if replaced:
            opened.said.pop(replaced[0], None)
        opened.said[seq] = message
        opened.model = entry.model or opened.model
        if entry.usage is not None:
            opened.usage, opened.call_key = (
                _larger(opened.usage, entry.usage),
                entry.call_key or entry.source_id,
            )
        self._words.append((seq, indexed(message)))
        if entry.group is None:
            self._close(opened)

    def _chain(self, row: EntryRow) -> None:
        row.id = entry_id(self.row.last_entry_id, row)
        self.row.last_entry_id = row.id
        self.row.next_seq += 1
        if row.source_id is not None:
            self._sources[row.source_id] = (row.seq, row.message_no)
        if row.at is not None:
            self.row.last_activity_at = max(self.row.last_activity_at, row.at)
        self.entries.append(row)

    def _seen_again(self, entry: Entry) -> None:
        """A known row may still say that its call's output was larger."""
        call = self.calls.get(entry.call_key or "")
        if call is not None and entry.usage is not None and entry.usage.output_tokens > call.output_tokens:
            self.calls[call.call_key] = call._replace(output_tokens=entry.usage.output_tokens)

    def count_again(self) -> None:
        """Counts the first messages again, now that the session's model is known: it decides how they count."""
        first = range(1, self.row.next_no)
        if len(first) > RECOUNTED:
            return
        sources: dict[str | None, int] = {}
        for no in first:
            opened = self._openings.reopened(no)
            if opened is not None:
                self._close(opened)
                sources[opened.last_source] = no
        size = self.estimate() - sum(m.tokens for m in self.messages.values())
        for source, no in sources.items():
            size += self.messages[no].tokens
            if source in self.carried.ends:
                self.carried.ends[source] = size

    # -- finishing messages

    def close_all(self) -> AppendBatch:
        """Finishes every message that is still open."""
        for opened in self._openings.finished():
            self._close(opened)
        return self

    def _close(self, opened: Open) -> None:
        message = opened.message()
        measured = self._measure(message, self._tool_names(message))
        for call in message.calls:
            self._tools[call.id] = call.name
        old, features = opened.old, measured.features
        self.carried.count(features, old.features if old else None)
        if old is None and starts_turn(message, opened.kind):
            self.row.turns += 1
            self.carried.remember_turn(self.gauge(self.main_view))
            self.row.title = self.row.title or title_of(message)
        self.messages[opened.no] = MessageRow(
            opened.no, opened.role, opened.kind, features.tokens, features.chars, measured.features_text, measured.card,
            int(measured.is_error), old.pinned if old else 0, old.drop_first if old else 0,
            old.turn if old else self.row.turns, opened.first_seq, opened.last_seq, opened.group, opened.at,
            opened.entry_id, old.out_operation if old else None,
        )  # fmt: skip
        self._place(opened, features)
        self._learn(opened, features.tokens)
        self.carried.expect(self.carried.unwritten.waiting(self._measure.factor))
        self.carried.last_role, self.carried.tools_open = opened.role, bool(message.calls)
        self.carried.remember_end(opened.last_source, self.estimate())
        self._sample(opened)

    def _place(self, opened: Open, features: Features) -> None:
        region, old = region_of(opened.role, opened.kind), opened.old
        if old is None:
            self.placed.append((opened.first_seq, opened.no))
            self.fresh.append((opened.no, features))
        else:
            self.changed.append(opened.no)
        for view in self.views:
            if old is None:
                self._count(view, region, features.tokens, 1)
            elif (before := self._stood(view, opened, old)) is not None:
                self._count(view, region, features.tokens - before, 0)

    def _stood(self, view: int, opened: Open, old: MessageRow) -> int | None:
        """What a message cost in a view so far, None where it is out; what stood for it stands for it no more."""
        if any(no == opened.no for _, no in reversed(self.placed)):
            return old.tokens
        item = self._store.contexts.at(self.row.key, view, [opened.first_seq]).get(opened.first_seq)
        if item is None or item.stand_in is None or opened.first_seq in self._whole:
            return None if item is None else old.tokens
        self._whole.add(opened.first_seq)
        return cost(old, item.stand_in)

    def _count(self, view: int, region: str, tokens: int, messages: int) -> None:
        before = self.totals[view].get(region, (0, 0))
        self.totals[view][region] = (before[0] + tokens, before[1] + messages)

    def _tool_names(self, message: Message) -> dict[str, str]:
        unknown = [r.call_id for r in message.results if not r.name and r.call_id not in self._tools]
        if unknown:
            for row in self._openings.recent():
                self._tools.update({c["id"]: c["name"] for c in orjson.loads(row.card).get("calls", ())})
        return self._tools

    # -- figures

    def estimate(self) -> int:
        """Estimated tokens of the context that real usage speaks of."""
        return sum(tokens for tokens, _ in self.totals[self.main_view].values())

    def gauge(self, view: int) -> int:
        """The size of a view in tokens, real where it is known."""
        main, _ = calibration.total(self.carried.calibration, self.estimate())
        if view == self.main_view:
            return main
        other = sum(tokens for tokens, _ in self.totals[view].values())
        return max(0, round(main - self.carried.calibration.factor * (self.estimate() - other)))

    def _learn(self, opened: Open, tokens: int) -> None:
        carried = self.carried
        if opened.usage is not None and opened.call_key is not None:
            self.report(
                opened.usage, opened.call_key, opened.at, opened.model, opened.estimate_before, tokens
            )
            carried.absorbing = False
        elif opened.role != "assistant":
            carried.absorbing = False
        elif carried.absorbing:
            self._absorb(tokens - (opened.old.tokens if opened.old else 0))

    def _absorb(self, tokens: int) -> None:
        known = self.carried.calibration
        self.carried.calibration = calibration.absorbed(known, tokens)

    def report(
        self, usage: Usage, call_key: str, at: int | None, model: str | None, before: int, own: int
    ) -> None:
        """Real usage of a call that was made with a context of `before` estimated tokens and answered with `own`."""
        self.carried.expect(self.carried.unwritten.asked)
        said, _ = calibration.total(self.carried.calibration, before)
        if call_key not in self.calls:
            self.calls[call_key] = CallRow(
                call_key, self.row.next_seq, at, model, usage.input_tokens, usage.output_tokens, usage.cached_tokens,
                usage.cache_write_tokens, usage.reasoning_tokens, said,
            )  # fmt: skip
        if usage.window and usage.window > (self.row.window or 0):
            self.row.window = usage.window
        self.noted = widen(self.row, self._measure.limits, usage.input_tokens) or self.noted
        if usage.input_tokens > 0:
            known = self.carried.calibration
            self.carried.calibration = calibration.observe(
                known, usage.input_tokens, usage.output_tokens, before, own, call=call_key, model=model or ""
            )

    def compacted_at(self, tokens: int) -> None:
        """The agent compacted by itself at so many tokens, which tells the window it ran with."""
        calls = [*self._store.figures.calls(self.row.key), *self.calls.values()]
        most = max((call.input_tokens for call in calls), default=0)
        self.noted = narrow(self.row, self._measure.limits, tokens, most) or self.noted

    def _sample(self, opened: Open) -> None:
        if opened.old is not None:
            return
        view = self.gauge(PRUNED)
        agent = self.gauge(AGENT) if self.row.followed else None
        self.samples.append(Sample(self.row.next_sample, opened.at, opened.no, agent, view))
        self.row.next_sample += 1
        self.carried.remember_gauge(view if agent is None else agent)

    # -- writing

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.entries and not self.calls and not self.messages

    def write(self) -> None:
        """Writes everything, inside the caller's transaction, and counts the session's version up."""
        store, row = self._store, self.row
        row.version += 1
        row.state = self.carried.to_dict()
        store.log.add_entries(row.key, self.entries)
        store.log.put_messages(row.key, self.messages.values())
        for view in self.views:
            store.contexts.add(row.key, view, self.placed)
            store.contexts.put_totals(row.key, view, self.totals[view])
        store.contexts.set_stand_ins(row.key, PRUNED, ((position, None) for position in self._whole))
        store.figures.put_calls(row.key, self.calls.values())
        store.figures.add_samples(row.key, self.samples)
        store.words.add(row.key, self._words)
        if self.noted:
            store.sessions.update(row.key, notes=row.notes)
        save_progress(store, row)


def _larger(a: Usage | None, b: Usage) -> Usage:
    return b if a is None or b.output_tokens >= a.output_tokens else a
