"""OpenCode."""

from pathlib import Path

from webapp.agents.agent import Agent, Archives, CallHeaders, Transcripts
from webapp.agents.extension import extension_integration
from webapp.agents.opencode import decoder, items, transcript

AGENT = Agent(
    source=decoder.SOURCE,
    label="OpenCode",
    wire_format="openai",
    folder="~/.local/share/opencode",
    variable="XDG_DATA_HOME",
    roots=decoder.roots,
    discover=decoder.discover,
    reader=decoder.reader,
    transcripts_of=decoder.worked_on,
    archives=Archives(
        find=decoder.archives_at, sessions=decoder.sessions_in, read=lambda file: decoder.read(file, {})
    ),
    transcripts=Transcripts(
        write=transcript.write,
        import_command=lambda file: ["opencode", "import", str(file)],
        command=lambda session: ["opencode", "--session", session],
    ),
    call_headers=CallHeaders(session="x-session-id"),
    integration=extension_integration(
        "a plugin applies a session's prunes before each call, in the agent's own process",
        decoder.plugin,
        Path(__file__).with_name("coppice.js"),
    ),
    edit_key=items.edit_key,
)
