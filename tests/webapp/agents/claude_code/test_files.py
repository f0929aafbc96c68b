"""The places of Claude Code's transcripts, and their meaning."""

from __future__ import annotations

from pathlib import Path, PurePath

from tests.shared import shared_data
from tests.webapp.agents.samples import SAMPLES
from webapp.agents.claude_code.files import describe, discover, named, roots
from webapp.agents.records import Origin

MAIN = "11111111-1111-4111-8111-111111111111"


class TestRoots:
    """The folders to look in."""

    def test_are_those_of_the_environment(self, tmp_path: Path) -> None:
        """One folder or several separated by commas; each may be the projects folder itself."""
        env = {"CLAUDE_CONFIG_DIR": f"{tmp_path}/a, {tmp_path}/b/projects,", "HOME": "/nowhere"}
        assert roots(env) == [tmp_path / "a" / "projects", tmp_path / "b" / "projects"]

    def test_default_to_the_home_folder(self) -> None:
        """Both the old and the new place are roots, even if they do not exist."""
        assert roots({"HOME": "/h"}) == [Path("/h/.claude/projects"), Path("/h/.config/claude/projects")]
        assert roots({"HOME": "/h", "XDG_CONFIG_HOME": "/x"})[1] == Path("/x/claude/projects")


class TestDiscovery:
    """Finding sessions."""

    def test_finds_sessions_and_their_agents(self) -> None:  # X12
        """Sub-agents beside or below a session have it as their parent; the summariser's file is skipped."""
        files = {f.path.name: f for f in discover(SAMPLES / "claude-code" / "projects")}
        assert files[f"{MAIN}.jsonl"].parent_id is None
        agent = files["agent-b1.jsonl"]
        assert (agent.session_id, agent.parent_id) == (f"{MAIN}.agent-b1", MAIN)
        assert (agent.title, agent.agent_type) == ("Count the south beds", "Explore")
        assert files["agent-c2.jsonl"].session_id == f"{MAIN}.agent-c2"
        assert "agent-acompact-00.jsonl" not in files

    def test_is_newest_first_and_unique(self) -> None:
        """Real folders: no id twice, newest first."""
        files = list(discover(shared_data("transcripts", "claude-code", "projects")))
        assert len({f.session_id for f in files}) == len(files)
        assert [f.modified for f in files] == sorted((f.modified for f in files), reverse=True)
        assert sum(f.parent_id is not None for f in files) == 17

    def test_of_a_missing_folder_finds_nothing(self, tmp_path: Path) -> None:
        """A root may be created later."""
        assert list(discover(tmp_path / "later")) == []

    def test_ignores_other_files(self, tmp_path: Path) -> None:
        """Only files named as sessions or agents count; an agent may have no known parent."""
        (tmp_path / "notes.jsonl").write_text("{}\n")
        (tmp_path / "agent-z.jsonl").write_text("broken\n")
        (file,) = discover(tmp_path)
        assert (file.session_id, file.parent_id) == ("agent-z", None)

    def test_waits_for_the_row_that_names_an_agents_parent(self, tmp_path: Path) -> None:
        """Beside its session, a file with half a row, or only with notes of no session, is not a session yet."""
        path = tmp_path / "agent-z.jsonl"
        for half in ("", '{"isSidechain":true,"session', '{"type":"novelty"}\n{"isSidech'):
            path.write_text(half)
            assert list(discover(tmp_path)) == []
        path.write_text(f'{{"isSidechain":true,"sessionId":"{MAIN}","type":"user"}}\n')
        (file,) = discover(tmp_path)
        assert (file.session_id, file.parent_id) == (f"{MAIN}.agent-z", MAIN)

    def test_names_an_agent_without_a_session_by_its_file(self, tmp_path: Path) -> None:
        """Its first message names no session, so none is waited for."""
        (tmp_path / "agent-z.jsonl").write_text('{"type":"novelty"}\n{"type":"user","message":{}}\n')
        assert [(file.session_id, file.parent_id) for file in discover(tmp_path)] == [("agent-z", None)]


class TestNames:
    """Facts that a path alone gives."""

    def test_opens_no_file(self, tmp_path: Path) -> None:
        """The folder gives the parent, and only `describe` reads the title."""
        path = tmp_path / MAIN / "subagents" / "agent-z.jsonl"
        path.parent.mkdir(parents=True)
        path.with_suffix(".meta.json").write_text('{"description": "Beds", "agentType": "Explore"}')
        assert named(path) == Origin(f"{MAIN}.agent-z", MAIN)
        assert describe(path) == Origin(f"{MAIN}.agent-z", MAIN, "Beds", "Explore")
        assert named(PurePath("agent-z.jsonl")) == Origin("agent-z")
        assert named(PurePath("agent-acompact-00.jsonl")) == Origin(own_question=True)
        assert named(PurePath("notes.jsonl")) == Origin()
