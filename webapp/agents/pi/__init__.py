"""pi, the coding agent of pi-mono."""

from pathlib import Path

from webapp.agents.agent import Agent, DeclaredWindows, FileImport, Transcripts
from webapp.agents.extension import extension_integration
from webapp.agents.pi import files, messages, transcript, windows
from webapp.agents.pi.decoder import Decoder
from webapp.agents.reading.readers import LineReader
from webapp.agents.reading.tail import decode

AGENT = Agent(
    source=files.SOURCE,
    label="pi",
    wire_format="openai",
    variable="PI_CODING_AGENT_DIR",
    roots=files.roots,
    discover=files.discover,
    reader=lambda file, position: LineReader(file, position, lambda _: Decoder()),
    files=FileImport(
        match_score=files.match_score,
        origin=files.origin,
        decode=lambda content, file=None: decode(content, Decoder()),  # noqa: ARG005
    ),
    transcripts=Transcripts(
        write=transcript.write,
        folder=transcript.folder,
        command=lambda session: ["pi", "--session", session],
    ),
    integration=extension_integration(
        "an extension applies a session's prunes before each call, in the agent's own process",
        files.extension,
        Path(__file__).with_name("coppice.ts"),
    ),
    edit_key=messages.edit_key,
    usual_window=windows.usual_window,
    declared_windows=DeclaredWindows(place="set in pi's models.json", read=windows.declared),
)
