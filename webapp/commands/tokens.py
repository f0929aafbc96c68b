"""`coppice token`: makes, lists, rotates and revokes the tokens that let programs and browsers in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import click
from rich.markup import escape
from rich.table import Table

from scoring.counted import counted
from webapp.access.identity import OPERATOR, SENDER
from webapp.access.tokens import ROLES, AccessTokens
from webapp.commands.common import refuse_missing, write_json
from webapp.commands.options import (
    db_option,
    json_option,
    refuse_before_subcommand,
    subcommand_db_option,
)
from webapp.commands.terminal import echo, out
from webapp.config import Config, Database
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.access import TokenRow

ONCE = (
    "This is the only time it is shown. Programs send it as `Authorization: Bearer …`; "
    "a browser opens a page with ?token=…"
)
ONCE_TO_SEND = (
    "This is the only time it is shown. Put it into COPPICE_TOKEN for `coppice follow` and `coppice proxy`; "
    "it opens no page. "
)
OF_ITS_USER = "It appends only to sessions of its user, who has its name."
OF_NO_USER = "It has no name, so it belongs to no user; --name binds a token to one."
NONE = "No tokens: on this machine none is asked for. `coppice token` makes one."
OPENED = "No token is asked for any more, except where other machines can reach the server."
NOBODY = (
    "No token is valid now, so nobody gets in; `coppice token` makes one, `coppice token off` asks for none."
)


@contextmanager
def open_tokens(db: Database | None, *, create: bool = False) -> Iterator[AccessTokens]:
    """Yield the tokens of the store, which is made only with `create`; close it at the end.

    Raises:
        Invalid: there is no such file.
    """
    config = Config.load(db=db)
    if not create:
        refuse_missing(config)
    with closing(Store(config.database)) as store:
        yield AccessTokens(store)


def print_token(row: TokenRow, token: str) -> None:
    """Print a new token, alone on stdout, and what to do with it."""
    echo(f"Token {row.key} for {article(row.role)} {row.role}:", err=True)
    echo(token)
    user = OF_ITS_USER if row.name else OF_NO_USER
    echo(ONCE_TO_SEND + user if row.role == SENDER else ONCE, err=True)


def article(word: str) -> str:
    """Return "a" or "an"."""
    return "an" if word[0] in "aeiou" else "a"


@click.group(invoke_without_command=True)
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default=OPERATOR,
    show_default=True,
    help="A viewer can only look, an operator can also change things; a sender can only hand over sessions.",
)
@click.option(
    "--name",
    default="",
    metavar="TEXT",
    help="Who has it, shown in the list; of a sender's token, the user of its sessions.",
)
@db_option
@click.pass_context
def token(ctx: click.Context, role: str, name: str, db: Database | None) -> None:
    """Make a token, and show it once.

    From then on the server asks for one. Only a hash of it is stored. A running server accepts it at once.
    """
    ctx.obj = db
    if ctx.invoked_subcommand is not None:
        refuse_before_subcommand(ctx, "role", "name")
        return
    with open_tokens(db, create=True) as keys:
        print_token(*keys.make(name, role))


@token.command("list")
@json_option
@subcommand_db_option
def list_tokens(db: Database | None, as_json: bool) -> None:
    """List the tokens: number, name, role, when made and revoked."""
    with open_tokens(db) as keys:
        found = keys.listed()
    rows = [(one.key, one.name, one.role, iso(one.created_at), iso(one.revoked_at)) for one in found]
    if as_json:
        names = ("number", "name", "role", "created_at", "revoked_at")
        write_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    if not rows:
        echo(NONE)
        return
    table = Table("number", "name", "role", "made", "revoked", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape(str(cell or "")) for cell in row))
    out().print(table)


@token.command()
@click.argument("number", type=int, required=False)
@subcommand_db_option
def rotate(db: Database | None, number: int | None) -> None:
    """Replace a token with a new one of the same name and role.

    The number can be left out if there is only one valid token.
    """
    with open_tokens(db) as keys:
        print_token(*keys.rotate(keys.only().key if number is None else number))


@token.command()
@click.argument("number", type=int)
@subcommand_db_option
def revoke(db: Database | None, number: int) -> None:
    """Revoke a token; browsers that used it lose access."""
    with open_tokens(db) as keys:
        keys.revoke(number)
        left = sum(one.revoked_at is None for one in keys.listed())
    echo(f"Token {number} is revoked; {counted(left, 'token')} left.")
    if not left:
        echo(NOBODY, err=True)


@token.command("off")
@subcommand_db_option
def off(db: Database | None) -> None:
    """Delete all tokens, so that a server on this machine asks for none."""
    with open_tokens(db) as keys:
        echo(f"{counted(keys.forget(), 'token')} deleted. {OPENED}")
