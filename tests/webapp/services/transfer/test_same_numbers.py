"""A folder of transcripts gives the same numbers followed or imported, in any order."""

from __future__ import annotations

import codecs
import json
import math
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.shared import SHARED
from tests.webapp.agents.codex.rollouts import FORK, OWN, SECOND, THIRD, Rollouts, turn, up_to
from tests.webapp.agents.samples import SAMPLES
from webapp.app import App
from webapp.config import Config
from webapp.errors import NoSession
from webapp.wiring import build

# Fields that depend on the reading itself: its time, place and number of steps.
OF_THE_READING = {"created_at", "file", "version", "cwd"}
SUMMARISERS = "agent-acompact-"


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
        timeline = app.timelines.of(session.id)
        marks = [replace(mark, at=None) for mark in timeline.changes]
        points = [(p.number, p.agent, p.pruned) for p in timeline.points]
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


def imported(folder: Path, home: Path, order: random.Random, *shares: float) -> list[dict[str, Any]]:
    """Import this share of the rows of each file, time after time, in random order; return the numbers after each."""
    folder.mkdir()
    app = build(config(folder, home))
    try:
        after = []
        for share in shares:
            paths = sorted(
                p for p in home.rglob("*.jsonl") if not p.name.startswith(SUMMARISERS) and p.stat().st_size
            )
            order.shuffle(paths)
            for path in paths:
                lines = path.read_bytes().splitlines(keepends=True)
                part = b"".join(lines[: math.ceil(share * len(lines))])
                app.importing.import_file(path.name, part, place=path)
            after.append(numbers(app))
        return after
    finally:
        app.close()


@pytest.mark.parametrize("seed", range(3))
def test_numbers_do_not_depend_on_how_a_folder_is_read(tmp_path: Path, seed: int) -> None:  # X11 X12
    """The folder is followed in chunks, imported, imported again, and imported as it was, in different orders."""
    order, home = random.Random(seed), home_in(tmp_path / "home")
    first, again, older = imported(tmp_path / "imported", home, order, 1.0, 1.0, 0.5)
    live = followed(tmp_path / "followed", home, order)
    assert first.keys() == again.keys() == older.keys() == live.keys()
    for session, numbers in first.items():
        assert again[session] == numbers
        assert older[session] == numbers
        assert live[session] == numbers


def read_in_halves(app: App, path: Path) -> None:
    """Follow a file, first its first half and then the rest."""
    whole, following = path.read_bytes(), app.watcher.following
    lines = whole.splitlines(keepends=True)
    for part in (b"".join(lines[: len(lines) // 2]), whole):
        path.write_bytes(part)
        for file in following.files_at(path):
            following.read_new(file)


def test_numbers_do_not_depend_on_who_saw_a_revert(tmp_path: Path) -> None:  # X11 X12
    """A session of Codex is followed through two reverts and a fork, or imported after them."""
    home = tmp_path / "home"
    rollouts = Rollouts(home / "codex")
    (tmp_path / "followed").mkdir()
    (tmp_path / "imported").mkdir()
    app = build(config(tmp_path / "followed", home))
    try:
        model = ("turn_context", {"model": "gpt-5"})
        first = rollouts.write(OWN, [model, *turn("One.", 1), *turn("Two.", 2)])
        read_in_halves(app, first)
        second = rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 5))
        read_in_halves(app, second)
        fork = rollouts.write(FORK, turn("Mine.", 3), forked_from_id=OWN, history_base=up_to(second, 4))
        read_in_halves(app, fork)
        third = rollouts.write(f"{OWN}_{THIRD}", turn("Last.", 1), history_base=up_to(first, 1))
        read_in_halves(app, third)
        live = numbers(app)
    finally:
        app.close()
    app = build(config(tmp_path / "imported", home))
    try:
        for path in (fork, third):
            app.importing.import_file(path.name, path.read_bytes(), place=path)
        assert numbers(app) == live
        costs = {session: found[-1] for session, found in live.items()}
        assert {session: (cost.calls, cost.unreported) for session, cost in costs.items()} == {
            OWN: (4, 0),
            FORK: (1, 0),
        }
    finally:
        app.close()


def claude_rows(session: str, names: str, **more: Any) -> list[bytes]:
    """Return the rows of a session of Claude Code with a question or an answer for each name."""
    rows = []
    for n, name in enumerate(names):
        row = {"uuid": name, "parentUuid": names[n - 1] if n else None, "sessionId": session, **more}
        said: dict[str, Any] = {"role": "user", "content": f"Question {name}"}
        if n % 2:
            usage = {"input_tokens": 1000 * (n + 20), "output_tokens": 9}
            text = [{"type": "text", "text": f"Answer {name}"}]
            said = {
                "role": "assistant",
                "model": "claude-opus-4-5",
                "id": name,
                "content": text,
                "usage": usage,
            }
        rows.append(row | {"type": said["role"], "timestamp": f"2026-01-02T12:{n:02}:00Z", "message": said})
    return [json.dumps(row).encode() + b"\n" for row in rows]


@pytest.mark.parametrize("first", range(2))
def test_calls_are_paid_once_however_a_parent_and_its_fork_are_read(tmp_path: Path, first: int) -> None:  # X9
    """A fork of Claude Code is followed or imported before its parent, or after it, and again."""
    parent, fork = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
    home, found = tmp_path / "home", []
    copied = claude_rows(fork, "abcd", forkedFrom={"sessionId": parent})
    rows = {parent: claude_rows(parent, "abcdef"), fork: [*copied, *claude_rows(fork, "abcdxy")[4:]]}
    for name, own in rows.items():
        path = home / "claude-code" / "projects" / "-work" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(own))
    paths = sorted(home.rglob("*.jsonl"), reverse=bool(first))
    for folder in ("followed", "imported"):
        (tmp_path / folder).mkdir()
        app = build(config(tmp_path / folder, home))
        try:
            for path in paths:
                if folder == "followed":
                    read_in_halves(app, path)
                else:
                    app.importing.import_file(path.name, path.read_bytes(), place=path)
            found.append(numbers(app))
            for path in paths:
                app.importing.import_file(path.name, path.read_bytes(), place=path)
            assert numbers(app) == found[-1]
        finally:
            app.close()
    assert found[0] == found[1]
    costs = {session: one[-1] for session, one in found[0].items()}
    assert {name: (cost.calls, cost.unreported, cost.spent_at_least) for name, cost in costs.items()} == {
        parent: (3, 0, False),
        fork: (1, 0, False),
    }


