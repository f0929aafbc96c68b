"""The schema: made once, and the same whoever opens first."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Barrier, Thread

from webapp.store import Store
from webapp.store.migrations import migrations


class TestMigrations:
    """Numbered steps."""

    def test_are_recorded_and_not_repeated(self, tmp_path: Path) -> None:
        """Opening a second time finds nothing to do and everything there."""
        for _ in range(2):
            Store(tmp_path / "a.db").close()
        with sqlite3.connect(tmp_path / "a.db") as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations")]
        connection.close()
        assert names == [one.name for one in migrations._migrations]

    def test_run_once_when_several_open_at_the_same_time(self, tmp_path: Path) -> None:
        """Threads that race to make the database all find it whole."""
        barrier, failures = Barrier(4), []

        def run() -> None:
            barrier.wait()
            try:
                made = Store(tmp_path / "a.db")
                made.check()
                made.close()
            except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
                failures.append(error)

        threads = [Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
