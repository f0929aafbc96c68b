"""`coppice backup` and `coppice restore`: copies of the whole store."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.disks import AVAILABLE, Disk, disk
from tests.webapp.commands.running import Run
from webapp.store import Store
from webapp.store.sqlite import backup


def no_links(*_: object, **__: object) -> None:
    """Raise the error of a disk without hard links."""
    raise OSError(errno.EPERM, "Operation not permitted")


def said(run: Run, tmp_path: Path, text: str) -> None:
    """Import a session of one message."""
    file = tmp_path / f"{text}.json"
    file.write_text(json.dumps([{"role": "user", "content": text}]))
    assert run("import", file).code == 0


def enough_after(full: Disk, writes: int, run: Run, copy: Path) -> bool:
    """Restore a copy on a disk that is full after so many writes; return whether they were enough."""
    with full.failing("disk full", writes):
        return run("restore", copy).code == 0


class TestBackup:
    """A backup of a store in use."""

    def test_is_made_during_writes(self, run: Run, tmp_path: Path, db: Path) -> None:  # S1
        """The copy has the committed data, is readable by its owner only, and has no fault."""
        said(run, tmp_path, "one")
        with closing(Store(db)) as store, store.write():
            store.small.put_setting("unfinished", 1)
            done = run("backup", tmp_path / "copy.db")
        assert (done.code, (tmp_path / "copy.db").stat().st_mode & 0o777) == (0, 0o600)
        with closing(Store(tmp_path / "copy.db")) as copy:
            assert copy.small.setting("unfinished") is None
            assert len(copy.sessions.all()) == 1
            assert list(copy.verify()) == []

    def test_ends_however_much_is_written_meanwhile(  # S1
        self, run: Run, tmp_path: Path, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It has the version of its beginning, and no write of another process makes it begin again."""
        said(run, tmp_path, "one")
        steps: list[int] = []

        class Watched(sqlite3.Connection):
            """Copies page by page, and writes through another connection after each."""

            def backup(self, target: sqlite3.Connection, **_: object) -> None:
                def write(_: int, left: int, pages: int) -> None:
                    steps.append(left)
                    assert len(steps) <= pages, "began again"
                    with closing(sqlite3.connect(db, isolation_level=None)) as other:
                        other.execute(
                            "INSERT INTO settings (name, value) VALUES (?, '1')", (f"n{len(steps)}",)
                        )

                super().backup(target, pages=1, progress=write)

        def watched(path: Path) -> sqlite3.Connection:
            return sqlite3.connect(path, isolation_level=None, factory=Watched)

        monkeypatch.setattr(backup, "read_only", watched)
        done = run("backup", tmp_path / "copy.db")
        assert (done.code, done.err) == (0, "")
        assert steps[-1] == 0
        with closing(Store(tmp_path / "copy.db")) as copy:
            assert copy.small.setting("n1") is None

    def test_never_overwrites_a_file(self, run: Run, tmp_path: Path) -> None:
        """An existing file stays."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").write_text("mine")
        assert run("backup", tmp_path / "copy.db").code == 1
        assert (tmp_path / "copy.db").read_text() == "mine"

    @pytest.mark.parametrize("links", [True, False])
    def test_does_not_replace_a_file_that_appears_meanwhile(  # S1
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
    ) -> None:
        """Another process may create the file while the copy is made, even without hard links."""
        said(run, tmp_path, "one")
        copy = tmp_path / "copy.db"

        def takes_the_name(*_: object) -> None:
            copy.write_text("mine")

        monkeypatch.setattr(backup, "check", takes_the_name)
        if not links:
            monkeypatch.setattr(os, "link", no_links)
        assert run("backup", copy).code == 1
        assert copy.read_text() == "mine"
        assert [file.name for file in tmp_path.glob("copy.db*")] == ["copy.db"]

    def test_is_made_on_a_disk_without_hard_links(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A memory stick may have none."""
        said(run, tmp_path, "one")
        monkeypatch.setattr(os, "link", no_links)
        assert run("backup", tmp_path / "copy.db").code == 0
        with closing(Store(tmp_path / "copy.db")) as copy:
            assert len(copy.sessions.all()) == 1

    def test_follows_no_link(self, run: Run, tmp_path: Path) -> None:
        """A broken link counts as an existing file."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").symlink_to(tmp_path / "elsewhere.db")
        assert run("backup", tmp_path / "copy.db").code == 1
        assert (tmp_path / "copy.db").is_symlink()
        assert not (tmp_path / "elsewhere.db").exists()

    def test_of_a_damaged_store_leaves_no_file(self, run: Run, tmp_path: Path, db: Path) -> None:
        """A copy that is not valid is deleted."""
        said(run, tmp_path, "one")
        with db.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xff" * 8192)
        assert run("backup", tmp_path / "copy.db").code == 1
        assert not list(tmp_path.glob("copy.db*"))

    def test_names_the_target_if_it_cannot_be_written(self, run: Run, tmp_path: Path) -> None:
        """The source has room."""
        said(run, tmp_path, "one")
        done = run("backup", tmp_path / "missing" / "copy.db")
        assert (done.code, str(tmp_path / "missing" / "copy.db") in done.err) == (1, True)

    @pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")
    @pytest.mark.parametrize(
        ("fault", "words"), [("disk full", "no room left for {}"), ("write fails", "copying {} failed")]
    )
    def test_names_the_disk_that_fails(
        self, run: Run, tmp_path: Path, db: Path, fault: str, words: str
    ) -> None:
        """That of the copy for a write, and that of the store for a read."""
        said(run, tmp_path, "one")
        (tmp_path / "other").mkdir()
        with disk(tmp_path / "other") as failing, failing.failing(fault, 0):
            done = run("backup", tmp_path / "other" / "copy.db")
        assert (done.code, words.format(tmp_path / "other" / "copy.db") in done.err) == (1, True)
        with disk(db.parent) as failing, failing.failing("read fails", 0):
            done = run("backup", tmp_path / "other" / "copy.db")
        assert (done.code, f"copying {db} failed" in done.err) == (1, True)


class TestRestore:
    """Restoring a backup."""

    def test_restores_the_sessions(self, run: Run, tmp_path: Path, db: Path) -> None:  # S1
        """The replaced store is kept as a copy."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        said(run, tmp_path, "two")
        assert run("restore", tmp_path / "copy.db").code == 0
        with closing(Store(db)) as store:
            assert len(store.sessions.all()) == 1
        [kept] = db.parent.glob(f"{db.name}.replaced-*")
        with closing(Store(kept)) as store:
            assert len(store.sessions.all()) == 2

    def test_refuses_a_store_in_use(self, run: Run, tmp_path: Path, db: Path) -> None:
        """A running server would continue with its cached state, so the restore is refused."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        with closing(Store(db)) as store:
            done = run("restore", tmp_path / "copy.db")
            assert len(store.sessions.all()) == 1
        assert done.code == 1
        assert "in use" in done.err

    def test_refuses_the_store_itself(self, run: Run, tmp_path: Path, db: Path) -> None:
        """It is refused by any of its paths, before a server is blamed or anything is written."""
        said(run, tmp_path, "one")
        (tmp_path / "link.db").symlink_to(db)
        for file in (db, tmp_path / "link.db"):
            done = run("restore", file)
            assert (done.code, "is the store itself" in done.err) == (2, True)
        assert not list(tmp_path.glob("*.replaced-*"))

    @pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")
    def test_blames_no_server_for_a_full_disk(self, run: Run, tmp_path: Path, db: Path) -> None:
        """Locking the store needs room, too."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        with disk(db.parent) as failing, failing.failing("disk full", 0):
            done = run("restore", tmp_path / "copy.db")
        assert (done.code, f"no room left for {db}" in done.err) == (1, True)

    @pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")
    @pytest.mark.parametrize("damaged", [False, True], ids=["sound", "damaged"])
    def test_changes_nothing_wherever_the_disk_is_full(
        self, run: Run, tmp_path: Path, db: Path, damaged: bool
    ) -> None:  # S1
        """The store has its name and its content, and no copy takes the room that is missing."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        said(run, tmp_path, "two")
        if damaged:
            with db.open("r+b") as file:
                file.seek(8192)
                file.write(b"\xff" * 8192)
        before, writes = db.read_bytes(), 0
        with disk(db.parent) as full:
            while not enough_after(full, writes, run, tmp_path / "copy.db"):
                assert {file.name for file in db.parent.glob("c.db*")} <= {"c.db", "c.db-wal", "c.db-shm"}
                assert db.read_bytes() == before
                writes += 9
        assert writes > 100

    def test_refuses_a_file_that_is_no_store(self, run: Run, tmp_path: Path) -> None:
        """The store is not replaced."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").write_bytes(b"no database" * 900)
        assert run("restore", tmp_path / "copy.db").code == 1
        assert run("verify").code == 0

    @pytest.mark.parametrize(
        "tables", ["", "CREATE TABLE songs (name)", "CREATE TABLE _sqlite_migrations (name)"]
    )
    def test_refuses_a_sound_database_that_is_no_store(  # S1
        self, run: Run, tmp_path: Path, db: Path, tables: str
    ) -> None:
        """Of another program, or an empty file, as an interrupted copy leaves one."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").touch()
        with closing(sqlite3.connect(tmp_path / "copy.db")) as other:
            other.execute(tables)
        done = run("restore", tmp_path / "copy.db")
        assert (done.code, str(tmp_path / "copy.db") in done.err) == (1, True)
        with closing(Store(db)) as store:
            assert len(store.sessions.all()) == 1
        assert not list(db.parent.glob(f"{db.name}.replaced-*"))

    def test_keeps_writes_until_the_replacement(  # S1
        self, run: Run, tmp_path: Path, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A write meanwhile is refused, or is in the copy of the replaced store."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        written: list[str] = []
        sound = backup.check

        def write_and_check(connection: sqlite3.Connection, path: Path) -> None:
            name = f"late{len(written)}"
            late = closing(sqlite3.connect(db, timeout=0, isolation_level=None))
            with suppress(sqlite3.OperationalError), late as other:
                other.execute("INSERT INTO settings (name, value) VALUES (?, '1')", (name,))
                written.append(name)
            sound(connection, path)

        monkeypatch.setattr(backup, "check", write_and_check)
        assert run("restore", tmp_path / "copy.db").code == 0
        [kept] = db.parent.glob(f"{db.name}.replaced-*")
        with closing(Store(kept)) as store:
            assert [store.small.setting(name) for name in written] == [1] * len(written)

    @pytest.mark.parametrize("begin", [0, 8192])
    def test_replaces_a_damaged_store(self, run: Run, tmp_path: Path, db: Path, begin: int) -> None:  # S1
        """The damaged files are kept unchanged under another name."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        with db.open("r+b") as file:
            file.seek(begin)
            file.write(b"\xff" * 8192)
        damaged = db.read_bytes()
        done = run("restore", tmp_path / "copy.db")
        assert (done.code, done.err) == (0, "")
        with closing(Store(db)) as store:
            assert len(store.sessions.all()) == 1
        kept = min(db.parent.glob(f"{db.name}.replaced-*"))  # and its write-ahead log
        assert kept.read_bytes() == damaged
        assert str(kept) in done.out

    def test_creates_a_missing_store(self, run: Run, tmp_path: Path, db: Path) -> None:
        """On a new machine there is no store to keep."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        for file in db.parent.glob(f"{db.name}*"):
            file.unlink()
        done = run("restore", tmp_path / "copy.db")
        assert (done.code, "kept" in done.out) == (0, False)
        assert run("verify").code == 0
        assert db.stat().st_mode & 0o777 == 0o600
