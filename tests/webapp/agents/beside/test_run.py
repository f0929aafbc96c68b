"""The command that agents start, run for real on stdin and stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webapp.agents.beside import hints

USAGE = {"input_tokens": 4, "cache_creation_input_tokens": 4_000, "cache_read_input_tokens": 120_000}
TOLD = {
    "session_id": "s",
    "context_window": {"context_window_size": 200_000, "current_usage": {**USAGE, "output_tokens": 900}},
}
# What a status line or a hook may load besides what Python itself does.
HEAVY = (
    "webapp.commands.cli",
    "webapp.agents.agent",
    "webapp.services",
    "scoring",
    "click",
    "orjson",
    "typing",
    "pathlib",
    "sqlite3",
    "socket",
)


def started(*arguments: str, told: Any, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run `coppice` with these arguments in a process of its own."""
    text = told if isinstance(told, str) else json.dumps(told)
    command = [sys.executable, *flags, "-m", "webapp.entry", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("statusline",), ("hook", "claude-code"), ("hook", "codex")])
def test_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:  # X20, X21
    """To stay under 100 ms it loads neither the application nor a large module of Python's own.

    Without sockets it cannot wait for a server.
    """
    told = {**TOLD, "hook_event_name": "UserPromptSubmit"}
    loaded = started(*arguments, told=told, flags=("-X", "importtime")).stderr
    names = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "webapp.agents.beside.hints" in names
    assert not {name for name in names if any(name == one or name.startswith(f"{one}.") for one in HEAVY)}


class TestStatusLine:
    """One line from what the agent hands it."""

    def test_shows_fill_and_bar(self) -> None:  # X21
        """From stdin alone: tokens of the last call's input, of the window."""
        done = started("statusline", told=TOLD)
        assert (done.returncode, done.stdout) == (0, "██████▎░░░ 62 % · 124k of 200k\n")

    def test_shows_the_trend_from_line_to_line(self) -> None:  # X21
        """By how much the last call changed it, until the next one does."""
        started("statusline", told=TOLD)
        grown = {
            **TOLD,
            "context_window": {
                "context_window_size": 200_000,
                "current_usage": {**USAGE, "input_tokens": 2_104},
            },
        }
        lines = [started("statusline", told=grown).stdout for _ in range(2)]
        assert all(line.endswith("126k of 200k · ↑ 2.1k\n") for line in lines)

    def test_says_what_a_prune_pays(self) -> None:  # X21
        """If the server said so in its last hint."""
        hints.write("s", hints.HINT, {"prune_pays": 41_200})
        assert started("statusline", told=TOLD).stdout.endswith("· prune pays: 41k\n")

    @pytest.mark.parametrize("told", ["", "nonsense", "[]", "{}", '{"context_window": {"current_usage": 3}}'])
    def test_is_silent_where_there_are_no_figures(self, told: str) -> None:
        """An older agent, or none at all; never an error."""
        done = started("statusline", told=told)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestHook:
    """The hooks of Claude Code."""

    def test_tells_the_summariser_what_must_survive(self) -> None:  # X20
        """As plain text, which becomes its additional instructions."""
        hints.write("s", hints.HINT, {"survive": "Keep port 8443."})
        assert started(
            "hook", "claude-code", told={"session_id": "s", "hook_event_name": "PreCompact"}
        ).stdout == ("Keep port 8443.\n")

    def test_tells_the_agent_after_a_compaction_what_was_lost(self) -> None:  # X20
        """And only then: a session that begins is told nothing."""
        hints.write("s", hints.HINT, {"lost": "Ten messages are gone."})
        told = {"session_id": "s", "hook_event_name": "SessionStart"}
        done = json.loads(started("hook", "claude-code", told={**told, "source": "compact"}).stdout)
        assert done["hookSpecificOutput"]["additionalContext"] == "Ten messages are gone."
        assert started("hook", "claude-code", told={**told, "source": "startup"}).stdout == ""

    def test_warns_once(self) -> None:  # X20
        """Again only after the reason was gone."""
        told = {"session_id": "s", "hook_event_name": "UserPromptSubmit"}
        said = []
        for reason in ("full", "full", "", "full"):
            hints.write("s", hints.HINT, {"warning": "It is full." if reason else "", "warns_of": reason})
            said.append("It is full." in started("hook", "claude-code", told=told).stdout)
        assert said == [True, False, False, True]

    def test_hands_codex_after_a_compaction_what_was_known_before_it(self) -> None:  # X20
        """Its summariser takes no instructions; the server's next hint knows the short context alone."""
        hints.write("s", hints.HINT, {"lost": "Ten messages are gone.", "survive": "Keep port 8443."})
        before = {"session_id": "s", "hook_event_name": "PreCompact", "trigger": "auto"}
        assert started("hook", "codex", told=before).stdout == ""
        hints.write("s", hints.HINT, {"lost": "One message is gone.", "survive": "A summary."})
        told = {"session_id": "s", "hook_event_name": "SessionStart"}
        done = json.loads(started("hook", "codex", told={**told, "source": "compact"}).stdout)
        said = done["hookSpecificOutput"]["additionalContext"]
        assert said == "Ten messages are gone.\n\nKeep port 8443."
        assert started("hook", "codex", told={**told, "source": "resume"}).stdout == ""

    @pytest.mark.parametrize("agent", ["claude-code", "codex", "nobody"])
    @pytest.mark.parametrize("told", ["", "nonsense", '{"session_id": "s", "hook_event_name": "PreCompact"}'])
    def test_is_silent_where_it_knows_nothing(self, agent: str, told: str) -> None:  # X20
        """No server, no hint, no such agent: exit 0 and not a word."""
        done = started("hook", agent, told=told)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_reads_the_hint_of_no_other_file(self, hints_folder: Path) -> None:
        """A session's id cannot lead out of the folder."""
        (hints_folder.parent / "x.hint.json").write_text('{"survive": "secret"}')
        told = {"session_id": "../x", "hook_event_name": "PreCompact"}
        assert started("hook", "claude-code", told=told).stdout == ""
