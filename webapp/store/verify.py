"""Checks the store and reports faults; repairs nothing.

It checks the file, the seals of every table, the hash chain of every log, the assignment of entries to messages, that
every message is in the context or marked as removed by an operation that records it, the pairs that our operations must
keep, every reference, the word index, and the totals.

The message of an entry is not part of its hash; it has to follow from the group and the replacement, which are. Pairs
in an agent's own context are not checked, because the agent decides what to leave out. Each fault is one line that says
what and where. A value that cannot be read is a fault like any other, and ends only the check of its part. Rows are
read in batches.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson

from scoring.counted import counted
from webapp.errors import StoreError
from webapp.store.context import AGENT, MESSAGE, PRUNED, REGIONS_BESIDE, Contexts
from webapp.store.engine import Engine
from webapp.store.indexed_text import indexed
from webapp.store.log import ID_BYTES, EntryRow, Log, MessageRow, entry_id
from webapp.store.operations import Operations
from webapp.store.parts import EVERYWHERE, PARTS, Part
from webapp.store.sessions import SessionRow, Sessions
from webapp.store.summaries import Summaries

BATCH = 1_000
# Errors that using a damaged value raises; reading it can raise a StoreError too.
BROKEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)
UNREADABLE = (StoreError, *BROKEN)
# The ids of a message's calls, and of the calls that its results answer.
Links = tuple[tuple[str, ...], tuple[str, ...]]


def faults_of_store(db: Engine) -> Iterator[str]:
    """Yield every fault in the store, inside the caller's `read()`."""
    yield from _guarded("the file", db.faults())
    names: dict[int, str] = {}  # of the sessions by number, with the markers of deleted ones
    try:
        names.update(db.each("SELECT key, id FROM sessions ORDER BY key"))
    except UNREADABLE as error:
        yield _unreadable("the sessions", error)
    for part in PARTS:
        yield from _guarded(part.table, _sealed(db, part, names))
    yield from _guarded("the rows", _orphans(db))
    yield from _guarded("the index of words of memories", _memory_words(db))
    sessions = Sessions(db)
    for session in names:
        row = sessions.by_key(session)
        if row.deleted_at is None:
            yield from faults_of(db, row)


def faults_of(db: Engine, row: SessionRow) -> Iterator[str]:
    """Yield the faults of one session, except those of its seals."""
    log, contexts, summaries = Log(db), Contexts(db), Summaries(db)
    entries: Counter[int] = Counter()
    checks = {
        "its own row": iter(row.damaged),
        "its log": _chain(log, row, entries),
        "its messages": _messages(log, row, entries),
        "its summaries": _summaries(summaries, row),
        "its operations": _operations(log, Operations(db), row),
        "its index of words": _words(db, log, row),
    }
    for view in (AGENT, PRUNED) if row.followed else (PRUNED,):
        checks["its " + _name(view)] = _view(log, contexts, row, view)
    for what, check in checks.items():
        yield from (f"session {row.id}: {fault}" for fault in _guarded(what, check))


def _guarded(what: str, check: Iterator[str]) -> Iterator[str]:
    """Yield the faults that a check finds; a check that cannot continue is a fault itself."""
    try:
        yield from check
    except UNREADABLE as error:
        yield _unreadable(what, error)


def _unreadable(what: str, error: Exception) -> str:
    return f"{what} cannot be read: {' '.join(str(error).split()) or type(error).__name__}"


def _sealed(db: Engine, part: Part, names: dict[int, str]) -> Iterator[str]:
    """Yield each part of a session that differs from its seal."""
    stored = dict(db.rows("SELECT session, value FROM seals WHERE part = ? AND value != 0", (part.name,)))
    found = {session: value for (session, _), value in db.seals_of(part).items()}
    for session in sorted({*stored, *found}):
        if stored.get(session) == found.get(session):
            continue
        if session == EVERYWHERE:
            yield f"{part.subject} changed from outside"
        elif session in names:
            yield f"session {names[session]}: {part.subject} changed from outside"
        else:
            yield f"a session was taken out from outside (number {session}): {part.subject} there"


def _orphans(db: Engine) -> Iterator[str]:
    """Yield rows that belong to no session."""
    for part in PARTS:
        of = part.session.format("")
        if part.name in ("sessions", "flags") or of == str(EVERYWHERE):
            continue
        for session, count in db.each(
            f"SELECT {of}, count(*) FROM {part.table} WHERE {of} NOT IN (SELECT key FROM sessions) GROUP BY 1"
        ):
            yield f"{part.table} has {counted(count, 'row')} of session number {session}, which does not exist"


