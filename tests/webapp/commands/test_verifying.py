"""`coppice verify`: no fault, or a list of faults."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tests.webapp.commands.running import Run


class TestVerifying:
    """Verifying a store."""

    def test_finds_no_fault_in_a_valid_store(self, run: Run, tmp_path: Path) -> None:
        """The store was filled by an import."""
        file = tmp_path / "chat.json"
        file.write_text(json.dumps([{"role": "user", "content": "hello"}]))
        run("import", file)
        assert run("verify").code == 0

    def test_finds_a_changed_row(self, run: Run, tmp_path: Path, db: Path) -> None:
        """The hash chain covers every row of the log."""
        file = tmp_path / "chat.json"
        file.write_text(json.dumps([{"role": "user", "content": "hello"}]))
        run("import", file)
        with sqlite3.connect(db) as connection:
            connection.execute("UPDATE entries SET parts = replace(CAST(parts AS TEXT), 'hello', 'howdy')")
        connection.close()
        done = run("verify")
        assert done.code == 1
        assert done.out
        assert "fault" in done.err

    def test_reports_a_missing_store(self, run: Run, tmp_path: Path, db: Path) -> None:
        """A missing store is not created, because its name may be misspelt."""
        done = run("verify", "--db", tmp_path / "nowhere.db")
        assert (done.code, done.out) == (2, "")
        assert "there is no database at" in done.err
        assert run("verify").code == 2
        assert not list(tmp_path.glob("*.db"))
