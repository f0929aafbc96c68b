"""Routes that import and export files, resume a session, search all messages, and start the demo."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import BinaryIO, cast
from urllib.parse import quote

import orjson
from flask import Response, request

from webapp.app import App
from webapp.bodies import EmptyBody, FileUpload, FormatQuery, ResumeBody, SearchQuery
from webapp.bus import Bus
from webapp.errors import status_of
from webapp.events import ImportProgressed
from webapp.routes.api.routing import Table
from webapp.routes.problems import RequestFault
from webapp.routes.reading import IMPORT_LIMIT_BYTES, parse_json, refuse_encoded
from webapp.services.catalog.answers import Results
from webapp.services.session.answers import Session
from webapp.services.transfer.answers import Imported, ImportedSession, Resumed, UnreadableFile

table = Table("files")

# Time between two progress reports of an import.
PROGRESS_SECONDS = 0.25


@table.get("/sessions/<session_id>/export", errors=(404, 409))
def export_session(app: App, session_id: str, query: FormatQuery) -> Response:
    """Return a session as a file: our JSONL (complete), a wire format, or a transcript that the agent resumes from.

    `format` is jsonl (the default), openai, responses, anthropic, gemini, langchain, or the session's own source, where
    that agent resumes from transcripts; 409 for another agent's.
    """
    filename, mimetype, chunks = app.exporting.export(session_id, query.format or "jsonl")
    headers = {"Content-Disposition": disposition(filename), "Cache-Control": "no-store"}
    return Response(chunks, mimetype=mimetype, headers=headers)


@table.post("/sessions/<session_id>/resume", errors=(404, 409))
def resume_session(app: App, session_id: str, body: ResumeBody) -> Resumed:
    """Write a pruned copy of a session where its agent finds it; return the command that resumes from it.

    The copy is a new session; no file is overwritten, and the session itself does not change. 409 where the agent
    cannot resume from a copy, or the session's folder is not on this machine.
    """
    return app.resuming.resume(session_id, prune=body.prune, max_tokens=body.max_tokens)


@table.post("/import", body=FileUpload, errors=(409,), limit_bytes=IMPORT_LIMIT_BYTES, raw=True)
def import_file(app: App) -> Imported:
    """Import files, as multipart fields named `file` or one in a JSON body; the format is recognised by content.

    The same file again adds nothing; a longer version adds the new part. Unreadable parts are reported with place.
    409 if a file names a session of another origin.
    """
    refuse_encoded(request)
    if request.mimetype == "multipart/form-data":
        return import_uploads(app)
    if request.mimetype != "application/json":
        shown = request.mimetype or "none"
        raise RequestFault(
            415, "unsupported_type", f"expected multipart/form-data or application/json, got {shown}"
        )
    return import_json(app, FileUpload.model_validate(parse_json(request.get_data(cache=False))))


def import_uploads(app: App) -> Imported:
    """Import every file of a multipart form."""
    files = [file for _, file in request.files.items(multi=True)]
    if not files:
        raise RequestFault(400, "malformed", "the form holds no file; send it as a field named `file`")
    file_format, model = request.form.get("format") or "auto", request.form.get("model") or None
    imported: list[ImportedSession | UnreadableFile] = []
    failures: list[Exception] = []
    for file in files:
        name = file.filename or "upload"
        try:
            progress = Progress(app.bus, name)
            stream = cast("BinaryIO", file.stream)
            imported += app.importing.import_file(
                name, stream, format=file_format, model=model, progress=progress
            )
        except Exception as error:
            if status_of(error) >= 500:  # not the file's fault
                raise
            failures.append(error)
            imported.append(unreadable(name, error))
    if len(failures) == len(files):
        raise failures[0]
    return Imported(imported=imported)


class Progress:
    """Publishes the progress of an import a few times a second; nothing for a file that is done before that."""

    def __init__(self, bus: Bus, name: str, clock: Callable[[], float] = monotonic) -> None:
        self._bus, self._name, self._clock = bus, name, clock
        self._last = clock()

    def __call__(self, done: int, size: int) -> None:
        """Note that `done` of `size` bytes have been read."""
        if self._clock() - self._last >= PROGRESS_SECONDS:
            self._last = self._clock()
            self._bus.publish(ImportProgressed(self._name, done, size))


def unreadable(name: str, error: Exception) -> UnreadableFile:
    """Return the entry of a file that could not be read, for an import of several files."""
    return UnreadableFile(
        session_id=None, title=name, source=None, source_label=None, added=0, known=0, skipped=0,
        problems=[str(error)],
    )  # fmt: skip


def import_json(app: App, sent: FileUpload) -> Imported:
    """Import the file of a JSON body."""
    data = sent.content.encode() if isinstance(sent.content, str) else orjson.dumps(sent.content)
    done = app.importing.import_file(sent.name, data, format=sent.format, model=sent.model)
    return Imported(imported=[*done])


def disposition(filename: str) -> str:
    """Return the header that makes a browser save the answer under this name, which may hold any characters."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


@table.get("/search", errors=(404,))
def search_everywhere(app: App, query: SearchQuery) -> Results:
    """Search all messages of all sessions, pruned or not; return snippets.

    A message is found by the words in its first 200,000 characters.
    """
    return app.search.everywhere(
        query.q,
        query.session,
        role=query.role,
        tool=query.tool,
        since=query.since,
        until=query.until,
        after=query.after,
    )


@table.post("/demo", status=201)
def start_demo(app: App, body: EmptyBody) -> Session:
    """Start a demo: a generated session that grows live."""
    return app.demo.start()
