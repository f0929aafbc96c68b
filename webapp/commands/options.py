"""Options that several commands have. Importing them loads nothing of the application."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from webapp.commands.terminal import echo
from webapp.config import Database, database, host_of, is_loopback
from webapp.errors import Invalid

IN_CLEAR = (
    "{address} is reached without TLS: everybody on the network between can read the token and the sessions"
)


class DatabaseType(click.ParamType[Database]):
    """A file of SQLite, or the address of a database of PostgreSQL."""

    name = "database"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Database:
        """Return where the store is; refuse a folder and an invalid address."""
        try:
            found = database(value)
        except ValueError:
            self.fail("expected a path, or an address like postgresql://user:password@host/name", param, ctx)
        if isinstance(found, Path) and found.is_dir():
            self.fail(f"{value} is a folder; expected a file", param, ctx)
        return found


db_option = click.option(
    "--db", type=DatabaseType(), help="The database file, or postgresql://… (COPPICE_DB)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="OUT",
    help="Write to this file instead of stdout.",
)
watch_option = click.option(
    "--watch",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Follow the transcripts in this folder too; can be repeated.",
)


def server_address(address: str, option: str) -> str:
    """Return the address of a server without a slash at its end; warn of one without TLS.

    Raises:
        Invalid: it is not the address of a server; the message names the option.
    """
    address = address.strip()
    host = host_of(address)
    if not host or {*"?#@"}.intersection(address):
        got = "" if "@" in address else f", got {address}"  # it may have a password in it
        raise Invalid(
            f"bad value for {option}; expected an address like https://coppice.example{got}",
            option.lstrip("-"),
        )
    if address.lower().startswith("http:") and not is_loopback(host):
        echo(IN_CLEAR.format(address=address), err=True)
    return address.rstrip("/")
