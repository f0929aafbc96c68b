"""The coding agents whose transcripts are read: the table, one folder an agent, and what they share in `reading/`.

Nothing here writes, opens an agent's file for writing, or knows the store. `records` is what all agents speak.
"""

from importlib import import_module

from webapp.agents.agent import Agent

# The folders, one an agent; where a row of JSON may be two agents', the first has it.
FOLDERS = (
    "claude_code",
    "codex",
    "gemini_cli",
    "opencode",
    "pi",
)
_FOUND: tuple[Agent, ...] = tuple(import_module(f"{__name__}.{folder}").AGENT for folder in FOLDERS)
AGENTS = {agent.source: agent for agent in _FOUND}
