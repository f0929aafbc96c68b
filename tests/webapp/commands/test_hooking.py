"""`coppice hooks`: Coppice's hooks in the configuration of agents."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from tests.webapp.commands.running import Run


class TestStatus:
    """The hooks of all agents."""

    def test_shows_the_others_if_a_file_is_unreadable(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20
        """The reason replaces the state, and the exit code shows that one is unknown."""
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPPICE_HINTS"):
            monkeypatch.setenv(name, str(tmp_path))
        (tmp_path / "settings.json").write_text("{ // mine\n}")
        assert run("hooks", "install", "--agent", "codex", "--yes").code == 0
        done = run("hooks", "status")
        lines = dict(line.split(": ", 1) for line in done.out.splitlines())
        assert done.code == 1
        assert lines["claude-code"].startswith(
            f"unknown, {tmp_path}/settings.json: the settings are not JSON"
        )
        assert lines["codex"].startswith("PreCompact, SessionStart, UserPromptSubmit (")

    def test_shows_the_others_if_one_could_not_be_installed_again(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20
        """A number that JSON cannot hold was added after the installation."""
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPPICE_HINTS"):
            monkeypatch.setenv(name, str(tmp_path))
        assert run("hooks", "install", "--yes").code == 0
        settings = tmp_path / "settings.json"
        text = settings.read_text()
        settings.write_text(
            re.sub(r'"[^"]*( hook claude-code)"', r'"/old/coppice\1"', "{" + '"a": 1e400,' + text[1:])
        )
        done = run("hooks", "status")
        lines = dict(line.split(": ", 1) for line in done.out.splitlines())
        assert done.code == 1
        assert lines["claude-code"].startswith(f"unknown, {settings}: the settings have a number")
        assert lines["codex"].startswith("not installed")

    def test_says_which_have_to_be_installed_again(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20
        """An agent would go on starting the program that is named, or running the old code."""
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPPICE_HINTS"):
            monkeypatch.setenv(name, str(tmp_path))
        assert run("hooks", "install", "--yes").code == 0
        assert "not up to date" not in run("hooks", "status").out
        settings = tmp_path / "settings.json"
        settings.write_text(re.sub(r'"[^"]*( hook claude-code)"', r'"/old/coppice\1"', settings.read_text()))
        assert "not up to date: run `coppice hooks install --agent claude-code`" in run("hooks", "status").out


class TestInstall:
    """Adding to an agent's configuration."""

    def test_writes_nothing_unasked(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20
        """Without a terminal nobody can agree: a script has to say so with --yes."""
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "COPPICE_HINTS"):
            monkeypatch.setenv(name, str(tmp_path))
        monkeypatch.setattr("sys.stdin", io.StringIO())
        done = run("hooks", "install")
        assert (done.code, "there is no terminal to ask on; give --yes" in done.err) == (2, True)
        assert "+" in done.out
        assert not (tmp_path / "settings.json").exists()
        assert run("hooks", "install", "--dry-run").code == 0


class TestUninstall:
    """Taking the additions out again."""

    def test_says_how_pruned_sessions_go_on(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20, X27
        """Without its extension an agent sends whole contexts again; hooks change none."""
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "COPPICE_HINTS"):
            monkeypatch.setenv(name, str(tmp_path))
        said = {}
        for agent in ("pi", "claude-code"):
            assert run("hooks", "install", "--agent", agent, "--yes").code == 0
            said[agent] = run("hooks", "uninstall", "--agent", agent, "--yes").err
        assert "coppice resume SESSION" in said["pi"]
        assert "resume" not in said["claude-code"]
