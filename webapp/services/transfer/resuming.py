"""Resuming: a pruned copy of a session, written where its agent finds it, with the command that resumes from it (X22).

A copy is a new file with a new session id, readable by its owner alone; nothing is overwritten. For an agent that does
not read session files, a command that imports the copy comes before the one that resumes. A copy is linked to its
origin, so that its page can compare the expected size with the real size of its first call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from glob import escape
from pathlib import Path

from scoring.messages import Reasoning
from scoring.tokens import part_tokens
from webapp.agents import AGENTS
from webapp.agents.agent import Transcripts
from webapp.agents.view import View
from webapp.bodies import MOST, PlanBody, PruneBody
from webapp.errors import Conflict
from webapp.events import Event, SessionCreated
from webapp.services.context.pruned_view import view_items
from webapp.services.context.transcript_view import copy_title, view_of
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.labels import why_not_resumed
from webapp.services.session.session import Session
from webapp.services.transfer.answers import Resumed
from webapp.services.transfer.shell import shell_line
from webapp.store.copies import CopyRow
from webapp.store.sessions import SessionRow

# A copy that an agent has to take in is kept until it has, at most so long.
WAITING_DAYS = 7


class Resuming:
    """The use case of resuming an agent from a pruned copy of one of its sessions."""

    def __init__(
        self, environment: Environment, prunes: Prunes, variables: Mapping[str, str], copies: Path
    ) -> None:
        """Keep the environment variables that name agents' folders, and the folder for copies that are imported."""
        self._environment, self._store, self._prunes = environment, environment.store, prunes
        self._variables, self._copies = variables, copies
        environment.bus.subscribe(self._on_event)

    def resume(
        self, session_id: str, *, prune: bool = False, max_tokens: int | None = None, cwd: Path | None = None
    ) -> Resumed:
        """Prune if asked, write a copy of the pruned view for the agent, and return how to resume from it.

        `max_tokens` asks to prune to that size, by default the session's aim. `cwd` is the folder to resume in, for a
        session whose own folder is not on this machine.

        Raises:
            NotFound: there is no such session.
            Conflict: its agent cannot resume from a copy, its folder is not on this machine, or the copy cannot be
                written.
        """
        session = Session.load(self._environment, session_id)
        agent = self._agent_of(session)
        folder = cwd or Path(session.row.cwd or self._cwd_of(session.row, agent) or "")
        if not folder.is_absolute() or not folder.is_dir():
            known = f"its folder {session.row.cwd}" if session.row.cwd else "the folder it was begun in"
            raise Conflict(
                f"{known} is not on this machine, and agents resume in a session's own folder; "
                f"`coppice resume {session_id} --cwd FOLDER` resumes in another"
            )
        if prune:
            # refuse before anything is pruned
            view = self._view(session, agent, folder)
            agent.write(view)
            require_writable(self._place(view, agent, session.row))
        operation = self._prune(session_id, max_tokens) if prune or max_tokens is not None else None
        return self._write(session_id, agent, folder, operation)

    def tidy(self) -> None:
        """Delete the copies that wait to be taken in for longer than `WAITING_DAYS`."""
        oldest = self._environment.clock() / 1000 - WAITING_DAYS * 24 * 3600
        for path in self._copies.glob("*"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _on_event(self, event: Event) -> None:
        """Delete a copy that its agent has taken in."""
        if isinstance(event, SessionCreated) and self._store.copies.find(event.session_id) is not None:
            for path in self._copies.glob(f"{escape(event.session_id)}.*"):
                with suppress(OSError):
                    path.unlink()

    def _view(self, session: Session, agent: Transcripts, cwd: Path) -> View:
        view = view_of(
            self._store, session.row, self._environment.clock(), keeps_thinking=agent.keeps_thinking
        )
        return replace(view, cwd=str(cwd), file=view.file or self._file_of(session.row))

    def _prune(self, session_id: str, max_tokens: int | None) -> int | None:
        """Prune a session and return the operation's number; None if nothing needs to be dropped."""
        most = None if max_tokens is None else min(max_tokens, MOST)  # a command takes any number
        plan = self._prunes.plan(session_id, PlanBody(max_tokens=most))
        if plan.nothing_to_do is not None:
            return None
        return self._prunes.apply(session_id, PruneBody(plan_id=plan.plan_id)).operation.n

    def _agent_of(self, session: Session) -> Transcripts:
        agent = AGENTS.get(session.row.source)
        reason = why_not_resumed(session.row)
        if reason is not None or agent is None or agent.transcripts is None:
            raise Conflict(reason or f"{session.row.source} cannot resume from a copy")
        return agent.transcripts

    def _write(self, session_id: str, agent: Transcripts, cwd: Path, operation: int | None) -> Resumed:
        with self._store.read():
            session = Session.load(self._environment, session_id)
            view = self._view(session, agent, cwd)
            made = agent.write(view)
            content = b"".join(made.lines)
            promised = self._promised(session, view.drops_thinking)
        now = self._environment.clock()  # not before any time in the copy
        self.tidy()
        path = self._place(view, agent, session.row) / made.name
        before = session.main.tokens
        with self._store.write():
            copy = CopyRow(
                made.session_id, session.id, copy_title(self._store, session.row), now, before, promised
            )
            self._store.copies.put(copy)
            try:
                write_new(path, content)
            except OSError as error:
                raise Conflict(f"the copy cannot be written to {path}: {error.strerror}") from error
        import_command = agent.import_command(path) if agent.import_command is not None else []
        command = agent.command(made.session_id)
        return Resumed(
            session_id=made.session_id,
            title=copy.title,
            path=str(path),
            cwd=str(cwd),
            import_command=import_command,
            command=command,
            line=" && ".join(
                shell_line(step) for step in (["cd", str(cwd)], import_command, command) if step
            ),
            tokens_before=before,
            tokens_promised=promised,
            operation=operation,
        )

    def _place(self, view: View, agent: Transcripts, row: SessionRow) -> Path:
        """Return the folder of a copy, existing or not: the agent's own, or ours where the agent imports it."""
        if agent.folder is None:
            return self._copies
        return agent.folder(view, AGENTS[row.source].roots(self._variables))

    def _file_of(self, row: SessionRow) -> Path | None:
        """Return the transcript of an imported session, if the agent has it too."""
        agent = AGENTS[row.source]
        found = (file for root in agent.roots(self._variables) for file in agent.discover(root))
        return next((file.path for file in found if file.session_id == row.id), None)

    def _cwd_of(self, row: SessionRow, agent: Transcripts) -> str | None:
        """Return the working directory of a session whose rows do not name it."""
        file = Path(row.path) if row.path else self._file_of(row)
        return agent.cwd_of(file) if agent.cwd_of is not None and file is not None else None

    def _promised(self, session: Session, drops_thinking: bool) -> int:
        """Return the expected tokens of the copy's context, on the scale of its origin."""
        thought = 0
        if drops_thinking:
            parts = (part for item in view_items(self._store, session.key) for part in item.message.parts)
            thought = sum(part_tokens(part, session.counter) for part in parts if isinstance(part, Reasoning))
        return session.pruned.scale.shown(session.pruned.estimate - thought)


def require_writable(folder: Path) -> None:
    """Make a folder if it is missing. Raises Conflict if no file can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Conflict(f"the copy cannot be written to {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Conflict(f"the copy cannot be written to {folder}: it is read-only for you")


def write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, in a folder that is made if it is missing.

    Raises:
        FileExistsError: there is a file already.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
