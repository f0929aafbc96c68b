"""`coppice verify`: checks hash chains, references, contexts and totals of the store."""

from __future__ import annotations

import click

from scoring.counted import counted
from webapp.commands.common import opened, refuse_missing
from webapp.commands.options import db_option
from webapp.commands.terminal import echo
from webapp.config import Config, Database


@click.command()
@click.option(
    "--repair", is_flag=True, help="Rebuild derived data: messages' rows, contexts, totals, the index."
)
@db_option
def verify(repair: bool, db: Database | None) -> int:
    """Check the store, and print its faults.

    Exits with 1 if there are any. The log, operations, summaries and memories cannot be rebuilt; `coppice
    restore` brings them back from a copy.
    """
    refuse_missing(Config.load(db=db))
    with opened(db) as app:
        for done in app.repairing.repair() if repair else ():
            echo(done)
        faults = list(app.verify())
    for fault in faults:
        echo(str(fault))
    if faults:
        what_to_do = (
            "put a copy back with `coppice restore`, or export what you can and import it into a new database"
            if repair
            else "`coppice verify --repair` rebuilds what is derived"
        )
        echo(f"coppice: {counted(len(faults), 'fault')}; {what_to_do}", err=True)
        return 1
    echo("The store is sound.")
    return 0
