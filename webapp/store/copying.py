"""Copies a store into another, whatever their engines: a transaction a session, then what belongs to none.

What was copied before an interruption stays, and is not copied again where the session's own row is the same. At the
end every row of both stores is compared by its hash, and sessions that differ all the same are copied again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice

from webapp.errors import Conflict, StoreError
from webapp.store import Store
from webapp.store.engine import Engine
from webapp.store.indexed_text import index_entries
from webapp.store.keys import ID_BYTES, SESSION_TABLES, SHIFT, is_long, of_session
from webapp.store.parts import PARTS, Part, of_rows, rows_of
from webapp.store.sessions import SessionRow
from webapp.store.sql import insert, listed

# Tables that belong to no session. A table that refers to another comes after it.
COMMON = (
    "settings", "model_overrides", "revisions", "files", "memories", "copies", "access_tokens", "access_sessions",
    "webhooks", "webhook_deliveries",
)  # fmt: skip
COUNTED = {
    "sessions": "key", "access_tokens": "key", "memories": "id", "webhooks": "id", "webhook_deliveries": "id",
}  # fmt: skip
# Tables that are empty in a target, each with the words for one that is not: a copy replaces everything.
KEPT = {
    "sessions": "sessions", "memories": "memories or learnings", "access_tokens": "tokens", "webhooks": "webhooks",
}  # fmt: skip
# Indexed columns with what agents name, each with the number of the session and what it is. A file of SQLite that an
# older version wrote may have longer ones than an index of PostgreSQL holds.
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
    """Copy all of `source`; yield what was done, a line a session, and at the end every difference.

    Raises:
        Conflict: the target has something else in it, or takes no ids as long as those of the source.
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
        with target.write():  # with it the mark of the unfinished copy goes, unless the two differ
            _copy_rest(source.db, target)
            differ = _differing(sums, target.db)
            # A session changes without its own row by the usage of a call, and by what a plan finds out.
            for row in wanted:
                if row.key in differ:
                    yield f"{row.id}: {_copy_session(source, target, row)}, for it has changed"
            if differ and (differ := _differing(sums, target.db)):
                said = "; ".join(sorted(set[str]().union(*differ.values())))
                raise StoreError(f"{target.db.name} differs from {source.db.name}: {said} changed meanwhile")


def _refuse_another(source: Store, target: Store) -> None:
    """Raise Conflict if the target has something else in it."""
    said = target.small.setting(UNFINISHED)
    for table in () if said is not None else KEPT:
        if target.db.value(f"SELECT 1 FROM {table} LIMIT 1"):
            raise Conflict(f"{target.db.name} has {KEPT[table]} already; name a database without any")
    if said not in (None, source.db.name):
        raise Conflict(f"{target.db.name} holds a part of a copy of {said}; end that one, or name another")


def _too_long(source: Store) -> Iterator[str]:
    """Yield the ids and paths that no index of PostgreSQL holds, a line each."""
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
    """Replace what belongs to no session, the mark of the unfinished copy with it, inside the caller's transaction."""
    for table in reversed(COMMON):
        target.db.run(f"DELETE FROM {table}")
    for table in COMMON:
        _move(source, target.db, table)
    target.words.index_memories_again()
    for table, column in COUNTED.items():
        target.db.count_on(table, column, source.counted(table, column))


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
            found.setdefault(session, set()).add(part.said)
    return found


def _sums(db: Engine, part: Part) -> Sums:
    return of_rows(part, db.each(rows_of(part)))
