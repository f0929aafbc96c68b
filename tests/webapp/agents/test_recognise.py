"""Recognising the format of an imported file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import shared_files
from tests.webapp.agents.samples import SAMPLES
from webapp.agents import AGENTS
from webapp.agents.recognise import COPPICE, WIRE, recognise

FOLDERS = {
    "claude-code": "claude-code", "claude": "claude-code", "codex": "codex", "gemini": "gemini-cli",
    "openai-chat": "wire",
}  # fmt: skip
FILES = [
    *SAMPLES.glob("[cg]*/**/*.json*"),
    *shared_files("transcripts/c*/**/*.jsonl"),
    *shared_files("transcripts/openai-chat/*.json"),
    *shared_files("transcripts/small/[cg]*/**/*.json*"),
]


@pytest.mark.parametrize(
    "path", [f for f in FILES if f.stat().st_size and ".meta" not in f.name], ids=lambda p: p.name[:30]
)
def test_every_sample_is_recognised(path: Path) -> None:
    """Each sample is of the agent of its folder."""
    folders = [p for p in path.parts if p in FOLDERS]
    assert recognise(path.read_bytes()[:65_536]) == FOLDERS[folders[-1]]


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
