"""Operations as JSON, and which of them can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webapp.events import ContextPruned
from webapp.services.session.times import iso
from webapp.store.operations import OperationRow


def operation_json(operation: OperationRow, live: Sequence[OperationRow]) -> dict[str, Any]:
    """One operation. `live` are those that were not undone, this one among them, newest first."""
    later = [o.n for o in live if o.n > operation.n]
    barrier = any(o.actor == "agent" for o in live if o.n >= operation.n)
    return {
        "n": operation.n,
        "kind": operation.kind,
        "actor": operation.actor,
        "reason": operation.reason,
        "at": iso(operation.at),
        "tokens_before": operation.tokens_before,
        "tokens_after": operation.tokens_after,
        "messages": operation.messages,
        "removed": operation.plan.get("removed"),
        "shortened": operation.plan.get("shortened"),
        "summarised": operation.plan.get("summarised"),
        "summary": operation.plan.get("summary"),
        "freed": operation.tokens_before - operation.tokens_after,
        "undone_at": iso(operation.undone_at),
        "undoable": operation.undone_at is None and not barrier,
        "undoes_also": sorted(later) if operation.undone_at is None and not barrier else [],
        "preset": operation.plan.get("preset"),
        "strategy": operation.plan.get("strategy"),
        "max_tokens": operation.plan.get("max_tokens"),
    }


def applied_json(session: dict[str, Any], operation: OperationRow, event: ContextPruned) -> dict[str, Any]:
    """A prune that was done; `session` is the session afterwards."""
    freed = operation.tokens_before - operation.tokens_after
    return {
        "operation": operation_json(operation, [operation]),
        "session": session,
        "event": event.payload(),
        "message": f"{pruned_words(operation)}, {freed:,} tokens freed",
    }


def pruned_words(operation: OperationRow) -> str:
    """What a prune did: "40 messages summarised in 1,204 tokens, 12 pruned, 3 shortened"."""
    removed, shortened, summarised = (
        operation.plan.get(name) or 0 for name in ("removed", "shortened", "summarised")
    )
    covered = f"summarised in {operation.plan.get('summary_tokens') or 0:,} tokens"
    done = [(summarised, covered), (removed - summarised, "pruned"), (shortened, "shortened")]
    said = [(count, what) for count, what in done if count] or [(0, "pruned")]
    first = f"{said[0][0]:,} {'message' if said[0][0] == 1 else 'messages'} {said[0][1]}"
    return ", ".join([first, *(f"{count:,} {what}" for count, what in said[1:])])
