"""Rows of pi's sessions."""

from __future__ import annotations

from typing import Any


def row(name: str, parent: str | None, text: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    """Return a row with a message."""
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "message": {"role": role, "content": text, **more},
    }
