"""Large folders, imported by two processes."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.waiting import PATIENCE
from tests.webapp.commands.running import Run
from webapp.commands import import_processes
from webapp.commands.import_processes import (
    ENDED,
    ImportOptions,
    Outcome,
    imported_together,
    worth_two_processes,
)
from webapp.store import Store


def chat(file: Path, *texts: str) -> Path:
    """Write a file with a message list."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([{"role": "user", "content": text} for text in texts]))
    return file


def contents(db: Path) -> list[tuple[object, ...]]:
    """Return the content of each session's log."""
    with sqlite3.connect(db) as connection:
        sql = (
            "SELECT s.id, s.title, e.id, m.tokens, m.turn FROM sessions s JOIN entries e ON e.key >> 32 = s.key "
            "JOIN messages m ON m.key >> 32 = s.key AND m.first_seq = e.key & 4294967295 ORDER BY s.id, e.key"
        )
        return list(connection.execute(sql))


def ending(group: list[Path], how: ImportOptions) -> list[Outcome]:
    """Import files, ending the process at one of them."""
    if group[0].name == "b.json":
        os._exit(1)
    return import_processes._import_all(group, how)


class TestTwoProcesses:
    """An import by two processes."""

    def test_give_the_same_as_one_process(
        self, run: Run, tmp_path: Path, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Store and report are equal, in the order of the files, with unreadable ones."""
        folder = tmp_path / "in"
        for name in "abcdef":
            chat(folder / f"{name}.json", f"hello {name}", "and more")
        (folder / "d.json").write_text('{"name": "x"}')
        alone = run("import", folder, "--db", tmp_path / "alone.db")
        monkeypatch.setattr(import_processes, "TOGETHER_FROM", 1)
        both = run("import", folder)
        assert (both.code, both.out, both.err) == (alone.code, alone.out, alone.err)
        assert contents(db) == contents(tmp_path / "alone.db") != []
        assert run("verify").code == 0

    def test_lose_only_the_file_whose_process_ends(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only that file is reported as failed."""
        files = [chat(tmp_path / f"{name}.json", f"hello {name}") for name in "abc"]
        monkeypatch.setattr(import_processes, "_import_all", ending)
        done = dict(imported_together(files, ImportOptions(tmp_path / "s.db", "auto", None)))
        assert done[files[1]].failure == ENDED
        assert [len(done[file].sessions) for file in files] == [1, 0, 1]

    def test_end_when_the_import_is_killed(self, tmp_path: Path) -> None:
        """Processes waiting for another file would keep the database open."""
        code = (
            "import os, time; from webapp.commands.import_processes import _pool\n"
            "print(_pool(1).submit(os.getpid).result(), flush=True); time.sleep(600)"
        )
        parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, bufsize=0)
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        ended, _, _ = select.select([parent.stdout], [], [], PATIENCE)
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
        assert ended  # the worker had the other end of the pipe

    def test_import_copies_of_a_session_in_order(self, tmp_path: Path) -> None:
        """Files of the same name, the longer version last, add nothing twice."""
        files = [chat(tmp_path / "1" / "a.json", "hello"), chat(tmp_path / "2" / "a.json", "hello", "more")]
        done = imported_together(
            [*files, chat(tmp_path / "b.json", "hi")], ImportOptions(tmp_path / "s.db", "auto", None)
        )
        assert [(file.name, one.sessions[0].added) for file, one in done] == [
            ("a.json", 1),
            ("a.json", 1),
            ("b.json", 1),
        ]
        store = Store(tmp_path / "s.db")
        assert len(store.sessions.all()) == 2
        store.close()

    def test_are_not_started_for_small_folders_or_a_single_file(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Starting them takes longer than the import."""
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
        assert not worth_two_processes([1_000] * 100)
        assert not worth_two_processes([200 << 20])
        assert worth_two_processes([80 << 20, 80 << 20])
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        assert not worth_two_processes([80 << 20, 80 << 20])
