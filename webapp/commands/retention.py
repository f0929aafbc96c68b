"""`coppice retention`: limits on the age and size of sessions, shown before anything is deleted."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.markup import escape
from rich.table import Table

from scoring.counted import counted
from webapp.bodies import SessionChange
from webapp.commands.common import ago_text, find_session, opened, write_json
from webapp.commands.options import (
    db_option,
    json_option,
    refuse_before_subcommand,
    subcommand_db_option,
)
from webapp.commands.terminal import echo, out
from webapp.config import Database
from webapp.services.catalog.answers import Retention, RetentionLimits

REASONS = {
    "age": "not used for too long",
    "size": "all take too much",
    "user_size": "its user's take too much",
}


@click.group(invoke_without_command=True)
@db_option
@json_option
@click.pass_context
def retention(ctx: click.Context, db: Database | None, as_json: bool) -> None:
    """Show the limits on sessions, and what they will delete.

    There are none by default. A running server applies them every night. A session that was used within the last
    day, or is kept, stays.
    """
    ctx.obj = db
    if ctx.invoked_subcommand is not None:
        refuse_before_subcommand(ctx, "as_json")
        return
    with opened(db, create=False) as app:
        show(app.retention.preview(), as_json=as_json)


@retention.command("set")
@click.option("--days", type=click.IntRange(1, 36_500), help="Delete what was not used for so many days.")
@click.option("--size", type=click.IntRange(1), metavar="MIB", help="The most that all sessions take.")
@click.option("--user-size", type=click.IntRange(1), metavar="MIB", help="The most that each user's take.")
@click.option("--dry-run", is_flag=True, help="Show what the limits would delete, and set nothing.")
@subcommand_db_option
def set_limits(
    db: Database | None, days: int | None, size: int | None, user_size: int | None, *, dry_run: bool
) -> None:
    """Set the limits, and show what they delete; a limit that is left out is removed."""
    with opened(db, create=False) as app:
        wanted = RetentionLimits(days=days, size_mib=size, user_size_mib=user_size)
        show(app.retention.preview(wanted) if dry_run else app.retention.put(wanted))


@retention.command("off")
@subcommand_db_option
def remove_limits(db: Database | None) -> None:
    """Remove all limits: no session is deleted by itself any more."""
    with opened(db, create=False) as app:
        show(app.retention.put(RetentionLimits(days=None, size_mib=None, user_size_mib=None)))


@retention.command("apply")
@click.option("--yes", is_flag=True, help="Do not ask.")
@subcommand_db_option
def apply_limits(db: Database | None, yes: bool) -> None:
    """Delete now what the limits select, after showing it."""
    with opened(db, create=False) as app:
        found = app.retention.preview()
        show(found)
        if found.sessions and (yes or click.confirm("Delete them now?", abort=True)):
            echo(app.retention.apply(found.sessions).text)


@retention.command("keep")
@click.argument("session")
@click.option("--no-longer", "ended", is_flag=True, help="Apply the limits to it again.")
@subcommand_db_option
def keep(db: Database | None, session: str, ended: bool) -> None:
    """Exempt a session and its sub-agents from all limits.

    SESSION is an id, or enough of its beginning.
    """
    with opened(db, create=False) as app:
        found = find_session(app, session)
        app.sessions.patch(found, SessionChange(kept=not ended))
        echo(f"{found} is {'no longer kept' if ended else 'kept'}.")


def show(found: Retention, *, as_json: bool = False) -> None:
    """Print limits and what they delete."""
    if as_json:
        write_json(asdict(found))
        return
    echo(found.text)
    if not found.named:
        return
    table = Table("Session", "User", "Last used", "Sessions", "MiB", "Why", box=None, pad_edge=False)
    for one in found.named:
        table.add_row(
            escape(f"{one.title[:60]} ({one.id})"), escape(one.user or ""), ago_text(one.last_activity),
            f"{one.sessions:,}", f"{one.bytes / (1 << 20):,.1f}", REASONS[one.reason],
        )  # fmt: skip
    out().print(table)
    if more := found.sessions - sum(one.sessions for one in found.named):
        echo(f"and {counted(more, 'more session')}")
