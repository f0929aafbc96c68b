"""Finding the files that changed below some folders."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import watchfiles
from watchfiles import Change

from tests.waiting import PATIENCE
from webapp.agents.reading import file_changes as watch
from webapp.agents.reading.file_changes import Snapshot, changes


class Watching:
    """A watch running in a thread."""

    def __init__(self, roots: list[Path]) -> None:
        self._stop, self._found = threading.Event(), Queue[set[Path] | None]()
        self._thread = threading.Thread(target=self._run, args=(roots,), daemon=True)
        self._thread.start()

    def _run(self, roots: list[Path]) -> None:
        for found in changes(roots, (".jsonl",), self._stop):
            self._found.put(found)
        self._found.put(None)

    def until(self, path: Path) -> bool:
        """Wait until a file is named."""
        while (found := self._found.get(timeout=PATIENCE)) is not None:
            if path in found:
                return True
        return False

    def stop(self) -> bool:
        """Stop the watch; return whether it ended."""
        self._stop.set()
        self._thread.join(PATIENCE)
        return not self._thread.is_alive()


def refuse(*_: object, **__: object) -> Iterator[set[object]]:
    """Report nothing, like a system that has no watches left."""
    raise OSError("no space left on device")


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk over the folders often."""
    monkeypatch.setattr(watch, "FALLBACK_SECONDS", 0.05)
    monkeypatch.setattr(watch, "RESCAN_SECONDS", 0.5)


@pytest.fixture(params=["told", "polling"])
def watching(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watching]:
    """A watch on a folder that exists and one that does not."""
    if request.param == "polling":
        monkeypatch.setattr(watch, "watch", refuse)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "old.jsonl").write_text("{}\n")
    made = Watching([tmp_path / "here", tmp_path / "later" / "deep"])
    yield made
    assert made.stop()


class TestAWatch:
    """Watching by notifications of the system or by polling."""

    def test_names_existing_and_changed_files(self, watching: Watching, tmp_path: Path) -> None:
        """First every file is named, then new and growing ones, even in new folders."""
        assert watching.until(tmp_path / "here" / "old.jsonl")
        with (tmp_path / "here" / "old.jsonl").open("a") as file:
            file.write("{}\n")
        assert watching.until(tmp_path / "here" / "old.jsonl")
        new = tmp_path / "here" / "a" / "b" / "new.jsonl"
        new.parent.mkdir(parents=True)
        new.write_text("{}\n")
        assert watching.until(new)

    def test_finds_folders_that_appear_later(self, watching: Watching, tmp_path: Path) -> None:
        """A root is watched as soon as it exists."""
        assert watching.until(tmp_path / "here" / "old.jsonl")
        path = tmp_path / "later" / "deep" / "x.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
        assert watching.until(path)
        with path.open("a") as file:
            file.write("{}\n")
        assert watching.until(path)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_goes_on_after_a_name_that_is_not_utf8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Reports end when such a file changes, and begin again; a file that changed in between is found, too."""
    begun = Queue[int]()

    def counted(*roots: Path, **options: Any) -> Iterator[set[tuple[Change, str]]]:
        begun.put(1)
        return watchfiles.watch(*roots, **options)

    monkeypatch.setattr(watch, "watch", counted)
    watching = Watching([tmp_path])
    for n in range(2):
        begun.get(timeout=PATIENCE)
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")).write_text("{}\n" * (n + 1))
        (tmp_path / f"{n}.jsonl").write_text("{}\n")
        assert watching.until(tmp_path / f"{n}.jsonl")
    begun.get(timeout=PATIENCE)
    assert watching.stop()
    assert not caplog.records


def test_a_snapshot_names_new_and_changed_files(tmp_path: Path) -> None:
    """The first look names all files and later ones only changes; other endings are ignored."""
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    (tmp_path / "b.txt").write_text("x")
    snapshot = Snapshot([tmp_path], (".jsonl",))
    assert snapshot.changed() == {path}
    assert snapshot.changed() == set()
    path.write_text("{}\n{}\n")
    assert snapshot.changed() == {path}


def test_a_root_can_be_a_file(tmp_path: Path) -> None:
    """It is found whatever its ending is, at each change and after it was gone; its neighbours are not."""
    path = tmp_path / "x.sqlite"
    snapshot = Snapshot([path], (".jsonl",))
    (tmp_path / "y.jsonl").write_text("{}\n")
    assert snapshot.changed() == set()
    watching = Watching([path])
    for n in range(3):
        path.write_text("x" * n)
        assert watching.until(path)
        path.write_text("x" * (n + 9))
        assert watching.until(path)
        path.unlink()
    path.write_text("y")
    assert watching.until(path)
    assert snapshot.changed() == {path}
    assert watching.stop()
