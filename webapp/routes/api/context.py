"""Routes of a session's context: read it, plan and apply a prune, undo operations, relieve an overflow."""

from __future__ import annotations

from webapp.access.identity import VIEWER
from webapp.app import App
from webapp.bodies import EmptyBody, FormatQuery, OperationsQuery, OverflowBody, PlanBody, PruneBody
from webapp.routes.api.routing import NUMBER, Table
from webapp.services.context.answers import Context
from webapp.services.planning.answers import Plan
from webapp.services.pruning.answers import OperationFull, Operations, Relieved, Undone
from webapp.services.session.answers import Applied

table = Table("context")


@table.get("/sessions/<session_id>/context", errors=(404,))
def get_context(app: App, session_id: str, query: FormatQuery) -> Context:
    """Return the message list for the next call, with its estimate and budget.

    `format` is openai, responses, anthropic, gemini or langchain; by default the format of the messages.
    """
    return app.context.get(session_id, query.format)


@table.post("/sessions/<session_id>/plan", role=VIEWER, errors=(404, 409))
def plan_prune(app: App, session_id: str, body: PlanBody) -> Plan:
    """Return what a prune would do, and why; nothing is stored. 409 if it would drop a pinned message."""
    return app.prunes.plan(session_id, body)


@table.post("/sessions/<session_id>/prune", errors=(404, 409))
def apply_prune(app: App, session_id: str, body: PruneBody) -> Applied:
    """Apply a plan that was shown, or a new one; 409 if the plan is stale.

    A plan is stale once the session, its settings or its limits have changed.
    """
    return app.prunes.apply(session_id, body)


@table.get("/sessions/<session_id>/operations", errors=(404,))
def list_operations(app: App, session_id: str, query: OperationsQuery) -> Operations:
    """Return the operations on the context, newest first, each with the others that its undo also reverts."""
    return Operations(operations=app.operations.list(session_id, query.kind))


@table.get(f"/sessions/<session_id>/operations/{NUMBER}", errors=(404,))
def get_operation(app: App, session_id: str, n: int) -> OperationFull:
    """Return one operation with each message it changed, the change and the reason."""
    return app.operations.one(session_id, n)


@table.post(f"/sessions/<session_id>/operations/{NUMBER}/undo", errors=(404, 409))
def undo_operation(app: App, session_id: str, n: int, body: EmptyBody) -> Undone:
    """Undo an operation and those after it; 409 if a compaction by the agent is among them."""
    return app.operations.undo(session_id, n)


@table.post("/sessions/<session_id>/overflow", errors=(404, 409))
def relieve_overflow(app: App, session_id: str, body: OverflowBody) -> Relieved:
    """Shorten a context that the provider refused as too long; the change can be undone."""
    return app.overflow.relieve(session_id, reported=body.reported)
