"""Unknown rows of any agent, which the session counts and names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.webapp.agents.opencode.layouts import TREE
from tests.webapp.agents.samples import of, samples_of
from tests.webapp.services.transfer.rows import claude_row, lines
from webapp.agents import AGENTS
from webapp.agents.reading.content import Content
from webapp.agents.records import Unknown
from webapp.app import App
from webapp.errors import Malformed

ODD = "hologram"
TREES = "opencode"  # its samples are trees; a single file is an export
# A session with a message that has a part of an unknown type.
EXPORT = {
    "info": {"id": "ses_1"},
    "messages": [
        {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": "hi"}, {"type": ODD}]}
    ],
}


def unknown_in(source: str, path: Path) -> list[str]:
    """Return the types of the rows of a transcript that its agent's decoder does not know."""
    files = AGENTS[source].files
    return (
        [record.type for record in of(Unknown, files.decode(Content(path.read_bytes())), None)]
        if files
        else []
    )


class TestUnreadRows:
    """Rows of an unknown type."""

    @pytest.mark.parametrize("source", [s for s, agent in AGENTS.items() if agent.files and s != TREES])
    def test_are_counted_and_named(self, app: App, source: str) -> None:  # X12
        """Every agent that writes files has a sample with such a row."""
        paths = sorted({file.path for file in samples_of(AGENTS[source])})
        path = next((one for one in paths if unknown_in(source, one)), None)
        assert path is not None, f"no sample of {source} has a row of an unknown type"
        [imported] = app.importing.import_file(path.name, path.read_bytes(), source)
        session, unknown = app.sessions.get(imported.session_id), unknown_in(source, path)
        assert session.messages
        assert (session.source, session.unknown) == (source, len(unknown))
        assert {f"not read: {kind}" for kind in unknown} <= set(session.notes)

    def test_are_counted_and_named_in_an_export(self, app: App) -> None:  # X12
        """A part of an unknown type leaves the rest of its message readable."""
        [imported] = app.importing.import_file("x.json", lines(EXPORT), TREES)
        session = app.sessions.get(imported.session_id)
        assert (session.messages, session.unknown) == (1, 1)
        assert f"not read: part {ODD}" in session.notes

    def test_are_counted_and_named_in_a_tree(self, app: App, tmp_path: Path) -> None:  # X12
        """Unknown parts of messages are counted, too."""
        shutil.copytree(TREE, tmp_path / "opencode")
        part = next((tmp_path / "opencode").rglob("prt_20.json"))
        part.write_text(json.dumps({**json.loads(part.read_text()), "type": ODD}))
        list(app.importing.import_sessions(tmp_path))
        session = app.sessions.get("ses_1")
        assert session.unknown >= 1
        assert f"not read: part {ODD}" in session.notes


class TestNoMessage:
    """Files of which a compaction can be read, and no message."""

    FILE = (
        lines({"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "s1"})
        + b'{"type":"user",\n'
    )

    def test_are_refused_without_a_session(self, app: App) -> None:
        """A session without a message would stay in the list for no use."""
        with pytest.raises(Malformed, match="nothing in it can be read"):
            app.importing.import_file("s1.jsonl", self.FILE, "claude-code")
        assert app.sessions.list() == []

    def test_add_what_can_be_read_to_a_session(self, app: App) -> None:
        """An import that added something is not refused, and neither is a repetition of it."""
        app.importing.import_file("s1.jsonl", lines(claude_row()), "claude-code")
        for _ in range(2):
            [imported] = app.importing.import_file("s1.jsonl", self.FILE, "claude-code")
            assert (imported.added, imported.known, imported.skipped) == (0, 0, 1)
            assert imported.problems[0].startswith("line 2: broken JSON")
