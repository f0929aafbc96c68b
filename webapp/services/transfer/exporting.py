"""Files out: our own format, the context in a wire format, or a transcript that the agent resumes from.

A transcript is new content under a new session id, made from the rows as they arrived; an agent's own files are
never written.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any

import orjson

from scoring.formats import FORMATS
from webapp.agents import AGENTS
from webapp.errors import BusyStore, Conflict, refuse_unknown
from webapp.services.context.assembling import ContextService
from webapp.services.context.transcript_view import view_of
from webapp.services.session.codec import json_bytes
from webapp.services.session.environment import Environment
from webapp.services.transfer.own_format import OwnFormat
from webapp.store.sessions import SessionRow

TRANSCRIPTS = {a.source: a.transcripts for a in AGENTS.values() if a.transcripts is not None}
SPOOLED_BYTES = 16 << 20  # a longer file is not held in memory
BLOCK = 1 << 16
# Making a file takes processor time and a snapshot of the store, with PostgreSQL one of its few connections; sending it
# takes neither. More at once would only make each slower, and leave no connection to other requests.
MADE_AT_ONCE, WAIT_SECONDS = 2, 30.0
NAMES = ("jsonl", *FORMATS, *TRANSCRIPTS)


class Exporting:
    """The use case of exporting one session."""

    def __init__(self, environment: Environment, context: ContextService, own: OwnFormat) -> None:
        self._environment, self._store = environment, environment.store
        self._context, self._own = context, own
        self._making = threading.Semaphore(MADE_AT_ONCE)

    def export(self, session_id: str, format: str = "jsonl") -> tuple[str, str, Iterator[bytes]]:
        """Return the file name, media type and content of a session.

        It is read completely first: an export that fails sends nothing, and a slow client holds nothing of the store.

        Raises:
            BusyStore: other exports are being made for longer than WAIT_SECONDS.
            StoreError: something of it cannot be read.
            NotFound: there is no such session.
            Invalid: there is no such format.
            Conflict: a transcript is requested for a session that did not come from that agent.
        """
        if not self._making.acquire(timeout=WAIT_SECONDS):
            raise BusyStore("other sessions are being exported; try again in a minute")
        try:
            with self._store.read():
                return self._made(self._store.sessions.get(session_id), format)
        finally:
            self._making.release()

    def _made(self, row: SessionRow, format: str) -> tuple[str, str, Iterator[bytes]]:
        refuse_unknown("format", format, NAMES)
        stem = re.sub(r"[^\w.-]+", "-", row.title or row.id).strip("-")[:60] or "session"
        if format == "jsonl":
            return f"{stem}.coppice.jsonl", "application/x-ndjson", spooled(self._own.lines(row))
        if format in TRANSCRIPTS:
            if row.source != format:
                label = AGENTS[format].label
                raise Conflict(
                    f"a transcript for {label} can only be made of a session of {label}; this one came from "
                    f"{row.source}. Export it as a message list ({', '.join(FORMATS)})"
                )
            agent = TRANSCRIPTS[format]
            now = self._environment.clock()
            made = agent.write(view_of(self._store, row, now, keeps_thinking=agent.keeps_thinking))
            kind = "application/json" if made.name.endswith(".json") else "application/x-ndjson"
            return made.name, kind, spooled(made.lines)
        built = self._context.get(row.id, format)
        body: Any = {**built.envelope, built.key: built.messages} if built.envelope else built.messages
        return f"{stem}.{format}.json", "application/json", iter([_pretty(body)])


def spooled(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Return the same bytes in blocks, once all are available; a long file is buffered on disk."""
    file = tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES)  # noqa: SIM115  # closed when it is read
    try:
        file.writelines(lines)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return _blocks(file)


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        yield from iter(partial(file.read, BLOCK), b"")


def _pretty(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
    except (orjson.JSONEncodeError, TypeError):
        return json_bytes(value) + b"\n"
