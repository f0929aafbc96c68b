"""`coppice resume`: write a pruned copy of a session where its agent finds it, and print the command to resume it."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import click

from webapp.commands.common import find_session, opened, title_text
from webapp.commands.options import PathType, db_option
from webapp.commands.terminal import echo
from webapp.config import Database
from webapp.errors import Conflict
from webapp.services.transfer.answers import Resumed
from webapp.services.transfer.resuming import WAITING_DAYS


@click.command()
@click.argument("session")
@click.option("--prune", is_flag=True, help="Prune the session first.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="The tokens to prune to; by default the session's aim. Implies --prune.",
)
@click.option("--run", "runs", is_flag=True, help="Start the agent instead of printing its command.")
@click.option(
    "--cwd",
    type=PathType(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    metavar="DIR",
    help="The folder to resume in; by default that of the session.",
)
@db_option
def resume(
    session: str, prune: bool, max_tokens: int | None, runs: bool, cwd: Path | None, db: Database | None
) -> None:
    """Resume an agent from a pruned copy of a session.

    SESSION is an id, or enough of its beginning. The copy is a new session beside the agent's own, which stays
    unchanged; the command that resumes from it is printed to stdout.
    """
    with opened(db, create=False) as app:
        made = app.resuming.resume(
            find_session(app, session),
            prune=prune,
            max_tokens=max_tokens,
            cwd=cwd,
        )
    for line in report(made, pruned=prune or max_tokens is not None):
        echo(line, err=True)
    if runs:
        exec_agent(made)
    else:
        echo(made.line)


def report(made: Resumed, *, pruned: bool) -> list[str]:
    """Return what was written, and what it saves; `pruned` if a prune was requested."""
    saved = made.tokens_before - made.tokens_promised
    size = f"{made.tokens_promised:,} tokens instead of {made.tokens_before:,}"
    hint = (
        "nothing was pruned; --max-tokens prunes to fewer"
        if pruned
        else "prune it first (--prune) to save anything"
    )
    gain = f", {saved:,} less on each call" if saved > 0 else f"; {hint}"
    lines = [f"wrote {made.path}", f"{title_text(made.title)}: {size}{gain}"]
    if made.import_command:
        lines.append(
            f"the file is deleted once {made.import_command[0]} has imported it, or after {WAITING_DAYS} days"
        )
    return lines


def exec_agent(made: Resumed) -> None:
    """Replace this process by the agent, after it has imported the copy if it has to.

    Raises:
        Conflict: the agent is not installed, or did not import the copy.
    """
    os.chdir(made.cwd)
    try:
        if made.import_command:
            subprocess.run(made.import_command, check=True)  # noqa: S603  # the agent's own command
        os.execvp(made.command[0], made.command)  # noqa: S606  # the agent's own command
    except subprocess.CalledProcessError as error:
        raise Conflict(f"{shlex.join(made.import_command)} failed with status {error.returncode}") from error
    except OSError as error:
        raise Conflict(
            f"cannot run {made.command[0]}: {error.strerror}; the copy is there: {made.line}"
        ) from error
