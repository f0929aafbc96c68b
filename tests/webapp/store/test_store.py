"""The store as a whole."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.disks import AVAILABLE
from tests.shared import ROOT
from tests.waiting import PATIENCE
from webapp.config import Database
from webapp.errors import RefusedRow, StoreError
from webapp.store import Store


class TestStore:
    """All subjects over one database."""

    def test_keeps_everything_between_openings(self, database: Database) -> None:
        """Everything written is there when it is opened again."""
        place = database.parent / "deep" / "a.db" if isinstance(database, Path) else database
        store = Store(place)
        with store.write():
            store.small.put_setting("x", 1)
        store.close()
        again = Store(place)
        assert again.small.setting("x") == 1
        again.check()
        again.close()

    def test_refuses_a_row_against_the_schema(self, store: Store) -> None:
        """It is distinguished from a failure of the database, because it is the fault of the row."""
        row = store.sessions.create(id="s", source="x", kind="managed", created_at=1, last_activity_at=0)
        with pytest.raises(RefusedRow), store.write():
            store.db.run("UPDATE sessions SET source = NULL WHERE key = ?", (row.key,))

    def test_check_fails_when_the_tables_are_gone(self, store: Store) -> None:
        """Liveness means that sessions can be read."""
        with store.write():
            store.db.run("ALTER TABLE sessions RENAME TO lost")
        with pytest.raises(StoreError):
            store.check()

    def test_settles_without_losing_a_word(self, store: Store) -> None:
        """Upkeep at once changes nothing that can be seen."""
        with store.write():
            row = store.sessions.create(
                id="s", source="api", kind="managed", created_at=1, last_activity_at=1
            )
        for seq in range(12):
            with store.write():
                store.words.add(row.key, [(seq, f"word{seq} common")])
        store.maintain()
        assert store.words.numbers(row.key) == set(range(12))


class TestTheTransactionOfAThread:
    """Its beginning, and the actions that wait for its end."""

    def test_calls_what_waits_for_its_end(self, store: Store) -> None:
        """Once, after the outermost block, committed or not; at once where there is no transaction."""
        called: list[str] = []
        store.at_end(lambda: called.append("at once"))
        with store.write(), store.write():
            store.at_end(lambda: called.append("committed"))
            assert called == ["at once"]
        assert called == ["at once", "committed"]
        with suppress(RuntimeError), store.write():
            store.at_end(lambda: called.append("taken back"))
            raise RuntimeError
        with store.read():
            pass
        assert called == ["at once", "committed", "taken back"]

    def test_began_with_its_outermost_block(self, store: Store) -> None:
        """Changes that others commit after that are not seen in it."""
        with store.read():
            began = store.began()
            with store.read():
                assert store.began() == began
            assert store.began() == began
        assert store.began() > began

    def test_ends_where_another_thread_closes_it(self, store: Store) -> None:
        """The garbage collector does so with a generator that was left inside."""

        def reading() -> Generator[None]:
            with store.read():
                yield

        left = reading()
        next(left)
        began = store.began()
        closer = threading.Thread(target=left.close)
        closer.start()
        closer.join(PATIENCE)
        assert store.began() > began


class TestKills:
    """A process that is killed in the middle of a write, power that goes, and two processes that write at once."""

    def test_lose_nothing_that_was_acknowledged(self) -> None:  # S1
        """The store is sound after each, as after a power cut; `make kills` has 1,000."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.kills", "50"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        said = re.search(
            r"^50 kills, (\d+) power cuts .* cost ([\d,]+) .*: 0 faults$", done.stdout, re.MULTILINE
        )
        assert (done.returncode, said is not None) == (0, True), done.stdout + done.stderr
        assert said is not None
        assert not AVAILABLE or all(int(count.replace(",", "")) > 0 for count in said.groups())
