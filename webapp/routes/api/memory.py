"""Memories and learnings, and the summaries of a session."""

from __future__ import annotations

from typing import Any

from webapp.answers import Ok
from webapp.app import App
from webapp.bodies import MemoryChange, MemoryNew, MemoryQuery, Nothing, OverflowWish, Proposal, SummaryWish
from webapp.errors import NotFound
from webapp.routes.api import shapes, shapes_memory
from webapp.routes.api.context import NUMBER
from webapp.routes.api.routing import Table

table = Table("memory")


def number(kind: str, text: str) -> int:
    """The number of a memory in an address.

    Raises:
        NotFound: it is none.
    """
    if text.isdecimal() and text.isascii() and len(text) <= 15:
        return int(text)
    raise NotFound(kind, text)


@table.get("/memories", answers=shapes_memory.Memories)
def list_memories(app: App, query: MemoryQuery) -> Any:
    """What is remembered across sessions, the latest first; with `q` what holds any of its words."""
    return {"memories": app.memory.listed("memory", query.q)}


@table.post("/memories", answers=shapes_memory.Memory, status=201, errors=(404,))
def add_memory(app: App, body: MemoryNew) -> Any:
    """Remembers a text, or the words of a message."""
    return app.memory.add("memory", body.given())


@table.get("/memories/<memory_id>", answers=shapes_memory.Memory, errors=(404,))
def get_memory(app: App, memory_id: str) -> Any:
    """One memory."""
    return app.memory.get("memory", number("memory", memory_id))


@table.route("PATCH", "/memories/<memory_id>", answers=shapes_memory.Memory, errors=(404,))
def change_memory(app: App, memory_id: str, body: MemoryChange) -> Any:
    """Gives a memory another text."""
    return app.memory.change("memory", number("memory", memory_id), body.text)


@table.route("DELETE", "/memories/<memory_id>", answers=Ok, errors=(404,))
def delete_memory(app: App, memory_id: str) -> Any:
    """Forgets a memory."""
    app.memory.delete("memory", number("memory", memory_id))
    return {"ok": True}


@table.get("/learnings", answers=shapes_memory.Learnings)
def list_learnings(app: App, query: MemoryQuery) -> Any:
    """What was learned across sessions, the latest first; with `q` what holds any of its words."""
    return {"learnings": app.memory.listed("learning", query.q)}


@table.post("/learnings", answers=shapes_memory.Memory, status=201, errors=(404,))
def add_learning(app: App, body: MemoryNew) -> Any:
    """Records a learning: a text, or the words of a message."""
    return app.memory.add("learning", body.given())


@table.get("/learnings/<memory_id>", answers=shapes_memory.Memory, errors=(404,))
def get_learning(app: App, memory_id: str) -> Any:
    """One learning."""
    return app.memory.get("learning", number("learning", memory_id))


@table.route("PATCH", "/learnings/<memory_id>", answers=shapes_memory.Memory, errors=(404,))
def change_learning(app: App, memory_id: str, body: MemoryChange) -> Any:
    """Gives a learning another text."""
    return app.memory.change("learning", number("learning", memory_id), body.text)


@table.route("DELETE", "/learnings/<memory_id>", answers=Ok, errors=(404,))
def delete_learning(app: App, memory_id: str) -> Any:
    """Forgets a learning."""
    app.memory.delete("learning", number("learning", memory_id))
    return {"ok": True}


@table.get("/sessions/<session_id>/proposals", answers=shapes_memory.Proposals, errors=(404,))
def propose_learnings(app: App, session_id: str) -> Any:
    """What might be kept of the last turn, if it used tools; nothing is kept before it is posted to `/learnings`."""
    return {"proposals": app.memory.proposals(session_id)}


@table.get("/proposals", answers=shapes_memory.Proposals)
def all_proposals(app: App) -> Any:
    """What might be kept of the last turns of the sessions that were last at work."""
    return {"proposals": app.memory.proposed()}


@table.post("/proposals/dismiss", answers=Ok)
def dismiss_proposal(app: App, body: Proposal) -> Any:
    """Proposes a text no more, wherever it is said."""
    app.memory.dismiss(body.text)
    return {"ok": True}


@table.post("/proposals/again", answers=Ok)
def propose_again(app: App, body: Proposal) -> Any:
    """Takes a dismissal back."""
    app.memory.propose_again(body.text)
    return {"ok": True}


@table.get("/sessions/<session_id>/summaries", answers=shapes_memory.Summaries, errors=(404,))
def list_summaries(app: App, session_id: str) -> Any:
    """The summaries of a session, newest first, and which of them stand in its context."""
    return app.summarising.list(session_id)


@table.get(f"/sessions/<session_id>/summaries/{NUMBER}", answers=shapes_memory.SummaryFull, errors=(404,))
def get_summary(app: App, session_id: str, n: int) -> Any:
    """One summary with the ids of the messages it stands for."""
    return app.summarising.one(session_id, n)


@table.post(
    f"/sessions/<session_id>/summaries/{NUMBER}/expand",
    body=Nothing,
    answers=shapes.Applied,
    errors=(404, 409),
)
def expand_summary(app: App, session_id: str, n: int, body: Nothing) -> Any:
    """Puts what a summary covers back in its place."""
    return app.summarising.expand(session_id, n)


@table.post("/sessions/<session_id>/summarize", answers=shapes_memory.Summarised, errors=(404, 409))
def summarize_session(app: App, session_id: str, body: SummaryWish) -> Any:
    """Summarises now, whatever the thresholds say; in the background where a model is asked, unless told to wait."""
    return app.background.summarise(session_id, body.wait)


@table.post("/sessions/<session_id>/summarize/cancel", answers=Ok, errors=(404,))
def cancel_summary(app: App, session_id: str, body: Nothing) -> Any:
    """Gives up the summary that is being made; `ok` says whether there was one."""
    app.sessions.get(session_id)
    return {"ok": app.background.cancel(session_id)}


@table.post("/sessions/<session_id>/overflow", answers=shapes.Applied, errors=(404, 409))
def relieve_overflow(app: App, session_id: str, body: OverflowWish) -> Any:
    """For an agent whose provider says that the context is too long: ends within the budget, and can be undone."""
    if body.reported:
        return app.overflow.relieve(session_id)
    return app.overflow.relieve(session_id, overflow=False, actor="user")


@table.get("/sessions/<session_id>/status", answers=shapes_memory.Status, errors=(404,))
def session_status(app: App, session_id: str) -> Any:
    """Both triggers, the last summary, what is available, and all of it in one line."""
    return app.status.of(session_id)
