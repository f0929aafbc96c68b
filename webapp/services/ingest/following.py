"""Following transcripts: new records are appended to the log, and the read position is stored after each chunk.

After a crash at most one chunk comes again, which adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from webapp.agents import AGENTS
from webapp.agents.following import FollowedFiles
from webapp.agents.reading.readers import Chunk, Position
from webapp.agents.records import TranscriptFile, path_text
from webapp.errors import CoppiceError
from webapp.events import ProblemReported
from webapp.services.ingest.ingest import Ingest
from webapp.services.session.environment import Environment


def followed_agents() -> dict[str, str]:
    """Return the variable that moves the folder of each agent, by the agent's name on pages."""
    return {agent.label: agent.variable for agent in AGENTS.values()}


class TranscriptAppender:
    """Appends chunks of transcripts, and stores how far each was read."""

    def __init__(self, environment: Environment, ingest: Ingest) -> None:
        self._environment, self._store, self._ingest = environment, environment.store, ingest

    def position(self, key: str) -> Position:
        """Return the stored position of a file, {} if nothing of it was read."""
        stored = self._store.small.file(key)
        return stored[1] if stored is not None else {}

    def is_deleted(self, session_id: str) -> bool:
        """Return whether the session was deleted, so that nothing more is appended to it."""
        found = self._store.sessions.find(session_id)
        return found is not None and found.deleted_at is not None

    def append(
        self,
        file: TranscriptFile,
        key: str,
        chunk: Chunk,
        *,
        path: str | None = None,
        state: Mapping[str, str] | None = None,
    ) -> int:
        """Append a chunk to the session of a file, and store the position under `key`; return the new messages.

        `path` and `state` are those of a session that begins with this chunk.

        Raises:
            Conflict: another source has a session of that id.
        """
        if chunk.restarted:
            self._count_from_zero(file)
        added = 0
        if chunk.records:
            row = self._ingest.ensure(
                file.session_id, file.source, parent_id=file.parent_id, title=file.title,
                agent_type=file.agent_type, path=path, state=state or {},
            )  # fmt: skip
            if row is None:
                return 0
            # The problem of a file that is not text is not counted again after a restart.
            took = self._ingest.append_records(
                file.session_id, chunk.records, whole_file=chunk.unreadable, file=path_text(file.path.name)
            )
            added = len(took.nos)
        stored = self._store.small.file(key)
        if stored is None or stored[1] != chunk.position:
            with self._store.write(file.session_id):
                now = self._environment.clock()
                self._store.small.put_file(key, file.session_id, chunk.position, now)
        return added

    def _count_from_zero(self, file: TranscriptFile) -> None:
        """Forget how much of a file could not be read, because it is read from its start again."""
        row = self._store.sessions.find(file.session_id)
        if row is not None and (row.malformed or row.unknown):
            with self._store.write(file.session_id):
                self._store.sessions.update(row.key, malformed=0, unknown=0)


class Following(FollowedFiles):
    """The use case of following the transcripts of this machine."""

    def __init__(
        self,
        environment: Environment,
        appender: TranscriptAppender,
        extra: tuple[Path, ...],
        env: Mapping[str, str],
    ) -> None:
        super().__init__(extra, env)
        self._environment, self._appender = environment, appender

    def position(self, file: TranscriptFile) -> Position | None:
        """Return the stored position of a file; None if its session was deleted."""
        return None if self._appender.is_deleted(file.session_id) else self._appender.position(file.key)

    def is_known(self, file: TranscriptFile) -> bool:
        """Return whether there is a session for a file."""
        return self._environment.store.sessions.find(file.session_id) is not None

    def receive(self, file: TranscriptFile, chunk: Chunk, before: Position) -> int:  # noqa: ARG002  # for senders
        """Append a chunk. Raises Conflict if another source has a session of that id."""
        return self._appender.append(file, file.key, chunk, path=path_text(file.path))

    def failed(self, file: TranscriptFile, error: Exception) -> None:
        """Report that a file could not be followed; the others go on."""
        text = str(error) if isinstance(error, CoppiceError) else f"{type(error).__name__}: {error}"
        found = self._environment.store.sessions.live(file.session_id)
        reason = f"{path_text(file.path.name)} could not be read: {text}"
        self._environment.bus.publish(ProblemReported(found.id if found is not None else None, reason))
