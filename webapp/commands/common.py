"""Parts that the commands share: opening the store, finding a session, writing numbers, progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from webapp.app import App
from webapp.commands.terminal import err, safe_json
from webapp.config import Config, Database
from webapp.errors import Invalid, NotFound
from webapp.wiring import build


@contextmanager
def opened(db: Database | None, *, create: bool = True) -> Iterator[App]:
    """Open the application over the store, without following any files; close it at the end.

    Commands that only read use `create=False`: they refuse a wrong name of the database, from wherever it is, instead
    of creating one there. Only the default one is created.

    Raises:
        Invalid: there is no such file.
    """
    config = Config.load(db=db, follow=False)
    if config.db is not None and not create:
        refuse_missing(config)
    with closing(build(config)) as app:
        yield app


def refuse_missing(config: Config) -> None:
    """Check that the database exists, for a command that only reads.

    Raises:
        Invalid: it does not exist.
    """
    if isinstance(config.database, Path) and not config.database.exists():
        raise Invalid(
            f"there is no database at {config.database}; `coppice serve` or `import` makes one", "db"
        )


def refuse_same(source: Database, target: Database, message: str, field: str) -> None:
    """Check that a source and a target are two databases; another path or a link can name the same file.

    Raises:
        Invalid: they are the same; it has this message and field.
    """
    same = source == target
    if isinstance(source, Path) and isinstance(target, Path) and source.exists() and target.exists():
        same = source.samefile(target)
    if same:
        raise Invalid(message, field)


def find_session(app: App, name: str) -> str:
    """Return the id `name`, or the only one that begins with it, or that of the only parent among those.

    Raises:
        NotFound: no id begins with it.
        Invalid: several ids do, of which the message names some; or the name is empty.
    """
    if not name:
        raise Invalid(
            "expected the id of a session or its beginning, got nothing; `coppice sessions` lists the ids"
        )
    try:
        return app.sessions.get(name).id
    except NotFound:
        alike = [one.id for one in app.sessions.list() if one.id.startswith(name)]
        if not alike:
            raise
    first = min(alike, key=len)
    if any(one != first and not one.startswith(first + ".") for one in alike):
        shown = ", ".join(alike[:3]) + (" …" if len(alike) > 3 else "")
        raise Invalid(f"{len(alike)} sessions begin with {name}: {shown}; give more of the id")
    return first


def write_json(value: Any) -> None:
    """Write JSON to stdout, for other programs: in UTF-8, whatever the locale says."""
    text = safe_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()) + "\n"
    if sys.stdout.isatty():
        sys.stdout.write(text)
    else:
        sys.stdout.buffer.write(text.encode())


def progress(*columns: ProgressColumn) -> Progress:
    """Return a bar on stderr, behind its description and before `columns`; hidden where that is no terminal."""
    first = (TextColumn("{task.description}"), BarColumn())
    return Progress(*first, *columns, console=err(), transient=True, disable=not sys.stderr.isatty())


def title_text(title: str | None) -> str:
    """Return a title short enough for a line of a terminal: at most 80 characters."""
    title = " ".join((title or "").split())
    return title if len(title) <= 80 else title[:79].rstrip() + "…"


def tokens_text(count: int, certainty: str) -> str:
    """Return a number of tokens; `~` marks an estimate. 0 is exact."""
    return ("~" if certainty == "estimated" and count else "") + f"{count:,}"


def percent_text(value: float) -> str:
    """Return a percentage with one decimal."""
    return f"{value:.1f} %"


def ago_text(at: str | None, now: datetime | None = None) -> str:
    """Return the time since, in its largest unit that is not zero."""
    if not at:
        return "never"
    now = now or datetime.now(UTC)
    seconds = max(0, int((now - datetime.fromisoformat(at)).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
