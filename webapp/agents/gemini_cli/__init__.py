"""Gemini CLI."""

from webapp.agents.agent import Agent
from webapp.agents.gemini_cli import decoder

AGENT = Agent(
    source=decoder.SOURCE,
    label="Gemini CLI",
    wire_format="gemini",
    folder="~/.gemini/tmp",
    variable="GEMINI_CLI_HOME",
    roots=decoder.roots,
    discover=decoder.discover,
    reader=decoder.reader,
)
