"""Databases of OpenCode's second generation."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

TOKENS = {"input": 1_200, "output": 30, "reasoning": 5, "cache": {"read": 800, "write": 100}}
SAID: list[tuple[str, dict[str, Any]]] = [
    ("system", {"text": "Use metric units."}),
    ("user", {"text": "List the beds."}),
    (
        "assistant",
        {
            "agent": "build",
            "model": {"id": "claude-sonnet-4-5", "providerID": "anthropic"},
            "tokens": TOKENS,
            "content": [
                {"type": "reasoning", "text": "A list."},
                {
                    "type": "tool", "id": "call_1", "name": "read",
                    "state": {
                        "status": "completed", "input": {"path": "beds.txt"},
                        "content": [{"type": "text", "text": "seven beds"}],
                    },
                },
                {"type": "text", "text": "Seven."},
            ],
        },
    ),
    ("shell", {"command": "ls", "output": "beds.txt"}),
    ("idle", {}),
    ("novelty", {"text": "?"}),
]  # fmt: skip


def database(folder: Path, name: str = "opencode.db", sessions: str = "session_v2") -> Path:
    """Return a database of the second generation without sessions."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with sqlite3.connect(path) as db:
        db.execute(
            f"CREATE TABLE {sessions} (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, "
            "model TEXT, time_created INT, time_updated INT)"
        )
        db.execute(
            "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INT, time_created INT, "
            "time_updated INT, data TEXT)"
        )
        db.execute(f"INSERT INTO {sessions} VALUES ('ses_n', NULL, '/garden', 'Beds', '2.0.3', NULL, 1, 9)")
    return path


def write(path: Path, rows: list[tuple[str, dict[str, Any]]], first: int = 0, updated: int = 5) -> None:
    """Write messages of the session, with `seq` counting from `first`."""
    with sqlite3.connect(path) as db:
        for seq, (kind, data) in enumerate(rows, first):
            db.execute("DELETE FROM session_message WHERE seq = ?", [seq])
            values = [f"msg_{seq}", "ses_n", kind, seq, seq, updated, json.dumps(data)]
            db.execute("INSERT INTO session_message VALUES (?,?,?,?,?,?,?)", values)
