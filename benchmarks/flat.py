"""`python -m benchmarks.flat [MESSAGES]`: a large store in PostgreSQL beside one with 100,000 messages.

Prints the times of an append, of opening and planning a session, of the list and of searches in both, and their ratios.
A store is filled with copies of a few sessions of a thousand messages, made by the services and multiplied by the
database. Each call is about a session that was not asked for before. The larger store has 1,000,000 messages (2 GB)
unless the command says otherwise. PostgreSQL has to be installed; a server is started in a temporary folder.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks import sessions
from benchmarks.rows import Row, elapsed_ms, percentile
from tests import postgresql
from webapp.app import App
from webapp.bodies import PlanBody, SessionsQuery
from webapp.config import Config
from webapp.store.engine import Engine
from webapp.store.keys import SESSION_TABLES, SHIFT
from webapp.store.sql import listed
from webapp.wiring import build

FEW = 100_000
MANY = 1_000_000
LENGTH = 1_000  # messages of a session
MADE = 10  # sessions made by the services; the others are copies
ASKED = 40
GOAL = 1.3
# Words of every second message, of one in 75, and of one in 900.
COMMON, RARE, RAREST = "test", "part_17", "part_399"


def run(many: int = MANY) -> Iterator[Row]:
    """Yield the medians in both stores and their ratios."""
    with _filled(FEW) as small, _filled(many) as large:
        took = [_Asked(small, FEW), _Asked(large, many)]
        for name in took[0].work:
            few, more = (percentile(times, 50) for times in _in_turns(took, name))
            yield Row(f"{name}, {FEW:,} messages, p50", few, "ms")
            yield Row(f"{name}, {many:,} messages, p50", more, "ms")
            yield Row(f"{name}, ratio", more / few, "×", GOAL)


class _Asked:
    """The calls to a store, by name; each call is about another session."""

    def __init__(self, app: App, size: int) -> None:
        keys = random.Random(1).sample(range(1, size // LENGTH + 1), ASKED)
        self._ids = [app.store.sessions.by_key(key).id for key in keys]
        more = sessions.messages(ASKED, seed=-1)
        self.work: dict[str, Callable[[str], object]] = {
            "append": lambda one: app.ingest.append_messages(one, [more.pop()]),
            "open": lambda one: (app.sessions.get(one), app.messages.page(one)),
            "plan": lambda one: app.prunes.plan(one, PlanBody(max_tokens=50_000)),
            "list": lambda _: app.sessions.page(SessionsQuery(limit=100)),
            "search for a rare word": lambda _: app.search.everywhere(RARE),
            "search for the rarest word": lambda _: app.search.everywhere(RAREST),
            "search for a common word": lambda _: app.search.everywhere(COMMON),
        }

    def timed(self, name: str, turn: int) -> float:
        """Return the milliseconds of one call."""
        return elapsed_ms(partial(self.work[name], self._ids[turn]))


def _in_turns(stores: list[_Asked], name: str) -> list[list[float]]:
    """Return the times in each store, asked in turns, so that a busy machine slows both alike."""
    times = [[store.timed(name, turn) for store in stores] for turn in range(ASKED)]
    return [list(column) for column in zip(*times, strict=True)]


@contextmanager
def _filled(size: int) -> Iterator[App]:
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql.cluster(Path(folder)) as cluster,
        cluster.database() as database,
    ):
        app = build(Config(db=database, follow=False, tokenizer=False, env={"HOME": folder}))
        try:
            for n in range(MADE):
                app.new_sessions.create(id=f"s{n}", model=sessions.MODEL)
                app.ingest.append_messages(f"s{n}", sessions.messages(LENGTH, seed=n))
            with app.store.write():
                _multiply(app.store.db, size // LENGTH // MADE)
            app.store.db.checkpoint()
            cluster.execute("VACUUM ANALYZE", "CHECKPOINT", database=database.url.rpartition("/")[2])
            yield app
        finally:
            app.close()


def _multiply(db: Engine, times: int) -> None:
    """Copy what is there, with other numbers and ids of sessions; the index of words is made at the end."""
    db.run("SET LOCAL coppice.sealing = 'off'")
    db.run("SET LOCAL maintenance_work_mem = '512MB'")
    db.run("DROP INDEX entry_words_index")
    low, high = 1 << SHIFT, ((MADE + 1) << SHIFT) - 1
    tables = {
        **SESSION_TABLES,
        "entry_words": "key",
        "sessions": "key",
    }
    for n in range(1, times):
        by = n * MADE
        for table, column in tables.items():
            columns = tuple(db.columns(table)) if table != "entry_words" else ("key", "words")
            whole = column != "session" and table != "sessions"
            added = by << SHIFT if whole else by
            values = [f"{column} + {added}" if name == column else listed([name]) for name in columns]
            if table == "sessions":
                values[columns.index("id")] = f"'s' || (key + {added - 1})"
            bounds = (low, high) if whole else (1, MADE)
            db.run(
                f"INSERT INTO {table} ({listed(columns)}) SELECT {', '.join(values)} FROM {table} "
                f"WHERE {column} BETWEEN ? AND ? ORDER BY {column}",
                bounds,
            )
    db.set_last_number("sessions", "key", times * MADE)
    db.run(
        "INSERT INTO seals SELECT key, part, 0 FROM sessions, (SELECT DISTINCT part FROM seals) parts "
        "ON CONFLICT DO NOTHING"
    )
    db.run("CREATE INDEX entry_words_index ON entry_words USING GIN (words, (ARRAY[n >> 14]))")


if __name__ == "__main__":
    for row in run(*map(int, sys.argv[1:2])):
        print(f"{row.name}: {row.value:,.2f} {row.unit}", flush=True)
