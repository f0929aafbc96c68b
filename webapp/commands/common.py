"""Parts that the commands share: opening the store, finding a session, writing numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import orjson

from webapp.app import App
from webapp.commands.terminal import safe_json
from webapp.config import Config, Database, database
from webapp.errors import Invalid, NotFound
from webapp.services.session.answers import Gauge, Session
from webapp.wiring import build


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


@contextmanager
def opened(db: Database | None, *, made: bool = True) -> Iterator[App]:
    """Open the application over the store, without following any files; close it at the end.

    `made` is False for commands that only read: they must not create a database.

    Raises:
        Invalid: there is no such file.
    """
    config = Config.load(db=db, follow=False)
    if db is not None and not made:
        refuse_missing(config)
    app = build(config)
    try:
        yield app
    finally:
        app.close()


def refuse_missing(config: Config) -> None:
    """Check that the database exists, for a command that only reads.

    Raises:
        Invalid: it does not exist.
    """
    if isinstance(config.database, Path) and not config.database.exists():
        raise Invalid(
            f"there is no database at {config.database}; `coppice serve` or `import` makes one", "db"
        )


def find_session(app: App, name: str) -> Session:
    """Return the session with this id, or the only one whose id begins with it, or the only parent among those.

    Raises:
        NotFound: no id begins with it.
        Invalid: several ids do; the message names some.
    """
    try:
        found = app.sessions.get(name)
    except NotFound:
        alike = [one for one in app.sessions.list() if one.id.startswith(name)]
        if not alike:
            raise
        first = min(alike, key=lambda one: len(one.id))
        if any(one is not first and not one.id.startswith(first.id + ".") for one in alike):
            shown = ", ".join(one.id for one in alike[:3]) + (" …" if len(alike) > 3 else "")
            raise Invalid(f"{len(alike)} sessions begin with {name}: {shown}; give more of the id") from None
        found = first
    return found


def write_json(value: Any) -> None:
    """Write JSON to stdout, for other programs."""
    sys.stdout.write(safe_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()) + "\n")


def main_gauge(session: Session) -> Gauge:
    """Return the main gauge: of the agent's context for a followed session, of the only context for a managed one."""
    return session.agent or session.pruned


def title_text(title: str | None) -> str:
    """Return a title short enough for a line of a terminal: at most 80 characters."""
    title = " ".join((title or "").split())
    return title if len(title) <= 80 else title[:79].rstrip() + "…"


def tokens_text(count: int, certainty: str) -> str:
    """Return a number of tokens; `~` marks an estimate."""
    return ("~" if certainty == "estimated" else "") + f"{count:,}"


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
