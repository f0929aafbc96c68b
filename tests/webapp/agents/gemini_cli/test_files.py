"""Gemini CLI's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webapp.agents.samples import SAMPLES, facts
from webapp.agents.gemini_cli.decoder import decode, reader
from webapp.agents.gemini_cli.files import SOURCE, discover, roots
from webapp.agents.reading.content import Content
from webapp.agents.reading.readers import LineReader, WholeReader
from webapp.agents.records import Meta, TranscriptFile

ROOT = SAMPLES / "gemini-cli" / ".gemini" / "tmp"
LINES = "session-2026-01-02T12-00-aaaaaaaa.jsonl"
DOCUMENT = "session-2025-11-02T12-00-cccccccc.json"


class TestDiscovery:
    """Finding sessions."""

    def test_finds_both_layouts_and_sub_agents(self) -> None:  # X12
        """The id is in the file, and a session below another is its sub-agent."""
        found = {f.path.name: f for f in discover(ROOT)}
        main = found[LINES]
        assert main.session_id == "aaaaaaaa-0000-4000-8000-000000000001"
        assert (found["bbbb.jsonl"].session_id, found["bbbb.jsonl"].parent_id) == (
            f"{main.session_id}.agent-bbbb", main.session_id,
        )  # fmt: skip
        assert isinstance(reader(found[DOCUMENT], {}), WholeReader)
        assert isinstance(reader(main, {}), LineReader)

    @pytest.mark.parametrize("name", [LINES, DOCUMENT, "parent/bbbb.jsonl"])
    def test_knows_the_working_directory(self, tmp_path: Path, name: str) -> None:
        """The agent notes it in the project's folder; sessions of the main agent do not name it."""
        file = tmp_path / "garden" / "chats" / name
        file.parent.mkdir(parents=True)
        (tmp_path / "garden" / ".project_root").write_text("/home/ada/garden\n")
        facts_of = {"sessionId": "s", "projectHash": "h"}
        message = {"id": "a", "type": "user", "content": "x"}
        rows = [{**facts_of, "messages": [message]}] if file.suffix == ".json" else [facts_of, message]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        [found] = discover(tmp_path)
        chunks = list(reader(found, {}).read())
        assert facts([r for chunk in chunks for r in chunk.records], Meta, "cwd") == ["/home/ada/garden"]
        content = Content(file.read_bytes())
        assert facts(decode(content, found), Meta, "cwd") == ["/home/ada/garden"]
        assert facts(decode(content, TranscriptFile(Path(file.name), "s", None, SOURCE)), Meta, "cwd") == []

    def test_finds_a_resumed_document_once(self, tmp_path: Path) -> None:
        """The agent copies it into a file of lines and continues there; the document has the title of then."""
        for name in ("session-a.json", "session-a.jsonl"):
            (tmp_path / "chats").mkdir(exist_ok=True)
            (tmp_path / "chats" / name).write_text('{"sessionId": "s"}\n')
        assert [f.path.name for f in discover(tmp_path)] == ["session-a.jsonl"]

    def test_waits_for_the_id_of_a_session(self, tmp_path: Path) -> None:
        """A file that was just created or emptied would otherwise be a second session, named after the file."""
        chats = tmp_path / "chats"
        chats.mkdir()
        (chats / "session-a.jsonl").write_text('{"sessionI')
        (chats / "session-b.json").write_text("")
        assert list(discover(tmp_path)) == []
        for name in ("session-a.jsonl", "session-b.json"):
            (chats / name).write_text(f'{{"sessionId": "id of {name}"}}\n')
        assert {f"id of {f.path.name}" == f.session_id for f in discover(tmp_path)} == {True}

    def test_names_a_session_without_an_id_after_its_file(self, tmp_path: Path) -> None:
        """Its first row, or its document, is there, so no id will follow."""
        (tmp_path / "chats").mkdir()
        (tmp_path / "chats" / "session-a.jsonl").write_text('{"kind": "main"}\n')
        (tmp_path / "chats" / "session-b.json").write_text('{"messages": []}')
        assert {f.session_id for f in discover(tmp_path)} == {"session-a", "session-b"}

    def test_follows_the_environment(self) -> None:
        """The folder is GEMINI_CLI_HOME or in the home folder."""
        assert roots({"HOME": "/h"}) == [Path("/h/.gemini/tmp")]
        assert roots({"GEMINI_CLI_HOME": "/g", "HOME": "/h"}) == [Path("/g/.gemini/tmp")]
