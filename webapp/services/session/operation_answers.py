"""Operations as answers, with the later operations that an undo of each would undo too."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.counted import counted
from webapp.events import ContextPruned
from webapp.services.session.answers import Applied, Operation, PruneEvent, Session
from webapp.services.session.times import iso
from webapp.store.operations import OperationRow


def operation_answer(operation: OperationRow, live: Sequence[OperationRow] = ()) -> Operation:
    """Return one operation. `live` are those not undone, by default this one alone."""
    live = live or [operation]
    later = [o.n for o in live if o.n > operation.n]
    barrier = any(o.actor == "agent" for o in live if o.n >= operation.n)
    undoable = operation.undone_at is None and not barrier
    facts = operation.facts
    before, after = tokens_around(operation)
    return Operation(
        n=operation.n,
        kind=operation.kind,
        actor=operation.actor,
        reason=operation.reason,
        at=iso(operation.at),
        tokens_before=before,
        tokens_after=after,
        messages=operation.messages,
        removed=facts.removed,
        shortened=facts.shortened,
        summarised=facts.summarised,
        summary=facts.summary,
        freed=before - after,
        undone_at=iso(operation.undone_at),
        undoable=undoable,
        undoes_also=sorted(later) if undoable else [],
        preset=facts.preset,
        strategy=facts.strategy,
        max_tokens=facts.max_tokens,
    )


def tokens_around(operation: OperationRow) -> tuple[int, int]:
    """Return the tokens before and after, of the agent's context for its own operations, else of the pruned view."""
    before, after = operation.tokens_before, operation.tokens_after
    if operation.actor != "agent":
        return before, after
    facts = operation.facts
    return (
        before if facts.agent_before is None else facts.agent_before,
        after if facts.agent_after is None else facts.agent_after,
    )


def applied(session: Session, operation: OperationRow, event: ContextPruned) -> Applied:
    """Return the answer to an applied prune; `session` is the session afterwards."""
    freed = operation.tokens_before - operation.tokens_after
    return Applied(
        operation=operation_answer(operation),
        session=session,
        event=PruneEvent(**event.payload()),
        message=f"{pruned_words(operation)}, {counted(freed, 'token')} freed",
    )


def pruned_words(operation: OperationRow) -> str:
    """Return a prune's effect in words: "40 messages summarised in 1,204 tokens, 12 pruned, 3 shortened"."""
    facts = operation.facts
    removed, shortened, summarised = facts.removed or 0, facts.shortened or 0, facts.summarised or 0
    covered = f"summarised in {counted(facts.summary_tokens or 0, 'token')}"
    done = [(summarised, covered), (removed - summarised, "pruned"), (shortened, "shortened")]
    said = [(count, what) for count, what in done if count] or [(0, "pruned")]
    first = f"{counted(said[0][0], 'message')} {said[0][1]}"
    return ", ".join([first, *(f"{count:,} {what}" for count, what in said[1:])])