Row = dict[str, Any]
_UTC = re.compile(rb'("timestamp": "[0-9-]+T)12:([0-9:.]+)Z"')


def rewritten(change: Callable[[Row], Row]) -> Callable[[bytes], bytes]:
    """Return a change of a file that changes each of its rows, and writes it with spaces and escapes."""

    def row(line: bytes) -> bytes:
        try:
            value = json.loads(line)
        except ValueError:
            return line
        return json.dumps(change(value)).encode() if isinstance(value, dict) else line

    return lambda data: b"".join(row(line) + b"\n" for line in data.splitlines())


def with_decimal_points(value: Any) -> Any:
    """Return a value with a decimal point in every count of tokens."""
    if isinstance(value, dict):
        return {
            key: float(one) if type(one) is int and "token" in key else with_decimal_points(one)
            for key, one in value.items()
        }
    return [with_decimal_points(one) for one in value] if isinstance(value, list) else value


LAYOUTS: dict[str, Callable[[bytes], bytes]] = {
    "spaces": rewritten(lambda row: row),
    "another order of keys": rewritten(lambda row: dict(reversed(row.items()))),
    "unknown fields": rewritten(lambda row: {"newer": {"type": "user", "uuid": "x"}, **row, "uuids": ["x"]}),
    "decimal points": rewritten(with_decimal_points),
    "another time zone": lambda data: _UTC.sub(rb'\g<1>17:\g<2>+05:00"', rewritten(lambda row: row)(data)),
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda data: codecs.BOM_UTF8 + data if data else data,
    "empty lines": lambda data: data.replace(b"\n", b"\n\n  \n"),
}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The samples, with the real transcripts where they are, and their numbers."""
    folder = tmp_path_factory.mktemp("layouts")
    home = home_in(folder / "home")
    for agent in ("claude-code", "codex"):
        if (real := SHARED / "data" / "transcripts" / agent).is_dir():
            shutil.copytree(real, home / agent, dirs_exist_ok=True)
    return home, imported(folder / "imported", home, random.Random(0), 1.0)[0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers_do_not_depend_on_how_rows_are_laid_out(
    homes: tuple[Path, dict[str, Any]], tmp_path: Path, layout: str
) -> None:  # X11 X12
    """Rows say the same however their JSON and their lines are written."""
    home, numbers = homes
    other = tmp_path / "home"
    shutil.copytree(home, other)
    for path in other.rglob("*.jsonl"):
        path.write_bytes(LAYOUTS[layout](path.read_bytes()))
    [found] = imported(tmp_path / "imported", other, random.Random(0), 1.0)
    assert found.keys() == numbers.keys()
    for session, (shown, *rest) in numbers.items():
        notes = found[session][0]["notes"]
        assert len(notes) == len(shown["notes"])
        assert found[session] == (shown | {"notes": notes}, *rest), "all but the numbers of its lines"


class TestCompactionFiles:
    """Files that an agent writes for its own compaction, in the form of a sub-agent's."""

    def test_are_no_sessions(self, app: App) -> None:  # X12
        """They are refused with and without their place."""
        path = next(SAMPLES.rglob(f"{SUMMARISERS}*"))
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
