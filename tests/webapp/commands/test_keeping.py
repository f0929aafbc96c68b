"""`coppice backup` and `coppice restore`: copies of the whole store."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from tests.webapp.commands.running import Run
from webapp.store import Store


def said(run: Run, tmp_path: Path, text: str) -> None:
    """Import a session of one message."""
    file = tmp_path / f"{text}.json"
    file.write_text(json.dumps([{"role": "user", "content": text}]))
    assert run("import", file).code == 0


class TestBackup:
    """A copy while the store is used."""

    def test_is_made_while_somebody_writes(self, run: Run, tmp_path: Path, db: Path) -> None:  # S1
        """It holds what was committed, for its owner alone, and is sound by itself."""
        said(run, tmp_path, "one")
        with closing(Store(db)) as store, store.write():
            store.small.put_setting("unfinished", 1)
            done = run("backup", tmp_path / "copy.db")
        assert (done.code, (tmp_path / "copy.db").stat().st_mode & 0o777) == (0, 0o600)
        with closing(Store(tmp_path / "copy.db")) as copy:
            assert copy.small.setting("unfinished") is None
            assert len(copy.sessions.all()) == 1
            assert list(copy.verify()) == []

    def test_writes_over_no_file(self, run: Run, tmp_path: Path) -> None:
        """Whatever it is."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").write_text("mine")
        assert run("backup", tmp_path / "copy.db").code == 1
        assert (tmp_path / "copy.db").read_text() == "mine"

    def test_of_a_damaged_store_is_none(self, run: Run, tmp_path: Path, db: Path) -> None:
        """A copy that could not be used leaves no file behind."""
        said(run, tmp_path, "one")
        with db.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xff" * 8192)
        assert run("backup", tmp_path / "copy.db").code == 1
        assert not list(tmp_path.glob("copy.db*"))


class TestRestore:
    """A copy put back."""

    def test_brings_back_what_was_there(self, run: Run, tmp_path: Path, db: Path) -> None:  # S1
        """And keeps a copy of what it replaces."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        said(run, tmp_path, "two")
        assert run("restore", tmp_path / "copy.db").code == 0
        with closing(Store(db)) as store:
            assert len(store.sessions.all()) == 1
        [kept] = db.parent.glob(f"{db.name}.replaced-*")
        with closing(Store(kept)) as store:
            assert len(store.sessions.all()) == 2

    def test_waits_for_nobody_who_has_the_store_open(self, run: Run, tmp_path: Path, db: Path) -> None:
        """A running server would go on with what it remembers."""
        said(run, tmp_path, "one")
        run("backup", tmp_path / "copy.db")
        with closing(Store(db)) as store:
            done = run("restore", tmp_path / "copy.db")
            assert len(store.sessions.all()) == 1
        assert done.code == 1
        assert "in use" in done.err

    def test_refuses_what_is_no_store(self, run: Run, tmp_path: Path) -> None:
        """Nothing is replaced by it."""
        said(run, tmp_path, "one")
        (tmp_path / "copy.db").write_bytes(b"no database" * 900)
        assert run("restore", tmp_path / "copy.db").code == 1
        assert run("verify").code == 0
