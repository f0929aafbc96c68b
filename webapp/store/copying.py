"""Copies a store into one of any engine: each session in one transaction, then the tables that belong to no session.

Sessions that were copied before an interruption stay, and are not copied again if their own rows are the same. At the
end every row of both stores is compared by its hash, and sessions that still differ are copied again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice

from webapp.errors import Conflict, StoreError
from webapp.store import Store
from webapp.store.engine import Engine
from webapp.store.indexed_text import index_entries, index_memories
from webapp.store.keys import ID_BYTES, SESSION_TABLES, SHIFT, is_long, of_session
from webapp.store.parts import PARTS, Part, of_rows, rows_of
from webapp.store.sessions import SessionRow
from webapp.store.sql import insert, listed

# Tables that belong to no session. A table that refers to another comes after it.
COMMON = (
    "settings", "model_overrides", "revisions", "files", "memories", "copies", "access_tokens", "access_sessions",
    "webhooks", "webhook_deliveries",
)  # fmt: skip
NUMBERED = {
    "sessions": "key", "access_tokens": "key", "memories": "id", "webhooks": "id", "webhook_deliveries": "id",
}  # fmt: skip
# Tables that must be empty in a target, because a copy replaces everything; each with a name for messages.
MUST_BE_EMPTY = {
    "sessions": "sessions", "memories": "memories or learnings", "access_tokens": "tokens", "webhooks": "webhooks",
}  # fmt: skip
# Indexed columns with names that agents choose, each with the SQL for the session's number and a description. A SQLite
# file of an older version may hold names that are too long for an index of PostgreSQL.
NAMES = (
    ("sessions", "id", "key", "its id"),
    ("sessions", "parent_id", "key", "the id of its parent"),
    ("entries", "source_id", f"key >> {SHIFT}", "the id of an entry"),
    ("calls", "call_key", "session", "the id of a call"),
    ("idempotency", "name", "session", "the key of a repeated request"),
    ("files", "path", "0", "the path of a followed file"),
    ("copies", "session_id", "0", "the id of a copy to resume from"),
    ("copies", "origin_id", "0", "the id of a session with a copy"),
)
BATCH = 500
Sums = dict[tuple[int, str], int]
UNFINISHED = "unfinished_copy"


def copy(source: Store, target: Store) -> Generator[str, None, None]:
    """Copy all of `source`; yield a line for each session that says what was done.

    Raises:
        Conflict: the target has something else in it, or cannot hold ids as long as those of the source.
        StoreError: one of them failed, or they differ afterwards.
    """
    with source.read():
        _refuse_another(source, target)
        if target.db.short_ids:
            yield from (faults := list(_too_long(source)))
            if faults:
                raise Conflict(
                    f"{target.db.name} takes ids and paths of at most {ID_BYTES:,} bytes, so nothing was copied; "
                    f"export the sessions that are named above, delete them from {source.db.name}, and copy again"
                )
        with target.write():
            target.small.put_setting(UNFINISHED, source.db.name)
        wanted = source.sessions.everything()
        keys = {one.key for one in wanted}
        for row in target.sessions.everything():
            if row.key not in keys:
                with target.write():
                    target.sessions.remove(row, None)
        for row in wanted:
            if target.sessions.find(row.id) == row:
                yield f"{row.id}: was copied before"
            else:
                yield f"{row.id}: {_copy_session(source, target, row)}"
        sums = [_sums(source.db, part) for part in PARTS]
        with target.write():  # this removes the mark of the unfinished copy too, unless the two differ
            _copy_rest(source.db, target)
            differ = _differing(sums, target.db)
            # Usage of a call, and features that a plan extracts, are stored without a change of the session's own row.
            for row in wanted:
                if row.key in differ:
                    yield f"{row.id}: {_copy_session(source, target, row)}, because it has changed"
            if differ and (differ := _differing(sums, target.db)):
                said = "; ".join(sorted(set[str]().union(*differ.values())))
                raise StoreError(f"{target.db.name} differs from {source.db.name}: {said} changed meanwhile")


def _refuse_another(source: Store, target: Store) -> None:
    """Raise Conflict if the target has something else in it."""
    said = target.small.setting(UNFINISHED)
    for table in () if said is not None else MUST_BE_EMPTY:
        if target.db.value(f"SELECT 1 FROM {table} LIMIT 1"):
            raise Conflict(
                f"{target.db.name} has {MUST_BE_EMPTY[table]} already; name a database without any"
            )
    if said not in (None, source.db.name):
        raise Conflict(f"{target.db.name} holds a part of a copy of {said}; end that one, or name another")


def _too_long(source: Store) -> Iterator[str]:
    """Yield a line for each id and path that is too long for an index of PostgreSQL."""
    sessions = {row.key: f"session {row.id[:80]}" for row in source.sessions.everything()}
    for table, column, owner, what in NAMES:
        found = source.db.each(
            f"SELECT {owner}, {column} FROM {table} WHERE length({column}) > {ID_BYTES // 4}"
        )
        for key, name in found:
            if is_long(name):
                yield f"{sessions.get(key, 'the store')}: {what} takes {len(name.encode()):,} bytes: {name[:80]}…"


def _copy_session(source: Store, target: Store, row: SessionRow) -> str:
    with target.write():
        if (before := target.sessions.find(row.id)) is not None:
            target.sessions.remove(before, None)
        counts = {
            table: _move(source.db, target.db, table, *of_session(table, row.key)) for table in SESSION_TABLES
        }
        _move(source.db, target.db, "sessions", "key = ?", (row.key,))
        index_entries(target.db, row.key, row.next_seq)
    count = counts["entries"]
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def _copy_rest(source: Engine, target: Store) -> None:
    """Replace the tables that belong to no session, including the mark of the unfinished copy, inside `write()`."""
    for table in reversed(COMMON):
        target.db.run(f"DELETE FROM {table}")
    for table in COMMON:
        _move(source, target.db, table)
    index_memories(target.db)
    for table, column in NUMBERED.items():
        target.db.set_last_number(table, column, source.last_number(table, column))


def _move(
    source: Engine, target: Engine, table: str, where: str = "1 = 1", values: tuple[int, ...] = ()
) -> int:
    """Copy rows of a table in batches; return their number."""
    columns, count = tuple(source.columns(table)), 0
    rows = source.each(f"SELECT {listed(columns)} FROM {table} WHERE {where}", values)
    while batch := list(islice(rows, BATCH)):
        target.run_many(insert(table, columns), batch)
        count += len(batch)
    return count


def _differing(sums: Iterable[Sums], target: Engine) -> dict[int, set[str]]:
    """Return, by session, which parts of the target do not have the sums of the source."""
    found: dict[int, set[str]] = {}
    for part, wanted in zip(PARTS, sums, strict=True):
        for (session, _), _ in wanted.items() ^ _sums(target, part).items():
            found.setdefault(session, set()).add(part.subject)
    return found


def _sums(db: Engine, part: Part) -> Sums:
    return of_rows(part, db.each(rows_of(part)))
