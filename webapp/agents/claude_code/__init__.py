"""Claude Code."""

from webapp.agents.agent import Agent
from webapp.agents.claude_code import files

AGENT = Agent(
    source=files.SOURCE,
    label="Claude Code",
    wire_format="anthropic",
    folder="~/.claude/projects",
    variable="CLAUDE_CONFIG_DIR",
    roots=files.roots,
    discover=files.discover,
)
