"""Unknown rows of any agent, which the session counts and names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.agents.opencode.layouts import TREE
from tests.webapp.services.transfer.rows import lines
from webapp.agents import AGENTS
from webapp.app import App

ODD = "hologram"
FACTS: dict[str, Any] = {"type": ODD, "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "id": "2"}
# Source -> rows as the agent writes them: a message, and one of a type that does not exist.
WRITTEN: dict[str, list[dict[str, Any]]] = {
    "claude-code": [
        {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hi"}},
        {"type": "system", "subtype": "turn_duration", "uuid": "u0", "sessionId": "s"},
        FACTS,
    ],
    "codex": [
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hi"}},
        {"type": ODD, "payload": {}},
    ],
    "gemini-cli": [
        {"sessionId": "s", "projectHash": "p"},
        {"id": "1", "type": "user", "content": "hi"},
        FACTS,
    ],
    "opencode": [
        {"info": {"id": "ses_1"}, "messages": [
            {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": "hi"}, {"type": ODD}]},
        ]},
    ],
    "pi": [
        {"type": "session", "version": 3, "id": "s", "cwd": "/home/ada"},
        {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "hi"}},
        {"type": ODD, "id": "2", "parentId": "1"},
    ],
}  # fmt: skip


class TestUnreadRows:
    """Rows of an unknown type."""

    @pytest.mark.parametrize("source", [s for s, agent in AGENTS.items() if agent.files])
    def test_are_counted_and_named(self, app: App, source: str) -> None:  # X12
        """This applies to every agent that writes files."""
        [imported] = app.importing.import_file("x.jsonl", lines(*WRITTEN[source]), source)
        session = app.sessions.get(imported.session_id)
        assert (session.source, session.messages, session.unknown) == (source, 1, 1)
        assert f"not read: {'part ' if source == 'opencode' else ''}{ODD}" in session.notes

    def test_are_counted_and_named_in_a_tree(self, app: App, tmp_path: Path) -> None:  # X12
        """Unknown parts of messages are counted, too."""
        shutil.copytree(TREE, tmp_path / "opencode")
        part = next((tmp_path / "opencode").rglob("prt_20.json"))
        part.write_text(json.dumps({**json.loads(part.read_text()), "type": ODD}))
        list(app.importing.import_sessions(tmp_path))
        session = app.sessions.get("ses_1")
        assert session.unknown >= 1
        assert f"not read: part {ODD}" in session.notes
