"""Takes in what `coppice follow --to` pushes: chunks of transcripts that another machine follows.

That machine decodes its files, with the same decoders as this one, and pushes the records. A chunk names the position
before it by a digest. If that is not the stored one, nothing is appended and the sender learns the stored position, so
that nothing is left out; a chunk that was taken before is acknowledged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from webapp.agents import AGENTS
from webapp.agents.reading.readers import Chunk, digest_of
from webapp.agents.record_json import record_from_dict
from webapp.agents.records import Meta, Record, TranscriptFile
from webapp.bodies import PushedLines
from webapp.errors import Conflict, Invalid
from webapp.services.ingest.answers import Pushed, StoredPosition, StoredPositions
from webapp.services.ingest.following import TranscriptAppender
from webapp.services.session.environment import Environment
from webapp.services.session.state import may_append


@dataclass(frozen=True, slots=True)
class Sender:
    """The user and the machine that push."""

    user: str
    host: str

    def key(self, file: str) -> str:
        """Return the key under which the position in a file of the sender is stored, which no other sender has."""
        return orjson.dumps([self.user, self.host, file]).decode()


class PushedSessions:
    """The use case of sessions that arrive from other machines."""

    def __init__(self, environment: Environment, appender: TranscriptAppender) -> None:
        self._environment, self._appender = environment, appender

    def differing(self, sender: Sender, files: Mapping[str, str]) -> StoredPositions:
        """Return the files whose stored position has another digest than the sender's."""
        stored = {key: self._appender.position(sender.key(key)) for key in files}
        return StoredPositions(
            positions=[
                StoredPosition(key=key, position=position)
                for key, position in stored.items()
                if digest_of(position) != files[key]
            ]
        )

    def receive(self, sender: Sender, chunk: PushedLines) -> Pushed:
        """Append a chunk of a transcript.

        Raises:
            Invalid: the source is no agent.
            Malformed: a record cannot be read; nothing is appended.
            Conflict: the session belongs to another user, to this machine, or to another source.
        """
        file = chunk.file
        if file.source not in AGENTS:
            raise Invalid(
                f"this server reads no transcripts of {file.source}; expected one of {', '.join(AGENTS)}",
                "source",
            )
        session_id, key = file.session_id, sender.key(file.key)
        with self._environment.lock(session_id):
            if self._appender.is_deleted(session_id):
                return Pushed(state="deleted", added=0, position=None)
            stored = self._appender.position(key)
            if digest_of(stored) != chunk.before:
                known = digest_of(stored) == digest_of(chunk.after)
                return Pushed(
                    state="known" if known else "behind", added=0, position=None if known else stored
                )
            records = [record_from_dict(record) for record in chunk.records]
            streams = {stream for record in records if (stream := getattr(record, "stream", ""))}
            self._refuse_foreign(sender, [session_id, *(f"{session_id}.{stream}" for stream in streams)])
            transcript = TranscriptFile(
                path=Path(file.key),  # for its name; nothing opens a path that another machine names
                session_id=session_id,
                parent_id=self._own_parent(sender, file.parent_id),
                source=file.source,
                title=file.title,
                agent_type=file.agent_type,
            )
            records = [self._without_foreign_parent(sender, record) for record in records]
            # A file read from its start counts from zero, even if the machine has another name now.
            restarted = chunk.restarted or not chunk.before
            received = Chunk(records, chunk.after, restarted, chunk.unreadable)
            added = self._appender.append(
                transcript, key, received, state={"owner": sender.user, "host": sender.host}
            )
            return Pushed(state="taken", added=added, position=None)

    def _is_own(self, sender: Sender, session_id: str) -> bool:
        """Return whether a session is the sender's, or not there."""
        return may_append(self._environment.store.sessions.find(session_id), sender.user)

    def _own_parent(self, sender: Sender, parent: str | None) -> str | None:
        return parent if parent is not None and self._is_own(sender, parent) else None

    def _without_foreign_parent(self, sender: Sender, record: Record) -> Record:
        return (
            replace(record, parent=self._own_parent(sender, record.parent))
            if isinstance(record, Meta)
            else record
        )

    def _refuse_foreign(self, sender: Sender, session_ids: Iterable[str]) -> None:
        """Raise Conflict if one of the sessions is there and is not the sender's."""
        for session_id in session_ids:
            if not self._is_own(sender, session_id):
                raise Conflict(
                    f"session {session_id} came from elsewhere: from another user, or from the server's own machine"
                )
