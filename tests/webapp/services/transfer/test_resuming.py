"""Resuming from a pruned copy: the written file, its promised size, and refusals."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from scoring.messages import Message, Text
from tests.browser.writing import ClaudeFolder, Transcript, words
from tests.webapp.agents.opencode.fake_import import fake_import
from tests.webapp.services.transfer.resumable import sample_of
from webapp.agents import AGENTS
from webapp.agents.records import Cleared, Compaction, Entry, Meta
from webapp.agents.view import PRUNED_NOTE
from webapp.app import App
from webapp.config import Config
from webapp.errors import Conflict
from webapp.services.transfer.answers import Resumed
from webapp.services.transfer.resuming import WAITING_DAYS, write_new
from webapp.wiring import build


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """The folder of the agent."""
    return ClaudeFolder(tmp_path / "claude")


@pytest.fixture
def app(tmp_path: Path, folder: ClaudeFolder) -> Iterator[App]:
    """An application whose agents' folders are below the test's."""
    variables = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(folder.root)}
    made = build(Config(db=tmp_path / "c.db", tokenizer=False, follow=False, env=variables))
    yield made
    made.close()


@pytest.fixture
def transcript(folder: ClaudeFolder, tmp_path: Path) -> Transcript:
    """A long session: requests, reasoning, calls with large outputs, and answers."""
    made = folder.transcript(cwd=str(tmp_path))
    made.user("Fix the login race")
    for step in range(30):
        made.think(f"Step {step} is next.")
        made.call("Bash", {"command": f"step {step}"}, words(900), tokens=20_000 + 1_000 * step)
    made.assistant("Done.", tokens=51_000)
    made.user("And the logout?")
    made.assistant("It is fine.", tokens=52_000)
    return made


def read(app: App, path: Path) -> str:
    """Import a local file or the largest session of an archive; return the session's id."""
    archive = path.parents[2] if path.parents[1].name == "session" else path
    if archive.is_dir() or archive.suffix == ".db":
        return max(app.importing.import_sessions(archive), key=lambda one: one[1].added)[1].session_id
    return app.importing.import_file(path.name, path.read_bytes(), place=path)[0].session_id


def rows(made: Resumed) -> list[dict[str, Any]]:
    """Return the rows of a copy."""
    return [orjson.loads(line) for line in Path(made.path).read_bytes().splitlines()]


@pytest.fixture
def made(app: App, transcript: Transcript) -> Resumed:
    """A pruned copy of the session."""
    return app.resuming.resume(read(app, transcript.path), prune=True, max_tokens=35_000)


