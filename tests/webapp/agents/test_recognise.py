"""Recognising the format of an imported file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import shared_files
from tests.webapp.agents.samples import samples_of
from webapp.agents import AGENTS
from webapp.agents.recognise import COPPICE, WIRE, recognise

OWN = [
    (file.path, agent.source)
    for agent in AGENTS.values()
    if agent.files is not None
    for file in samples_of(agent)
    if not file.shared
]
# The sources of the files in the folders of the shared transcripts.
SHARED = {
    "claude-code": "claude-code", "claude": "claude-code", "codex": "codex", "gemini": "gemini-cli",
    "openai-chat": "wire",
}  # fmt: skip
FILES = [
    *OWN,
    *(
        (path, next(SHARED[part] for part in reversed(path.parts) if part in SHARED))
        for pattern in ("c*/**/*.jsonl", "openai-chat/*.json", "small/[cg]*/**/*.json*")
        for path in shared_files(f"transcripts/{pattern}")
        if ".meta" not in path.name
    ),
]


@pytest.mark.parametrize(
    ("path", "source"),
    [(path, source) for path, source in FILES if path.stat().st_size],
    ids=lambda v: getattr(v, "name", v)[:30],
)
def test_every_sample_is_recognised(path: Path, source: str) -> None:
    """A sample of an agent is recognised as a file of that agent."""
    found = recognise(path.read_bytes()[:65_536])
    assert found == source, f"recognised as {found}; the first of FOLDERS gets rows that two agents take"


@pytest.mark.parametrize(
    ("head", "source"),
    [
        (b'{"coppice":1,"kind":"session"}\n{"uuid":"x"}\n', "coppice"),
        (b'[{"role":"user","content":"x"}]', "wire"),
        (b'{"model":"m","messages":[{"role":"user","content":"x"}]}', "wire"),
        (b'{"contents":[{"role":"user","parts":[]}]}', "wire"),
        (b'[\n {"role": "user", "content": "' + b"x" * 500, "wire"),
        (b'{\n "model": "m",\n "messages": [' + b"x" * 500, "wire"),
        (b'{\n "sessionId": "s",\n "projectHash": "h", "messages": [' + b"x" * 500, "gemini-cli"),
        (b'\xef\xbb\xbf\n{"broken\n{"type":"user","uuid":"u","parentUuid":null}\n', "claude-code"),
        (b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n', "wire"),
        (b'{"hello":"world"}', None),
        (b'{"type":{},"uuid":"u"}\n', "claude-code"),
        (b'{\n"projectHash":"h","messages":[{"type":[]}]}', "gemini-cli"),
        (b"", None),
        (b"just words\n", None),
        (b"[1,2]", None),
    ],
)
def test_the_first_rows_decide(head: bytes, source: str | None) -> None:
    """The first rows suffice for lists, bodies, long documents, malformed first rows and unknown content."""
    assert recognise(head) == source


@given(st.binary(max_size=200))
def test_any_bytes_are_recognised_or_not(head: bytes) -> None:
    """No bytes raise an error."""
    assert recognise(head) in (None, COPPICE, WIRE, *AGENTS)
