"""The progress bar of a command that takes long."""

from __future__ import annotations

import sys

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from webapp.commands.terminal import err


def progress(*columns: ProgressColumn) -> Progress:
    """Return a bar on stderr, behind its description and before `columns`; hidden where that is no terminal."""
    first = (TextColumn("{task.description}"), BarColumn())
    return Progress(*first, *columns, console=err(), transient=True, disable=not sys.stderr.isatty())