def _chain(log: Log, row: SessionRow, entries: Counter[int]) -> Iterator[str]:
    """Yield entries whose id does not follow from the one before; count the `entries` of each message."""
    before: bytes | None = None
    expected = 0
    for start in range(0, row.next_seq, BATCH):
        for entry in log.entries(row.key, start, start + BATCH - 1):
            if entry.seq != expected:
                yield f"entry {expected} is missing"
                expected = entry.seq
            if len(entry.id) != ID_BYTES or entry_id(before, entry) != entry.id:
                yield f"entry {entry.seq} is not what was written (its hash differs)"
            if entry.supersedes is not None and entry.supersedes >= entry.seq:
                yield f"entry {entry.seq} supersedes a later one"
            if not 0 <= entry.message_no < row.next_no:
                yield f"entry {entry.seq} belongs to message {entry.message_no}, which does not exist"
            entries[entry.message_no] += 1
            before, expected = entry.id, entry.seq + 1
    if expected != row.next_seq:
        yield f"the log ends at entry {expected}, expected {row.next_seq}"
    elif before != row.last_entry_id:
        yield "the last entry is not the one that the session names"


def _messages(log: Log, row: SessionRow, entries: Counter[int]) -> Iterator[str]:
    """Yield messages with missing or wrong entries."""
    for start in range(1, row.next_no, BATCH):
        nos = range(start, min(start + BATCH, row.next_no))
        found = log.messages(row.key, nos)
        for no in nos:
            message = found.get(no)
            if message is None:
                yield f"message {no} is missing"
                continue
            own = [e for e in log.entries(row.key, message.first_seq, message.last_seq) if e.message_no == no]
            if not own:
                yield f"message {no} has no entries"
            elif not _fits(message, own) or len(own) != entries[no]:
                yield f"message {no} does not fit its entries"
            elif stranger := _stranger(own):
                yield f"entry {stranger.seq} has no part in its message ({no})"


def _fits(message: MessageRow, own: Sequence[EntryRow]) -> bool:
    """Return True if the derived row matches these entries."""
    ends = (message.first_seq, message.last_seq, message.id) == (own[0].seq, own[-1].seq, own[0].id)
    return ends and message.role == own[0].role


def _stranger(own: Sequence[EntryRow]) -> EntryRow | None:
    """Return the first entry that is neither of the message's group nor supersedes one of its entries."""
    groups, seqs = {own[0].group} - {None}, {own[0].seq}
    for entry in own[1:]:
        if entry.group not in groups and entry.supersedes not in seqs:
            return entry
        groups |= {entry.group} - {None}
        seqs.add(entry.seq)
    return None


def _view(log: Log, contexts: Contexts, row: SessionRow, view: int) -> Iterator[str]:
    """Yield misplaced items, wrong totals, messages missing from a pruned view, and separated pairs."""
    name = _name(view)
    tokens = 0
    linked: dict[int, Links] = {}
    everything = contexts.items(row.key, view)
    items = [item for item in everything if item.kind == MESSAGE]
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        found = log.messages(row.key, [item.ref for item in some])
        for item in some:
            message = found.get(item.ref)
            if message is None:
                yield f"the {name} refers to message {item.ref}, which does not exist"
                continue
            if message.first_seq != item.position:
                yield f"message {item.ref} stands at the wrong place of the {name}"
            if view == PRUNED and message.out_operation is not None:
                yield f"message {item.ref} is in the {name} and marked as out of it"
            tokens += (
                orjson.loads(item.replacement)["tokens"] if item.replacement is not None else message.tokens
            )
            linked[item.ref] = _links(message)
    tokens += contexts.summary_tokens(row.key, view)
    kept = contexts.totals(row.key)[view]
    said = sum(t for region, (t, _) in kept.items() if region not in REGIONS_BESIDE)
    if said != tokens:
        yield f"the totals of the {name} say {counted(said, 'token')}, its messages have {tokens:,}"
    messages = sum(count for _, count in kept.values())
    if messages != len(everything):
        yield f"the totals of the {name} say {counted(messages, 'message')}, it has {len(everything):,}"
    if view == PRUNED:
        for no in sorted(
            {*log.numbers(row.key, newest_first=False, out=False)} - {item.ref for item in items}
        ):
            yield f"message {no} is neither in the {name} nor marked as out of it"
        yield from _torn(log, row, linked)


def _name(view: int) -> str:
    return "agent's context" if view == AGENT else "context"


