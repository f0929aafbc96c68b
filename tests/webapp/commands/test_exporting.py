"""`coppice export`: a session as a file, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.formats import FORMATS
from tests.webapp.commands.running import Run
from webapp.services.transfer.exporting import NAMES

CHAT = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.fixture
def fed(run: Run, tmp_path: Path) -> tuple[Any, str]:
    """A store with one session, and its id."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    run("import", file, "--model", "gpt-5")
    return run, json.loads(run("sessions", "--json").out)[0]["id"]


class TestExporting:
    """To stdout or to a file."""

    @pytest.mark.parametrize("name", [name for name in NAMES if name in FORMATS])
    def test_writes_a_message_list(self, fed: tuple[Any, str], name: str) -> None:
        """In a provider's format."""
        run, session = fed
        assert "hello" in run("export", session, "--format", name).out

    def test_comes_back_as_it_was(self, fed: tuple[Any, str], tmp_path: Path, monkeypatch: Any) -> None:  # S1
        """Our own export imports to the same log."""
        run, session = fed
        file = tmp_path / "out.jsonl"
        assert run("export", session, "-o", file).code == 0
        monkeypatch.setenv("COPPICE_DB", str(tmp_path / "other.db"))
        assert run("import", file).code == 0
        assert run("export", session).out.splitlines()[1:] == file.read_text().splitlines()[1:]

    def test_says_what_it_wrote(self, fed: tuple[Any, str], tmp_path: Path) -> None:  # X22
        """The file and its size, apart from the content."""
        run, session = fed
        done = run("export", session, "-o", tmp_path / "out.jsonl")
        assert done.out == ""
        assert (
            done.err
            == f"wrote {tmp_path / 'out.jsonl'} ({(tmp_path / 'out.jsonl').stat().st_size:,} bytes)\n"
        )

    def test_makes_no_file_when_it_cannot(self, fed: tuple[Any, str], tmp_path: Path) -> None:
        """A message list is no session of Codex."""
        run, session = fed
        done = run("export", session, "--format", "codex", "-o", tmp_path / "x")
        assert done.code in (1, 2)
        assert not (tmp_path / "x").exists()
