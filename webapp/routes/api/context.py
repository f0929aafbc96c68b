"""The context: asked for by an agent, planned, pruned, and put back."""

from __future__ import annotations

from webapp.app import App
from webapp.bodies import FormatQuery, Nothing, OperationsQuery, PlanWish, PruneWish
from webapp.routes.api.routing import Table
from webapp.services.context.answers import Context
from webapp.services.planning.answers import Plan
from webapp.services.planning.requests import PlanRequest, PruneRequest
from webapp.services.pruning.answers import OperationFull, Operations, Undone
from webapp.services.session.answers import Applied

table = Table("context")

# What a SQLite integer of ours may be; a larger number names no operation.
NUMBER = "<int(max=2147483647):n>"


@table.get("/sessions/<session_id>/context", errors=(404,))
def get_context(app: App, session_id: str, query: FormatQuery) -> Context:
    """Return the message list for the next call, with its estimate and budget.

    `format` is openai, responses, anthropic, gemini or langchain; by default the one the messages came in.
    """
    return app.context.get(session_id, query.format)


@table.post("/sessions/<session_id>/plan", errors=(404, 409))
def plan_prune(app: App, session_id: str, body: PlanWish) -> Plan:
    """Return what a prune would do, and why; nothing is stored. 409 when it would drop a pinned message."""
    return app.prunes.plan(session_id, PlanRequest(**body.given()))


@table.post("/sessions/<session_id>/prune", errors=(404, 409))
def apply_prune(app: App, session_id: str, body: PruneWish) -> Applied:
    """Apply a plan that was shown, or a new one; 409 when the plan is stale.

    A plan is stale once the session has changed, or the settings or limits that decided it.
    """
    return app.prunes.apply(session_id, PruneRequest(**body.given()))


@table.get("/sessions/<session_id>/operations", errors=(404,))
def list_operations(app: App, session_id: str, query: OperationsQuery) -> Operations:
    """Return the operations on the context, newest first, each with those that its undo takes back too."""
    return Operations(operations=app.operations.list(session_id, query.kind))


@table.get(f"/sessions/<session_id>/operations/{NUMBER}", errors=(404,))
def get_operation(app: App, session_id: str, n: int) -> OperationFull:
    """Return one operation with the messages it changed, how and why."""
    return app.operations.one(session_id, n)


@table.post(f"/sessions/<session_id>/operations/{NUMBER}/undo", errors=(404, 409))
def undo_operation(app: App, session_id: str, n: int, body: Nothing) -> Undone:
    """Undo an operation and those after it; 409 when the agent's own compaction is among them."""
    return app.operations.undo(session_id, n)
