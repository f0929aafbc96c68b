"""Files in: recognised by content, each added to the session it belongs to.

A transcript belongs to the session it names, a message list to the session it continues, our own export to the
session it was made from. Importing the same file again adds nothing, a longer version adds the rest. What cannot be
read is reported with its place; the rest of the file is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from scoring.formats import FORMATS
from webapp.agents import AGENTS
from webapp.agents.reading.content import Content
from webapp.agents.reading.finding import first_row, reason_of
from webapp.agents.reading.tail import no_text
from webapp.agents.recognise import COPPICE, IMPORTS, WIRE, recognise
from webapp.agents.records import Entry, Record, TranscriptFile, path_text
from webapp.errors import Conflict, CoppiceError, Invalid, Malformed, NoSession, StoreError, refuse_unknown
from webapp.events import SessionDeleted
from webapp.services.ingest.batch_writer import Added
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.message_lists import ids_of, session_of
from webapp.services.ingest.new_sessions import NewSessions
from webapp.services.ingest.record_batches import Tally
from webapp.services.session.environment import Environment
from webapp.services.session.labels import source_label
from webapp.services.transfer.answers import ImportedSession
from webapp.services.transfer.list_files import read_file
from webapp.services.transfer.own_format import OwnFormat, imported

NAMES = ("auto", *IMPORTS, "jsonl", WIRE, *FORMATS)
*_OTHERS, _LAST = (AGENTS[source].label for source in IMPORTS)
EXPECTED = (
    f"expected a transcript of {', '.join(_OTHERS)} or {_LAST}, a message list in a provider's format, or an export "
    "of Coppice"
)


class Importing:
    """The use case of importing one file."""

    def __init__(
        self, environment: Environment, ingest: Ingest, new_sessions: NewSessions, own: OwnFormat
    ) -> None:
        self._environment, self._store = environment, environment.store
        self._ingest, self._new_sessions, self._own = ingest, new_sessions, own

    def import_file(
        self,
        name: str,
        data: bytes | BinaryIO,
        format: str = "auto",
        model: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        place: Path | None = None,
    ) -> list[ImportedSession]:
        """Import a file, its bytes or an open one that can be sought in; return one entry for each session in it.

        `place` is its path on this machine, for callers that may name files there: files beside it are read
        too. Only the last part of `name` counts, and it is never opened. `progress` is called with the number
        of bytes used so far and the total.

        Raises:
            Malformed: nothing of it can be read, or it is not a session.
            Invalid: there is no such format.
            Conflict: it names a session that came from elsewhere.
        """
        refuse_unknown("format", format, NAMES)
        base = name_in(name)
        try:
            content = Content(data, progress)
        except OSError as error:
            raise Malformed(f"{base}: {reason_of(error)}") from error
        if content.empty:
            raise Malformed(f"{base}: the file is empty; there is nothing to import")
        source = COPPICE if format == "jsonl" else format
        if source == "auto":
            found = recognise(content.head())
            if found is None:
                raise Malformed(f"{base}: not recognised{_kind_in_words(content)}; {EXPECTED}")
            source = found
        if source == COPPICE:
            return self._own.load(base, content.whole())
        if source in IMPORTS:
            return [self._transcript(base, place, content, source, model)]
        return [self._list(base, content, None if source == WIRE else source, model)]

    def import_sessions(self, path: Path, model: str | None = None) -> Iterator[tuple[Path, ImportedSession]]:
        """Import the sessions of the databases and trees at or below a path, and yield one entry for each.

        `model` is that of sessions that do not name theirs.
        """
        for archives in filter(None, (agent.archives for agent in AGENTS.values())):
            for file in (file for place in archives.find(path) for file in archives.sessions(place)):
                try:
                    added = self._append(
                        file,
                        archives.read(file),
                        path_text(file.path.name),
                        path=path_text(file.path),
                        model=model,
                    )
                    yield file.path, self._answer(file.session_id, added)
                except (Conflict, Invalid, Malformed) as error:  # the others are imported all the same
                    yield file.path, _refused(file, error)

    def _append(
        self,
        file: TranscriptFile,
        said: Iterator[Record],
        name: str,
        *,
        path: str | None = None,
        model: str | None,
    ) -> Added:
        """Append what a file `name` says to its session, which is created with `path` and `model` if it is missing.

        Raises:
            Malformed: none of its messages can be read, and the session has none yet.
        """
        records = self._asked(file.session_id, said)
        with self._removed_if_empty(file.session_id):
            self._ingest.ensure(
                file.session_id, file.source, asked=True, parent_id=file.parent_id, path=path, title=file.title,
                agent_type=file.agent_type, model=model,
            )  # fmt: skip
            added = self._ingest.append_records(file.session_id, records, whole_file=True, file=name)
            if added.skipped and self._store.sessions.get(file.session_id).next_no == 1:
                label = AGENTS[file.source].label
                raise Malformed(f"nothing in it can be read as a session of {label}: {added.problems[0]}")
            return added

    @contextmanager
    def _removed_if_empty(self, session_id: str) -> Iterator[None]:
        """Remove the session if this block creates it and then fails before it has a message."""
        before = self._store.sessions.find(session_id)
        try:
            yield
        except (StoreError, Malformed):
            if before is None or before.deleted_at is not None:
                with suppress(CoppiceError):  # the first error is the cause
                    self._remove_empty(session_id, before.deleted_at if before else None)
            raise

    def _remove_empty(self, session_id: str, marker_at: int | None) -> None:
        with self._environment.lock(session_id), self._store.write(session_id):
            row = self._store.sessions.get(session_id)
            if row.next_no > 1:
                return
            self._store.sessions.remove(row, marker_at)
        self._environment.bus.publish(SessionDeleted(session_id))

    # -- transcripts

    def _transcript(
        self, base: str, place: Path | None, content: Content, source: str, model: str | None
    ) -> ImportedSession:
        head, files = content.head(), IMPORTS[source]
        about = files.origin(place or PurePath(base), head, place is not None)
        if about.own_question:
            label = AGENTS[source].label
            raise NoSession(
                f"{base}: {label} asked this itself, for a compaction or a suggestion; it is not a session"
            )
        session_id = (
            about.session_id or f"import-{hashlib.blake2b(first_row(head), digest_size=8).hexdigest()}"
        )
        file = TranscriptFile(
            place or Path(base), session_id, about.parent_id, source, about.title, about.agent_type
        )
        said = files.decode(content, file if about.session_id else None)
        added = self._append(file, said, base, model=model)
        if not (added.nos or added.known or added.skipped):
            added.problems.append("there is no message in it")
        return self._answer(session_id, added)

    def _asked(self, session_id: str, records: Iterator[Record]) -> Iterator[Record]:
        """Return the records of a session that is imported on request.

        Raises:
            Malformed: it was deleted, and the records have no message to restore it for.
        """
        found = self._store.sessions.find(session_id)
        if found is None or found.deleted_at is None:
            return records
        begun: list[Record] = []
        for record in records:
            begun.append(record)
            if isinstance(record, Entry):
                return chain(begun, records)
        raise Malformed("there is no message in it; its session was deleted and stays deleted")

    # -- message lists

    def _list(
        self, name: str, content: Content, wire_format: str | None, model: str | None
    ) -> ImportedSession:
        file = read_file(name, content, wire_format)
        decoded, model = file.decoded, model or file.model
        ids = ids_of(decoded.messages)
        row = session_of(self._store, ids)
        session_id = row.id if row is not None else self._new_id(name, ids)
        with self._removed_if_empty(session_id):
            if row is None:
                self._create(session_id, name, decoded.format, decoded.envelope, model)
            added = self._ingest.append_list(session_id, decoded.messages, ids, model)
        added.skipped += file.skipped
        added.problems += file.problems
        self._ingest.note_problems(session_id, Tally(file.skipped, file.problems), True, name)
        return self._answer(session_id, added)

    def _new_id(self, name: str, ids: list[str]) -> str:
        digest = hashlib.blake2b(f"{ids[-1]} {name}".encode(), digest_size=6).hexdigest()
        if self._store.sessions.find(f"import-{digest}") is None:
            return f"import-{digest}"
        return f"import-{hashlib.blake2b(ids[-1].encode(), digest_size=10).hexdigest()}"

    def _create(
        self, session_id: str, name: str, wire_format: str, envelope: Mapping[str, Any], model: str | None
    ) -> None:
        tools = envelope.get("tools")
        self._new_sessions.create(
            id=session_id, title=PurePath(name).stem, model=model, source="import", format=wire_format,
            tools=tools if isinstance(tools, list) else None,
        )  # fmt: skip
        if envelope:
            with self._store.write(session_id):
                self._store.sessions.update(self._store.sessions.get(session_id).key, envelope=dict(envelope))

    def _answer(self, session_id: str, added: Added) -> ImportedSession:
        row = self._store.sessions.get(session_id)
        return imported(row, len(added.nos), added.known, added.skipped, added.problems)


def _refused(file: TranscriptFile, error: CoppiceError) -> ImportedSession:
    return ImportedSession(
        session_id=file.session_id, title=file.title, source=file.source,
        source_label=source_label(file.source), added=0, known=0, skipped=0, problems=[str(error)],
    )  # fmt: skip


def name_in(name: str) -> str:
    """Return the last part of a file's name, whatever machine it comes from, without what cannot be shown."""
    last = PurePath(name.replace("\\", "/")).name
    shown = "".join(filter(str.isprintable, last))
    return shown if shown.strip(".") else "upload"


def _kind_in_words(content: Content) -> str:
    """Return the kind of the file, if its first bytes show it."""
    reason = no_text(next(content.blocks(), b""))
    return f", {reason.partition(';')[0]}" if reason else ""
