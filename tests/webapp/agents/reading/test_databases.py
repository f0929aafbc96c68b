"""Databases of other programs."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from webapp.agents.reading import databases
from webapp.agents.reading.databases import open_foreign

# SQLite's lock on the index of a log, which a program holds as long as it has the database open.
_OPEN_BYTE = 128
_HOLDER = f"""
import fcntl, sys
index = open(sys.argv[1], "rb+")
fcntl.lockf(index, fcntl.LOCK_SH, 1, {_OPEN_BYTE})
print("open", flush=True)
sys.stdin.readline()
index.write(open(sys.argv[2], "rb").read())
index.flush()
print("rebuilt", flush=True)
sys.stdin.read()
"""


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


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    """A program that has the database open and added a row, which is in the log only."""
    with closing(sqlite3.connect(path, timeout=0)) as db:
        _add(db, "d")
        yield db


@pytest.fixture
def killed(path: Path, writer: sqlite3.Connection, tmp_path: Path) -> Path:
    """The database as a program leaves it that was killed; the index of its log is lost."""
    copy = tmp_path / "killed" / path.name
    copy.parent.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    Path(f"{copy}-shm").write_bytes(bytes(32768))
    return copy


def _add(db: sqlite3.Connection, row: str) -> None:
    with db:
        db.execute("INSERT INTO [odd name] VALUES (?, 'z')", [row])


def _ids(path: Path) -> str:
    with open_foreign(path) as tables:
        return "".join(row["id"] for row in tables.rows("odd name"))


@contextmanager
def _holder(database: Path, whole: Path) -> Iterator[Callable[[], None]]:
    """Have another program hold a database open; yield what lets it take over the index of one that is `whole`."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, f"{database}-shm", f"{whole}-shm"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        assert program.stdin is not None
        assert program.stdout is not None
        said, told = program.stdout, program.stdin

        def rebuild() -> None:
            told.write("\n")
            told.flush()
            assert said.readline() == "rebuilt\n"

        assert said.readline() == "open\n"
        yield rebuild


def _contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


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


class TestALog:
    """Reading a database whose last changes are in its write-ahead log."""

    def test_is_read_while_a_program_writes_it(self, path: Path, writer: sqlite3.Connection) -> None:
        """Each opening gives the rows of its moment. The program can write and checkpoint meanwhile."""
        with open_foreign(path) as tables:
            _add(writer, "e")
            assert [row["id"] for row in tables.rows("odd name")] == ["a", "b", "c", "d"]
        assert _ids(path) == "abcde"
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
        _add(writer, "f")
        assert _ids(path) == "abcdef"

    def test_is_read_though_its_index_is_lost(self, killed: Path) -> None:
        """The index is not rebuilt on disk: a program that opened the database meanwhile would be refused."""
        before = _contents(killed.parent)
        assert _ids(killed) == "abcd"
        assert _contents(killed.parent) == before

    @pytest.mark.parametrize("size", [0, 20, 32, 40])
    def test_is_read_if_it_was_only_begun(self, killed: Path, size: int) -> None:
        """A program can be killed before it writes the first change."""
        log = Path(f"{killed}-wal")
        log.write_bytes(log.read_bytes()[:size])
        assert _ids(killed) == "abc"

    def test_is_read_without_an_index(self, killed: Path) -> None:
        """A copy of a database and its log can come without it."""
        Path(f"{killed}-shm").unlink()
        assert _ids(killed) == "abcd"

    def test_is_read_once_its_index_is_rebuilt(
        self, killed: Path, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The program that has the database open rebuilds the index, for which a reader waits."""
        with _holder(killed, path) as rebuild:
            monkeypatch.setattr(time, "sleep", lambda _: rebuild())
            assert _ids(killed) == "abcd"

    def test_can_vanish_as_it_is_opened(
        self, path: Path, writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A program that closes its database takes the log and the index away."""
        connect = sqlite3.connect

        def closes_first(*arguments: object, **named: object) -> sqlite3.Connection:
            writer.close()
            return connect(*arguments, **named)  # type: ignore[call-overload,no-any-return]

        monkeypatch.setattr(sqlite3, "connect", closes_first)
        assert _ids(path) == "abcd"

    def test_is_not_waited_for_without_end(self, killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An index that stays broken while a program has the database open is an error."""
        monkeypatch.setattr(databases, "_BUSY_SECONDS", 0.0)
        with _holder(killed, killed), pytest.raises(OSError, match="readonly"):
            _ids(killed)
