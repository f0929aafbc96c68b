"""Claude Code."""

from functools import partial

from webapp.agents.agent import Agent
from webapp.agents.claude_code import files
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.reading.readers import LineReader

AGENT = Agent(
    source=files.SOURCE,
    label="Claude Code",
    wire_format="anthropic",
    folder="~/.claude/projects",
    variable="CLAUDE_CONFIG_DIR",
    roots=files.roots,
    discover=files.discover,
    reader=partial(LineReader, decoder=Decoder),
)
