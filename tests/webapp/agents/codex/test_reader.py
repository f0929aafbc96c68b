"""Reading rollouts with the names that users give to their sessions."""

from __future__ import annotations

import json
from pathlib import Path

from tests.waiting import until
from tests.webapp.agents.codex.rollouts import OWN, SECOND, Rollouts, turn
from webapp.agents.codex.files import origin
from webapp.agents.codex.names import INDEX
from webapp.agents.codex.reader import Reader, transcripts_of
from webapp.agents.reading.readers import Chunk, Position
from webapp.agents.records import Meta
from webapp.config import Config
from webapp.wiring import build


def rename(home: Path, session: str, name: str, end: str = "\n") -> None:
    """Append a row to the index, as `/rename` does."""
    with (home / INDEX).open("a") as file:
        row = {"id": session, "thread_name": name, "updated_at": "2026-01-02T11:00:00Z"}
        file.write(json.dumps(row) + end)


def read(home: Path, position: Position | None = None) -> list[Chunk]:
    """Return what a new reader reads from a position."""
    return list(Reader(Rollouts(home).file(), position or {}).read())


def titles(chunks: list[Chunk]) -> list[str]:
    """Return the titles in chunks."""
    return [r.title for chunk in chunks for r in chunk.records if isinstance(r, Meta) and r.title]


class TestNames:
    """The name of a session is read from the index."""

    def test_come_after_the_first_words(self, tmp_path: Path) -> None:
        """The last row of a session counts; rows of others, unknown and torn ones do not."""
        Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
        rename(tmp_path, OWN, "Old")
        rename(tmp_path, OWN, "Login race")
        rename(tmp_path, SECOND, "Another one")
        rename(tmp_path, OWN, "", end="\n[1]\n")
        rename(tmp_path, OWN, "Torn", end="")
        (tmp_path / INDEX).write_bytes((tmp_path / INDEX).read_bytes()[:-3])
        assert titles(read(tmp_path)) == ["Fix it", "Login race"]

    def test_are_read_once_and_again_when_they_change(self, tmp_path: Path) -> None:
        """The position has the name; the rollout itself need not change."""
        Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
        rename(tmp_path, OWN, "Login race")
        position = read(tmp_path)[-1].position
        assert read(tmp_path, position) == []
        rename(tmp_path, OWN, "Login race, part 2")
        [chunk] = read(tmp_path, position)
        assert titles([chunk]) == ["Login race, part 2"]
        assert read(tmp_path, chunk.position) == []

    def test_stay_after_new_rows_and_a_replaced_file(self, tmp_path: Path) -> None:
        """New rows do not repeat the name; after a read from the start it stands behind the first words again."""
        path = Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
        rename(tmp_path, OWN, "Login race")
        position = read(tmp_path)[-1].position
        Rollouts(tmp_path).write(OWN, [*turn("Fix it", 1), *turn("Go on", 2)])
        [chunk] = read(tmp_path, position)
        assert (titles([chunk]), chunk.position["name"]) == ([], "Login race")
        path.write_text(path.read_text().replace("Fix it", "Mend it"))
        assert titles(read(tmp_path, chunk.position)) == ["Mend it", "Login race"]

    def test_are_the_titles_of_imports(self, tmp_path: Path) -> None:
        """A file in Codex's folder is imported with its name; one that was sent has none."""
        path = Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
        rename(tmp_path, OWN, "Login race")
        head = path.read_bytes()
        assert [origin(path, head, on_disk).title for on_disk in (True, False)] == ["Login race", None]


def test_a_renaming_is_about_the_sessions_named_last(tmp_path: Path) -> None:
    """The rollouts of both folders are found by their names; any other file is about itself."""
    path = Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
    Rollouts(tmp_path).write(SECOND, turn("Fix that", 1))
    rename(tmp_path, OWN, "Login race")
    index = tmp_path / INDEX
    assert [file.path for file in transcripts_of(index, index)] == [path]
    assert [file.path for file in transcripts_of(path, tmp_path / "sessions")] == [path]


def test_a_followed_session_is_renamed(tmp_path: Path) -> None:  # X12
    """The title changes without a new row in the rollout, also if the index comes later."""
    Rollouts(tmp_path).write(OWN, turn("Fix it", 1))
    env = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    app = build(Config(db=tmp_path / "a.sqlite", tokenizer=False, env=env))
    try:
        app.watcher.start()
        for name in ("Login race", "Login race, part 2"):
            until(lambda: app.store.sessions.find(OWN) is not None)
            rename(tmp_path, OWN, name)
            until(lambda name=name: app.sessions.get(OWN).title == name)  # type: ignore[misc]
    finally:
        app.close()
