"""`coppice export`: writes one session as a file."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from contextlib import nullcontext
from pathlib import Path

import click

from webapp.commands.common import find_session, opened
from webapp.commands.options import db_option, output_option
from webapp.commands.terminal import echo, safe_json
from webapp.config import Database
from webapp.services.transfer.exporting import NAMES, TRANSCRIPTS
from webapp.store.private import replacing


@click.command()
@click.argument("session")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(NAMES),
    default="jsonl",
    show_default=True,
    help=f"jsonl is complete and can be imported again; agents can resume from {', '.join(TRANSCRIPTS)}.",
)
@output_option
@db_option
def export(session: str, file_format: str, output: Path | None, db: Database | None) -> None:
    """Export a session, or its pruned context.

    A session is exported whole, as JSONL; its pruned context in the format of an agent or a provider.

    SESSION is an id, or enough of its beginning.
    """
    with opened(db, create=False) as app:
        _, _, chunks = app.exporting.export(find_session(app, session), file_format)
        if output is None and sys.stdout.isatty():
            decoder = getincrementaldecoder("utf-8")()
            for chunk in chunks:
                sys.stdout.write(safe_json(decoder.decode(chunk)))
            return
        with nullcontext(sys.stdout.buffer) if output is None else replacing(output) as target:
            for chunk in chunks:
                target.write(chunk)
            target.flush()
        if output is not None:
            echo(f"wrote {output} ({output.stat().st_size:,} bytes)", err=True)
