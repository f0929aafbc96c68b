"""The command that agents start, run as a process with stdin and stdout."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webapp.agents.hook_runtime import hints

USAGE = {"input_tokens": 4, "cache_creation_input_tokens": 4_000, "cache_read_input_tokens": 120_000}
PAYLOAD = {
    "session_id": "s",
    "context_window": {"context_window_size": 200_000, "current_usage": {**USAGE, "output_tokens": 900}},
}
# Modules that are too slow to load for a status line or a hook.
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


def started(*arguments: str, payload: Any, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run `coppice` with these arguments in a new process."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    command = [sys.executable, *flags, "-m", "webapp.entry", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("statusline",), ("hook", "claude-code"), ("hook", "codex")])
def test_a_status_line_or_hook_loads_no_slow_module(arguments: tuple[str, ...]) -> None:  # X20, X21
    """To stay under 100 ms it loads neither the application nor a large module of Python's own.

    Without sockets it cannot wait for a server.
    """
    payload = {**PAYLOAD, "hook_event_name": "UserPromptSubmit"}
    loaded = started(*arguments, payload=payload, flags=("-X", "importtime")).stderr
    names = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "webapp.agents.hook_runtime.hints" in names
    assert not {name for name in names if any(name == one or name.startswith(f"{one}.") for one in HEAVY)}


class TestStatusLine:
    """The status line, made from the agent's data on stdin."""

    def test_shows_fill_and_bar(self) -> None:  # X21
        """The line has the input of the last call as a share of the window, without a server."""
        done = started("statusline", payload=PAYLOAD)
        assert (done.returncode, done.stdout) == (0, "██████▎░░░ 62 % · 124k of 200k\n")

    @pytest.mark.parametrize(("tokens", "share"), [(199_990, "99 %"), (200_000, "100 %"), (203_000, "102 %")])
    def test_calls_only_a_full_window_100_percent_full(self, tokens: int, share: str) -> None:  # X21
        """Rounding fills it no sooner."""
        usage = {"context_window_size": 200_000, "current_usage": {"input_tokens": tokens}}
        shown = started("statusline", payload={**PAYLOAD, "context_window": usage}).stdout
        assert f" {share} · " in shown
        assert shown.startswith("██████████ ") is (tokens >= 200_000)

    def test_shows_the_trend_from_line_to_line(self) -> None:  # X21
        """The trend is the change by the last call, until the next call."""
        started("statusline", payload=PAYLOAD)
        grown = {
            **PAYLOAD,
            "context_window": {
                "context_window_size": 200_000,
                "current_usage": {**USAGE, "input_tokens": 2_104},
            },
        }
        lines = [started("statusline", payload=grown).stdout for _ in range(2)]
        assert all(line.endswith("126k of 200k · ↑ 2.1k\n") for line in lines)

    def test_needs_no_hooks(self, hints_folder: Path) -> None:  # X21
        """It creates the folder of hints, from which the trend and the gain of a prune come, for its user alone."""
        hints_folder.rmdir()
        started("statusline", payload=PAYLOAD)
        assert stat.S_IMODE(hints_folder.stat().st_mode) == 0o700
        grown = json.loads(json.dumps(PAYLOAD).replace("4000", "6000"))
        assert "↑ 2k" in started("statusline", payload=grown).stdout

    def test_is_shown_without_a_folder_of_hints(
        self, hints_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X21
        """A folder that cannot be created only costs the trend."""
        (hints_folder / "file").touch()
        monkeypatch.setenv("COPPICE_HINTS", str(hints_folder / "file" / "below"))
        assert "124k of 200k" in started("statusline", payload=PAYLOAD).stdout

    def test_shows_the_gain_of_a_prune(self) -> None:  # X21
        """The gain comes from the last hint of the server."""
        hints.write("s", hints.HINT, {"prune_pays": 41_200})
        assert started("statusline", payload=PAYLOAD).stdout.endswith("· prune pays: 41k\n")

    @pytest.mark.parametrize(
        "payload", ["", "nonsense", "[]", "{}", '{"context_window": {"current_usage": 3}}']
    )
    def test_is_empty_without_data(self, payload: str) -> None:
        """Data of an older agent or invalid data is no error."""
        done = started("statusline", payload=payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestHook:
    """The hooks of Claude Code."""

    def test_instructs_the_summariser(self) -> None:  # X20
        """The hint's text becomes additional instructions of the summariser."""
        hints.write("s", hints.HINT, {"survive": "Keep port 8443."})
        assert started(
            "hook", "claude-code", payload={"session_id": "s", "hook_event_name": "PreCompact"}
        ).stdout == ("Keep port 8443.\n")

    def test_informs_the_agent_after_a_compaction(self) -> None:  # X20
        """A session that starts gets no text."""
        hints.write("s", hints.HINT, {"lost": "Ten messages are gone."})
        payload = {"session_id": "s", "hook_event_name": "SessionStart"}
        done = json.loads(started("hook", "claude-code", payload={**payload, "source": "compact"}).stdout)
        assert done["hookSpecificOutput"]["additionalContext"] == "Ten messages are gone."
        assert started("hook", "claude-code", payload={**payload, "source": "startup"}).stdout == ""

    def test_warns_once(self) -> None:  # X20
        """The warning is repeated only after its reason was gone."""
        payload = {"session_id": "s", "hook_event_name": "UserPromptSubmit"}
        said = []
        for reason in ("full", "full", "", "full"):
            hints.write("s", hints.HINT, {"warning": "It is full." if reason else "", "warns_of": reason})
            said.append("It is full." in started("hook", "claude-code", payload=payload).stdout)
        assert said == [True, False, False, True]

    def test_informs_codex_with_the_hint_before_its_compaction(self) -> None:  # X20
        """Codex's summariser accepts no instructions, and a later hint describes the short context only."""
        hints.write("s", hints.HINT, {"lost": "Ten messages are gone.", "survive": "Keep port 8443."})
        before = {"session_id": "s", "hook_event_name": "PreCompact", "trigger": "auto"}
        assert started("hook", "codex", payload=before).stdout == ""
        hints.write("s", hints.HINT, {"lost": "One message is gone.", "survive": "A summary."})
        payload = {"session_id": "s", "hook_event_name": "SessionStart"}
        done = json.loads(started("hook", "codex", payload={**payload, "source": "compact"}).stdout)
        said = done["hookSpecificOutput"]["additionalContext"]
        assert said == "Ten messages are gone.\n\nKeep port 8443."
        assert started("hook", "codex", payload={**payload, "source": "resume"}).stdout == ""

    @pytest.mark.parametrize("agent", ["claude-code", "codex", "nobody"])
    @pytest.mark.parametrize(
        "payload", ["", "nonsense", '{"session_id": "s", "hook_event_name": "PreCompact"}']
    )
    def test_is_silent_without_a_hint(self, agent: str, payload: str) -> None:  # X20
        """Without a server or a hint, and for an unknown agent, the output is empty and the status 0."""
        done = started("hook", agent, payload=payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_reads_only_files_of_its_folder(self, hints_folder: Path) -> None:
        """An id with a path cannot leave the folder."""
        (hints_folder.parent / "x.hint.json").write_text('{"survive": "secret"}')
        payload = {"session_id": "../x", "hook_event_name": "PreCompact"}
        assert started("hook", "claude-code", payload=payload).stdout == ""


class TestHelp:
    """The help of the commands that agents start."""

    def test_names_the_agents_that_have_hooks(self) -> None:  # X20
        """An agent with an extension starts no command."""
        assert "{claude-code|codex}" in started("hook", "--help", payload="").stdout
