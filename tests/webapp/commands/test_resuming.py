"""`coppice resume`: the copy, the command for a shell, and becoming the agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.writing import ClaudeFolder, words
from tests.webapp.commands.running import Run


@pytest.fixture
def session(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a followed session with a large output, in a store."""
    folder = ClaudeFolder(tmp_path / "claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder.root))
    transcript = folder.transcript(cwd=str(tmp_path))
    transcript.user("Fix the login race")
    for step in range(20):
        transcript.call("Bash", {"command": f"step {step}"}, words(1_000), tokens=20_000 + 1_000 * step)
    transcript.assistant("Done.", tokens=40_000)
    run("import", transcript.path)
    return transcript.session


class TestResume:
    """One step from a full session to a leaner one."""

    def test_prints_the_command_and_what_it_saves(
        self, run: Run, session: str, tmp_path: Path
    ) -> None:  # X22
        """The command alone on stdout; what was written, and what is promised, on stderr."""
        done = run("resume", session[:8], "--max-tokens", 28_000)
        copy = done.out.strip().rpartition(" ")[2]
        assert done.out == f"cd {tmp_path} && claude --resume {copy}\n"
        assert f"{copy}.jsonl" in done.err
        assert "less on each call" in done.err

    def test_says_how_to_save_where_nothing_is_pruned(self, run: Run, session: str) -> None:
        """A copy of all saves nothing."""
        assert "prune it first (--prune)" in run("resume", session).err

    def test_becomes_the_agent(
        self, run: Run, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X22
        """In the session's folder, with the agent's own arguments."""
        became: list[tuple[str, list[str], Path]] = []
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            os, "execvp", lambda file, arguments: became.append((file, arguments, Path.cwd()))
        )
        done = run("resume", session, "--run")
        [(file, arguments, where)] = became
        assert (file, arguments[:2], where) == ("claude", ["claude", "--resume"], tmp_path)
        assert done.out == ""

    def test_says_where_the_agent_is_not_installed(
        self, run: Run, session: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The copy is there all the same, and the command is told."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", "")
        done = run("resume", session, "--run")
        assert done.code == 1
        assert "cannot run claude" in done.err
