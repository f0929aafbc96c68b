"""Fixtures that run commands in this process, over a separate store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webapp.commands.running import Done, Run
from webapp.commands.cli import main


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The path of the store."""
    return tmp_path / "c.db"


@pytest.fixture
def run(db: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs `coppice` with these arguments."""
    monkeypatch.setenv("COPPICE_DB", str(db))

    def run_command(*arguments: object) -> Done:
        capfdbinary.readouterr()
        code = main([str(one) for one in arguments])
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run_command
