"""Transcripts pushed to a server, which has the same sessions as if it followed them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Server, running_server
from tests.shared import ROOT
from tests.webapp.agents.opencode.layouts import as_database
from tests.webapp.sending.machines import Machine
from tests.webapp.services.ingest.followed_file import NAME, row
from webapp.agents.reading.readers import CHUNK_RECORDS
from webapp.app import App
from webapp.bodies import MessagesQuery, PushedFile, PushedLines
from webapp.config import Config
from webapp.errors import Conflict
from webapp.redaction import redactor
from webapp.sending import sender
from webapp.sending.server import Unreachable
from webapp.services.ingest.pushed import Sender
from webapp.wiring import build

SAMPLES = ROOT / "tests" / "transcripts"


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Server]:
    """Yield a server that follows nothing itself."""
    with running_server(tmp_path / "server", tokenizer=False) as running:
        yield running


@pytest.fixture(autouse=True)
def server_folder(tmp_path: Path) -> None:
    """Create the folder of the server."""
    (tmp_path / "server").mkdir()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with the folder of one agent's transcripts."""
    made = tmp_path / "ada"
    transcript(made).parent.mkdir(parents=True)
    return made


def transcript(home: Path, name: str = NAME) -> Path:
    """The path of a transcript."""
    return home / ".claude" / "projects" / "-src" / f"{name}.jsonl"


def texts(app: App, session: str = NAME) -> list[str]:
    """Return the texts of a session, oldest first."""
    return [m.text for m in app.messages.page(session, MessagesQuery(sort="oldest")).messages]


def contents(app: App) -> dict[str, Any]:
    """Return the entries, context, totals and usage of each session in the store."""
    found: dict[str, Any] = {}
    for one in app.store.sessions.all():
        entries = app.store.log.entries(one.key, 0, one.next_seq)
        found[one.id] = {
            "row": (one.title, one.source, one.model, one.parent_id, one.agent_type, one.cwd, one.turns,
                    one.malformed, one.unknown, one.operations, one.notes, one.last_entry_id),
            "entries": [(e.source_id, e.role, e.parts if hasattr(e, "parts") else None) for e in entries],
            "views": [[(i.ref, i.kind) for i in app.store.contexts.items(one.key, view)] for view in (0, 1)],
            "totals": app.store.contexts.totals(one.key),
            "operations": [(o.kind, o.tokens_before, o.tokens_after) for o in app.store.operations.all(one.key)],
        }  # fmt: skip
    return found


def every_agent(home: Path) -> Path:
    """A folder with the samples of every agent, some as a database."""
    watched = home / "samples"
    shutil.copytree(SAMPLES, watched, ignore=shutil.ignore_patterns("opencode"))
    (watched / "opencode").mkdir()
    as_database(watched / "opencode")
    return watched


def lines_of(
    session_id: str, *more: dict[str, Any], parent_id: str | None = None, **fields: Any
) -> PushedLines:
    """Return the first chunk of a transcript, with one message and the records `more`."""
    message = {"role": "user", "parts": [{"type": "text", "text": "hello"}]}
    file = PushedFile(
        key=f"{session_id}.jsonl", source="claude-code", session_id=session_id, parent_id=parent_id
    )
    records = [{"record": "entry", "source_id": "e1", "message": message, **fields}, *more]
    return PushedLines(host="any", user="any", file=file, before="", after={"n": 1}, records=records)


