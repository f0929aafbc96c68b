"""Agent operations: compactions and rewinds that an agent makes in its own context.

Both contexts change, the log stays. Each is an operation by the agent that cannot be undone, and earlier
operations cannot be undone past it. The log notes each operation, so reading the same file again does not repeat it.
The tokens after a compaction include the summary that it brings or that follows at once: no call is sent without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scoring.tokens import calibration
from scoring.tokens.calibration import split
from webapp.agents.records import COMPACTION_SUMMARY, Cleared, Compaction, Rewind
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.remembered_windows import remember_compaction
from webapp.services.session.operation import SUMMARY_IN, SUMMARY_OUT, ContextChange
from webapp.services.session.session import Session
from webapp.services.session.times import to_ms
from webapp.store.log import MessageRow
from webapp.store.operations import Detail, Facts, OperationKind, OperationRow
from webapp.store.summaries import SummaryRow


def agent_operation_id(record: Compaction | Rewind | Cleared) -> str | None:
    """Return the source id under which the log notes what the agent did."""
    kind = type(record).__name__.lower()
    return f"{kind}:{record.source_id}" if record.source_id is not None else None


def apply_agent_operation(session: Session, record: Compaction | Rewind) -> OperationRow:
    """Apply a compaction or rewind inside the caller's transaction."""
    batch, state = AppendBatch(session), session.state
    at = to_ms(record.at)
    before = _before(session, record)
    if isinstance(record, Compaction) and record.trigger == "auto" and record.tokens_before:
        remember_compaction(session, before, at or 0)
    change = ContextChange(session, now=at)
    staying = _staying(session, record)
    _change_summaries(change, staying)
    kind, reason = _kind_and_reason(record)
    gone = change.keep_only(staying, Detail(fate="goes", reason=reason, cause=kind))
    if isinstance(record, Compaction):
        state.after_compaction()
    else:
        state.calibration = calibration.after_rewind(state.calibration)
    state.turn_tokens, state.absorbing, state.fired, state.backed_off = [], False, False, 0
    batch.notice(agent_operation_id(record), reason, at)
    batch.write()
    facts = Facts(agent_before=before, agent_after=session.main.tokens)
    return change.record(kind, "agent", reason, gone, facts)


def complete_compaction(session: Session, messages: Mapping[int, MessageRow], *, replacing: bool) -> None:
    """Add to the newest operation what its compaction's new context begins with, inside the caller's transaction.

    `messages` were just written: what a compaction brought (`replacing`), or a summary right behind it.
    """
    operations, newest = session.environment.store.operations, session.row.next_no - 1
    if not replacing and (newest not in messages or messages[newest].kind != COMPACTION_SUMMARY):
        return
    done = operations.get(session.key, session.row.next_operation - 1)
    if done is None or done.kind != "compaction":
        return
    first = (done.facts.number or 0) + 1
    if first in messages and (replacing or newest == first):
        after = session.main.tokens
        regions = split(session.calibration, session.main.estimates, after)
        facts = replace(done.facts, agent_after=after, regions_after=regions)
        operations.complete(session.key, replace(done, tokens_after=session.pruned.tokens, facts=facts))


def _staying(session: Session, record: Compaction | Rewind) -> set[int]:
    """Return the numbers of the messages in the agent's context afterwards, without new entries."""
    if isinstance(record, Rewind):
        ids: Iterable[str] = record.live
    elif record.replacement is not None:
        ids = [e.source_id for e in record.replacement if e.source_id is not None]
    else:
        ids = record.kept
    known = session.environment.store.log.known(session.key, list(ids))
    return {no for _, no in known.values() if no > 0}


def _change_summaries(change: ContextChange, staying: set[int]) -> None:
    """Take out summaries that no longer cover anything in the agent's context.

    Summaries that an earlier compaction or rewind took out are put back if the messages they cover are in the context
    again.
    """
    session = change.session
    summaries, key = session.environment.store.summaries, session.key

    def pointless(summary: SummaryRow) -> bool:
        return staying.isdisjoint(summaries.covered(key, summary))

    out = [s for s in summaries.active(key) if pointless(s)]
    waiting = (summaries.get(key, n) for n in _taken_by_agent(session))
    back = [s for s in waiting if s is not None and not pointless(s)]
    change.summaries_out(out)
    change.summaries_in(back)


def _taken_by_agent(session: Session) -> list[int]:
    """Return the numbers of the summaries that the agent's operations took out and did not put back."""
    store, taken = session.environment.store, set[int]()
    if store.summaries.next_number(session.key) == 1:
        return []
    for operation in reversed(store.operations.all(session.key)):
        if operation.actor == "agent":
            items = store.operations.items(session.key, operation.n)
            taken |= {item.no for item in items if item.change == SUMMARY_OUT}
            taken -= {item.no for item in items if item.change == SUMMARY_IN}
    return sorted(taken)


def _before(session: Session, record: Compaction | Rewind) -> int:
    """Return the size of the agent's context before: the gauge's, or the agent's own number if only that is known."""
    said = record.tokens_before if isinstance(record, Compaction) else None
    scale = session.main.scale
    return said if said and scale.certainty == "estimated" else scale.tokens


def _kind_and_reason(record: Compaction | Rewind) -> tuple[OperationKind, str]:
    if isinstance(record, Rewind):
        return "rewind", "the conversation went on from an earlier message"
    hidden = "; its summary is encrypted and cannot be read" if record.unreadable else ""
    return "compaction", f"the agent compacted its context ({record.trigger}){hidden}"
