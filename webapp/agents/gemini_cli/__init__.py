"""Gemini CLI."""

from webapp.agents.agent import Agent, FileImport, Transcripts
from webapp.agents.gemini_cli import decoder, files, items, transcript

AGENT = Agent(
    source=files.SOURCE,
    label="Gemini CLI",
    legacy=True,
    usual_model="gemini-3.8-flash",
    wire_format="gemini",
    variable="GEMINI_CLI_HOME",
    roots=files.roots,
    discover=files.discover,
    endings=(".jsonl", ".json"),
    reader=decoder.reader,
    files=FileImport(
        match_score=items.match_score,
        origin=files.origin,
        decode=decoder.decode,
        is_document=items.is_document,
        begins=items.begins_document,
    ),
    transcripts=Transcripts(
        write=transcript.write,
        folder=transcript.folder,
        command=lambda session: ["gemini", "--resume", session],
        cwd_of=files.cwd_of,
    ),
)