class TestTheCopy:
    """The pruned copy, a new session in the agent's folder."""

    def test_is_in_the_agents_folder(self, made: Resumed, transcript: Transcript) -> None:  # X22
        """The copy is in the folder of the project, and the command names its id."""
        assert Path(made.path) == transcript.path.parent / f"{made.session_id}.jsonl"
        assert made.line == f"cd {made.cwd} && claude --resume {made.session_id}"

    def test_is_readable_by_its_owner_only(self, made: Resumed) -> None:  # X22
        """The mode is that of the agent's own files."""
        assert stat.S_IMODE(Path(made.path).stat().st_mode) == 0o600

    def test_is_pruned_if_a_size_is_given(self, app: App, transcript: Transcript) -> None:  # X22
        """A size is not ignored because nothing else asks for a prune."""
        session = read(app, transcript.path)
        app.resuming.resume(session, max_tokens=35_000)
        assert [one.kind for one in app.operations.list(session)] == ["prune"]

    def test_leaves_the_original_unchanged(self, app: App, transcript: Transcript) -> None:  # X22
        """Not a byte of the original changes."""
        session, before = read(app, transcript.path), transcript.path.read_bytes()
        app.resuming.resume(session, prune=True, max_tokens=35_000)
        assert transcript.path.read_bytes() == before

    def test_never_overwrites_a_file(self, tmp_path: Path) -> None:  # X22
        """An existing file of that name stays unchanged."""
        taken = tmp_path / "taken.jsonl"
        taken.write_text("mine")
        with pytest.raises(FileExistsError):
            write_new(taken, b"ours")
        assert taken.read_text() == "mine"

    @pytest.mark.parametrize("prune", [False, True])
    def test_is_not_recorded_if_it_cannot_be_written(
        self, app: App, transcript: Transcript, *, prune: bool
    ) -> None:  # X22
        """If a file is in place of the folder, no copy is recorded and nothing is pruned."""
        session = read(app, transcript.path)
        projects = transcript.path.parent.parent
        shutil.rmtree(projects)
        projects.write_text("a file")
        with pytest.raises(Conflict, match="cannot be written"):
            app.resuming.resume(session, prune=prune, max_tokens=35_000 if prune else None)
        assert app.store.copies.of(session) == []
        assert app.operations.list(session) == []

    def test_is_refused_in_a_read_only_folder(
        self, app: App, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X22
        """The error says so before anything is pruned."""
        session = read(app, transcript.path)
        monkeypatch.setattr("webapp.services.transfer.resuming.os.access", lambda *_: False)  # root may write
        with pytest.raises(Conflict, match="read-only"):
            app.resuming.resume(session, prune=True, max_tokens=35_000)
        assert app.operations.list(session) == []

    @pytest.mark.parametrize(
        "name",
        [
            'it\'s "odd" $(touch x) `y`;&',
            *("two\nlines", "\n", "a\tb", "-rf", "é 日本", "x" * 240),
            *("\x1b[31mred\x03", "100 % \\n\x07", "\u202ekcab"),
        ],
    )
    def test_is_resumed_in_a_folder_of_any_name(
        self, app: App, folder: ClaudeFolder, tmp_path: Path, name: str
    ) -> None:  # X22
        """A shell that runs the line enters the folder and runs nothing else, and the line has no control character."""
        place = tmp_path / name
        place.mkdir()
        made = folder.transcript(cwd=str(place))
        made.user("Hello")
        made.assistant("Hi.", tokens=1_000)
        line = app.resuming.resume(read(app, made.path)).line
        done = subprocess.run(
            ["sh", "-c", f"claude() {{ pwd; }}; {line}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{place}\n"
        assert line.isprintable() or name == "\n"
        assert not (place / "x").exists()
        assert not (tmp_path / "x").exists()

    def test_has_a_title_that_says_it_is_pruned(self, app: App, made: Resumed) -> None:  # X22
        """Coppice and the agent list it under this title."""
        copy = read(app, Path(made.path))
        assert app.sessions.get(copy).title == "Fix the login race (pruned)"

    def test_has_no_usage_of_the_original(self, made: Resumed) -> None:  # X22
        """Neither the agent nor Coppice counts it as full as the original."""
        assert not [row for row in rows(made) if "usage" in row.get("message", {})]

    def test_has_no_reasoning_after_a_cut(self, made: Resumed) -> None:  # X22
        """The newest models refuse reasoning after a changed history."""
        blocks = [
            b for row in rows(made) for b in row.get("message", {}).get("content", []) if isinstance(b, dict)
        ]
        assert blocks
        assert not [b for b in blocks if b["type"] == "thinking"]

    def test_keeps_reasoning_without_a_cut(self, app: App, transcript: Transcript) -> None:
        """A complete copy has the same history and title as the original."""
        made = app.resuming.resume(read(app, transcript.path))
        assert any(b.get("type") == "thinking" for row in rows(made) for b in row.get("message", {}).get("content", [])
                   if isinstance(b, dict))  # fmt: skip
        assert made.title == "Fix the login race"

    def test_is_not_called_pruned_after_operations_of_the_agent(
        self, app: App, transcript: Transcript
    ) -> None:  # X22
        """Clearings and compactions of the agent are no prunes."""
        session = read(app, transcript.path)
        app.ingest.append_records(session, [Cleared((), 900, "cleared"), Compaction(None, "auto", None, "c")])
        assert app.sessions.get(session).operations > 0
        assert app.resuming.resume(session).title == "Fix the login race"

    def test_for_an_import_is_deleted_after_it(self, app: App) -> None:  # X22
        """OpenCode imports a file, which is not needed when its session appears."""
        made = app.resuming.resume(read(app, sample_of("opencode")), cwd=Path.cwd())
        assert Path(made.path).exists()
        app.ingest.ensure(made.session_id, "opencode")
        assert not Path(made.path).exists()

    def test_that_was_never_imported_is_deleted_after_a_week(self, app: App) -> None:  # X22
        """Tidying deletes it after that time, and not before."""
        made = app.resuming.resume(read(app, sample_of("opencode")), cwd=Path.cwd())
        app.resuming.tidy()
        assert Path(made.path).exists()
        long_ago = app.environment.clock() / 1000 - (WAITING_DAYS * 24 + 1) * 3600
        os.utime(made.path, (long_ago, long_ago))
        app.resuming.tidy()
        assert not Path(made.path).exists()

    def test_begins_with_a_message_of_the_user(self, app: App, transcript: Transcript) -> None:  # X22, X6
        """If the first message was dropped, a note replaces it, because providers refuse another role."""
        session = read(app, transcript.path)
        app.by_hand.drop(session, app.messages.by_number(session, [1])[0].id)
        first = rows(app.resuming.resume(session))[0]
        assert (first["type"], first["message"]["content"]) == ("user", PRUNED_NOTE)

    def test_can_be_made_again(self, app: App, transcript: Transcript, made: Resumed) -> None:
        """A second copy is made without further pruning if the session is within the budget."""
        again = app.resuming.resume(transcript.session, prune=True, max_tokens=35_000)
        assert (again.operation, again.tokens_promised) == (None, made.tokens_promised)
        assert again.session_id != made.session_id


class TestThePromise:
    """The link between a copy and its origin."""

    def test_excludes_dropped_reasoning(self, app: App, transcript: Transcript, made: Resumed) -> None:
        """The promised size is that of the pruned view less the dropped reasoning."""
        assert made.tokens_promised < app.sessions.get(transcript.session).pruned.tokens < 36_000

    def test_is_shown_with_the_input_of_the_first_call(
        self, app: App, transcript: Transcript, made: Resumed
    ) -> None:  # X22
        """Both sessions have the promised and the real size, which is null before the first call."""
        copy = Transcript(Path(made.path), made.session_id, made.cwd)
        read(app, copy.path)
        first = app.sessions.stats(made.session_id).copy_of
        assert first is not None
        assert (first.origin_id, first.tokens_first_call) == (transcript.session, None)
        copy.user("Go on.")
        copy.assistant("I do.", tokens=34_321)
        copy.assistant("And more.", tokens=40_000)
        read(app, copy.path)
        then = app.sessions.stats(made.session_id).copy_of
        assert then is not None
        assert (then.tokens_before, then.tokens_promised) == (made.tokens_before, made.tokens_promised)
        assert then.tokens_first_call == 34_321
        assert app.sessions.stats(transcript.session).copies == [then]


class TestOtherAgents:
    """Every agent that can resume from a copy."""

    @pytest.mark.parametrize("source", [a.source for a in AGENTS.values() if a.transcripts is not None])
    def test_get_a_copy_that_reads_back_without_usage(
        self, app: App, source: str, tmp_path: Path
    ) -> None:  # X22
        """The copy is in the agent's folder or imported from Coppice's, and has the same messages."""
        session = read(app, sample_of(source))
        made = app.resuming.resume(session, cwd=tmp_path)
        roots = AGENTS[source].roots({"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")})
        path = Path(made.path)
        if made.import_command:
            assert (path.parent, made.import_command[-1]) == (tmp_path / "copies", str(path))
            path = fake_import(path, tmp_path)
        else:
            assert any(path.is_relative_to(root) for root in roots)
        copy = app.store.sessions.get(read(app, path))
        assert copy.id == made.session_id
        assert app.store.usage.calls(copy.key) == []
        theirs, ours = (app.context.get(one).messages for one in (session, copy.id))
        assert len(theirs) == len(ours) > 0


class TestRefusals:
    """Sessions that cannot be resumed."""

    def test_include_sessions_of_programs(self, app: App) -> None:
        """Such a session has no agent."""
        session = app.new_sessions.create(title="fed", model="gpt-5").id
        with pytest.raises(Conflict, match="only the session of an agent"):
            app.resuming.resume(session)

    def test_include_agents_that_cannot_resume(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X22
        """The error says what to do instead."""
        agent = AGENTS["pi"]
        monkeypatch.setitem(AGENTS, agent.source, replace(agent, transcripts=None))
        app.ingest.ensure("s", agent.source)
        with pytest.raises(Conflict, match="cannot resume from a copy; export the session instead"):
            app.resuming.resume("s")

    def test_include_sessions_whose_beginning_is_elsewhere(self, app: App) -> None:  # X22
        """A fork of Codex begins with messages in its parent's transcript, which can be gone."""
        app.ingest.ensure("s", "codex")
        app.ingest.append_records("s", [Meta(inherits=True), Entry(Message("user", (Text("Go on"),)), "1")])
        with pytest.raises(Conflict, match="lacks its first messages"):
            app.resuming.resume("s")

    def test_include_sessions_with_a_missing_folder(self, app: App, folder: ClaudeFolder) -> None:
        """The caller can name another folder."""
        transcript = folder.transcript(cwd="/nowhere/at/all")
        transcript.user("Hello")
        transcript.assistant("Hello.")
        session = read(app, transcript.path)
        with pytest.raises(
            Conflict, match=f"/nowhere/at/all is not on this machine.*coppice resume {session} --cwd"
        ):
            app.resuming.resume(session)
        assert app.store.copies.of(session) == []
        assert app.resuming.resume(session, cwd=folder.root).cwd == str(folder.root)
