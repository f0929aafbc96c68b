"""Hooks and status lines over files that were damaged: they fail in no agent, and repeat only texts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.damages import OF_EACH_TYPE, damaged
from webapp.agents.hook_runtime import claude_code, codex, hints

PAYLOAD = {
    "session_id": "s",
    "context_window": {"context_window_size": 200_000, "current_usage": {"input_tokens": 124_004}},
}
HINT: dict[str, Any] = {
    "session_id": "s", "tokens": 5, "prune_pays": 41_200, "warns_of": "full", "warning": "It is full.",
    "survive": "Keep port 8443.", "lost": "Ten messages are gone.",
}  # fmt: skip
STATE: dict[str, Any] = {
    "tokens": 124_004, "tokens_before": 120_000, "warned_of": "pays", "lost": "Two are gone.", "survive": "Keep a.",
}  # fmt: skip
# Everything that a hook may say: a text of a whole file, or one that replaced it.
TEXTS = {one for one in (*HINT.values(), *STATE.values(), *OF_EACH_TYPE) if isinstance(one, str)}


def said(answer: str) -> set[str]:
    """Return the paragraphs of a hook's answer."""
    if answer.startswith("{"):
        answer = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    return set(answer.split("\n\n"))


def place(kind: str) -> Path:
    """Return the file of a kind for the session."""
    return Path(hints.path("s", kind))


@pytest.mark.parametrize(("kind", "whole"), [(hints.HINT, HINT), (hints.STATE, STATE)])
class TestADamagedFile:
    """A hint or a state with one value replaced, or broken as a whole."""

    @pytest.mark.parametrize("agent", [claude_code, codex])
    @pytest.mark.parametrize(
        "event", [("PreCompact", "auto"), ("SessionStart", "compact"), ("UserPromptSubmit", "")]
    )
    def test_is_never_shown_to_an_agent(
        self, kind: str, whole: dict[str, Any], agent: Any, event: tuple[str, str]
    ) -> None:  # X20
        """A number or a list is not repeated as if it were a text."""
        payload = {"session_id": "s", "hook_event_name": event[0], "source": event[1]}
        for data in damaged(whole):
            hints.write("s", hints.HINT, HINT)
            hints.write("s", hints.STATE, STATE)
            place(kind).write_bytes(data)
            assert said(agent.hook(payload)) <= TEXTS | {""}, data[:200]

    def test_costs_the_status_line_only_its_own_part(self, kind: str, whole: dict[str, Any]) -> None:  # X21
        """The bar comes from the agent's data, and a number without an end is no number of tokens."""
        for data in damaged(whole):
            hints.write("s", hints.HINT, HINT)
            hints.write("s", hints.STATE, STATE)
            place(kind).write_bytes(data)
            line = claude_code.status_line(PAYLOAD)
            assert line.startswith("██████▎░░░ 62 % · 124k of 200k"), data[:200]
            assert ("prune pays" in line) or kind == hints.HINT, data[:200]


class TestAFolderInThePlaceOfAFile:
    """A folder of the same name, which cannot be replaced by a file."""

    def test_leaves_no_half_files(self, hints_folder: Path) -> None:  # X21
        """Each process would leave one of its own."""
        place(hints.STATE).mkdir()
        claude_code.status_line(PAYLOAD)
        assert [one.name for one in hints_folder.iterdir()] == ["s.state.json"]


def test_half_a_character_in_a_hint_silences_no_hook() -> None:  # X20
    """It cannot be written to stdout, so it is replaced."""
    hints.write("s", hints.HINT, {"survive": "Keep \ud83d port 8443."})
    command = [sys.executable, "-m", "webapp.entry", "hook", "claude-code"]
    payload = json.dumps({"session_id": "s", "hook_event_name": "PreCompact"}).encode()
    done = subprocess.run(command, input=payload, capture_output=True, check=False)
    assert done.stdout == b"Keep ? port 8443.\n"
