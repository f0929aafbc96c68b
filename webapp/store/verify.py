"""Proves the store: the hash chain of every log, every reference, the pairs of every context, and the totals.

Each fault is one line that says what, where. Reads in batches; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from webapp.store.context import AGENT, MESSAGE, PRUNED, REGIONS_BESIDE, Contexts
from webapp.store.log import ID_BYTES, Log, entry_id
from webapp.store.sessions import SessionRow
from webapp.store.summaries import Summaries

BATCH = 1_000


def faults_of(log: Log, contexts: Contexts, summaries: Summaries, row: SessionRow) -> Iterator[str]:
    """What is wrong with one session; nothing where it is sound."""
    yield from _chain(log, row)
    yield from _messages(log, row)
    for view in (AGENT, PRUNED) if row.followed else (PRUNED,):
        yield from _view(log, contexts, row, view)
    yield from _summaries(summaries, row)


def _chain(log: Log, row: SessionRow) -> Iterator[str]:
    """Recomputes every entry's id from the one before it."""
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
            before, expected = entry.id, entry.seq + 1
    if expected != row.next_seq:
        yield f"session {row.id}: the log ends at entry {expected}, expected {row.next_seq}"
    elif before != row.last_entry_id:
        yield f"session {row.id}: the last entry is not the one that the session names"


def _messages(log: Log, row: SessionRow) -> Iterator[str]:
    """Every message has entries, and every entry of a message has a message."""
    for start in range(1, row.next_no, BATCH):
        nos = range(start, min(start + BATCH, row.next_no))
        found = log.messages(row.key, nos)
        for no in nos:
            message = found.get(no)
            if message is None:
                yield f"session {row.id}: message {no} is missing"
                continue
            own = log.entries_of(row.key, message)
            if not own:
                yield f"session {row.id}: message {no} has no entries"
            elif log.entry(row.key, message.first_seq) is None or message.role != own[0].role:
                yield f"session {row.id}: message {no} does not fit its entries"


def _view(log: Log, contexts: Contexts, row: SessionRow, view: int) -> Iterator[str]:
    """Items refer to messages at their place, calls and results stand together, totals are the sums."""
    name = "agent's context" if view == AGENT else "context"
    tokens = 0
    open_calls: set[str] = set()
    answered: set[str] = set()
    items = [item for item in contexts.items(row.key, view) if item.kind == MESSAGE]
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
    if view == PRUNED:
        yield from _torn(log, row, {item.ref for item in items}, open_calls, answered)


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
