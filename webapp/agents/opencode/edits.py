"""The keys that identify messages in OpenCode's own process, for the edit script that its plugin applies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from webapp.agents.reading.finding import folder_of
from webapp.agents.view import ViewRow

CODE = Path(__file__).with_name("coppice.js")


def key_of(row: ViewRow) -> str | None:
    """Return the id of the agent's own message that a row belongs to."""
    return row.id.partition(":")[0].partition("@")[0]


def file(env: Mapping[str, str]) -> Path:
    """Return the plugin's file, existing or not."""
    return folder_of(env, "XDG_CONFIG_HOME", ".config") / "opencode" / "plugin" / "coppice.js"
