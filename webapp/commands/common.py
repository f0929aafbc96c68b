"""What the commands share: where the store is, how a session is named, and how numbers are written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
import orjson
from rich.console import Console

from webapp.app import App
from webapp.config import Config
from webapp.errors import Invalid, NotFound
from webapp.services.session.answers import Gauge, Session
from webapp.wiring import build

F = TypeVar("F", bound=Callable[..., Any])

db_option = click.option(
    "--db", type=click.Path(dir_okay=False, path_type=Path), help="The database file (COPPICE_DB)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON.")


def out() -> Console:
    """Where answers go; as wide as it takes where nobody is looking."""
    return Console(
        file=sys.stdout, width=None if sys.stdout.isatty() else 300, highlight=False, soft_wrap=True
    )


def err() -> Console:
    """Where reports and progress go."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


@contextmanager
def opened(db: Path | None, *, made: bool = True) -> Iterator[App]:
    """The application over the store, following nothing; closed at the end.

    `made` False is for who only looks: a file that somebody names is not made by looking at it.

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
    """Refuses to look at a database that is not there.

    Raises:
        Invalid: it is not.
    """
    if not config.database.exists():
        raise Invalid(
            f"there is no database at {config.database}; `coppice serve` or `import` makes one", "db"
        )


def find_session(app: App, name: str) -> Session:
    """The session of this id, or the only one whose id begins so; of one and its sub-agents, whose ids begin with its
    own, that one.

    Raises:
        NotFound: there is none.
        Invalid: several begin so; the message names some.
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
    """JSON on stdout, for other programs."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def main_gauge(session: Session) -> Gauge:
    """The gauge that counts: what the agent sends for a followed session, the context for a managed one."""
    return session.agent or session.pruned


def counted(count: int, word: str) -> str:
    """So many of something: "1 message", "2,000 messages"."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def tokens_text(count: int, certainty: str = "exact") -> str:
    """A number of tokens; `~` says that it is estimated."""
    return ("~" if certainty == "estimated" else "") + f"{count:,}"


def percent_text(value: float) -> str:
    """A share with one decimal."""
    return f"{value:.1f} %"


def ago_text(at: str | None, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that says something."""
    if not at:
        return "never"
    now = now or datetime.now(UTC)
    seconds = max(0, int((now - datetime.fromisoformat(at)).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
