"""The session of an imported file: named in the file, deleted, or of another source."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.webapp.agents.opencode.layouts import TREE
from tests.webapp.building import followed, managed, user, wire
from tests.webapp.services.transfer.rows import claude_row, lines
from webapp.app import App
from webapp.errors import Conflict, Malformed
from webapp.services.transfer.importing import name_in


class TestDeleted:
    """A session that was deleted."""

    def test_is_restored_by_an_import(self, app: App) -> None:
        """Unlike following, an import is a request of the user."""
        [first] = app.importing.import_file("x.jsonl", lines(claude_row()))
        app.sessions.delete(first.session_id)
        [again] = app.importing.import_file("x.jsonl", lines(claude_row()))
        assert (again.session_id, again.added) == (first.session_id, 1)

    def test_stays_deleted_without_a_message(self, app: App) -> None:
        """A file without messages does not restore a deleted session, so following still skips it."""
        followed(app, user("hi"))
        app.sessions.delete("s")
        with pytest.raises(Malformed, match="no message"):
            app.importing.import_file("x.jsonl", lines({"type": "summary", "sessionId": "s"}), "claude-code")
        assert app.ingest.ensure("s", "claude-code") is None

    def test_of_opencode_stays_deleted_without_a_message(self, app: App, tmp_path: Path) -> None:
        """Only the session with messages is restored."""
        shutil.copytree(TREE, tmp_path / "opencode")
        for name in ("ses_1", "ses_2"):
            app.ingest.ensure(name, "opencode")
            app.sessions.delete(name)
        problems = {one.session_id: one.problems for _, one in app.importing.import_sessions(tmp_path)}
        assert ["no message" in " ".join(problems[name]) for name in ("ses_1", "ses_2")] == [False, True]
        assert [s.id for s in app.sessions.list()] == ["ses_1"]


class TestWhose:
    """A transcript that names an existing session."""

    @pytest.mark.parametrize("source", ["codex", "api"])
    def test_is_refused_if_that_has_another_source(self, app: App, source: str) -> None:
        """An id in a file gives no access to a session of another source."""
        if source == "api":
            managed(app, wire("user", "mine"), id="s")
        else:
            app.ingest.ensure("s", source)
        before = app.sessions.get("s")
        with pytest.raises(Conflict, match=f"came from {source}"):
            app.importing.import_file("x.jsonl", lines(claude_row("s")))
        assert app.sessions.get("s") == before

    def test_extends_a_session_of_the_same_agent(self, app: App) -> None:
        """The session may be followed or imported before."""
        followed(app, session_id="s")
        for added in (1, 0):
            [imported] = app.importing.import_file("x.jsonl", lines(claude_row("s")))
            assert (imported.session_id, imported.added) == ("s", added)

    def test_never_becomes_its_own_sub_agent(self, app: App) -> None:
        """A copy of a sub-agent's file under another name belongs to the session that its rows name."""
        row = claude_row("s", isSidechain=True, agentId="a1")
        [imported] = app.importing.import_file("copy-of-agent.jsonl", lines(row))
        assert app.sessions.get(imported.session_id).parent_id is None
        app.sessions.delete(imported.session_id)
        assert app.sessions.list() == []

    def test_of_opencode_does_not_affect_other_sessions(self, app: App, tmp_path: Path) -> None:
        """A refused session is reported with its reason, and the others are imported."""
        shutil.copytree(TREE, tmp_path / "opencode")
        managed(app, wire("user", "mine"), id="ses_1")
        imported = {one.session_id: one for _, one in app.importing.import_sessions(tmp_path)}
        assert "came from api" in imported["ses_1"].problems[0]
        assert imported["ses_2"].problems == []
        assert app.sessions.get("ses_1").messages == 1


class TestNames:
    """File names as clients send them."""

    @pytest.fixture
    def agent(self, tmp_path: Path) -> Path:
        """A sub-agent's transcript with a title in a file beside it."""
        path = tmp_path / "agent-x.jsonl"
        path.write_bytes(lines({"sessionId": "hidden"}))
        path.with_suffix(".meta.json").write_text('{"description": "secret", "agentType": "spy"}')
        return path

    def test_never_open_a_local_file(self, app: App, agent: Path) -> None:
        """A name that is a path on this machine reveals nothing of the files there."""
        [imported] = app.importing.import_file(str(agent), lines(claude_row("s")))
        assert imported.session_id == "s.agent-x"
        assert app.sessions.get("s.agent-x").agent_type is None

    def test_are_read_with_files_beside_a_local_place(self, app: App, agent: Path) -> None:
        """Only a local caller can give a `place` on this machine."""
        agent.write_bytes(lines(claude_row("s")))
        [imported] = app.importing.import_file("x", agent.read_bytes(), place=agent)
        assert imported.session_id == "s.agent-x"
        assert app.sessions.get("s.agent-x").agent_type == "spy"

    @pytest.mark.parametrize(
        ("name", "base"),
        [
            ("chat.json", "chat.json"), ("/etc/chat.json", "chat.json"), ("C:\\me\\chat.json", "chat.json"),
            ("a\0b\n.json", "ab.json"), ("", "upload"), ("../..", "upload"), ("\0", "upload"),
            ("größe.json", "größe.json"),
        ],
    )  # fmt: skip
    def test_are_reduced_to_their_last_part(self, name: str, base: str) -> None:
        """Control characters are removed, and an empty name becomes "upload"."""
        assert name_in(name) == base

    def test_with_control_characters_give_a_printable_id(self, app: App) -> None:
        """The rest of the name is used."""
        [imported] = app.importing.import_file("agent-\0x.jsonl", lines(claude_row("s")))
        assert imported.session_id == "s.agent-x"
