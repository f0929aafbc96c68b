"""Databases of other programs."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from webapp.agents.reading.databases import open_foreign


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small database in WAL mode."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute('CREATE TABLE "odd name" (id TEXT, kind TEXT)')
        db.executemany('INSERT INTO "odd name" VALUES (?, ?)', [("b", "x"), ("a", "x"), ("c", "y")])
    db.close()
    return path


class TestAForeignDatabase:
    """Reading a database without changing it."""

    def test_gives_rows_in_order(self, path: Path) -> None:
        """Matching rows are ordered by id, and a missing table has none."""
        with open_foreign(path) as tables:
            assert [r["id"] for r in tables.rows("odd name", {"kind": "x"})] == ["a", "b"]
            assert len(list(tables.rows("odd name"))) == 3
            assert list(tables.rows("nowhere")) == []

    def test_is_never_changed(self, path: Path) -> None:
        """The file stays unchanged, and no file is made beside it."""
        before = path.read_bytes()
        with open_foreign(path) as tables:
            list(tables.rows("odd name"))
        assert [p.name for p in path.parent.iterdir()] == [path.name]
        assert path.read_bytes() == before

    @pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
    def test_is_not_opened_with_a_pipe_among_its_files(self, path: Path, end: str) -> None:
        """SQLite would wait for the other end."""
        path.with_name(path.name + end).unlink(missing_ok=True)
        os.mkfifo(path.with_name(path.name + end))
        with pytest.raises(OSError, match="regular file"), open_foreign(path):
            pass

    def test_raises_an_error_if_unreadable(self, path: Path, tmp_path: Path) -> None:
        """A missing or damaged file and a missing column raise OSError with the reason."""
        (tmp_path / "bad.db").write_bytes(b"x" * 5000)
        for bad in (tmp_path / "missing.db", tmp_path / "bad.db"):
            with pytest.raises(OSError, match=r"\w"), open_foreign(bad) as tables:
                list(tables.rows("odd name"))
        with pytest.raises(OSError, match="column"), open_foreign(path) as tables:
            list(tables.rows("odd name", {"nothing": 1}))
