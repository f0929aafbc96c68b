"""Codex CLI."""

from functools import partial

from webapp.agents.agent import Agent
from webapp.agents.codex import files
from webapp.agents.codex.decoder import Decoder
from webapp.agents.reading.readers import LineReader

AGENT = Agent(
    source=files.SOURCE,
    label="Codex",
    wire_format="responses",
    folder="~/.codex/sessions",
    variable="CODEX_HOME",
    roots=files.roots,
    discover=files.discover,
    reader=partial(LineReader, decoder=Decoder),
)
