"""The coding agents whose transcripts are read: the table, one folder an agent, and what they share in `reading/`.

Nothing here writes, opens an agent's file for writing, or knows the store. `records` is what all agents speak. The
table is loaded when it is first asked for: what runs `beside` an agent lies here too, and has no time for it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing `typing` would cost a status line a fifth of its time
if TYPE_CHECKING:
    from webapp.agents.agent import Agent

    AGENTS: dict[str, Agent]

# The folders, one an agent; where a row of JSON may be two agents', the first has it.
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
