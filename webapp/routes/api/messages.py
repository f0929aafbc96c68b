"""Routes of a session's messages: append, list, read, pin, drop and restore them."""

from __future__ import annotations

from dataclasses import replace

from webapp.app import App
from webapp.bodies import Append, EmptyBody, GroupQuery, MessagesQuery, WordsQuery
from webapp.routes.api.routing import Table
from webapp.services.ingest.answers import Appended
from webapp.services.planning.answers import Archive, GroupMembers, Heaviest, MessageFull, Page
from webapp.services.session.answers import Applied

table = Table("messages")

ONE = "/sessions/<session_id>/messages/<message_id>"


@table.post("/sessions/<session_id>/messages", errors=(404, 409))
def append_messages(app: App, session_id: str, body: Append) -> Appended:
    """Append messages in any wire format; return their ids, the context's size, and the automatic prune if any.

    With the setting `status_line`, `line` gives the size of the context in one line.
    """
    appended = app.ingest.append_messages(
        session_id,
        body.messages,
        usage=body.usage,
        idempotency_key=body.idempotency_key,
        whole=body.whole,
    )
    return replace(appended, line=app.status.line(session_id))


@table.get("/sessions/<session_id>/messages", errors=(404,))
def list_messages(app: App, session_id: str, query: MessagesQuery) -> Page:
    """Return a page of messages with tokens, score, signals, fate and reason.

    `sort` is newest (the default), oldest, score or tokens; `after` is the cursor given as `next`, `offset` the number
    of rows before the page instead. `first` and `last` are the numbers of the first and last message to list; `tool`
    lists the calls and results of one tool; `fate` is also changes (goes or shortened), errors, in or pinned.
    `plan_id` takes the fates from a plan that was shown, or from a new one if that is stale.
    With `at_once` a session that is not loaded yet answers without scores and fates (`pending`), which take time in a
    long session; ask again without it to get them. `without_parts` leaves out signals and contributions; `brief` does
    so as well, and cuts texts to 80 characters.
    """
    read = app.messages.at_once if query.at_once else app.messages.page
    return read(session_id, query)


@table.get(ONE, errors=(404,))
def get_message(app: App, session_id: str, message_id: str) -> MessageFull:
    """Return one message with all its parts."""
    return app.messages.one(session_id, message_id)


@table.post(ONE + "/pin", errors=(404, 409))
def pin_message(app: App, session_id: str, message_id: str, body: EmptyBody) -> Applied:
    """Pin a message with its unit: no prune drops it."""
    return app.by_hand.pin(session_id, message_id)


@table.post(ONE + "/unpin", errors=(404, 409))
def unpin_message(app: App, session_id: str, message_id: str, body: EmptyBody) -> Applied:
    """Remove the pin of a message and its unit."""
    return app.by_hand.unpin(session_id, message_id)


@table.post(ONE + "/restore", errors=(404, 409))
def restore_message(app: App, session_id: str, message_id: str, body: EmptyBody) -> Applied:
    """Put a message with its unit back into the context, at its place in the log."""
    return app.by_hand.restore(session_id, message_id)


@table.post(ONE + "/drop", errors=(404, 409))
def drop_message(app: App, session_id: str, message_id: str, body: EmptyBody) -> Applied:
    """Take a message with its unit out of the context now."""
    return app.by_hand.drop(session_id, message_id)


@table.post(ONE + "/drop-first", errors=(404, 409))
def drop_message_first(app: App, session_id: str, message_id: str, body: EmptyBody) -> Applied:
    """Mark a message with its unit as the first to go at the next prune."""
    return app.by_hand.drop_first(session_id, message_id)


@table.get("/sessions/<session_id>/heaviest", errors=(404,))
def heaviest(app: App, session_id: str) -> Heaviest:
    """Return the largest parts of the context: files with their reads, tools with their results, repeated outputs."""
    return app.heaviest.of(session_id)


@table.get("/sessions/<session_id>/heaviest/members", errors=(404,))
def members_of_group(app: App, session_id: str, query: GroupQuery) -> GroupMembers:
    """Return the messages of one of the groups in `heaviest` that a plan may take."""
    return app.heaviest.members(session_id, query.kind, query.name)


@table.get("/sessions/<session_id>/archive", errors=(404,))
def search_archive(app: App, session_id: str, query: WordsQuery) -> Archive:
    """Return the messages that are not in the context; with `q`, those with it in their first 200,000 characters."""
    return app.search.archive(session_id, query.q)
