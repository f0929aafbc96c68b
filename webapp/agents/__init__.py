"""The coding agents whose transcripts are read: the table, one folder an agent, and what they share in `reading/`.

Nothing here writes, opens an agent's file for writing, or knows the store. `records` is what all agents speak.
"""

from webapp.agents.claude_code import AGENT as CLAUDE_CODE
from webapp.agents.codex import AGENT as CODEX
from webapp.agents.gemini_cli import AGENT as GEMINI_CLI
from webapp.agents.opencode import AGENT as OPENCODE

AGENTS = {agent.source: agent for agent in (CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE)}
