"""`coppice verify`: checks hash chains, references, contexts and totals of the store."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.commands.common import counted, db_option, opened, refuse_missing
from webapp.config import Config
from webapp.terminal import echo


@click.command()
@db_option
def verify(db: Path | None) -> int:
    """Check the store; print the faults and exit with 1 if there are any."""
    refuse_missing(Config.load(db=db))
    with opened(db) as app:
        faults = list(app.verify())
    for fault in faults:
        echo(str(fault))
    if faults:
        echo(
            f"coppice: {counted(len(faults), 'fault')}; export what you can and import it into a new database",
            err=True,
        )
        return 1
    echo("The store is sound.")
    return 0


COMMANDS = {"verify": verify}
