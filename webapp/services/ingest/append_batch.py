"""AppendBatch: entries to be written to the log. It computes everything first and writes nothing until `write`.

A batch is prepared for one version of a session, outside any transaction, because counting tokens takes long;
the caller checks before writing that the version is unchanged. Entries of one group become one message,
counted once, after the last entry of the group in the batch. The cost depends on the batch alone, never on
the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scoring.history import Features
from scoring.messages import Media, Message, Reasoning, Text
from scoring.models import largest_call
from scoring.tokens import calibration, part_tokens
from webapp.agents import AGENTS
from webapp.agents.reading.rows import short_title
from webapp.agents.records import Entry, Usage
from webapp.services.ingest.open_messages import Open, OpenMessages
from webapp.services.ingest.windows import remember_marker
from webapp.services.session.cards import read_card
from webapp.services.session.codec import storable, wire_bytes
from webapp.services.session.measuring import region_of, starts_turn
from webapp.services.session.replacements import cost
from webapp.services.session.session import Session, SessionContext
from webapp.services.session.times import to_ms
from webapp.store.context import PRUNED
from webapp.store.indexed_text import indexed
from webapp.store.log import EntryRow, MessageRow, entry_id, parts_text
from webapp.store.usage import INFERENCE, CallRow, Sample

# If the model is named only after the first messages, at most this many of them are counted again.
RECOUNTED = 64
NOTICE = "notice"
OPENING_CHARS = 40


class Clearing(NamedTuple):
    """Real input that left the agent's context before a call, as its usage shows.

    `no` is the message of its answer. `tokens` left, `real` stayed. `fell`: less was sent than
    with the previous call; otherwise less than expected. `factor` is the session's factor then.
    """

    no: int
    tokens: int
    real: int
    fell: bool
    at: int | None
    factor: float


class AppendBatch:
    """Entries to append to one session, which is changed in memory as they are added."""

    def __init__(self, session: Session) -> None:
        self.session, self.row, self.state = session, session.row, session.state
        self._store = session.environment.store
        # A clock that is ahead must not make a session current for years, or its cache warm.
        self._now = session.environment.clock()
        self._limits = session.model_row
        self._factor = self._limits.token_factor
        self.base_version = session.version
        self._redactor = session.environment.redactor
        session.own_calibration_only = True
        self.entries: list[EntryRow] = []
        self.messages: dict[int, MessageRow] = {}
        self.placed: list[tuple[int, int]] = []
        self.fresh: list[tuple[int, Features]] = []
        self.changed: list[int] = []
        self.samples: list[Sample] = []
        self.calls: dict[str, CallRow] = {}
        # call -> what its last report says was cleared before it; None takes back what an earlier report said
        self.clearings: dict[str, Clearing | None] = {}
        self.already = 0
        self._restored: set[int] = (
            set()
        )  # positions in the pruned view whose replacement text no longer applies
        self._words: list[tuple[int, str]] = []
        self._open = OpenMessages(session, self.entries, self.messages)
        self._sources: dict[str, tuple[int, int]] = {}
        self._tools: dict[str, str] = {}
        self._group_ends: dict[str, int] = {}

    # -- taking entries in

    def add(self, entries: Sequence[Entry]) -> AppendBatch:
        """Add entries; those whose source id is in the log already are skipped."""
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
                for opened in self._open.finished(entry.group):
                    self._close(opened)
        return self

    def notice(self, source_id: str | None, text: str, at: int | None) -> None:
        """Add a log entry that is not a message: a compaction, a rewind."""
        row = EntryRow(
            self.row.next_seq, b"", 0, source_id, None, None, NOTICE, "system", "",
            parts_text(Message("system", (Text(text),))), None, None, at, None, None,
        )  # fmt: skip
        self._chain(row)

    def _take(self, entry: Entry) -> None:
        said, raw = self._redacted(entry)
        message, parts = storable(said)
        self.state.take(entry, self.session.counter, self._factor)
        replaced = self._sources.get(entry.supersedes) if entry.supersedes else None
        opened = self._open.of(entry, replaced[1] if replaced else None)
        seq = self.row.next_seq
        raw, wire_format = (raw, None) if entry.raw else wire_bytes(said)
        if not entry.raw and raw is not None and self._redactor is not None:
            raw = self._redactor.redact_bytes(raw)
        self.state.stored += len(parts) + len(raw or b"")
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
            self.row.last_activity_at = max(self.row.last_activity_at, min(row.at, self._now))
        self.entries.append(row)

    def _seen_again(self, entry: Entry) -> None:
        """Copy a larger output of the call from a row that is known already."""
        call = self.calls.get(entry.call_key or "")
        if call is not None and entry.usage is not None and entry.usage.output_tokens > call.output_tokens:
            self.calls[call.call_key] = call._replace(output_tokens=entry.usage.output_tokens)

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

    def _close(self, opened: Open) -> None:
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
            and (opened.group or self.state.last_role != "assistant")
        ):
            self.state.called(opened.estimate_before)
        self.messages[opened.no] = MessageRow(
            opened.no, opened.role, opened.kind, features.tokens, features.chars, measured.features_text, measured.card,
            int(measured.is_error), old.pinned if old else 0, old.drop_first if old else 0,
            old.turn if old else self.row.turns, opened.first_seq, opened.last_seq, opened.group, opened.at,
            opened.entry_id, old.out_operation if old else None,
        )  # fmt: skip
        self._place(opened, features)
        if opened.role == "assistant":
            self.state.answered += features.tokens - (old.tokens if old else 0)
        self.state.unsure += self._unsure(message)
        self._learn(opened, features.tokens)
        self.state.expect(self.state.unwritten.waiting(self._factor))
        self.state.last_role, self.state.tools_open = opened.role, bool(message.calls)
        self.state.remember_end(opened.last_source, self.session.main.estimate)
        self._sample(opened)

    def _place(self, opened: Open, features: Features) -> None:
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

    def _cost_before(self, context: SessionContext, opened: Open, old: MessageRow) -> int | None:
        """Return the tokens of a message in a context so far, None if it is not there; drop its replacement text."""
        if any(no == opened.no for _, no in reversed(self.placed)):
            return old.tokens
        item = self._store.contexts.at(self.row.key, context.view, [opened.first_seq]).get(opened.first_seq)
        if item is None or item.replacement is None or opened.first_seq in self._restored:
            return None if item is None else old.tokens
        self._restored.add(opened.first_seq)
        return cost(old, item.replacement)

    def _tool_names(self, message: Message) -> dict[str, str]:
        unknown = [r.call_id for r in message.results if not r.name and r.call_id not in self._tools]
        if unknown:
            for row in self._open.recent():
                self._tools.update({c["id"]: c["name"] for c in read_card(row.card).get("calls", ())})
        return self._tools

    # -- usage

    def _learn(self, opened: Open, tokens: int) -> None:
        state = self.state
        if opened.usage is not None and opened.call_key is not None:
            self.report(
                opened.usage, opened.call_key, opened.at, opened.model, opened.estimate_before, tokens, opened.no
            )  # fmt: skip
            state.absorbing = False
        elif opened.role != "assistant":
            state.absorbing = False
        elif state.absorbing:
            more = tokens - (opened.old.tokens if opened.old else 0)
            state.calibration = calibration.absorbed(state.calibration, more)

    def report(
        self, usage: Usage, call_key: str, at: int | None, model: str | None, before: int, own: int, no: int
    ) -> None:
        """Add the real usage of a call: its context was `before` estimated tokens, its answer `own`, in message `no`.

        A further report of the same call counts instead of the one before it.
        """
        if (most := max(usage.input_tokens, usage.output_tokens)) > largest_call(self.session.model_row):
            self.state.put_aside(call_key, most)
            return
        self.state.expect(self.state.unwritten.asked)
        said, _ = calibration.total(self.session.calibration_with_others, before)
        if call_key not in self.calls:
            self.calls[call_key] = CallRow(
                call_key, self.row.next_seq, at, model, usage.input_tokens, usage.output_tokens, usage.cached_tokens,
                usage.cache_write_tokens, usage.reasoning_tokens, said, usage.cache_write_hour_tokens,
                service_tier=usage.tier,
            )  # fmt: skip
        self.state.awaiting = False
        self._bill(usage, call_key, at, own)
        self.row.window = usage.window or self.row.window
        sent = usage.sent_tokens
        if sent > 0 and not self.row.followed and self.state.sums_up(sent, self.row.next_sample):
            self.state.put_aside(call_key, sent)
            return
        before_call, real = calibration.until(self.state.calibration, call_key, sent)
        if real <= 0 or before_call is None:
            if before_call is None:
                self._observe(usage, call_key, model, before, own)
            return
        verdict, lost = calibration.judged(
            before_call, real, before, self._surely_sent(before),
            steady=not self.row.followed, whole=usage.whole, model=model or self.row.model or "",
            least_share=self.session.least_share if self.state.answered <= own else calibration.STEADY_SHARE,
        )  # fmt: skip
        if verdict == "false":
            self.state.put_aside(call_key, usage.sent_tokens)
            return
        self.state.believe(call_key)
        self.state.largest = max(self.state.largest, usage.sent_tokens)
        self._observe(usage, call_key, model, before, own, learns=verdict == "true")
        if self.row.source in AGENTS:
            clearing = Clearing(no, lost, real, verdict == "fell", at, before_call.factor)
            self._clear(call_key, clearing if verdict != "true" else None)

    def _clear(self, call_key: str, clearing: Clearing | None) -> None:
        """Note what a call's report says was cleared, which counts instead of what an earlier report of it said."""
        if clearing is not None or call_key in self.clearings or call_key == self.state.cleared_call:
            self.clearings[call_key] = clearing

    def _bill(self, usage: Usage, call_key: str, at: int | None, own: int) -> None:
        """Note what the cost depends on: the size of a partly reported answer, and how long the cache lives."""
        state, known = self.state, self.state.calibration
        must = 0 if calibration.is_believed(known, usage.answer_tokens, own) else round(known.factor * own)
        self.calls[call_key] = self.calls[call_key]._replace(answer_tokens=must)
        for number, one in enumerate(usage.extra_inferences, 1):
            name = f"{INFERENCE} {number} of {call_key}"
            self.calls[name] = CallRow(
                name, self.row.next_seq, at, one.model or None, one.input_tokens, one.output_tokens, one.cached_tokens,
                one.cache_write_tokens, 0, None, one.cache_write_hour_tokens, service_tier=usage.tier,
            )  # fmt: skip
        state.called_at = max(state.called_at, min(at or 0, self._now))
        if usage.cache_write_tokens:
            state.cached_for_hour = usage.cache_write_hour_tokens > 0

    def _observe(
        self, usage: Usage, call_key: str, model: str | None, before: int, own: int, learns: bool = True
    ) -> None:
        known = self.state.calibration
        self.state.calibration = calibration.observe(
            known, usage.sent_tokens, usage.answer_tokens, before, own, call=call_key,
            model=model or self.row.model or "", learns=learns,
        )  # fmt: skip
        now = self.state.calibration
        if now.calls == 1 and (not known.known or now.unseen != known.unseen):
            self.state.first_call(now.unseen - known.unseen, self.row.next_sample)

    def _surely_sent(self, before: int) -> int:
        """Return the part of an estimated context that is sent for certain.

        Agents take tool outputs out by themselves, providers the thoughts of earlier turns; an image may take less than
        its estimate.
        """
        unsure = self.session.main.region("tool") if self.row.followed else self.state.unsure
        return max(0, before - unsure)

    def _unsure(self, message: Message) -> int:
        """Return the estimated tokens of reasoning and media in a message of a managed session."""
        if self.row.followed:
            return 0
        results = (result for result in message.results if result.media)
        unsure = [
            *(part for part in message.parts if isinstance(part, Reasoning | Media)),
            *(medium for result in results for medium in result.media),
        ]
        return sum(part_tokens(part, self.session.counter) for part in unsure)

    def _sample(self, opened: Open) -> None:
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
        return not self.entries and not self.calls and not self.messages

    def write(self) -> None:
        """Write everything, the session with a new version, inside the caller's transaction."""
        remember_marker(self.session)
        store, key = self._store, self.row.key
        store.log.add_entries(key, self.entries)
        store.log.put_messages(key, self.messages.values())
        for context in self.session.contexts:
            store.contexts.add(key, context.view, self.placed)
        store.contexts.set_replacements(key, PRUNED, ((position, None) for position in self._restored))
        store.usage.put_calls(key, self.calls.values())
        store.usage.add_samples(key, self.samples)
        store.words.add(key, self._words)
        self.session.touch()
        self.session.save()


def opening_of(message: Message) -> str:
    """Return how a session begins: the first words to the agent, or a note that its transcript has none."""
    return message.text[:OPENING_CHARS] if message.role != "assistant" else "an answer"
