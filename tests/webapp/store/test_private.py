"""Modes of the store's files: nobody else on the machine reads them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.config import Config
from webapp.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


@pytest.fixture(autouse=True)
def open_handed() -> Iterator[None]:
    """The umask of a system that lets everybody read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Return the mode of every file in a folder."""
    return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}


def written(path: Path) -> Store:
    """Open a store and write to it, so that its log files are there."""
    store = Store(path)
    with store.write():
        store.small.put_setting("x", 1)
    return store


class TestModes:
    """The database, its logs and its folder."""

    def test_of_a_new_database_are_its_owners(self, tmp_path: Path) -> None:
        """The folders that are made for it are private, too."""
        store = written(tmp_path / "data" / "c.db")
        assert modes(tmp_path) == {"data": 0o700}
        assert modes(tmp_path / "data") == {"c.db": 0o600, "c.db-wal": 0o600, "c.db-shm": 0o600}
        store.close()

    def test_of_one_that_is_there_are_mended(self, tmp_path: Path) -> None:
        """Its logs too, whatever their permissions were."""
        first = written(tmp_path / "c.db")
        for file in tmp_path.iterdir():
            file.chmod(0o644)
        second = written(tmp_path / "c.db")
        assert set(modes(tmp_path).values()) == {0o600}
        first.close()
        second.close()

    def test_of_a_folder_that_is_ours_alone_are_mended(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The one that is taken where none is named."""
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        folder = Config().database.parent
        folder.mkdir()
        written(folder / "coppice.db").close()
        assert folder.stat().st_mode & 0o777 == 0o700

    def test_of_a_folder_of_others_are_left(self, tmp_path: Path) -> None:
        """Somebody who names a database in a shared folder keeps the folder."""
        tmp_path.chmod(0o755)
        written(tmp_path / "c.db").close()
        assert tmp_path.stat().st_mode & 0o777 == 0o755

    def test_are_not_widened(self, tmp_path: Path) -> None:
        """A database that may only be read stays so."""
        written(tmp_path / "c.db").close()
        (tmp_path / "c.db").chmod(0o400)
        connection = sqlite3.connect(tmp_path / "c.db")
        connection.close()
        Store(tmp_path / "c.db").close()
        assert (tmp_path / "c.db").stat().st_mode & 0o777 == 0o400
