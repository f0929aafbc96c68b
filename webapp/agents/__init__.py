"""The coding agents whose transcripts are read: the table, one folder for each agent, and shared code in `reading/`.

Nothing here opens an agent's file for writing or knows the store. All agents yield the values of `records`. The table
is loaded on first use, because the programs in `hook_runtime` are in this package too and have no time for it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing `typing` would cost a status line a fifth of its time
if TYPE_CHECKING:
    from webapp.agents.agent import Agent

    AGENTS: dict[str, Agent]

# The folders of the agents; if a row of JSON could belong to two of them, the first one gets it.
FOLDERS = (
    "claude_code",
    "codex",
    "gemini_cli",
    "opencode",
    "pi",
)


def __getattr__(name: str) -> dict[str, Agent]:
    if name != "AGENTS":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    found: list[Agent] = [import_module(f"{__name__}.{folder}").AGENT for folder in FOLDERS]
    table = {agent.source: agent for agent in found}
    globals()[name] = table
    return table
