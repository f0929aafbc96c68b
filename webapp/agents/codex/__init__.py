"""Codex CLI."""

from webapp.agents.agent import Agent
from webapp.agents.codex import files

AGENT = Agent(
    source=files.SOURCE,
    label="Codex",
    wire_format="responses",
    folder="~/.codex/sessions",
    variable="CODEX_HOME",
    roots=files.roots,
    discover=files.discover,
)
