"""`coppice suggest-weights`: suggests weights that would have kept more of what the user's sessions needed."""

from __future__ import annotations

import click
from rich.table import Table

from scoring.counted import counted
from webapp.commands.common import find_session, opened, percent_text, progress, write_json
from webapp.commands.options import db_option, json_option
from webapp.commands.terminal import echo, out
from webapp.config import Database
from webapp.services.settings.answers import Suggestion


@click.command("suggest-weights")
@click.argument("sessions", nargs=-1, metavar="[SESSION …]")
@db_option
@json_option
def suggest_weights(sessions: tuple[str, ...], db: Database | None, as_json: bool) -> None:  # X15
    """Suggest weights that fit your own sessions.

    They would have kept more of what these sessions needed later.

    A message was needed if the agent's next messages repeat names from it, or if you restored or pinned it or undid
    its pruning. The search uses half of the sessions; the others decide, and the table shows what is kept in them
    before and after. SESSION is an id or the beginning of one; by default the newest are used. Nothing changes until
    you save the weights.
    """
    with opened(db, create=False) as app, progress() as bar:
        task = bar.add_task("trying weights", total=None)
        names = [find_session(app, name) for name in sessions]
        found = app.suggesting.suggest(names, lambda done, most: bar.update(task, completed=done, total=most))
    if as_json:
        write_json(found)
        return
    out().print(table_of(found))
    for line in lines_of(found):
        echo(line)


def table_of(found: Suggestion) -> Table:
    """Return a table with a row for each weight and one for retention, before and after."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("weight")
    table.add_column("now", justify="right")
    table.add_column("suggested", justify="right")
    suggested = found.weights or {}
    for name, value in found.present.items():
        table.add_row(name, f"{value:g}", f"{suggested[name]:g}" if name in suggested else "-")
    table.add_row("held-out retention", share_text(found.before), share_text(found.after), style="bold")
    return table


def share_text(value: float | None) -> str:
    """Return a share in words, "-" if it was not measured."""
    return "-" if value is None else percent_text(value)


def lines_of(found: Suggestion) -> list[str]:
    """Return lines on what was examined, the reason, and what happens next."""
    examined = f"{counted(found.cases, 'context')} of {counted(found.sessions, 'session')}"
    used = f"Examined {examined}, {found.held_out} held out."
    if found.weights is None:
        return [used, f"Nothing to suggest: {found.reason}."]
    return [
        used,
        f"Suggested because {found.reason}.",
        "Nothing changes until you save them, on the settings page or with PUT /api/settings.",
    ]
