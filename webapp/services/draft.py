"""A batch of entries on its way into the log: everything is worked out here, nothing is written but by `write`.

A draft is made for one version of a session, outside any transaction, because counting tokens takes long; whoever
writes it checks that the version still holds. Entries of one group become one message: its tokens are counted when
its last entry of the batch is in, once. The cost of a draft depends on the batch alone, never on the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from scoring import calibration
from scoring.features import Features
from scoring.messages import Message, Text
from webapp.services.cards import searchable
from webapp.services.clock import to_ms
from webapp.services.measure import Measure, region_of, starts_turn, title_of
from webapp.services.plain import storable, wire_bytes
from webapp.services.stand_ins import cost
from webapp.services.state import Carried, save_progress
from webapp.services.windows import narrow, widen
from webapp.store import Store
from webapp.store.context import AGENT, PRUNED
from webapp.store.figures import CallRow, Sample
from webapp.store.log import EntryRow, MessageRow, entry_id, parts_text
from webapp.store.sessions import SessionRow
from webapp.transcripts import unwritten
from webapp.transcripts.records import Entry, Usage

# How far back a message may still get entries of its group, in messages.
GROUP_REACH = 64
# A model that is named later than after so many messages counts from there on.
RECOUNTED = 64
NOTICE = "notice"


@dataclass(slots=True)
class Open:
    """A message that is being put together."""

    no: int
    first_seq: int
    kind: str
    role: str
    group: str | None
    at: int | None
    estimate_before: int
    said: dict[int, Message] = field(default_factory=dict)
    last_seq: int = 0
    usage: Usage | None = None
    call_key: str | None = None
    model: str | None = None
    last_source: str | None = None
    entry_id: bytes = b""
    old: MessageRow | None = None

    def message(self) -> Message:
        """All that was said, as one message."""
        said = [self.said[seq] for seq in sorted(self.said)]
        return (
            Message(said[0].role, tuple(p for m in said for p in m.parts), said[0].name)
            if said[1:]
            else said[0]
        )


Totals = dict[int, dict[str, tuple[int, int]]]


class Draft:
    """Entries for one session, worked out on top of `row` and `totals` (both are changed as it goes)."""

    def __init__(self, store: Store, row: SessionRow, totals: Totals, measure: Measure, now: int) -> None:
        self._store, self._measure, self._now = store, measure, now
        self.row, self.totals = row, totals
        self.base_version = row.version
        self.carried = Carried.from_dict(row.state)
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
        self._open: dict[str, Open] = {}
        self._sources: dict[str, tuple[int, int]] = {}
        self._recent: list[MessageRow] | None = None
        self._tools: dict[str, str] = {}
        self._group_ends: dict[str, int] = {}

    # -- taking entries in

    def add(self, entries: Sequence[Entry]) -> Draft:
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
            if entry.group is not None and self._group_ends[entry.group] == i and entry.group in self._open:
                self._close(self._open.pop(entry.group))
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
        target = self._target(entry)
        seq = self.row.next_seq
        raw, wire_format = (entry.raw, None) if entry.raw else wire_bytes(entry.message)
        replaced = self._sources.get(entry.supersedes or "")
        row = EntryRow(
            seq, b"", target.no, entry.source_id, entry.parent, entry.group, entry.kind, message.role, message.name,
            parts, raw, wire_format, to_ms(entry.at), entry.model, replaced[0] if replaced else None,
        )  # fmt: skip
        self._chain(row)
        target.entry_id = target.entry_id or row.id
        target.last_seq, target.last_source = seq, entry.source_id or target.last_source
        if replaced:
            target.said.pop(replaced[0], None)
        target.said[seq] = message
        target.model = entry.model or target.model
        if entry.usage is not None:
            target.usage, target.call_key = (
                _larger(target.usage, entry.usage),
                entry.call_key or entry.source_id,
            )
        self._words.append((seq, searchable(message)))
        if entry.group is None:
            self._close(target)

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

    # -- finding the message an entry belongs to

    def _target(self, entry: Entry) -> Open:
        if entry.supersedes in self._sources:
            found = self._reopened(self._sources[entry.supersedes][1])
            if found is not None:
                return self._keep_open(entry, found)
        if entry.group is not None:
            if entry.group in self._open:
                return self._open[entry.group]
            old = next((m for m in reversed(self._recent_rows()) if m.group_key == entry.group), None)
            if old is not None and (found := self._reopened(old.no)) is not None:
                return self._keep_open(entry, found)
        before = self.estimate()
        if entry.group is not None:
            before = self.carried.group_before(entry.group, before)
        at, role = to_ms(entry.at), entry.message.role
        opened = Open(self.row.next_no, self.row.next_seq, entry.kind, role, entry.group, at, before)
        self.row.next_no += 1
        return self._keep_open(entry, opened)

    def _keep_open(self, entry: Entry, opened: Open) -> Open:
        if entry.group is not None:
            self._open[entry.group] = opened
        return opened

    def _reopened(self, no: int) -> Open | None:
        """A message that is complete already, taken up again with all its entries."""
        waiting = next((o for o in self._open.values() if o.no == no), None)
        if waiting is not None:
            return waiting
        old = self.messages.get(no) or self._store.log.message(self.row.key, no)
        if old is None:
            return None
        stored = self._store.log.entries_of(self.row.key, old) if old.first_seq < self._first_seq() else []
        own = [e for e in self.entries if e.message_no == no]
        replaced = {e.supersedes for e in own}
        said = {e.seq: e.message for e in [*stored, *own] if e.seq not in replaced}
        before = max(0, self.estimate() - old.tokens)
        if old.group_key is not None:
            before = self.carried.group_before(old.group_key, before)
        source = stored[-1].source_id if stored else None
        return Open(no, old.first_seq, old.kind, old.role, old.group_key, old.at, before, said, old.last_seq,
                    last_source=source, entry_id=old.id, old=old)  # fmt: skip

    def _first_seq(self) -> int:
        return self.entries[0].seq if self.entries else self.row.next_seq

    def _recent_rows(self) -> list[MessageRow]:
        if self._recent is None:
            next_no = min(self.messages, default=self.row.next_no)
            self._recent = self._store.log.last_messages(self.row.key, next_no, GROUP_REACH)
        return [*self._recent, *(self.messages[no] for no in list(self.messages)[-GROUP_REACH:])]

    def recount(self) -> None:
        """Counts the first messages again, now that the session's model is known: it decides how they count."""
        first = range(1, self.row.next_no)
        if len(first) > RECOUNTED:
            return
        sources: dict[str | None, int] = {}
        for no in first:
            opened = self._reopened(no)
            if opened is not None:
                self._close(opened)
                sources[opened.last_source] = no
        size = self.estimate() - sum(m.tokens for m in self.messages.values())
        for source, no in sources.items():
            size += self.messages[no].tokens
            if source in self.carried.ends:
                self.carried.ends[source] = size

    # -- finishing messages

    def close_all(self) -> Draft:
        """Finishes every message that is still open."""
        for group in list(self._open):
            self._close(self._open.pop(group))
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
            for row in self._recent_rows():
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
