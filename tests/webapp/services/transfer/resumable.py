"""Samples of the agents that can resume from a copy."""

from __future__ import annotations

from pathlib import Path

from tests.shared import ROOT

# A main session of each agent that can resume from a copy.
SAMPLES = {
    "claude-code": "projects/-home-ada-garden/11111111-*.jsonl",
    "codex": "sessions/2026/01/02/*0001.jsonl",
    "gemini-cli": ".gemini/tmp/garden/chats/session-2026-01-02T12-00-aaaaaaaa.jsonl",
    "opencode": "opencode/storage/session/garden/ses_1.json",
    "pi": "sessions/--home-ada-garden--/*0a.jsonl",
}


def sample_of(source: str) -> Path:
    """Return the sample of an agent."""
    [path] = (ROOT / "tests" / "transcripts" / source).glob(SAMPLES[source])
    return path
