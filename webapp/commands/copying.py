"""`coppice copy`: moves a store between SQLite and PostgreSQL, either way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from scoring.counted import counted
from webapp.commands.common import refuse_same
from webapp.commands.options import DatabaseType
from webapp.commands.terminal import echo
from webapp.config import Database
from webapp.errors import Conflict, Invalid
from webapp.store import Store
from webapp.store.copying import copy as copied


@click.command()
@click.option("--from", "source", type=DatabaseType(), required=True, help="The store that is copied.")
@click.option(
    "--to", "target", type=DatabaseType(), required=True, help="The target: a database without sessions."
)
def copy(source: Database, target: Database) -> int:
    """Copy a store into another database.

    A database is the path of a file or postgresql://user:password@host/name.

    Both are verified. If a copy is interrupted, the same command continues it; until it is complete, no server starts
    on the target. Stop what writes to the source first: what is written during the copy is not copied.
    """
    refuse_same(source, target, "--from and --to are the same; name another database", "to")
    if isinstance(source, Path) and not source.exists():
        raise Invalid(f"there is no database at {source}", "from")
    with closing(Store(source)) as here, closing(Store(target)) as there:
        if _printed(f"{source}: {fault}" for fault in here.verify()):
            raise Conflict(
                f"{source} is not sound, so nothing was copied; `coppice verify --repair` may help"
            )
        count = _printed(copied(here, there))
        faults = _printed(f"{target}: {fault}" for fault in there.verify())
    if not faults:
        echo(f"{target} has all of {source}, {counted(count, 'session')}, and both are sound.")
    return 1 if faults else 0


def _printed(lines: Iterator[str]) -> int:
    """Print lines; return their number."""
    count = 0
    for line in lines:
        echo(line)
        count += 1
    return count
