"""The keys that identify messages in pi's own process, for the edit script that its extension applies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from webapp.agents.reading.finding import folder_of
from webapp.agents.reading.rows import object_of, text_of
from webapp.agents.view import ViewRow

CODE = Path(__file__).with_name("coppice.ts")


def key_of(row: ViewRow) -> str | None:
    """Return the key of a row's message, its role with its time or its call's id; None if it has none."""
    said = object_of((row.value or {}).get("message"))
    role = text_of(said.get("role"))
    name = said.get("toolCallId") if role == "toolResult" else said.get("timestamp")
    return f"{role}:{name}" if role and name is not None else None


def file(env: Mapping[str, str]) -> Path:
    """Return the extension's file, existing or not."""
    return folder_of(env, "PI_CODING_AGENT_DIR", ".pi", "agent") / "extensions" / "coppice.ts"
