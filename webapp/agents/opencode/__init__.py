"""OpenCode."""

from webapp.agents.agent import Agent, Archives
from webapp.agents.extension import extension_door
from webapp.agents.opencode import decoder, edits

AGENT = Agent(
    source=decoder.SOURCE,
    label="OpenCode",
    wire_format="openai",
    folder="~/.local/share/opencode",
    variable="XDG_DATA_HOME",
    roots=decoder.roots,
    discover=decoder.discover,
    reader=decoder.reader,
    belongs=decoder.worked_on,
    archives=Archives(
        find=decoder.archives_at, sessions=decoder.sessions_in, read=lambda file: decoder.read(file, {})
    ),
    why_no_transcripts="its sessions are rows of its own database, which is not written to, and files for `opencode "
    "import` are not made yet; the plugin of "
    "`coppice hooks install --agent opencode` prunes them as they run",
    door=extension_door(
        "a plugin applies a session's prunes before each call, in the agent's own process",
        edits.file,
        edits.CODE,
    ),
    edit_key=edits.key_of,
)
