"""The routes by which `coppice follow --to` pushes the transcripts of another machine."""

from __future__ import annotations

from flask import request

from webapp.access.gate import IDENTITY
from webapp.access.identity import SENDER, Identity
from webapp.app import App
from webapp.bodies import PushedLines, PushedPositions, SenderFields
from webapp.routes.api.routing import Table
from webapp.routes.reading import MEBIBYTE
from webapp.services.ingest.answers import Pushed, StoredPositions
from webapp.services.ingest.pushed import Sender

table = Table("follow")

# A chunk ends with the line that makes it 4 MiB; a line has at most 32 MiB, and its content comes twice.
PUSH_LIMIT_BYTES = 160 * MEBIBYTE


@table.post("/follow/positions", role=SENDER)
def compare_positions(app: App, body: PushedPositions) -> StoredPositions:
    """Return the files of a sender whose stored position is not the one it has.

    `coppice follow --to` asks before it pushes, so that nothing is left out after a backup was restored.
    """
    return app.pushed.differing(sender_of(body), body.files)


@table.post("/follow/lines", role=SENDER, errors=(409,), limit_bytes=PUSH_LIMIT_BYTES)
def take_lines(app: App, body: PushedLines) -> Pushed:
    """Append a part of a transcript that another machine follows, and store its position; the same again adds nothing.

    The session is created with its first message. 409 if it belongs to another user, or to the server's own machine.
    """
    return app.pushed.receive(sender_of(body), body)


def sender_of(body: SenderFields) -> Sender:
    """Return the machine that pushes, and its user: the name of the token, or without one the login name it sends."""
    held: Identity | None = request.environ.get(IDENTITY)
    return Sender(held.name if held is not None and held.name else body.user, body.host)
