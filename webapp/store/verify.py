"""Checks the store: the hash chain of every log, which entries form which message, that every message is in the
context or marked as out of it, the pairs that our operations must keep, every reference, and the totals.

Which message an entry belongs to is not in its hash: it has to follow from group and replacement, which are. In an
agent's own context nothing is said of pairs, because what the agent leaves out is not ours. Each fault is one line
that says what, where. Reads in batches; nothing is repaired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import orjson

from webapp.store.context import AGENT, MESSAGE, PRUNED, REGIONS_BESIDE, Contexts
from webapp.store.log import ID_BYTES, EntryRow, Log, MessageRow, entry_id
from webapp.store.sessions import SessionRow
from webapp.store.summaries import Summaries

BATCH = 1_000


def faults_of(log: Log, contexts: Contexts, summaries: Summaries, row: SessionRow) -> Iterator[str]:
    """What is wrong with one session; nothing where it is sound."""
    entries: Counter[int] = Counter()
    yield from _chain(log, row, entries)
    yield from _messages(log, row, entries)
    for view in (AGENT, PRUNED) if row.followed else (PRUNED,):
        yield from _view(log, contexts, row, view)
    yield from _summaries(summaries, row)


def _chain(log: Log, row: SessionRow, entries: Counter[int]) -> Iterator[str]:
    """Recomputes every entry's id from the one before it; counts the `entries` of each message."""
    before: bytes | None = None
    expected = 0
    for start in range(0, row.next_seq, BATCH):
        for entry in log.entries(row.key, start, start + BATCH - 1):
            if entry.seq != expected:
                yield f"session {row.id}: entry {expected} is missing"
                expected = entry.seq
            if len(entry.id) != ID_BYTES or entry_id(before, entry) != entry.id:
                yield f"session {row.id}: entry {entry.seq} is not what was written (its hash differs)"
            if entry.supersedes is not None and entry.supersedes >= entry.seq:
                yield f"session {row.id}: entry {entry.seq} supersedes a later one"
            if not 0 <= entry.message_no < row.next_no:
                yield (
                    f"session {row.id}: entry {entry.seq} belongs to message {entry.message_no}, which does not exist"
                )
            entries[entry.message_no] += 1
            before, expected = entry.id, entry.seq + 1
    if expected != row.next_seq:
        yield f"session {row.id}: the log ends at entry {expected}, expected {row.next_seq}"
    elif before != row.last_entry_id:
        yield f"session {row.id}: the last entry is not the one that the session names"


def _messages(log: Log, row: SessionRow, entries: Counter[int]) -> Iterator[str]:
    """Every message has its entries, all of them, and they belong together."""
    for start in range(1, row.next_no, BATCH):
        nos = range(start, min(start + BATCH, row.next_no))
        found = log.messages(row.key, nos)
        for no in nos:
            message = found.get(no)
            if message is None:
                yield f"session {row.id}: message {no} is missing"
                continue
            own = [e for e in log.entries(row.key, message.first_seq, message.last_seq) if e.message_no == no]
            if not own:
                yield f"session {row.id}: message {no} has no entries"
            elif not _fits(message, own) or len(own) != entries[no]:
                yield f"session {row.id}: message {no} does not fit its entries"
            elif stranger := _stranger(own):
                yield f"session {row.id}: entry {stranger.seq} has no part in its message ({no})"


def _fits(message: MessageRow, own: Sequence[EntryRow]) -> bool:
    """Whether the derived row is that of these entries."""
    ends = (message.first_seq, message.last_seq, message.id) == (own[0].seq, own[-1].seq, own[0].id)
    return ends and message.role == own[0].role


def _stranger(own: Sequence[EntryRow]) -> EntryRow | None:
    """The first entry that is neither of the message's group nor takes the place of one of its entries."""
    groups, seqs = {own[0].group} - {None}, {own[0].seq}
    for entry in own[1:]:
        if entry.group not in groups and entry.supersedes not in seqs:
            return entry
        groups |= {entry.group} - {None}
        seqs.add(entry.seq)
    return None


def _view(log: Log, contexts: Contexts, row: SessionRow, view: int) -> Iterator[str]:
    """Items refer to messages at their place, totals are the sums; nothing is lost from a pruned view, or torn."""
    name = "agent's context" if view == AGENT else "context"
    tokens = 0
    open_calls: set[str] = set()
    answered: set[str] = set()
    everything = contexts.items(row.key, view)
    items = [item for item in everything if item.kind == MESSAGE]
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        found = log.messages(row.key, [item.ref for item in some])
        for item in some:
            message = found.get(item.ref)
            if message is None:
                yield f"session {row.id}: the {name} refers to message {item.ref}, which does not exist"
                continue
            if message.first_seq != item.position:
                yield f"session {row.id}: message {item.ref} stands at the wrong place of the {name}"
            if view == PRUNED and message.out_operation is not None:
                yield f"session {row.id}: message {item.ref} is in the {name} and marked as out of it"
            tokens += orjson.loads(item.stand_in)["tokens"] if item.stand_in is not None else message.tokens
            features = orjson.loads(message.features)
            answered.update(features.get("results", ()))
            open_calls.update(features.get("calls", ()))
    tokens += contexts.summary_tokens(row.key, view)
    kept = contexts.totals(row.key)[view]
    said = sum(t for region, (t, _) in kept.items() if region not in REGIONS_BESIDE)
    if said != tokens:
        yield f"session {row.id}: the totals of the {name} say {said} tokens, its messages have {tokens}"
    counted = sum(count for _, count in kept.values())
    if counted != len(everything):
        yield f"session {row.id}: the totals of the {name} say {counted} messages, it has {len(everything)}"
    if view == PRUNED:
        inside = {item.ref for item in items}
        for no in sorted({*log.numbers(row.key, newest_first=False, out=False)} - inside):
            yield f"session {row.id}: message {no} is neither in the {name} nor marked as out of it"
        yield from _torn(log, row, inside, open_calls, answered)


def _torn(log: Log, row: SessionRow, inside: set[int], calls: set[str], results: set[str]) -> Iterator[str]:
    """Calls or results in the context whose partner is in the log but was taken out by one of our operations."""
    for no in log.numbers(row.key, newest_first=False, out=True):
        message = log.message(row.key, no)
        if message is None or no in inside or not log.ours(row.key, message):
            continue
        features = orjson.loads(message.features)
        for call_id in {*features.get("results", ())} & calls - results:
            yield f"session {row.id}: the call {call_id} is in the context, its result (message {no}) is not"
        for call_id in {*features.get("calls", ())} & results - calls:
            yield f"session {row.id}: a result of {call_id} is in the context, its call (message {no}) is not"


def _summaries(summaries: Summaries, row: SessionRow) -> Iterator[str]:
    """Every summary covers what exists and what is older than itself, and each that stands has a row."""
    rows = summaries.all(row.key)
    known = {summary.n for summary in rows}
    for summary in rows:
        for kind, ref in summary.covers:
            if kind == MESSAGE and not 0 < ref < row.next_no:
                yield f"session {row.id}: summary {summary.n} covers message {ref}, which does not exist"
            elif kind != MESSAGE and (ref not in known or ref >= summary.n):
                yield f"session {row.id}: summary {summary.n} covers summary {ref}, which is not before it"
    for n in summaries.standing_numbers(row.key):
        if n not in known:
            yield f"session {row.id}: summary {n} stands in the context and does not exist"
