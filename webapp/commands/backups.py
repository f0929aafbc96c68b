"""`coppice backup` and `coppice restore`: copies of the whole store."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

import click

from webapp.commands.common import refuse_missing, refuse_same
from webapp.commands.options import PathType, db_option
from webapp.commands.terminal import echo
from webapp.config import Config, Database
from webapp.errors import ForeignStore, Invalid
from webapp.store import Store
from webapp.store.sqlite.backup import back_up, put_back
from webapp.store.sqlite.connection import is_store
from webapp.store.sqlite.failures import translated


def _stamped(database: Path, what: str) -> Path:
    return database.with_name(f"{database.name}.{what}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")


def _file(config: Config) -> Path:
    """Return the file of the store.

    Raises:
        Invalid: it is a database of PostgreSQL.
    """
    if isinstance(config.database, Path):
        return config.database
    raise Invalid(
        f"{config.database} is no file: `coppice copy` or pg_dump make and put back its copies", "db"
    )


@click.command()
@click.argument("file", type=PathType(dir_okay=False, path_type=Path), required=False)
@db_option
def backup(file: Path | None, db: Database | None) -> None:
    """Copy the store to FILE, also while it is in use.

    By default FILE is beside it. The copy is checked before it gets its name, and no existing file is overwritten.
    """
    config = Config.load(db=db)
    refuse_missing(config)
    database = _file(config)
    target = file or _stamped(database, "backup")
    with translated("copying", database, target):
        back_up(database, target)
    echo(f"{target}: {target.stat().st_size:,} bytes")


@click.command()
@click.argument("file", type=PathType(exists=True, dir_okay=False, path_type=Path))
@db_option
def restore(file: Path, db: Database | None) -> int:
    """Replace the store by the copy FILE.

    The current content is kept beside it, damaged or not. Nothing is replaced while `coppice serve` has the store
    open, or if FILE is damaged or no store.
    """
    database = _file(Config.load(db=db))
    refuse_same(file, database, f"{file} is the store itself; name a copy of it", "file")
    kept = _stamped(database, "replaced")
    database.parent.mkdir(parents=True, exist_ok=True)
    with translated("reading", file):
        if not is_store(file):
            raise ForeignStore(f"{file} is empty; name a copy made by `coppice backup`")
    with translated("restoring", database):
        replaced = put_back(file, database, kept)
    if replaced:
        echo(f"The previous content is kept in {kept}.")
    with closing(Store(database)) as store:
        faults = list(store.verify())
    for fault in faults:
        echo(fault)
    echo(f"Restored {database} from {file}{'' if faults else '; it is sound'}.")
    return 1 if faults else 0
