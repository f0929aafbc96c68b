"""Stored states of sessions that change in place, with every damage: the session is read all the same."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.damages import OF_EACH_TYPE, damaged_objects
from tests.webapp.agents.opencode.layouts import as_database, copied
from tests.webapp.agents.samples import SAMPLES, of
from webapp.agents import AGENTS
from webapp.agents.reading.readers import Chunk
from webapp.agents.records import Entry, TranscriptFile

DOCUMENT = "session-2025-11-02T12-00-cccccccc.json"


def document(home: Path) -> TranscriptFile:
    """Return a document of Gemini CLI, without its last message."""
    path = home / DOCUMENT
    whole = json.loads(next(SAMPLES.rglob(DOCUMENT)).read_bytes())
    path.write_text(json.dumps({**whole, "messages": whole["messages"][:-1]}))
    return TranscriptFile(path, "s", None, "gemini-cli")


def tree(home: Path) -> TranscriptFile:
    """Return the largest session in a tree of OpenCode."""
    found = AGENTS["opencode"].discover(copied(home))
    return max(
        found, key=lambda file: len(list((file.path.parents[2] / "message" / file.session_id).glob("*")))
    )


def database(home: Path) -> TranscriptFile:
    """Return a session in a database of OpenCode."""
    root = copied(home)
    as_database(root)
    shutil.rmtree(root / "storage")
    return next(file for file in AGENTS["opencode"].discover(root) if file.session_id == "ses_1")


def chunks(file: TranscriptFile, position: dict[str, Any]) -> list[Chunk]:
    """Return what a new reader reads from a position."""
    return list(AGENTS[file.source].reader(file, position).read())


@pytest.mark.parametrize("layout", [document, tree, database])
def test_a_damaged_state_is_read_from_the_start(layout: Any, tmp_path: Path) -> None:  # X12
    """Only a state of another shape is; a damage within the shape may cost records, but never the session."""
    file = layout(tmp_path)
    [whole] = chunks(file, {})
    messages = [entry.message for entry in of(Entry, whole.records)]
    assert not whole.restarted
    assert len(messages) > 2
    os.utime(file.path, (2, 2))
    restarted = 0
    for position in damaged_objects(whole.position):
        for again in chunks(file, position):
            restarted += again.restarted
            if again.restarted:
                assert [entry.message for entry in of(Entry, again.records)] == messages
    assert restarted > len(OF_EACH_TYPE)
    assert [chunk.records for chunk in chunks(file, whole.position)] in ([], [[]])
