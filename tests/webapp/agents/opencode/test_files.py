"""The places of OpenCode's sessions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.waiting import until
from tests.webapp.agents.opencode.layouts import as_database, copied
from webapp.agents.opencode.files import roots
from webapp.config import Config
from webapp.wiring import build


def test_the_database_is_where_the_environment_says() -> None:
    """OPENCODE_DB is a path, in full or below the data folder; one in memory is nowhere."""
    data = Path("/d/opencode")
    env = {"XDG_DATA_HOME": "/d"}
    assert (
        roots(env)
        == roots({**env, "OPENCODE_DB": ":memory:"})
        == roots({**env, "OPENCODE_DB": " "})
        == [data]
    )
    moved = [Path("/m/mine.sqlite"), Path("/m/mine.sqlite-wal")]
    assert roots({**env, "OPENCODE_DB": "/m/mine.sqlite"}) == [data, *moved]
    assert roots({**env, "OPENCODE_DB": "own.db"})[1:] == [data / "own.db", data / "own.db-wal"]


def test_a_database_elsewhere_is_followed(tmp_path: Path) -> None:  # X12
    """It is found whatever its name is, and so is what is still in its write-ahead log only."""
    path = tmp_path / "moved" / "mine.sqlite"
    path.parent.mkdir()
    as_database(copied(tmp_path)).rename(path)
    (tmp_path / "moved" / "other.sqlite").write_bytes(path.read_bytes())
    env = {"HOME": str(tmp_path / "home"), "OPENCODE_DB": str(path)}
    app = build(Config(db=tmp_path / "a.sqlite", tokenizer=False, env=env))
    agent = sqlite3.connect(path)
    try:
        files = app.watcher.following.discover()
        assert files
        assert {file.path for file in files} == {path}
        app.watcher.start()
        named = files[0].session_id
        until(lambda: app.store.sessions.find(named) is not None)
        agent.execute(
            "UPDATE session SET title = 'Moved', time_updated = time_updated + 1 WHERE id = ?", (named,)
        )
        agent.commit()
        until(lambda: app.sessions.get(named).title == "Moved")
    finally:
        agent.close()
        app.close()