class TestPushedSessions:
    """The sessions on the server."""

    def test_equal_sessions_that_the_server_follows(self, team: Server, home: Path, tmp_path: Path) -> None:
        """Sub-agents, compactions, rewinds, usage and notes of every agent are the same, down to the hash chain."""
        watched = every_agent(home)
        machine = Machine(team.url, home, watch=(watched,))
        machine.push()
        own = build(
            Config(db=tmp_path / "own.db", tokenizer=False, watch=(watched,), env={"HOME": str(home)})
        )
        follows = own.watcher.following
        for file in follows.discover():
            follows.read_new(file)
        pushed, read = contents(team.app), contents(own)
        own.close()
        assert len(read) > 10
        assert pushed == read

    def test_have_user_and_host(self, team: Server, home: Path) -> None:
        """Sub-agents have the user and host of their session."""
        machine = Machine(team.url, home, watch=(every_agent(home),))
        machine.push()
        sessions = team.app.sessions.list()
        assert {(one.user, one.host) for one in sessions} == {("ada", "laptop")}
        assert any(one.parent_id for one in sessions)

    def test_never_open_a_file_of_the_server(self, team: Server, home: Path) -> None:
        """A path of another machine is not opened on the server."""
        transcript(home).write_bytes(row(0))
        Machine(team.url, home).push()
        assert team.app.sessions.get(NAME).file is None

    def test_are_redacted_on_their_machine(self, team: Server, home: Path) -> None:
        """The credential is in neither the message nor the row nor the backlog."""
        pytest.importorskip("detect_secrets")
        secret = "ghp_" + "a1B2" * 9
        transcript(home).write_bytes(row(0, f"token {secret}"))
        machine = Machine(team.url, home, redactor=redactor())
        machine.read()
        waiting = b"".join(file.read_bytes() for file in machine.backlog.folder.rglob("*.json"))
        assert secret.encode() not in waiting
        machine.send()
        [key] = [one.key for one in team.app.store.sessions.all()]
        [entry] = team.app.store.log.entries(key, 0, 0)
        assert "[redacted: GitHub Token]" in entry.message.text
        assert secret.encode() not in (entry.raw or b"")


