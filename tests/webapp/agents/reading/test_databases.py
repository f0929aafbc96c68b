"""Databases of other programs."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from webapp.agents.reading.databases import ForeignTables, read_foreign


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


def ids(path: Path, **where: str) -> list[str]:
    """Return the ids of the matching rows."""
    return read_foreign(path, lambda tables: [row["id"] for row in tables.rows("odd name", where)])


class TestAForeignDatabase:
    """Reading a database without changing it."""

    def test_gives_rows_in_order(self, path: Path) -> None:
        """Matching rows are ordered by id, and a missing table has none."""
        assert ids(path, kind="x") == ["a", "b"]
        assert ids(path) == ["a", "b", "c"]
        assert read_foreign(path, lambda tables: list(tables.rows("nowhere"))) == []

    def test_is_never_changed(self, path: Path) -> None:
        """The file stays unchanged, and no file is made beside it."""
        before = path.read_bytes()
        ids(path)
        assert [p.name for p in path.parent.iterdir()] == [path.name]
        assert path.read_bytes() == before

    @pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
    def test_is_not_opened_with_a_pipe_among_its_files(self, path: Path, end: str) -> None:
        """SQLite would wait for the other end."""
        path.with_name(path.name + end).unlink(missing_ok=True)
        os.mkfifo(path.with_name(path.name + end))
        with pytest.raises(OSError, match="regular file"):
            ids(path)

    def test_raises_an_error_if_unreadable(self, path: Path, tmp_path: Path) -> None:
        """A missing or damaged file and a missing column raise OSError with the reason."""
        (tmp_path / "bad.db").write_bytes(b"x" * 5000)
        for bad in (tmp_path / "missing.db", tmp_path / "bad.db"):
            with pytest.raises(OSError, match=r"\w"):
                ids(bad)
        with pytest.raises(OSError, match="column"):
            ids(path, nothing="1")

    def test_is_not_locked_for_the_program_that_opens_it(self, path: Path, tmp_path: Path) -> None:
        """The log of a program that was killed is read without the index that processes share, and its locks."""
        with closing(sqlite3.connect(path)) as db:
            db.execute("INSERT INTO [odd name] VALUES ('d', 'z')")
            db.commit()
            killed = tmp_path / "killed" / path.name
            killed.parent.mkdir()
            for name in (path.name, f"{path.name}-wal"):
                shutil.copy(path.with_name(name), killed.with_name(name))
        assert ids(killed) == ["a", "b", "c", "d"]
        assert sorted(p.name for p in killed.parent.iterdir()) == [path.name, f"{path.name}-wal"]

    def test_is_read_again_if_its_pages_were_overwritten(self, path: Path) -> None:
        """A checkpoint writes into the database, and the log begins again."""
        read: list[list[str]] = []

        def one_read(tables: ForeignTables) -> list[str]:
            read.append([row["id"] for row in tables.rows("odd name")])
            if len(read) == 1:
                db.execute("INSERT INTO [odd name] VALUES ('e', 'z')")
                db.commit()
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                db.execute("INSERT INTO [odd name] VALUES ('f', 'z')")
                db.commit()
            return read[-1]

        with closing(sqlite3.connect(path)) as db:
            db.execute("INSERT INTO [odd name] VALUES ('d', 'z')")
            db.commit()
            assert read_foreign(path, one_read) == ["a", "b", "c", "d", "e", "f"]
        assert read[0] == ["a", "b", "c", "d"]
        assert len(read) == 2
