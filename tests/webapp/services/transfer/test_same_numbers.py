"""A folder of transcripts gives the same numbers followed or imported, in any order."""

from __future__ import annotations

import random
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.agents.samples import SAMPLES
from webapp.app import App
from webapp.config import Config
from webapp.errors import NoSession
from webapp.wiring import build

# Fields that depend on the reading itself: its time, place and number of steps.
OF_THE_READING = {"created_at", "file", "version", "cwd"}
SUMMARISER = "agent-acompact-00.jsonl"


def config(folder: Path, home: Path) -> Config:
    """Return the configuration of a new store that follows the agents below `home`."""
    places = {
        "CLAUDE_CONFIG_DIR": str(home / "claude-code"),
        "CODEX_HOME": str(home / "codex"),
        "HOME": str(folder),
    }
    return Config(db=folder / "coppice.db", env=places)


def home_in(folder: Path) -> Path:
    """Copy the sample transcripts of the agents that write lines to a folder; return the folder."""
    for agent in ("claude-code", "codex"):
        shutil.copytree(SAMPLES / agent, folder / agent)
    return folder


def numbers(app: App) -> dict[str, Any]:
    """Return every number of every session, by the session's id."""
    found = {}
    for session in app.sessions.list():
        row = app.store.sessions.get(session.id)
        shown = {name: value for name, value in asdict(session).items() if name not in OF_THE_READING}
        shown["verdict"]["version"] = 0  # that of the session when it was read
        calls = [call._replace(estimated=None) for call in app.store.usage.calls(row.key)]
        marks = [replace(mark, at=None) for mark in app.timelines.of(session.id).changes]
        points = [(p.number, p.agent, p.pruned) for p in app.timelines.of(session.id).points]
        cost = app.sessions.stats(session.id).cost
        found[session.id] = (shown, calls, marks, points, cost)
    return found


def followed(folder: Path, home: Path, order: random.Random) -> dict[str, Any]:
    """Follow the files in random order, first the first half of each and then the rest; return the numbers."""
    folder.mkdir()
    app = build(config(folder, home))
    try:
        following = app.watcher.following
        whole = {file.path: file.path.read_bytes() for file in following.discover()}
        paths = sorted(whole)
        order.shuffle(paths)
        for path in paths:
            lines = whole[path].splitlines(keepends=True)
            path.write_bytes(b"".join(lines[: len(lines) // 2]))
        for share in ("half", "whole"):
            for path in paths:
                if share == "whole":
                    path.write_bytes(whole[path])
                for file in following.files_at(path):
                    following.read_new(file)
        return numbers(app)
    finally:
        app.close()


def imported(folder: Path, home: Path, order: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Import the files twice, each time in random order; return the numbers after each time."""
    folder.mkdir()
    app = build(config(folder, home))
    try:
        after = []
        for _ in range(2):
            paths = sorted(p for p in home.rglob("*.jsonl") if p.name != SUMMARISER and p.stat().st_size)
            order.shuffle(paths)
            for path in paths:
                app.importing.import_file(path.name, path.read_bytes(), place=path)
            after.append(numbers(app))
        return after[0], after[1]
    finally:
        app.close()


@pytest.mark.parametrize("seed", range(3))
def test_numbers_do_not_depend_on_how_a_folder_is_read(tmp_path: Path, seed: int) -> None:  # X11 X12
    """The folder is followed in chunks, imported, and imported again, each in a different order."""
    order, home = random.Random(seed), home_in(tmp_path / "home")
    first, again = imported(tmp_path / "imported", home, order)
    live = followed(tmp_path / "followed", home, order)
    assert first.keys() == again.keys() == live.keys()
    for session, numbers in first.items():
        assert again[session] == numbers
        assert live[session] == numbers


class TestCompactionFiles:
    """Files that an agent writes for its own compaction, in the form of a sub-agent's."""

    def test_are_no_sessions(self, app: App) -> None:  # X12
        """They are refused with and without their place."""
        path = next(SAMPLES.rglob(SUMMARISER))
        for place in (None, path):
            with pytest.raises(NoSession, match="it is not a session"):
                app.importing.import_file(path.name, path.read_bytes(), place=place)
        assert app.sessions.list() == []


class TestASubAgent:
    """A sub-agent with its title beside its transcript."""

    def test_has_its_title_after_an_import(self, app: App) -> None:  # X12
        """Its first words do not replace its title."""
        path = next(SAMPLES.rglob("agent-b1.jsonl"))
        for _ in range(2):
            [one] = app.importing.import_file(path.name, path.read_bytes(), place=path)
        session = app.sessions.get(one.session_id)
        described = path.with_suffix(".meta.json").read_text()
        assert session.title is not None
        assert session.title in described
        assert session.agent_type is not None
        assert session.agent_type in described
