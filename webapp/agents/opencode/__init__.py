"""OpenCode."""

from functools import partial

from webapp.agents.agent import Agent
from webapp.agents.opencode import decoder
from webapp.agents.reading.databases import open_foreign

AGENT = Agent(
    source=decoder.SOURCE,
    label="OpenCode",
    wire_format="openai",
    folder="~/.local/share/opencode",
    variable="XDG_DATA_HOME",
    roots=decoder.roots,
    discover=partial(decoder.discover, open_database=open_foreign),
)
