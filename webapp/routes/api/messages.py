"""Messages of a session: appended, listed, looked at, and put in or out of the context one by one."""

from __future__ import annotations

from dataclasses import replace

from webapp.app import App
from webapp.bodies import Append, ArchiveQuery, MessagesQuery, Nothing
from webapp.routes.api.routing import Table
from webapp.services.ingest.answers import Appended
from webapp.services.planning.answers import Archive, MessageFull, Page
from webapp.services.session.answers import Applied

table = Table("messages")

ONE = "/sessions/<session_id>/messages/<message_id>"


@table.post("/sessions/<session_id>/messages", errors=(404, 409))
def append_messages(app: App, session_id: str, body: Append) -> Appended:
    """Appends messages in any wire format; answers their ids, the figures, and the prune if one was automatic.

    Where the settings ask for it (`status_line`), `line` says in one line how full the context is.
    """
    appended = app.ingest.append_messages(
        session_id, body.messages, usage=body.usage, idempotency_key=body.idempotency_key
    )
    return replace(appended, line=app.status.line(session_id))


@table.get("/sessions/<session_id>/messages", errors=(404,))
def list_messages(app: App, session_id: str, query: MessagesQuery) -> Page:
    """A page of messages with tokens, score, signals, fate and reason.

    `sort` is newest (the default), oldest, score or tokens; `after` is the cursor given as `next`. `plan_id` takes the
    fates from a plan that was shown; once that is stale they are those of the plan that would be made now.
    With `at_once` a session that was not looked at yet answers without scores and fates (`pending`), which take the
    longer the longer it is; ask again without it for those.
    """
    by = query.given()
    return (app.messages.at_once if by.pop("at_once", False) else app.messages.page)(session_id, **by)


@table.get(ONE, errors=(404,))
def get_message(app: App, session_id: str, message_id: str) -> MessageFull:
    """One message with all its parts."""
    return app.messages.one(session_id, message_id)


@table.post(ONE + "/pin", errors=(404, 409))
def pin_message(app: App, session_id: str, message_id: str, body: Nothing) -> Applied:
    """Pins a message with its unit: no prune drops it."""
    return app.operations.pin(session_id, message_id)


@table.post(ONE + "/unpin", errors=(404, 409))
def unpin_message(app: App, session_id: str, message_id: str, body: Nothing) -> Applied:
    """Takes a pin off."""
    return app.operations.unpin(session_id, message_id)


@table.post(ONE + "/restore", errors=(404, 409))
def restore_message(app: App, session_id: str, message_id: str, body: Nothing) -> Applied:
    """Puts a message with its unit back into the context, at its place in the log."""
    return app.operations.restore(session_id, message_id)


@table.post(ONE + "/drop", errors=(404, 409))
def drop_message(app: App, session_id: str, message_id: str, body: Nothing) -> Applied:
    """Takes a message with its unit out of the context now."""
    return app.operations.drop(session_id, message_id)


@table.post(ONE + "/drop-first", errors=(404, 409))
def drop_message_first(app: App, session_id: str, message_id: str, body: Nothing) -> Applied:
    """Marks a message with its unit as the first to go at the next prune."""
    return app.operations.drop_first(session_id, message_id)


@table.get("/sessions/<session_id>/archive", errors=(404,))
def search_archive(app: App, session_id: str, query: ArchiveQuery) -> Archive:
    """What is out of the context, or those of it that say `q`."""
    return app.search.archive(session_id, query.q)
