"""Rows of files to import."""

from __future__ import annotations

import json
from typing import Any

from tests.webapp.building import wire


def lines(*rows: Any) -> bytes:
    """Return rows as a file of JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def claude_row(session_id: str = "s1", text: str = "hi", **more: Any) -> dict[str, Any]:
    """Return a row of a Claude Code transcript."""
    said = wire("user", text)
    return {
        "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": session_id, "message": said, **more,
    }  # fmt: skip
