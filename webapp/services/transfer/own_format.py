"""Our own export: a session as lines of JSON, complete, and back to the same log, context and operations (S1).

The first line names the format and its version, the last one the number of lines before it, so that a cut-off file
is noticed. An import must pass the checks of the store before it is stored.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from webapp.agents.recognise import COPPICE
from webapp.errors import Malformed, RefusedRow
from webapp.events import SessionCreated, SessionUpdated
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.labels import shown_title, source_label
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.transfer.answers import ImportedSession
from webapp.services.transfer.own_checks import check
from webapp.store.indexed_text import index_entries
from webapp.store.session_dump import DUMPED, SESSION_COLUMNS
from webapp.store.sessions import SessionRow
from webapp.store.verify import faults_of

VERSION = 1


class OwnFormat:
    """Writes and reads our own format."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def lines(self, row: SessionRow) -> Iterator[bytes]:
        """Yield a session as lines, in its state when the first line is read."""
        count = 0
        with self._store.read():
            row = self._store.sessions.get(row.id)
            yield orjson.dumps({COPPICE: VERSION, "session": row.id}) + b"\n"
            for record in self._store.dump.records(row):
                count += 1
                yield orjson.dumps(record) + b"\n"
        yield orjson.dumps({"type": "end", "records": count}) + b"\n"

    def load(self, name: str, data: bytes) -> list[ImportedSession]:
        """Read a file that `lines` wrote.

        Raises:
            Malformed: it is broken or was changed; nothing of it is stored.
            StoreError: it cannot be stored now.
        """
        records = list(self._read(name, data))
        session, rows = records[0], records[1:-1]
        entries = [r for r in rows if r["type"] == "entries"]
        try:
            with self._environment.lock(_named(session)), self._store.write():
                known = self._known(_named(session))
                if known is not None and self._holds(known, entries):
                    return [imported(known, known=int(session["next_no"]) - 1)]
                row, there = self._keep(session, rows, known, entries)
        except (LookupError, TypeError, ValueError, OverflowError, RefusedRow, AttributeError) as error:
            raise Malformed(f"{name}: not an export of Coppice: {error}") from error
        replaced = known if known is not None and known.id == row.id else None
        if replaced is not None:
            self._histories.forget(replaced.key)
        self._environment.bus.publish(SessionUpdated(row.id) if replaced else SessionCreated(row.id))
        return [imported(row, row.next_no - 1 - there, there)]

    def _known(self, session_id: str) -> SessionRow | None:
        """Return the session of that id.

        The marker of a deleted one is removed, because the import asks for the session.
        """
        found = self._store.sessions.find(session_id)
        if found is None or found.deleted_at is None:
            return found
        self._store.sessions.remove(found, None)
        return None

    def _read(self, name: str, data: bytes) -> Iterator[dict[str, Any]]:
        lines = data.split(b"\n")
        kinds = {"session", *DUMPED, "end"}
        last = None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise Malformed(f"{name}: line {number} is not JSON: {error}") from error
            if number == 1:
                if not isinstance(record, Mapping) or record.get(COPPICE) != VERSION:
                    raise Malformed(f"{name}: line 1: expected version {VERSION} of our export")
                continue
            if not isinstance(record, dict) or record.get("type") not in kinds:
                raise Malformed(f"{name}: line {number}: not a record of our export")
            if last is None and record["type"] != "session":
                raise Malformed(f"{name}: line {number}: expected the session first")
            last = record
            yield record
        if last is None or last["type"] != "end":
            raise Malformed(f"{name}: the export was cut off; expected its end after line {len(lines)}")

    def _holds(self, known: SessionRow, entries: list[dict[str, Any]]) -> bool:
        """Return whether the log has all these entries already, and perhaps more."""
        if len(entries) > known.next_seq:
            return False
        if not entries:
            return True
        stored = self._store.log.entry(known.key, len(entries) - 1)
        return stored is not None and _id_of(entries[-1]) == stored.id

    def _continues(self, known: SessionRow, entries: list[dict[str, Any]]) -> bool:
        """Return whether the log is the beginning of these entries."""
        if known.next_seq == 0:
            return True
        return known.next_seq <= len(entries) and _id_of(entries[known.next_seq - 1]) == known.last_entry_id

    def _keep(
        self,
        session: Mapping[str, Any],
        rows: list[dict[str, Any]],
        known: SessionRow | None,
        entries: list[Any],
    ) -> tuple[SessionRow, int]:
        """Write the session, inside a transaction, and run the store's checks on it.

        Return its row, and how many of its messages were there before.
        """
        columns: dict[str, Any] = {
            name: session.get(name) for name in SESSION_COLUMNS if session.get(name) is not None
        }
        columns["last_entry_id"] = _bytes(session.get("last_entry_id"))
        check(session, rows)
        there = 0
        if known is not None and self._continues(known, entries):
            there = known.next_no - 1
            columns["version"] = max(int(session["version"]), known.version) + 1
            self._store.sessions.remove(known, None)
        elif known is not None:
            columns["id"] = self._free_id(str(columns["id"]))
        row = self._store.sessions.create(**columns)
        self._store.dump.load(row.key, rows)
        index_entries(self._store.db, row.key, row.next_seq)
        for fault in faults_of(self._store.db, row):
            raise ValueError(fault)
        session_answer(Session.of(self._environment, row))
        return row, there

    def _free_id(self, wanted: str) -> str:
        n = 2
        while self._store.sessions.find(f"{wanted}-{n}") is not None:
            n += 1
        return f"{wanted}-{n}"


def _named(session: Mapping[str, Any]) -> str:
    if not isinstance(session.get("id"), str) or not session["id"]:
        raise ValueError("the session has no id")
    return str(session["id"])


def _bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    return base64.b64decode(value["base64"], validate=True)


def _id_of(record: Mapping[str, Any]) -> bytes | None:
    try:
        return _bytes(record.get("id"))
    except (KeyError, TypeError, ValueError):
        return None


def imported(
    row: SessionRow, added: int = 0, known: int = 0, skipped: int = 0, problems: Sequence[str] = ()
) -> ImportedSession:
    """Return the result of an import into a session."""
    return ImportedSession(
        session_id=row.id,
        title=shown_title(row),
        source=row.source,
        source_label=source_label(row.source),
        added=added,
        known=known,
        skipped=skipped,
        problems=list(problems),
    )
