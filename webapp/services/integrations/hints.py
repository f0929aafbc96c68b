"""Hints: files about a session for hooks, status lines and extensions, written by the server while it follows.

They are written only if their folder exists, at most once in `CALM_SECONDS` per session, on a separate thread. An old
hint is better than none: while the server is down the last one stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scoring.counted import counted
from scoring.messages import Message
from scoring.models import PruneCost
from scoring.summary import Surroundings
from scoring.summary.files import files_touched
from scoring.summary.sections import in_full, ranked_lines
from scoring.summary.tombstones import fitted
from scoring.verdict import percent_words
from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints as hint_files
from webapp.events import (
    CacheExpired,
    ContextPruned,
    ContextRestored,
    Event,
    MessagesAppended,
    OperationUndone,
    SessionDeleted,
)
from webapp.services.context.edit_script import by_one_key, edit_script
from webapp.services.planning.cache_cost import cache_figures
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker
from webapp.services.session.stored_messages import whole
from webapp.store.memories import LEARNING

CALM_SECONDS = 15.0
# An agent whose last message is older is not active, and nobody reads its hint.
AT_WORK_MS = 2 * 3600 * 1000
# The size of what must survive a compaction, in tokens of the session's model, and of its parts.
SURVIVE_TOKENS, PIN_CHARS, MOST_PINS, MOST_LEARNINGS = 2_000, 600, 12, 8
# The messages that the plan values most, of which the summariser is reminded.
MOST_VALUED, SNAPSHOT_WORDS, MOST_FILES = 60, 500, 12
# A prune is worth it if it frees this share of the limit and has paid off after this many calls.
PAYS_SHARE, PAYS_CALLS = 0.05, 10
# A context that has shrunk below this share since the last hint was compacted.
COMPACTED_SHARE = 0.7

GET_BACK = (
    "Get it back by the tools context_search and context_restore, where the MCP server coppice is set up."
)
_CHANGES = (MessagesAppended, CacheExpired, ContextPruned, ContextRestored, OperationUndone, SessionDeleted)


class Hints:
    """Writes hints for the sessions of agents as they change."""

    def __init__(self, environment: Environment, planning: Planning) -> None:
        self._environment, self._store, self._planning = environment, environment.store, planning
        self._worker = SessionWorker("hints", self.write, interval_seconds=CALM_SECONDS)
        self._unsubscribe = environment.bus.subscribe(self._on_event)

    def write(self, session_id: str) -> bool:
        """Write the hint of a session, or remove the files of one that is deleted; return whether a hint was written.

        There is none for a session that has no agent, or whose agent is not active.
        """
        if (row := self._store.sessions.live(session_id)) is None:
            for kind in (hint_files.HINT, hint_files.EDITS, hint_files.STATE, hint_files.ACTIVE):
                hint_files.remove(session_id, kind)
            return False
        session = Session.of(self._environment, row)
        recent = self._environment.clock() - session.row.last_activity_at <= AT_WORK_MS
        if session.row.source not in AGENTS or not session.row.followed or not recent:
            return False
        self._write_edits(session)
        hint_files.write(session_id, hint_files.HINT, self.hint(session))
        return True

    def _write_edits(self, session: Session) -> None:
        """Write the edit script for an agent whose own process applies it, once there is anything to edit."""
        key_of = AGENTS[session.row.source].edit_key
        if key_of is None or not (session.row.operations or hint_files.read(session.id, hint_files.EDITS)):
            return
        with self._store.read():
            script = edit_script(session, by_one_key(key_of))
        if script["edits"] or hint_files.read(session.id, hint_files.EDITS):
            hint_files.write(session.id, hint_files.EDITS, {**script})

    def close(self) -> None:
        """Stop writing."""
        self._unsubscribe()
        self._worker.close()

    # -- off the thread that appends

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, _CHANGES) or not Path(hint_files.folder()).is_dir():
            return
        # A change by a person shows in the next call, so its hint does not wait.
        self._worker.put(event.session_id, at_once=not isinstance(event, MessagesAppended))

    # -- what it says

    def hint(self, session: Session) -> dict[str, Any]:
        """Return the hint of a session."""
        made, tokens, limits = self._planning.make(session), session.main.tokens, session.limits
        cost = cache_figures(made)
        waits = session.awaits_cold_cache(tokens) and bool(cost.break_even_calls)
        pays = cost.saved_per_call if _pays(cost, limits.limit) and not waits else 0
        is_full = tokens > limits.target_tokens
        return {
            "session_id": session.id,
            "at": self._environment.clock(),
            "tokens": tokens,
            "limit": limits.limit,
            "prune_pays": pays,
            "warns_of": "full" if is_full else "pays" if pays else "",
            "warning": _warning(session, tokens, cost, is_full=is_full) if is_full or pays else "",
            "survive": self._survive(session, made),
            "lost": self._lost(session, made, tokens),
        }

    def _survive(self, session: Session, made: SessionPlan) -> str:
        """Return what a compaction must keep: pins, learnings, and the messages that the plan values most."""
        view, plan = made.view, made.plan
        pinned = [view.nos[i] for i in sorted(view.history.pinned)][-MOST_PINS:]
        own, roles = set(view.history.own_words), view.history.roles
        # Agents send their prompts, tools and reminders again.
        kept = (i for i in plan.kept if roles[i] not in ("system", "user") or i in own)
        valued = sorted(sorted(kept, key=lambda i: -plan.scores[i])[:MOST_VALUED])
        # The task is the first request, and the last request the last, only if these are among them.
        asked = view.history.own_words
        around = Surroundings(not {*asked[:1]} <= set(valued), not {*asked[-1:]} <= set(valued))
        said = self._messages(session, made, pinned + [view.nos[i] for i in valued])
        learnings = [
            row.text for row in self._store.memories.all(LEARNING) if row.session_id in (None, session.id)
        ][:MOST_LEARNINGS]
        parts = [
            _listed(
                "Keep these messages word for word:",
                (said[no].text[:PIN_CHARS] for no in pinned if no in said),
            ),
            _listed("Keep these learnings:", learnings),
            in_full(
                ranked_lines([said[view.nos[i]] for i in valued if view.nos[i] in said], around),
                SNAPSHOT_WORDS,
            ),
        ]
        text = "\n\n".join(part for part in parts if part)
        return fitted(f"What must survive this compaction:\n\n{text}", SURVIVE_TOKENS, session.counter)

    def _lost(self, session: Session, made: SessionPlan, tokens: int) -> str:
        """Return what a compaction will remove and how to get it back; after one, what it removed."""
        before = hint_files.read(session.id, hint_files.HINT)
        known = before.get("tokens")
        if isinstance(known, int) and tokens < COMPACTED_SHARE * known:
            return str(before.get("lost", ""))
        view = made.view
        calls = [view.nos[i] for i, role in enumerate(view.history.roles) if role == "assistant"]
        touched = files_touched(list(self._messages(session, made, calls[-400:]).values()))
        names = ", ".join(list(touched)[-MOST_FILES:])
        said = (
            f"The context was compacted. Of {counted(session.main.messages, 'message')} ({tokens:,} tokens) "
            "only a summary is left; Coppice has all of them in full."
        )
        files_said = f" Files among them: {names}." if names else ""
        return f"{said}{files_said} {GET_BACK}"

    def _messages(self, session: Session, made: SessionPlan, nos: list[int]) -> dict[int, Message]:
        found = self._store.log.rows_of(session.key, nos)
        return {
            no: whole(made.view.history.roles[made.view.index[no]], entries) for no, entries in found.items()
        }


def _pays(cost: PruneCost, limit: int) -> bool:
    calls = cost.break_even_calls
    return calls is not None and calls <= PAYS_CALLS and cost.saved_per_call >= PAYS_SHARE * limit


def _warning(session: Session, tokens: int, cost: PruneCost, *, is_full: bool) -> str:
    """Return the line for the agent and its user."""
    command = f"`coppice resume {session.id} --prune`"
    # The copy is made from the pruned view, which earlier prunes may have made smaller already.
    saved = tokens - session.pruned.tokens + cost.saved_per_call
    copy = f"a copy with {counted(saved, 'token')} less on each call: {command}"
    less = f"Tell the user; they can go on from {copy}" if saved > 0 else "Tell the user."
    if is_full:
        share = percent_words(tokens, session.limits.limit, session.limits.target_tokens)
        return f"[coppice] The context is {share} full. {less}"
    back = f"after {counted(cost.break_even_calls, 'call')}" if cost.break_even_calls else "at once"
    return f"[coppice] A prune pays back {back}. {less}"


def _listed(heading: str, texts: Iterable[str]) -> str:
    lines = [f"- {' '.join(text.split())}" for text in texts if text.strip()]
    return "\n".join([heading, *lines]) if lines else ""
