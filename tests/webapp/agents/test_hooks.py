"""Coppice's hooks in the settings of agents."""

from __future__ import annotations

import json

import pytest

from webapp.agents import AGENTS
from webapp.errors import Malformed

OTHERS = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreCompact": [
            {"matcher": "auto", "hooks": [{"type": "command", "command": "my-coppice-like hook"}]}
        ],
    },
}


CLAUDE_CODE, CODEX = AGENTS["claude-code"].integration, AGENTS["codex"].integration
assert CLAUDE_CODE is not None
assert CODEX is not None
put, take, has = CLAUDE_CODE.add, CLAUDE_CODE.remove, CLAUDE_CODE.installed_parts
EVENTS = CLAUDE_CODE.parts


class TestSettings:
    """Hook entries added to an agent's settings and removed again."""

    def test_get_a_hook_for_each_event(self) -> None:  # X20
        """Each hook starts the program that installed it."""
        made = json.loads(put(None, "/opt/coppice"))
        assert list(made["hooks"]) == list(EVENTS)
        assert made["hooks"]["PreCompact"][0]["hooks"][0]["command"] == "/opt/coppice hook claude-code"
        assert made["hooks"]["SessionStart"][0]["matcher"] == "compact"

    def test_keep_existing_entries(self) -> None:  # X20
        """Existing entries keep their order, before and after."""
        made = json.loads(put(json.dumps(OTHERS), "coppice"))
        assert made["model"] == "opus"
        assert made["hooks"]["Stop"] == OTHERS["hooks"]["Stop"]  # type: ignore[index]
        assert made["hooks"]["PreCompact"][0] == OTHERS["hooks"]["PreCompact"][0]  # type: ignore[index]
        assert json.loads(take(json.dumps(made)) or "") == OTHERS

    def test_get_each_hook_once(self) -> None:
        """A second installation changes nothing."""
        once = put(None, "coppice")
        assert put(once, "coppice") == once
        assert has(once) == list(EVENTS)

    def test_start_the_program_that_installed_them_last(self) -> None:  # X20
        """A hook of an earlier installation gets its command; the other hooks of its group stay."""
        made = json.loads(put(None, "/old/coppice"))
        made["hooks"]["PreCompact"][0]["hooks"].append({"type": "command", "command": "theirs"})
        now = json.loads(put(json.dumps(made), "/new/coppice"))
        assert now == json.loads(json.dumps(made).replace("/old/coppice", "/new/coppice"))

    def test_are_not_formatted_again_if_nothing_changes(self) -> None:
        """The text of complete settings stays as a user wrote it."""
        text = json.dumps(json.loads(put(None, "coppice")))
        assert put(text, "coppice") == text

    def test_lose_only_the_hook_of_coppice_in_a_shared_group(self) -> None:  # X20
        """The group stays with its other hooks."""
        made = json.loads(put(None, "coppice"))
        made["hooks"]["PreCompact"][0]["hooks"].append({"type": "command", "command": "theirs"})
        left = json.loads(take(json.dumps(made)) or "")
        assert left == {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}

    def test_are_deleted_if_nothing_else_was_in_them(self) -> None:
        """A file that contained only our hooks is deleted."""
        assert take(put(None, "coppice")) is None

    def test_keep_their_indentation(self) -> None:
        """The indentation is that of the file."""
        assert put('{\n\t"model": "opus"\n}', "coppice").startswith('{\n\t"model"')

    def test_keep_their_line_ends_and_byte_order_mark(self) -> None:  # X20
        """Editors of Windows write both."""
        made = put('\ufeff{\r\n  "model": "opus"\r\n}\r\n', "coppice")
        assert made.startswith('\ufeff{\r\n  "model": "opus",\r\n')
        assert made.count("\n") == made.count("\r\n")
        assert take(made) == '\ufeff{\r\n  "model": "opus"\r\n}\r\n'

    def test_can_be_nothing_but_a_byte_order_mark(self) -> None:  # X20
        """An editor of Windows saves an empty file so."""
        assert has(put("\ufeff", "coppice")) == list(EVENTS)

    def test_keep_no_number_that_json_has_not(self) -> None:  # X20
        """Python would write it as Infinity, and the agent could read its settings no more."""
        with pytest.raises(Malformed, match="number"):
            put('{"timeout": 1e400}', "coppice")

    def test_keep_half_a_surrogate_pair(self) -> None:
        """Its escape is kept, because only this can be written to a file."""
        assert r"\ud83d" in put(r'{"model": "\ud83d"}', "coppice")

    @pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
    def test_are_not_changed_if_they_are_invalid(self, text: str) -> None:
        """The error has the reason."""
        with pytest.raises(Malformed):
            put(text, "coppice")

    def test_of_codex_have_their_own_file(self) -> None:  # X20
        """Codex has its own hooks.json with its own commands."""
        made = json.loads(CODEX.add(None, "/opt/coppice"))
        assert made["hooks"]["PreCompact"][0]["hooks"][0]["command"] == "/opt/coppice hook codex"
        assert made["hooks"]["SessionStart"][0]["matcher"] == "compact"
        assert has(json.dumps(made)) == []
        assert CODEX.remove(json.dumps(made)) is None