def _operations(log: Log, operations: Operations, row: SessionRow) -> Iterator[str]:
    """Yield operations whose items do not match their counts, and messages removed without a live operation."""
    known = operations.all(row.key)
    outs: dict[int, set[int]] = {}
    for one in known:
        items = operations.items(row.key, one.n)
        counts = Counter(item.change for item in items)
        for change, name, noted in (
            ("out", "removed", one.facts.removed),
            ("shortened", "shortened", one.facts.shortened),
        ):
            if noted is not None and counts[change] != noted:
                yield (
                    f"operation {one.n} {name} {noted} messages, its record has "
                    f"{counts[change]}: an undo would bring back no more"
                )
        if one.undone_at is None:
            outs[one.n] = {item.no for item in items if item.change == "out"}
    if len(known) != row.operations or (known and known[0].n >= row.next_operation):
        yield f"it had {row.operations} operations, the record has {len(known)}"
    nos = log.numbers(row.key, newest_first=False, out=True)
    for start in range(0, len(nos), BATCH):
        for no, message in log.messages(row.key, nos[start : start + BATCH]).items():
            if no not in outs.get(message.out_operation or 0, ()):
                yield (
                    f"message {no} is out of the context by operation {message.out_operation}, "
                    "which does not say so"
                )


def _words(db: Engine, log: Log, row: SessionRow) -> Iterator[str]:
    """Yield entries whose words are missing in the index, and words without an entry."""
    there = db.words.numbers(row.key)
    missing = 0
    for start in range(0, row.next_seq, BATCH):
        for entry in log.entries(row.key, start, start + BATCH - 1):
            said = entry.message_no > 0 and indexed(entry.message)
            if said and entry.seq not in there:
                missing += 1
            if said:
                there.discard(entry.seq)
    if missing:
        yield f"the index of words lacks {missing:,} entries; a search does not find them"
    if there:
        yield f"the index of words has {counted(len(there), 'row')} that the log does not have"


def _memory_words(db: Engine) -> Iterator[str]:
    """Yield memories and learnings whose words are missing in their index, and words without a text."""
    known = {key for (key,) in db.each("SELECT id FROM memories")}
    there = db.words.memories()
    if known != there:
        yield (
            f"the index of words of memories lacks {len(known - there):,} and has {len(there - known):,} that do not "
            "exist; a search does not find them"
        )


def _links(message: MessageRow) -> Links:
    """Return the ids of the calls of a message, and of those that its results answer."""
    features = orjson.loads(message.features)
    return tuple(features.get("calls", ())), tuple(features.get("results", ()))


def _torn(log: Log, row: SessionRow, inside: Mapping[int, Links]) -> Iterator[str]:
    """Yield calls and results in the context whose partner was removed by one of our operations.

    If an id is used again, a result belongs to the latest call of that id.
    """
    outside, removed = dict[int, Links](), list[int]()
    for no in log.numbers(row.key, newest_first=False, out=True):
        message = log.message(row.key, no)
        if message is not None and no not in inside:
            outside[no] = _links(message)
            if log.removed_by_us(row.key, message):
                removed.append(no)
    calls = _by_id({no: made for no, (made, _) in (*inside.items(), *outside.items())})
    answers = _by_id({no: answered for no, (_, answered) in inside.items()})

    def is_answered(call_id: str, call: int) -> bool:
        after = bisect_right(calls[call_id], call)
        until = calls[call_id][after] if after < len(calls[call_id]) else row.next_no
        given = answers.get(call_id, [])
        return bisect_left(given, until) > bisect_right(given, call)

    for no in removed:
        made, answered = map(set, outside[no])
        for call_id in answered:
            before = bisect_left(calls.get(call_id, []), no)
            if before and (call := calls[call_id][before - 1]) in inside and not is_answered(call_id, call):
                yield f"the call {call_id} is in the context, its result (message {no}) is not"
        for call_id in made:
            if is_answered(call_id, no):
                yield f"a result of {call_id} is in the context, its call (message {no}) is not"


def _by_id(messages: Mapping[int, Iterable[str]]) -> dict[str, list[int]]:
    """Return the numbers of the messages that name each id, in order."""
    found: dict[str, list[int]] = {}
    for no in sorted(messages):
        for call_id in messages[no]:
            found.setdefault(call_id, []).append(no)
    return found


def _summaries(summaries: Summaries, row: SessionRow) -> Iterator[str]:
    """Yield summaries that cover something missing or newer, and items without a row."""
    rows = summaries.all(row.key)
    known = {summary.n for summary in rows}
    for summary in rows:
        for kind, ref in summary.covers:
            if kind == MESSAGE and not 0 < ref < row.next_no:
                yield f"summary {summary.n} covers message {ref}, which does not exist"
            elif kind != MESSAGE and (ref not in known or ref >= summary.n):
                yield f"summary {summary.n} covers summary {ref}, which is not before it"
    for n in summaries.active_numbers(row.key):
        if n not in known:
            yield f"summary {n} stands in the context and does not exist"
