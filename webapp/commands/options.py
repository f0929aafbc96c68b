"""Options that several commands have. Importing them loads nothing of the application."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from webapp.commands.terminal import echo
from webapp.config import Database, database, host_of, is_loopback
from webapp.errors import Invalid

IN_CLEAR = (
    "{address} is reached without TLS: everybody on the network between can read the token and the sessions"
)


class PathType(click.Path):
    """A path that is not empty: "" is a variable of the shell that is not set, and would name the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse an empty one."""
        if not os.fspath(value):
            self.fail("expected a path, got nothing", param, ctx)
        return super().convert(value, param, ctx)


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


def or_of_group(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Return the option's value, or that of the group's option, which the group keeps in `ctx.obj`."""
    return ctx.obj if value is None else value


DB_HELP = "The database file, or postgresql://… (COPPICE_DB)."
db_option = click.option("--db", type=DatabaseType(), help=DB_HELP)
# Of the commands of a group that has the option too: it can be given before or after their name.
subcommand_db_option = click.option("--db", type=DatabaseType(), callback=or_of_group, help=DB_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON.")


def or_stdout(_ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    """Return the file of an output; None, which is stdout, for `-`, as `-` for an input is stdin."""
    return None if value == Path("-") else value


output_option = click.option(
    "-o",
    "--output",
    type=PathType(path_type=Path, dir_okay=False),
    metavar="OUT",
    callback=or_stdout,
    help="Write to this file instead of stdout.",
)
watch_option = click.option(
    "--watch",
    multiple=True,
    metavar="DIR",
    type=PathType(path_type=Path, file_okay=False),
    help="Follow the transcripts in this folder too; can be repeated.",
)


def refuse_together(*options: tuple[str, object]) -> None:
    """Refuse options that exclude each other, each given with its value, false if it was left out.

    Raises:
        UsageError: two of them were given.
    """
    given = [name for name, value in options if value]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} exclude each other; leave one out")


def refuse_before_subcommand(ctx: click.Context, *names: str) -> None:
    """Refuse options of a group that its subcommand would ignore.

    Raises:
        UsageError: one of them was given before a subcommand.
    """
    for option in ctx.command.params:
        if option.name in names and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{option.opts[0]} does not belong to `{ctx.command_path} {ctx.invoked_subcommand}`; leave it out"
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
