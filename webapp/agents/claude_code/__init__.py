"""Claude Code."""

import re
from functools import partial

from webapp.agents.agent import Agent, CallHeaders, ClearingHabit, FileImport, Transcripts
from webapp.agents.claude_code import files, rows, transcript
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.claude_code.unwritten import TaskReminders
from webapp.agents.claude_code.window import usual_window, window_of_compaction
from webapp.agents.hooks import hooks_integration
from webapp.agents.reading.readers import LineReader
from webapp.agents.reading.tail import decode

AGENT = Agent(
    source=files.SOURCE,
    label="Claude Code",
    usual_model="claude-opus-5-5",
    wire_format="anthropic",
    variable="CLAUDE_CONFIG_DIR",
    roots=files.roots,
    discover=files.discover,
    reader=partial(LineReader, decoder=Decoder),
    files=FileImport(
        match_score=rows.match_score,
        origin=files.origin,
        decode=lambda content, file=None: decode(content, Decoder(file)),
    ),
    transcripts=Transcripts(
        write=transcript.write,
        folder=transcript.folder,
        command=lambda session: ["claude", "--resume", session],
    ),
    session_variable="CLAUDE_CODE_SESSION_ID",
    call_headers=CallHeaders(
        session="x-claude-code-session-id",
        subagent="x-claude-code-agent-id",
        user_id=re.compile(r"_session_([0-9a-f-]{36})$"),
    ),
    integration=hooks_integration(
        files.SOURCE,
        "hooks tell its compaction what must survive, tell the agent afterwards what was lost, and warn once when "
        "the context is nearly full or a prune pays",
        files.settings,
        {"PreCompact": "", "SessionStart": "compact", "UserPromptSubmit": ""},
    ),
    window_of_compaction=window_of_compaction,
    usual_window=usual_window,
    # After a pause, when the provider's cache is cold, or when there are many outputs. Public reports:
    # anthropics/claude-code #42542 and #57788.
    clears=ClearingHabit(
        tools=frozenset({"Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Edit", "Write"}),
        kept=5,
        text="[Old tool result content cleared]",
    ),
    unwritten=TaskReminders,
)
