"""Wiring: everything by its name, and everything stopped."""

from __future__ import annotations

import threading
from pathlib import Path

from webapp.config import Config
from webapp.wiring import build


class TestBuild:
    """The application without Flask."""

    def test_runs_nothing_by_itself(self, tmp_path: Path) -> None:
        """No thread, no scan, until something is started."""
        before = threading.active_count()
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env={"HOME": str(tmp_path)}))
        assert threading.active_count() == before
        assert app.sessions.list() == []
        app.close()

    def test_stops_what_runs(self, tmp_path: Path) -> None:
        """No thread is left after closing."""
        before = set(threading.enumerate())
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env={"HOME": str(tmp_path)}))
        app.watcher.start()
        app.demo.start()
        app.close()
        assert {t.name for t in threading.enumerate() if t not in before and t.is_alive()} == set()
