"""`coppice resume`: the copy, the command that resumes it, and starting the agent."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.writing import ClaudeFolder, words
from tests.webapp.commands.running import Run
from webapp.commands.resuming import exec_agent
from webapp.errors import Conflict
from webapp.services.transfer.answers import Resumed


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
    """The command, on a full session."""

    def test_prints_the_command_and_the_savings(self, run: Run, session: str, tmp_path: Path) -> None:  # X22
        """Only the command is on stdout; the written file and the promised size are on stderr."""
        done = run("resume", session[:8], "--max-tokens", 28_000)
        copy = done.out.strip().rpartition(" ")[2]
        assert done.out == f"cd {tmp_path} && claude --resume {copy}\n"
        assert f"{copy}.jsonl" in done.err
        assert "less on each call" in done.err

    def test_prunes_to_any_number(self, run: Run, session: str) -> None:
        """A number above those of a body drops nothing, as any other above the context does."""
        done = run("resume", session, "--max-tokens", 10**17)
        assert "claude --resume" in done.out

    def test_suggests_a_prune_for_a_full_copy(self, run: Run, session: str) -> None:
        """A copy without a prune saves nothing."""
        assert "prune it first (--prune)" in run("resume", session).err

    def test_says_that_a_prune_dropped_nothing(self, run: Run, session: str) -> None:
        """Another prune to the same number would not help."""
        done = run("resume", session, "--prune", "--max-tokens", 10**6)
        assert "nothing was pruned; --max-tokens prunes to fewer" in done.err

    def test_can_start_the_agent(
        self, run: Run, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X22
        """The agent runs in the session's folder, with its own arguments."""
        became: list[tuple[str, list[str], Path]] = []
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            os, "execvp", lambda file, arguments: became.append((file, arguments, Path.cwd()))
        )
        done = run("resume", session, "--run")
        [(file, arguments, where)] = became
        assert (file, arguments[:2], where) == ("claude", ["claude", "--resume"], tmp_path)
        assert done.out == ""

    def test_imports_the_copy_before_starting_the_agent(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X22
        """An agent without session files imports the copy; if the import fails, it is not started."""
        took = tmp_path / "took"
        became: list[list[str]] = []
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(os, "execvp", lambda _, arguments: became.append(arguments))
        made = Resumed(
            session_id="s", title="t", path="f", cwd=str(tmp_path), import_command=["touch", str(took)],
            command=["agent"], line="", tokens_before=2, tokens_promised=1, operation=None,
        )  # fmt: skip
        exec_agent(made)
        assert (took.exists(), became) == (True, [["agent"]])
        with pytest.raises(Conflict, match="false failed with status 1"):
            exec_agent(replace(made, import_command=["false"]))
        assert became == [["agent"]]

    def test_reports_an_agent_that_is_not_installed(
        self, run: Run, session: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The copy is still written, and the command is printed."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", "")
        done = run("resume", session, "--run")
        assert done.code == 1
        assert "cannot run claude" in done.err
