"""OpenCode."""

from pathlib import Path

from webapp.agents.agent import Agent, Archives, CallHeaders, DeclaredWindows, FileImport, Transcripts
from webapp.agents.extension import extension_integration
from webapp.agents.opencode import decoder, exported, files, items, transcript, windows

AGENT = Agent(
    source=files.SOURCE,
    label="OpenCode",
    wire_format="openai",
    variable="XDG_DATA_HOME",
    roots=files.roots,
    discover=files.discover,
    reader=decoder.reader,
    transcripts_of=files.recent_sessions_of,
    endings=(".json", ".db", ".db-wal"),
    files=FileImport(
        match_score=exported.match_score,
        origin=exported.origin,
        decode=exported.decode,
        is_document=exported.is_document,
        begins=exported.begins_document,
    ),
    archives=Archives(
        find=files.archives_at, sessions=files.sessions_in, read=lambda file: decoder.read(file, {})
    ),
    transcripts=Transcripts(
        write=transcript.write,
        import_command=lambda file: ["opencode", "import", str(file)],
        command=lambda session: ["opencode", "--session", session],
    ),
    call_headers=CallHeaders(session="x-session-id"),
    integration=extension_integration(
        "a plugin applies a session's prunes before each call, in the agent's own process",
        files.plugin,
        Path(__file__).with_name("coppice.js"),
    ),
    edit_key=items.edit_key,
    declared_windows=DeclaredWindows(place="set in OpenCode's configuration", read=windows.declared),
)
