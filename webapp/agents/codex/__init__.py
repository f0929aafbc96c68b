"""Codex CLI."""

import re

from webapp.agents.agent import Agent, CallHeaders, FileImport, Transcripts
from webapp.agents.codex import earlier_rollouts, files, items, reader, transcript
from webapp.agents.codex.decoder import Decoder
from webapp.agents.hooks import hooks_integration
from webapp.agents.reading import packed
from webapp.agents.reading.tail import decode

AGENT = Agent(
    source=files.SOURCE,
    label="Codex",
    usual_model="gpt-5.5",
    wire_format="responses",
    variable="CODEX_HOME",
    roots=files.roots,
    discover=files.discover,
    endings=packed.ENDINGS,
    reader=reader.Reader,
    transcripts_of=reader.transcripts_of,
    files=FileImport(
        match_score=items.match_score,
        origin=files.origin,
        decode=lambda content, file=None: decode(content, Decoder(file)),
        replaced=earlier_rollouts.replaced,
    ),
    transcripts=Transcripts(
        write=transcript.write,
        folder=transcript.folder,
        command=lambda session: ["codex", "resume", session],
        keeps_thinking=True,
    ),
    call_headers=CallHeaders(
        session="session-id",
        thread="thread-id",
        parent="x-codex-parent-thread-id",
        side=re.compile(r'"thread_source"\s*:\s*"thread_title"'),
    ),
    integration=hooks_integration(
        files.SOURCE,
        "hooks tell the agent after a compaction what was lost and what must survive, and warn once when the context "
        "is nearly full or a prune pays; Codex asks at its next start whether to trust them",
        files.hooks,
        {"PreCompact": "", "SessionStart": "compact", "UserPromptSubmit": ""},
    ),
)
