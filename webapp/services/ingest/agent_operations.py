"""What an agent does to its own context: compactions and rewinds. The log stays; both views change; it is history.

A compaction or rewind is an operation by the agent that cannot be undone, and a barrier for undoing what was before
it. It is noted in the log, so that reading the same file again does not do it twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from scoring.tokens import calibration
from webapp.agents.records import Compaction, Rewind
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.session.changes import SUMMARY_IN, SUMMARY_OUT
from webapp.services.session.measuring import region_of
from webapp.services.session.replacements import cost
from webapp.services.session.times import to_ms
from webapp.store import Store
from webapp.store.context import MESSAGE, PRUNED, REGIONS_BESIDE, Item
from webapp.store.log import MessageRow
from webapp.store.operations import ItemRow, OperationRow
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow


def turn_id(record: Compaction | Rewind) -> str | None:
    """The source id under which the log notes a compaction or rewind."""
    kind = "compaction" if isinstance(record, Compaction) else "rewind"
    return f"{kind}:{record.source_id}" if record.source_id is not None else None


def turn(store: Store, draft: AppendBatch, record: Compaction | Rewind, now: int) -> OperationRow:
    """Applies a compaction or rewind, inside the caller's transaction. `draft` is empty but for its figures."""
    row = draft.row
    if isinstance(record, Compaction) and record.trigger == "auto" and record.tokens_before:
        draft.compacted_at(record.tokens_before)
    before, main_before = draft.gauge(PRUNED), draft.gauge(draft.main_view)
    staying = _staying(store, row, record)
    summaries = _turn_summaries(store, row, staying)
    leaving: dict[int, list[Item]] = {}
    for view in draft.views:
        leaving[view] = _keep_only(store, row, view, staying)
        _bring_back(store, row, view, staying, pruned=view == PRUNED)
        draft.totals[view] = summed_up(store, row.key, view, draft.totals[view])
    gone = [item.ref for item in leaving[PRUNED]]
    store.log.set_flag(row.key, gone, "out_operation", row.next_operation)
    carried = draft.carried
    if isinstance(record, Compaction):
        carried.compacted()
    else:
        carried.calibration = calibration.after_rewind(carried.calibration)
    carried.turn_tokens, carried.absorbing, carried.fired, carried.backed_off = [], False, False, 0
    kind, reason = _words(record)
    draft.notice(turn_id(record), reason, to_ms(record.at))
    at = to_ms(record.at) or now
    operation = OperationRow(
        row.next_operation, kind, "agent", reason, at, row.next_seq, before, draft.gauge(PRUNED), len(gone),
        {
            "number": row.next_no - 1,
            "removed": len(gone),
            "shortened": 0,
            "agent_before": _said_before(record) or main_before,
            "agent_after": draft.gauge(draft.main_view),
        },
    )  # fmt: skip
    detail = {"fate": "goes", "reason": reason, "cause": kind}
    items = [*(ItemRow(no, "out", None, detail) for no in gone), *summaries]
    store.operations.add(row.key, operation, items)
    row.next_operation += 1
    row.operations += 1
    draft.write()
    return operation


def _staying(store: Store, row: SessionRow, record: Compaction | Rewind) -> set[int]:
    """Numbers of the messages that are in the agent's context afterwards, new entries not counted."""
    if isinstance(record, Rewind):
        ids: Iterable[str] = record.live
    elif record.replacement is not None:
        ids = [e.source_id for e in record.replacement if e.source_id is not None]
    else:
        ids = record.kept
    return {no for _, no in store.log.known(row.key, list(ids)).values() if no > 0}


def _keep_only(store: Store, row: SessionRow, view: int, staying: set[int]) -> list[Item]:
    """Takes everything else out of a view; what was taken."""
    items = store.contexts.items(row.key, view)
    leaving = [item for item in items if item.kind == MESSAGE and item.ref not in staying]
    store.contexts.remove(row.key, view, (item.position for item in leaving))
    return leaving


def _turn_summaries(store: Store, row: SessionRow, staying: set[int]) -> list[ItemRow]:
    """Takes summaries out of which nothing that they stand for is in the agent's context any more; what it did.

    Those that an earlier turn took and that stand for something in it again come back.
    """

    def pointless(summary: SummaryRow) -> bool:
        return staying.isdisjoint(store.summaries.covered(row.key, summary))

    out = [s for s in store.summaries.standing(row.key) if pointless(s)]
    waiting = (store.summaries.get(row.key, n) for n in _taken_by_turns(store, row))
    back = [s for s in waiting if s is not None and not pointless(s)]
    store.summaries.take_out(row.key, [s.n for s in out])
    store.summaries.put_in(row.key, back)
    return [
        *(ItemRow(s.n, SUMMARY_OUT, None, None) for s in out),
        *(ItemRow(s.n, SUMMARY_IN, None, None) for s in back),
    ]


def _taken_by_turns(store: Store, row: SessionRow) -> list[int]:
    """Numbers of the summaries that a turn took and none has put back."""
    taken: set[int] = set()
    if store.summaries.next_number(row.key) == 1:
        return []
    for operation in reversed(store.operations.all(row.key)):
        if operation.actor == "agent":
            items = store.operations.items(row.key, operation.n)
            taken |= {item.no for item in items if item.change == SUMMARY_OUT}
            taken -= {item.no for item in items if item.change == SUMMARY_IN}
    return sorted(taken)


def _bring_back(store: Store, row: SessionRow, view: int, staying: set[int], pruned: bool) -> None:
    """Puts in what belongs there and is not, but in the pruned view nothing that a prune or a hand took out."""
    there = {item.ref for item in store.contexts.items(row.key, view) if item.kind == MESSAGE}
    missing = store.log.messages(row.key, sorted(staying - there))
    if pruned:
        missing = {no: m for no, m in missing.items() if not _taken_by_us(store, row, m)}
        store.log.set_flag(row.key, missing, "out_operation", None)
    store.contexts.add(row.key, view, ((m.first_seq, no) for no, m in missing.items()))


def _taken_by_us(store: Store, row: SessionRow, message: MessageRow) -> bool:
    if message.out_operation is None:
        return False
    operation = store.operations.get(row.key, message.out_operation)
    return operation is not None and operation.actor != "agent"


def summed_up(
    store: Store, session: int, view: int, before: dict[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """The totals of a view from its items; regions that are no messages stay. For what changes much at once."""
    totals = dict.fromkeys(before, (0, 0)) | {n: v for n, v in before.items() if n in REGIONS_BESIDE}
    stand_ins = {i.ref: i.stand_in for i in store.contexts.items(session, view) if i.kind == MESSAGE}
    for message in store.log.messages(session, list(stand_ins)).values():
        region = region_of(message.role, message.kind)
        tokens, count = totals.get(region, (0, 0))
        totals[region] = (tokens + cost(message, stand_ins[message.no]), count + 1)
    in_summaries = store.contexts.summary_tokens(session, view)
    if in_summaries:
        tokens, count = totals.get("summary", (0, 0))
        totals["summary"] = (tokens + in_summaries, count + len(store.summaries.standing_numbers(session)))
    return totals


def _said_before(record: Compaction | Rewind) -> int | None:
    return record.tokens_before if isinstance(record, Compaction) else None


def _words(record: Compaction | Rewind) -> tuple[str, str]:
    if isinstance(record, Rewind):
        return "rewind", "the conversation went on from an earlier message"
    said = f", {record.tokens_before:,} tokens before" if record.tokens_before else ""
    return "compaction", f"the agent compacted its context ({record.trigger}{said})"
