"""One rule for every writing method of the store: a locked database is a BusyStore, never a raw error.

A new method needs a line in the table; the first test fails without.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.outside import program
from webapp.config import Database
from webapp.errors import BusyStore, NotFound
from webapp.store import Store
from webapp.store.copies import CopyRow
from webapp.store.log import EntryRow, MessageRow
from webapp.store.operations import Facts, ItemRow, OperationRow
from webapp.store.parts import PARTS
from webapp.store.postgresql.engine import STORE_LOCK
from webapp.store.search_index import SearchFilter
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow
from webapp.store.usage import CallRow, Sample

ENTRY = EntryRow(0, b"i" * 16, 1, None, None, None, "message", "user", "", "[]", None, None, None, None, None)
MESSAGE = MessageRow(1, "user", "message", 1, 1, "{}", "{}", 0, 0, 0, 1, 0, 0, None, None, b"i" * 16, None)
SUMMARY = SummaryRow(
    1, "text", 1, 1, 1, 2, None, None, "", "deterministic", None, None, ((0, 1), (1, 9)), 0.5, 1, 1
)
OPERATION = OperationRow(1, "prune", "user", "manual", 1, 1, 2, 1, 1, Facts())


def missing(store: Store) -> None:
    """Ask for a memory that is not there."""
    with pytest.raises(NotFound):
        store.memories.get("memory", 1)


WRITING: dict[str, Callable[[Store, SessionRow], Any]] = {
    "sessions.create": lambda s, _: s.sessions.create(
        id="t", source="api", kind="managed", created_at=1, last_activity_at=1
    ),
    "sessions.update": lambda s, r: s.sessions.update(r.key, title="x"),
    "sessions.remove": lambda s, r: s.sessions.remove(r, None),
    "log.add_entries": lambda s, r: s.log.add_entries(r.key, [ENTRY]),
    "log.put_features": lambda s, r: s.log.put_features(r.key, [(1, "{}", "{}")]),
    "log.put_messages": lambda s, r: s.log.put_messages(r.key, [MESSAGE]),
    "log.set_flag": lambda s, r: s.log.set_flag(r.key, [1], "pinned", 1),
    "contexts.add": lambda s, r: s.contexts.add(r.key, 1, [(0, 1)]),
    "contexts.remove": lambda s, r: s.contexts.remove(r.key, 1, [0]),
    "contexts.set_replacements": lambda s, r: s.contexts.set_replacements(r.key, 1, [(0, None)]),
    "contexts.put_totals": lambda s, r: s.contexts.put_totals(r.key, 1, {"user": (1, 1)}),
    "summaries.add": lambda s, r: s.summaries.add(r.key, SUMMARY),
    "summaries.put_in": lambda s, r: s.summaries.put_in(r.key, [SUMMARY]),
    "summaries.take_out": lambda s, r: s.summaries.take_out(r.key, [1]),
    "memories.add": lambda s, _: s.memories.add("memory", "text", None, None, 1),
    "memories.change": lambda s, _: s.memories.change("memory", 1, "text", 1),
    "memories.remove": lambda s, _: s.memories.remove("memory", 1),
    "operations.add": lambda s, r: s.operations.add(r.key, OPERATION, [ItemRow(1, "out", None, None)]),
    "operations.mark_undone": lambda s, r: s.operations.mark_undone(r.key, 1, 1),
    "operations.complete": lambda s, r: s.operations.complete(r.key, OPERATION),
    "operations.remove": lambda s, r: s.operations.remove(r.key, 1),
    "usage.put_calls": lambda s, r: s.usage.put_calls(r.key, [CallRow("c", 0, 1, None, 1, 1, 0, 0, 0, 1)]),
    "usage.correct": lambda s, r: s.usage.correct(r.key, "c", (1, 2, 0, 0, 0)),
    "copies.put": lambda s, r: s.copies.put(CopyRow("c", r.id, "A copy", 1, 2, 1)),
    "usage.add_samples": lambda s, r: s.usage.add_samples(r.key, [Sample(0, 1, 1, None, 1)]),
    "words.add": lambda s, r: s.words.add(r.key, [(0, "word")]),
    "words.remove": lambda s, r: s.words.remove(r.key, [(0, "word")]),
    "words.clear": lambda s, _: s.words.clear(),
    "words.merge": lambda s, _: s.words.merge(),
    "small.put_setting": lambda s, _: s.small.put_setting("x", 1),
    "small.locked_fields": lambda s, _: s.small.locked_fields("x"),
    "small.put_model_override": lambda s, _: s.small.put_model_override("x", {"window": 1}),
    "small.put_revision": lambda s, _: s.small.put_revision("x", 1),
    "small.put_file": lambda s, _: s.small.put_file("x", "s", {}, 1),
    "small.put_answer": lambda s, r: s.small.put_answer(r.key, "k", b"d", {}, 1),
    "access.add_token": lambda s, _: s.access.add_token(b"h", "", "viewer", 1),
    "access.revoke": lambda s, _: s.access.revoke(1, 1),
    "access.forget": lambda s, _: s.access.forget(),
    "access.add_sign_in": lambda s, _: s.access.add_sign_in(b"s", None, b"p", "x", 1),
    "access.end_sign_ins": lambda s, _: s.access.end_sign_ins(1),
    "dump.load": lambda s, r: s.dump.load(r.key, [{"type": "samples", "n": 0, "no": 1, "view_tokens": 1}]),
}
READING: dict[str, Callable[[Store, SessionRow], Any]] = {
    "access.has_tokens": lambda s, _: s.access.has_tokens(),
    "access.tokens": lambda s, _: list(s.access.tokens()),
    "access.token": lambda s, _: s.access.token(b"h"),
    "access.token_by_key": lambda s, _: s.access.token_by_key(1),
    "access.sign_in": lambda s, _: s.access.sign_in(b"s"),
    "sessions.get": lambda s, _: s.sessions.get("s"),
    "sessions.find": lambda s, _: s.sessions.find("s"),
    "sessions.live": lambda s, _: s.sessions.live("s"),
    "sessions.by_key": lambda s, r: s.sessions.by_key(r.key),
    "sessions.by_keys": lambda s, r: s.sessions.by_keys([r.key]),
    "sessions.version": lambda s, r: s.sessions.version(r.key),
    "sessions.all": lambda s, _: s.sessions.all(),
    "sessions.everything": lambda s, _: s.sessions.everything(),
    "sessions.children": lambda s, _: s.sessions.children("s"),
    "sessions.with_call": lambda s, _: s.sessions.with_call("proxy", "x"),
    "sessions.with_entry": lambda s, _: s.sessions.with_entry("x"),
    "sessions.observed_overheads": lambda s, _: s.sessions.observed_overheads("codex"),
    "log.known": lambda s, r: s.log.known(r.key, ["x"]),
    "log.entries": lambda s, r: s.log.entries(r.key, 0, 9),
    "log.entry": lambda s, r: s.log.entry(r.key, 0),
    "log.matches": lambda s, r: s.log.matches([(r.key, 0, 1)]),
    "log.entries_of": lambda s, r: s.log.entries_of(r.key, MESSAGE),
    "log.rows_of": lambda s, r: s.log.rows_of(r.key, [1]),
    "log.message": lambda s, r: s.log.message(r.key, 1),
    "log.messages": lambda s, r: s.log.messages(r.key, [1]),
    "log.last_messages": lambda s, r: s.log.last_messages(r.key, 1, 9),
    "log.numbers": lambda s, r: s.log.numbers(r.key, newest_first=True, role="user", out=True, error=True),
    "log.count_errors": lambda s, r: s.log.count_errors(r.key),
    "log.count_before": lambda s, r: s.log.count_before(r.key, "assistant", 1),
    "log.removed_by_us": lambda s, r: s.log.removed_by_us(r.key, MESSAGE._replace(out_operation=1)),
    "log.growth": lambda s, r: s.log.growth(r.key),
    "log.of_tool": lambda s, r: s.log.of_tool(r.key, "Bash"),
    "contexts.items": lambda s, r: s.contexts.items(r.key, 1),
    "contexts.replaced_tokens": lambda s, r: s.contexts.replaced_tokens(r.key, 1),
    "contexts.at": lambda s, r: s.contexts.at(r.key, 1, [0]),
    "contexts.gather": lambda s, r: s.contexts.gather(r.key, 1),
    "contexts.without": lambda s, r: s.contexts.without(r.key, 1, "x", 0, 9),
    "contexts.before_summary": lambda s, r: s.contexts.before_summary(r.key, 1),
    "contexts.summary_tokens": lambda s, r: s.contexts.summary_tokens(r.key, 1),
    "summaries.next_number": lambda s, r: s.summaries.next_number(r.key),
    "summaries.get": lambda s, r: s.summaries.get(r.key, 1),
    "summaries.all": lambda s, r: s.summaries.all(r.key),
    "summaries.active": lambda s, r: s.summaries.active(r.key),
    "summaries.active_numbers": lambda s, r: s.summaries.active_numbers(r.key),
    "summaries.covered": lambda s, r: s.summaries.covered(r.key, SUMMARY),
    "summaries.since": lambda s, r: s.summaries.since(r.key),
    "memories.get": lambda s, _: missing(s),
    "memories.all": lambda s, _: s.memories.all("memory"),
    "memories.search": lambda s, _: s.memories.search("memory", ["word"]),
    "contexts.totals": lambda s, r: s.contexts.totals(r.key),
    "contexts.totals_of": lambda s, r: s.contexts.totals_of([r.key]),
    "sessions.page": lambda s, _: s.sessions.page(None, 5),
    "operations.get": lambda s, r: s.operations.get(r.key, 1),
    "operations.all": lambda s, r: s.operations.all(r.key),
    "operations.last_at": lambda s, r: s.operations.last_at(r.key),
    "operations.count": lambda s, r: s.operations.count(r.key, "prune"),
    "operations.live_since": lambda s, r: s.operations.live_since(r.key, 1),
    "operations.items": lambda s, r: s.operations.items(r.key, 1),
    "operations.removal_reasons": lambda s, r: s.operations.removal_reasons(r.key, [(1, 1)]),
    "usage.calls": lambda s, r: s.usage.calls(r.key),
    "usage.first_input": lambda s, r: s.usage.first_input(r.key),
    "usage.reported_at": lambda s, r: s.usage.reported_at(r.key, "c"),
    "copies.find": lambda s, r: s.copies.find(r.id),
    "copies.of": lambda s, r: s.copies.of(r.id),
    "usage.samples": lambda s, r: s.usage.samples(r.key, 0, 9),
    "words.in_session": lambda s, r: s.words.in_session(r.key, "word"),
    "words.everywhere": lambda s, r: s.words.everywhere("word", SearchFilter(), 9),
    "words.numbers": lambda s, r: s.words.numbers(r.key),
    "words.memories": lambda s, _: s.words.memories(),
    "words.memories_with": lambda s, _: s.words.memories_with("memory", ["word"], ["id"], 9),
    "small.setting": lambda s, _: s.small.setting("x"),
    "small.fields": lambda s, _: s.small.fields("x"),
    "small.damaged": lambda s, _: s.small.damaged(),
    "small.model_overrides": lambda s, _: s.small.model_overrides(),
    "small.revision": lambda s, _: s.small.revision("x"),
    "small.file": lambda s, _: s.small.file("x"),
    "small.looked_at": lambda s, _: s.small.looked_at(),
    "small.answer": lambda s, r: s.small.answer(r.key, "k"),
    "dump.records": lambda s, r: list(s.dump.records(r)),
}
# In SQLite triggers have done it.
BY_TRIGGERS = {"words.put_memory", "words.remove_memory"}
SUBJECTS = (
    "sessions", "log", "contexts", "operations", "summaries", "memories", "usage", "words", "small",
    "dump", "copies", "access",
)  # fmt: skip


def outcome(call: Callable[[], Any]) -> str:
    """Return the name of the error that a call raises, "done" without one."""
    try:
        call()
    except Exception as error:  # noqa: BLE001  # any other than the expected one fails the test, by its name
        return type(error).__name__
    return "done"


@pytest.fixture
def locked(store: Store, row: SessionRow, database: Database) -> Iterator[Store]:
    """A store of which another process holds everything."""
    with program(database) as other:
        if isinstance(database, Path):
            store.db.rows("PRAGMA busy_timeout = 50")
            other.execute("BEGIN IMMEDIATE")
            other.execute("INSERT INTO settings VALUES ('held', '1')")
        else:
            tables = ", ".join({*(part.table for part in PARTS), "revisions", "entry_words", "memory_words"})
            other.execute("BEGIN")
            other.execute(f"SELECT pg_advisory_xact_lock({STORE_LOCK}, 0)")
            other.execute(f"LOCK TABLE {tables} IN EXCLUSIVE MODE")
        yield store
        other.execute("ROLLBACK")


class TestEveryMethod:
    """All of them, none forgotten."""

    def test_stands_in_a_table_above(self, store: Store) -> None:
        """A new public method has to say whether it reads or writes."""
        names = {
            f"{subject}.{name}"
            for subject in SUBJECTS
            for name, _ in inspect.getmembers(getattr(store, subject), inspect.ismethod)
            if not name.startswith("_")
        }
        assert names == {*WRITING, *READING, *BY_TRIGGERS}

    def test_that_writes_is_told_that_the_store_is_busy(
        self, locked: Store, row: SessionRow, engine: str
    ) -> None:
        """The statement itself meets the lock, and nothing raw comes of it."""
        ends = {name: outcome(partial(write, locked, row)) for name, write in WRITING.items()}
        # PostgreSQL gathers its index beside a writer.
        beside = {"words.merge"} if engine == "postgresql" else set()
        assert {name: end for name, end in ends.items() if end != "BusyStore"} == dict.fromkeys(
            beside, "done"
        )

    def test_is_not_reached_where_the_transaction_cannot_begin(self, locked: Store, row: SessionRow) -> None:
        """Inside `write()` it is taking the lock that meets it, before anything is done."""
        reached: list[str] = []
        with pytest.raises(BusyStore), locked.write():
            reached.append(row.id)
        assert reached == []

    def test_that_reads_does_not_wait_for_a_writer(self, locked: Store, row: SessionRow) -> None:
        """A writer elsewhere keeps nobody from reading."""
        ends = {name: outcome(partial(read, locked, row)) for name, read in READING.items()}
        assert {name: end for name, end in ends.items() if end != "done"} == {}
