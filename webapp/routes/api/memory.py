"""Routes of memories and learnings, and of a session's summaries."""

from __future__ import annotations

from webapp.answers import Ok
from webapp.app import App
from webapp.bodies import (
    EmptyBody,
    MemoryChange,
    NewMemory,
    ProposalText,
    SummaryBody,
    WordsQuery,
)
from webapp.routes.api.routing import NUMBER, Table, number
from webapp.services.context.answers import Learnings, Memories, Memory, Proposals
from webapp.services.session.answers import Applied
from webapp.services.summaries.answers import Summaries, Summarised, SummaryFull

table = Table("memory")


@table.get("/memories")
def list_memories(app: App, query: WordsQuery) -> Memories:
    """List the memories, the latest first; with `q` those that contain any of its words, best match first."""
    return Memories(memories=app.memory.listed("memory", query.q))


@table.post("/memories", status=201, errors=(404,))
def add_memory(app: App, body: NewMemory) -> Memory:
    """Store a text, or the words of a message, as a memory."""
    return app.memory.add("memory", body.text, body.session_id, body.message_id)


@table.get("/memories/<memory_id>", errors=(404,))
def get_memory(app: App, memory_id: str) -> Memory:
    """Return the memory with this id; 404 when it is unknown."""
    return app.memory.get("memory", number("memory", memory_id))


@table.route("PATCH", "/memories/<memory_id>", errors=(404,))
def change_memory(app: App, memory_id: str, body: MemoryChange) -> Memory:
    """Replace the text of a memory."""
    return app.memory.change("memory", number("memory", memory_id), body.text)


@table.route("DELETE", "/memories/<memory_id>", errors=(404,))
def delete_memory(app: App, memory_id: str) -> Ok:
    """Delete a memory."""
    app.memory.delete("memory", number("memory", memory_id))
    return Ok(ok=True)


@table.get("/learnings")
def list_learnings(app: App, query: WordsQuery) -> Learnings:
    """List the learnings, the latest first; with `q` those that contain any of its words, best match first."""
    return Learnings(learnings=app.memory.listed("learning", query.q))


@table.post("/learnings", status=201, errors=(404,))
def add_learning(app: App, body: NewMemory) -> Memory:
    """Record a learning: a text, or the words of a message."""
    return app.memory.add("learning", body.text, body.session_id, body.message_id)


@table.get("/learnings/<memory_id>", errors=(404,))
def get_learning(app: App, memory_id: str) -> Memory:
    """Return the learning with this id; 404 when it is unknown."""
    return app.memory.get("learning", number("learning", memory_id))


@table.route("PATCH", "/learnings/<memory_id>", errors=(404,))
def change_learning(app: App, memory_id: str, body: MemoryChange) -> Memory:
    """Replace the text of a learning."""
    return app.memory.change("learning", number("learning", memory_id), body.text)


@table.route("DELETE", "/learnings/<memory_id>", errors=(404,))
def delete_learning(app: App, memory_id: str) -> Ok:
    """Delete a learning."""
    app.memory.delete("learning", number("learning", memory_id))
    return Ok(ok=True)


@table.get("/sessions/<session_id>/proposals", errors=(404,))
def propose_learnings(app: App, session_id: str) -> Proposals:
    """Propose learnings from the last turn, if it used tools; one is stored only when posted to `/learnings`."""
    return Proposals(proposals=app.proposals.of(session_id))


@table.get("/proposals")
def all_proposals(app: App) -> Proposals:
    """Propose learnings from the last turns of the most recently active sessions."""
    return Proposals(proposals=app.proposals.recent())


@table.post("/proposals/dismiss")
def dismiss_proposal(app: App, body: ProposalText) -> Ok:
    """Stop proposing a text, in all sessions."""
    app.proposals.dismiss(body.text)
    return Ok(ok=True)


@table.post("/proposals/again")
def propose_again(app: App, body: ProposalText) -> Ok:
    """Undo a dismissal."""
    app.proposals.propose_again(body.text)
    return Ok(ok=True)


@table.get("/sessions/<session_id>/summaries", errors=(404,))
def list_summaries(app: App, session_id: str) -> Summaries:
    """Return the summaries of a session, newest first; `in_context` is true for those in its context."""
    return app.summarising.list(session_id)


@table.get(f"/sessions/<session_id>/summaries/{NUMBER}", errors=(404,))
def get_summary(app: App, session_id: str, n: int) -> SummaryFull:
    """Return one summary with the ids of the messages it covers."""
    return app.summarising.one(session_id, n)


@table.post(f"/sessions/<session_id>/summaries/{NUMBER}/expand", errors=(404, 409))
def expand_summary(app: App, session_id: str, n: int, body: EmptyBody) -> Applied:
    """Replace a summary by the messages it covers."""
    return app.summarising.expand(session_id, n)


@table.post("/sessions/<session_id>/summarize", errors=(404, 409))
def summarize_session(app: App, session_id: str, body: SummaryBody) -> Summarised:
    """Summarise now, regardless of thresholds; in the background if a model writes it, unless `wait` is true."""
    return app.background.summarise(session_id, body.wait)


@table.post("/sessions/<session_id>/summarize/cancel", errors=(404,))
def cancel_summary(app: App, session_id: str, body: EmptyBody) -> Ok:
    """Cancel the summary in progress; `ok` is false if there is none."""
    app.sessions.get(session_id)
    return Ok(ok=app.background.cancel(session_id))