class TestNothingIsLostOrRepeated:
    """Kills of either side, and an unreachable server."""

    def test_while_the_server_is_unreachable(self, tmp_path: Path, home: Path) -> None:
        """Lines wait on disk, even for another process, and after the transcript was deleted."""
        machine = Machine("http://127.0.0.1:9", home)
        transcript(home).write_bytes(row(0) + row(1))
        machine.read()
        with pytest.raises(Unreachable):
            machine.send()
        machine.end()
        transcript(home).unlink()
        with running_server(tmp_path / "server") as team:
            later = Machine(team.url, home)
            later.send()
            assert texts(team.app) == ["hello 0", "hello 1"]
            assert len(later.backlog) == 0

    def test_by_a_kill_before_the_server_heard_of_a_chunk(self, team: Server, home: Path) -> None:
        """The next process sends the backlog, and continues after it."""
        transcript(home).write_bytes(row(0))
        machine = Machine(team.url, home)
        machine.read()
        machine.end()
        with transcript(home).open("ab") as file:
            file.write(row(1))
        later = Machine(team.url, home)
        later.push()
        assert texts(team.app) == ["hello 0", "hello 1"]

    def test_by_a_kill_before_the_answer(self, team: Server, home: Path) -> None:
        """The server acknowledges a chunk again that it has."""
        transcript(home).write_bytes(row(0))
        machine = Machine(team.url, home)
        machine.read()
        one = machine.backlog.first()
        assert one is not None
        assert machine.server.push(machine.backlog.body(one))["state"] == "taken"
        machine.end()
        later = Machine(team.url, home)
        assert later.server.push(later.backlog.body(one))["state"] == "known"
        later.push()
        assert texts(team.app) == ["hello 0"]

    def test_by_a_server_that_forgot(self, tmp_path: Path, home: Path) -> None:
        """After a restored backup the transcript is read again from the server's position."""
        lines = [row(n) for n in range(3)]
        transcript(home).write_bytes(lines[0])
        (tmp_path / "old").mkdir()
        with running_server(tmp_path / "server") as team, running_server(tmp_path / "old") as old:
            for url in (old.url, team.url):
                first = Machine(url, home, folder=tmp_path / "backlog")
                first.push()
                first.end()
                shutil.rmtree(tmp_path / "backlog")
            transcript(home).write_bytes(b"".join(lines[:2]))
            machine = Machine(team.url, home, folder=tmp_path / "backlog")
            machine.push()
            machine.end()
            again = Machine(old.url, home, folder=tmp_path / "backlog")
            again.read()
            again.send()
            assert texts(old.app) == ["hello 0", "hello 1"]
            transcript(home).write_bytes(b"".join(lines))
            again.push()
            assert texts(old.app) == ["hello 0", "hello 1", "hello 2"]

    def test_by_a_server_that_forgot_while_the_transcript_was_deleted(
        self, tmp_path: Path, home: Path
    ) -> None:
        """The backlog has the only remaining lines, and they are sent."""
        (tmp_path / "old").mkdir()
        transcript(home).write_bytes(row(0))
        with running_server(tmp_path / "server") as team, running_server(tmp_path / "old") as old:
            machine = Machine(team.url, home)
            machine.push()
            transcript(home).write_bytes(row(0) + row(1))
            machine.read()
            machine.end()
            transcript(home).unlink()
            Machine(old.url, home).send()
            assert texts(old.app) == ["hello 1"]

    def test_by_a_server_that_forgot_and_is_asked_again(
        self, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A transcript that does not grow any more is noticed by a comparison, without a new start."""
        (tmp_path / "old").mkdir()
        transcript(home).write_bytes(row(0))
        with running_server(tmp_path / "server") as team, running_server(tmp_path / "old") as old:
            machine = Machine(team.url, home)
            machine.push()
            machine.server.address = old.url
            machine.push()
            assert old.app.sessions.list() == []
            monkeypatch.setattr(sender, "COMPARE_SECONDS", 0.0)
            machine.send()
            assert texts(old.app) == ["hello 0"]

    def test_by_a_machine_with_another_name_now(self, team: Server, home: Path) -> None:
        """The whole transcript comes again, and changes nothing."""
        transcript(home).write_bytes(row(0) + b"{broken\n" + row(1))
        machine = Machine(team.url, home)
        machine.push()
        machine.end()
        before = contents(team.app)
        Machine(team.url, home, host="renamed").push()
        assert contents(team.app) == before
        assert team.app.sessions.get(NAME).malformed == 1

    def test_by_a_file_that_was_cut_off_while_the_server_was_away(self, team: Server, home: Path) -> None:
        """The lines that were read wait, and those that it has now follow."""
        machine = Machine(team.url, home)
        transcript(home).write_bytes(row(0) + row(1))
        machine.read()
        transcript(home).write_bytes(row(2))
        machine.read()
        transcript(home).rename(transcript(home, "old"))
        transcript(home).write_bytes(row(3))
        machine.read()
        machine.send()
        assert texts(team.app) == [f"hello {n}" for n in range(4)]

    def test_by_a_machine_that_forgot(self, team: Server, home: Path, tmp_path: Path) -> None:
        """A machine without its backlog continues at the server's position."""
        transcript(home).write_bytes(row(0))
        Machine(team.url, home).push()
        with transcript(home).open("ab") as file:
            file.write(row(1))
        Machine(team.url, home, folder=tmp_path / "other").push()
        assert texts(team.app) == ["hello 0", "hello 1"]

    def test_by_lines_before_a_gap(self, team: Server, home: Path) -> None:
        """A chunk behind lines that the server does not have is not taken; they are read again before it."""
        transcript(home).write_bytes(row(0))
        machine = Machine(team.url, home)
        machine.read()
        first = machine.backlog.first()
        assert first is not None
        with transcript(home).open("ab") as file:
            file.write(row(1))
        machine.read()
        machine.backlog.acknowledge(first)
        machine.send()
        assert texts(team.app) == ["hello 0", "hello 1"]

    def test_by_a_file_that_was_replaced(self, team: Server, home: Path) -> None:
        """As for a followed file, its new lines are appended."""
        machine = Machine(team.url, home)
        transcript(home).write_bytes(row(0) + row(1))
        machine.push()
        transcript(home).write_bytes(row(7, "other"))
        machine.push()
        assert texts(team.app) == ["hello 0", "hello 1", "other 7"]


class TestTheBacklog:
    """The backlog of lines."""

    def test_belongs_to_one_process(self, home: Path) -> None:
        """A second one would send lines twice and out of order."""
        machine = Machine("http://127.0.0.1:9", home)
        with pytest.raises(Exception, match="another `coppice follow`"):
            Machine("http://127.0.0.1:9", home)
        machine.end()
        Machine("http://127.0.0.1:9", home).end()

    def test_stops_reading_at_its_limit(self, home: Path) -> None:
        """The rest is read from the transcript after the next start."""
        transcript(home).write_bytes(b"".join(row(n) for n in range(2 * CHUNK_RECORDS)))
        machine = Machine("http://127.0.0.1:9", home, limit=1)
        machine.files.closed.set()
        machine.read()
        assert len(machine.backlog) <= 1

    def test_excludes_refused_files_from_its_limit(self, team: Server, home: Path) -> None:
        """Refused files cannot be sent, so they do not count."""
        machine = Machine(team.url, home, limit=1)
        transcript(home).write_bytes(row(0))
        machine.read()
        machine.files.unwanted.add(str(transcript(home)))
        other = NAME.replace("1", "9")
        transcript(home, other).write_bytes(row(0).replace(NAME.encode(), other.encode()))
        machine.push()
        assert texts(team.app, other) == ["hello 0"]

    def test_waits_for_a_full_disk(
        self, team: Server, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Reading continues where it paused, even if the transcript does not change."""
        monkeypatch.setattr(sender, "DISK_PAUSE", 0.001)
        machine = Machine(team.url, home)
        put, times = machine.backlog.put, iter([OSError("No space left on device")] * 2)

        def failing(*given: Any) -> None:
            if (error := next(times, None)) is not None:
                raise error
            put(*given)

        monkeypatch.setattr(machine.backlog, "put", failing)
        transcript(home).write_bytes(row(0))
        machine.push()
        assert texts(team.app) == ["hello 0"]
        assert caplog.text.count("No space left") == 1

    def test_reads_damaged_parts_again(self, team: Server, home: Path) -> None:
        """The other parts of a deleted transcript are still sent."""
        gone = NAME.replace("1", "9")
        machine = Machine(team.url, home)
        for n in range(3):
            for name in (NAME, gone):
                with transcript(home, name).open("ab") as grows:
                    grows.write(row(n).replace(NAME.encode(), name.encode()))
            machine.read()
        transcript(home, gone).unlink()
        for file in sorted((home / "follow" / "waiting").glob("*.json"))[:2]:
            file.write_bytes(file.read_bytes().replace(b"hello 0", b"hullo 0"))
        machine.send()
        assert texts(team.app) == ["hello 0", "hello 1", "hello 2"]
        assert texts(team.app, gone) == ["hello 1", "hello 2"]

    def test_loses_a_damaged_file_and_reads_its_part_again(self, team: Server, home: Path) -> None:
        """Its lines are still in the transcript."""
        transcript(home).write_bytes(row(0))
        machine = Machine(team.url, home)
        machine.read()
        machine.end()
        [waiting] = (home / "follow" / "waiting").glob("*.json")
        waiting.write_bytes(b"{")
        Machine(team.url, home).push()
        assert texts(team.app) == ["hello 0"]


class TestOwnership:
    """Sessions of other users, and deleted ones."""

    def test_another_users_session_is_not_changed(
        self, team: Server, home: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Other files are still pushed, and the log names the refused one."""
        transcript(home).write_bytes(row(0))
        Machine(team.url, home).push()
        with transcript(home).open("ab") as file:
            file.write(row(1, "forged"))
        other = NAME.replace("1", "9")
        transcript(home, other).write_bytes(row(0).replace(NAME.encode(), other.encode()))
        eve = Machine(team.url, home, folder=home / "eve", user="eve")
        eve.push()
        assert texts(team.app) == ["hello 0"]
        assert texts(team.app, other) == ["hello 0"]
        assert "came from elsewhere" in caplog.text

    def test_a_sub_agent_cannot_change_a_session_of_another(self, team: Server, home: Path) -> None:
        """This holds for a conversation in a transcript and for a named parent."""
        pushed = team.app.pushed
        ada, eve = Sender("ada", "laptop"), Sender("eve", "box")
        pushed.receive(ada, lines_of("s.agent-1"))
        pushed.receive(ada, lines_of("p"))
        with pytest.raises(Conflict, match="came from elsewhere"):
            pushed.receive(eve, lines_of("s", stream="agent-1"))
        assert team.app.store.sessions.find("s") is None
        pushed.receive(eve, lines_of("e", {"record": "meta", "parent": "p"}, parent_id="p"))
        assert team.app.sessions.get("e").parent_id is None

    def test_positions_are_separate_per_user(self, team: Server) -> None:
        """No choice of user, host and file names reads another user's position."""
        pushed = team.app.pushed
        one, other = Sender("a", "b@c"), Sender("a@b", "c")
        pushed.receive(one, lines_of("s"))
        assert pushed.differing(other, {"s.jsonl": ""}).positions == []

    def test_a_deleted_session_stays_deleted(self, team: Server, home: Path) -> None:
        """This is the same as for a followed file."""
        transcript(home).write_bytes(row(0))
        machine = Machine(team.url, home)
        machine.push()
        team.app.sessions.delete(NAME)
        with transcript(home).open("ab") as file:
            file.write(row(1))
        machine.push()
        assert team.app.sessions.list() == []
        assert len(machine.backlog) == 0

    def test_the_name_of_the_token_comes_before_the_login_name(self, team: Server, home: Path) -> None:
        """A user cannot push in another's name."""
        _, token = team.app.access_tokens.make("grace")
        transcript(home).write_bytes(row(0))
        Machine(team.url, home, token=token, user="ada").push()
        assert team.app.sessions.get(NAME).user == "grace"
