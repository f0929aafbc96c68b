"""Followed files: each new row is read once, across restarts."""

from __future__ import annotations

import json
import os
import pkgutil
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.shared import shared_data
from tests.webapp.agents.codex.rollouts import FORK, OWN, SECOND, Rollouts, turn, up_to
from tests.webapp.agents.opencode.layouts import TREE, as_database
from tests.webapp.building import heard
from tests.webapp.services.ingest.followed_file import NAME, Place, row
from webapp.agents.reading.readers import CHUNK_RECORDS
from webapp.agents.records import path_of
from webapp.app import App
from webapp.bodies import MessagesQuery
from webapp.config import Config
from webapp.errors import BusyStore
from webapp.events import ProblemReported
from webapp.services.ingest.following import Following, TranscriptAppender
from webapp.wiring import build

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home directory without any transcript line."""
    made = Place(tmp_path)
    yield made
    made.app.close()


class TestFollowing:
    """Following one transcript."""

    def test_reads_new_lines_once(self, place: Place) -> None:  # X12
        """A half-written line is read when it is complete."""
        place.write(row(0), row(1)[:20])
        assert place.look() == 1
        place.write(row(1)[20:], row(2))
        assert place.look() == 2
        assert place.look() == 0
        assert place.texts() == ["hello 0", "hello 1", "hello 2"]

    def test_ignores_a_file_that_becomes_a_link_to_elsewhere(
        self, place: Place, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Someone who can write to the folder could replace a known file by a link."""
        place.write(row(0))
        place.look()
        secret = place.home / "secret.jsonl"
        secret.write_bytes(row(0) + row(1, "secret"))
        place.file.unlink()
        place.file.symlink_to(secret)
        following = place.app.watcher.following
        assert [following.read_new(file) for file in following.files_at(place.file)] == [0]
        assert f"{place.file} leads out of" in caplog.text

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
    def test_reads_a_file_in_a_folder_whose_name_is_not_utf_8(self, place: Place) -> None:  # X12
        """Its path is shown with the bytes escaped, and leads back to it."""
        folder = Path(os.fsdecode(os.fsencode(place.file.parent) + b"\xe9"))
        place.file.parent.rename(folder)
        place.file = folder / place.file.name
        place.write(row(0))
        assert place.look() == 1
        place.write(row(1))
        assert place.look() == 1
        assert place.texts() == ["hello 0", "hello 1"]
        path = place.app.store.sessions.get(NAME).path
        assert path is not None
        assert (path.encode().isascii(), path_of(path)) == (True, place.file)

    def test_counts_a_binary_file_once(self, place: Place) -> None:
        """Its fault stays the same after a restart and after the file has grown."""
        for _ in range(2):
            place.write(bytes(range(256)) * 12)
            place.look()
            assert place.app.sessions.get(NAME).malformed == 1
            place.app.close()
            place.app = place.open()

    def test_continues_after_a_restart(self, place: Place) -> None:  # X12
        """Reading continues from the stored position; an unchanged file is not opened."""
        place.write(row(0), row(1))
        place.look()
        place.app.close()
        place.app = place.open()
        assert place.look() == 0
        place.write(row(2))
        assert place.look() == 1
        assert place.app.sessions.get(NAME).messages == 3
        assert place.app.operations.list(NAME) == []

    def test_counts_bad_lines_once_in_a_rewritten_file(self, place: Place) -> None:
        """A file read again from its start is counted from zero."""
        lines = [row(0), b"broken\n", row(1)]
        for written in (lines, lines[:1], lines, [*lines, row(2)], [row(3), *lines]):
            place.file.write_bytes(b"".join(written))
            place.look()
        assert place.app.sessions.get(NAME).malformed == 1

    def test_continues_after_a_file_was_truncated(self, place: Place) -> None:
        """Stored rows stay unchanged, and new rows are read."""
        place.write(row(0), row(1))
        place.look()
        place.file.write_bytes(row(0))
        place.look()
        place.write(row(7))
        place.look()
        assert place.texts() == ["hello 0", "hello 1", "hello 7"]
        assert list(place.app.verify()) == []

    def test_counts_bad_lines_once(self, place: Place) -> None:
        """Bad lines are listed with their numbers, and the others are used."""
        place.write(row(0), b"{broken\n", row(1))
        place.look()
        place.look()
        session = place.app.sessions.get(NAME)
        assert (session.malformed, session.messages) == (1, 2)
        assert session.notes[0].startswith(f"{place.file.name}: line 2: ")

    def test_skips_only_a_row_on_which_the_decoder_fails(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The row is counted and noted with its line like a malformed one, and so it is in an import."""
        odd = b'{"type":"attachment","attachment":{"type":"file"}}\n'
        monkeypatch.setattr("webapp.agents.claude_code.decoder.attachment_parts", lambda row: row["nothing"])
        place.write(row(0), odd, row(1))
        place.look()
        session = place.app.sessions.get(NAME)
        assert (session.malformed, session.messages) == (1, 2)
        assert session.notes[0].startswith(f"{place.file.name}: line 2: the row could not be used: ")
        [imported] = place.app.importing.import_file("a.jsonl", row(3) + odd + row(4))
        assert (imported.added, imported.skipped) == (2, 1)
        assert imported.problems[0].startswith("line 2: the row could not be used: ")

    def test_ignores_a_deleted_session(self, place: Place) -> None:
        """A deleted session stays deleted when its file grows, and after a restart."""
        place.write(row(0))
        place.look()
        place.app.sessions.delete(NAME)
        place.write(row(1))
        assert place.look() == 0
        assert place.app.sessions.list() == []

    def test_never_writes_to_the_agents_files(self, place: Place) -> None:  # X12
        """Contents, times and neighbouring files stay unchanged."""
        place.write(row(0), row(1))
        before = place.file.stat()
        place.look()
        place.app.sessions.get(NAME)
        after = place.file.stat()
        assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
        assert [p.name for p in place.file.parent.iterdir()] == [place.file.name]

    def test_stops_after_the_current_portion(self, place: Place) -> None:
        """A stop ends the read after the current chunk, and the next read continues there."""
        place.write(*map(row, range(2 * CHUNK_RECORDS)))
        following = place.app.watcher.following
        [file], stop = following.discover(), Event()
        stop.set()
        added = following.read_new(file, stop)
        assert 0 < added <= CHUNK_RECORDS
        other = place.open()
        assert place.look(other) == 2 * CHUNK_RECORDS - added
        other.close()
        newest = place.app.messages.page(NAME, MessagesQuery(limit=3)).messages
        assert [m.text for m in newest] == [f"hello {2 * CHUNK_RECORDS - n}" for n in (1, 2, 3)]

    def test_finds_named_folders(self, place: Place, tmp_path: Path) -> None:
        """Named folders are followed in addition to the usual ones."""
        extra = tmp_path / "elsewhere"
        extra.mkdir()
        (extra / f"{NAME}.jsonl").write_bytes(row(0))
        appender = TranscriptAppender(place.app.environment, place.app.ingest)
        following = Following(place.app.environment, appender, (extra,), {"HOME": str(tmp_path / "none")})
        assert [f.path.parent for f in following.discover()] == [extra]
        assert following.files_at(extra / f"{NAME}.jsonl")
        assert not following.files_at(tmp_path / "other.jsonl")

    def test_reports_an_unreadable_file(self, place: Place) -> None:
        """The report names the session of the file."""
        place.write(row(0))
        place.look()
        events: list[Any] = heard(place.app)
        following = place.app.watcher.following
        following.failed(following.discover()[0], BusyStore("busy"))
        assert events == [ProblemReported(NAME, f"{NAME}.jsonl could not be read: busy")]


def gemini(*texts: str) -> bytes:
    """Return a session of Gemini CLI in the older layout."""
    messages = [
        {
            "id": f"m{n}",
            "timestamp": "2026-01-31T12:00:00Z",
            "type": "gemini" if n % 2 else "user",
            "content": text,
        }
        for n, text in enumerate(texts)
    ]
    return json.dumps({"sessionId": "g1", "projectHash": "p", "messages": messages}, indent=1).encode()


class TestWholeFiles:
    """Sessions in files that are rewritten as a whole, or in a database."""

    def document(self, place: Place) -> Path:
        """Return the path at which Gemini CLI would write one."""
        path = place.home / ".gemini" / "tmp" / "p" / "chats" / "session-2026-01-31-g1.json"
        path.parent.mkdir(parents=True)
        return path

    def said(self, app: App, session_id: str) -> list[str]:
        """Return the texts of a session, oldest first."""
        return [m.text for m in app.messages.page(session_id, MessagesQuery(sort="oldest")).messages]

    def test_add_only_their_new_messages(self, place: Place) -> None:  # X12
        """New messages are added, after a restart too, and an import of the same file adds nothing."""
        path = self.document(place)
        path.write_bytes(gemini("hi", "hello"))
        assert place.look() == 2
        assert place.look() == 0
        path.write_bytes(gemini("hi", "hello", "more"))
        other = place.open()
        assert place.look(other) == 1
        assert self.said(other, "g1") == ["hi", "hello", "more"]
        [again] = other.importing.import_file(str(path), path.read_bytes())
        assert (again.session_id, again.added) == ("g1", 0)
        assert list(other.verify()) == []
        other.close()

    def test_are_ignored_while_half_written(self, place: Place) -> None:
        """A half-written file is not reported, and is read when it is complete."""
        path = self.document(place)
        path.write_bytes(gemini("hi", "hello")[:80])
        assert place.look() == 0
        assert place.app.sessions.list() == []
        path.write_bytes(gemini("hi", "hello"))
        assert place.look() == 2

    def test_skip_only_a_message_on_which_the_decoder_fails(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A document and a tree of files skip one message, as a transcript skips one line."""

        def fail_on(function: str, name: str) -> None:
            known = pkgutil.resolve_name(function)

            def failing(record: dict[str, Any], *more: Any) -> Any:
                return known(record, *more) if record["id"] != name else 1 / 0

            monkeypatch.setattr(function, failing)

        fail_on("webapp.agents.gemini_cli.decoder.kind_of", "m0")
        fail_on("webapp.agents.opencode.decoder.usages_of", "msg_04")
        self.document(place).write_bytes(gemini("hi", "hello"))
        shutil.copytree(TREE, place.home / ".local" / "share" / "opencode")
        place.look()
        for session_id in ("ses_1", "g1"):
            session = place.app.sessions.get(session_id)
            assert session.malformed == 1
            assert "ZeroDivisionError" in session.notes[0]
        assert place.app.sessions.get("ses_1").messages > 3

    def test_that_stay_broken_are_reported(self, place: Place) -> None:
        """The fault is reported if the file has not changed for a while."""
        path = self.document(place)
        path.write_bytes(gemini("hi", "hello")[:80])
        os.utime(path, (1, 1))
        place.look()
        place.look()
        assert place.app.sessions.get("g1").malformed == 1

    @pytest.mark.parametrize("layout", ["tree", "database"])
    def test_of_opencode_are_followed(self, place: Place, layout: str) -> None:  # X12
        """The tree and the database give the same session."""
        root = place.home / ".local" / "share" / "opencode"
        shutil.copytree(TREE, root)
        changed = root / "storage" / "message"
        if layout == "database":
            as_database(root)
            shutil.rmtree(root / "storage")
        following = place.app.watcher.following
        files = [f for f in following.discover() if f.source == "opencode"]
        assert len(files) > 1
        added = sum(following.read_new(file) for file in files)
        assert added > 3
        assert sum(following.read_new(file) for file in following.discover()) == 0
        path = root / "opencode.db-wal" if layout == "database" else next(changed.rglob("*.json"))
        named = following.files_at(path)
        assert {f.session_id for f in named} <= {f.session_id for f in files}
        assert named
        [*imported] = place.app.importing.import_sessions(root)
        assert sum(one.added for _, one in imported) == 0
        assert list(place.app.verify()) == []

    def test_of_opencode_are_unchanged_while_a_message_is_half_written(self, place: Place) -> None:
        """A half-written message is no rewind, so the context stays and operations can be undone."""
        root = place.home / ".local" / "share" / "opencode"
        shutil.copytree(TREE, root)
        place.look()
        newest = place.app.messages.page("ses_1", MessagesQuery(sort="oldest")).messages[-1]
        place.app.by_hand.pin("ses_1", newest.id)
        before = place.app.sessions.get("ses_1")
        message = root / "storage" / "message" / "ses_1" / "msg_05.json"
        whole = message.read_bytes()
        for data, written in ((whole[:20], None), (whole[:20], (1, 1)), (whole, None)):
            message.write_bytes(data)
            if written:
                os.utime(message, written)
            assert place.look() == 0
        after = place.app.sessions.get("ses_1")
        assert (after.agent, after.operations) == (before.agent, before.operations)
        assert after.malformed == 1
        assert place.app.operations.undo("ses_1").undone == [2]

    def test_of_opencode_grow_with_their_database(self, place: Place) -> None:  # X12
        """A message written to the database is added at the next read."""
        root = place.home / ".local" / "share" / "opencode"
        shutil.copytree(TREE, root)
        path = as_database(root)
        place.look()
        db = sqlite3.connect(path)
        session = db.execute("SELECT session_id FROM message").fetchone()[0]
        at = 4_000_000_000_000
        db.execute("INSERT INTO message VALUES (?,?,?,?,?)", ["msg_z", session, at, at, '{"role": "user"}'])
        part = ["prt_z", "msg_z", session, at, at, '{"type": "text", "text": "one more thing"}']
        db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", part)
        db.commit()
        following = place.app.watcher.following
        assert sum(following.read_new(file) for file in following.files_at(path)) == 1
        assert self.said(place.app, session)[-1] == "one more thing"
        db.close()


class TestRevertedSessions:
    """A session of Codex that goes on in a new file after a revert."""

    @pytest.mark.parametrize("was_followed", [True, False])
    def test_are_one_session(self, place: Place, was_followed: bool) -> None:  # X12
        """Turns that were taken back leave the context, whether the earlier file was read or not."""
        rollouts = Rollouts(place.home / ".codex")
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        if was_followed:
            assert place.look() == 4
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        assert place.look() == (2 if was_followed else 6)
        assert place.look() == 0
        sent = place.app.context.get(OWN, "openai").messages
        assert [one["content"] for one in sent] == ["One.", "One. Done.", "Other.", "Other. Done."]
        assert place.app.store.sessions.find(SECOND) is None
        assert list(place.app.verify()) == []


class TestCompressedSessions:
    """A rollout that Codex compresses after a week, and unpacks before it writes to it again."""

    @pytest.mark.parametrize("was_followed", [True, False])
    def test_stay_the_same_sessions(self, place: Place, was_followed: bool) -> None:  # X12
        """Each message is read once, whenever the rollout is compressed or unpacked, and across restarts."""
        rollouts = Rollouts(place.home / ".codex")
        plain = rollouts.write(OWN, turn("One.", 1))
        whole = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)]).read_bytes()
        if was_followed:
            plain.write_bytes(whole[: whole.index(b"Two.")])
            assert place.look() == 2
        plain.unlink()
        packed = plain.with_name(f"{plain.name}.zst")
        packed.write_bytes(zstd.compress(whole))
        assert place.look() == (2 if was_followed else 4)
        place.app.close()
        place.app = place.open()
        assert place.look() == 0
        rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2), *turn("Three.", 3)])
        assert [file.path for file in place.app.watcher.following.discover()] == [plain]
        assert place.look() == 2
        assert place.texts(OWN) == ["One.", "One. Done.", "Two.", "Two. Done.", "Three.", "Three. Done."]
        assert len(place.app.store.usage.calls(place.app.store.sessions.get(OWN).key)) == 3

    def test_keep_the_messages_before_a_revert(self, place: Place) -> None:
        """The newer rollout names their end in the content of the older one."""
        rollouts = Rollouts(place.home / ".codex")
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        first.with_name(f"{first.name}.zst").write_bytes(zstd.compress(first.read_bytes()))
        first.unlink()
        assert place.look() == 6
        sent = place.app.context.get(OWN, "openai").messages
        assert [one["content"] for one in sent] == ["One.", "One. Done.", "Other.", "Other. Done."]

    def test_keep_the_messages_of_a_parent(self, place: Place) -> None:
        """A fork names their end in the content of the parent's rollout; an import by its bare name forgets none."""
        rollouts = Rollouts(place.home / ".codex")
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        fork = rollouts.write(FORK, turn("Mine.", 2), forked_from_id=OWN, history_base=up_to(first, 4))
        first.with_name(f"{first.name}.zst").write_bytes(zstd.compress(first.read_bytes()))
        first.unlink()
        assert place.look() == 8
        (imported,) = place.app.importing.import_file(fork.name, fork.read_bytes())
        assert (imported.session_id, imported.added) == (FORK, 0)
        sent = place.app.context.get(FORK, "openai").messages
        assert [one["content"] for one in sent] == ["One.", "One. Done.", "Mine.", "Mine. Done."]
        assert not place.app.store.sessions.get(FORK).state.get("inherits")


class TestImports:
    """A followed transcript that is imported as well."""

    @pytest.mark.parametrize("agent", ["claude-code", "codex"])
    def test_of_real_sessions_add_nothing(self, tmp_path: Path, agent: str) -> None:
        """The import has the bare name of the file, as a browser sends it."""
        home = shared_data("transcripts", agent)
        env = {"CLAUDE_CONFIG_DIR": str(home), "CODEX_HOME": str(home), "HOME": str(tmp_path)}
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env=env))
        following = app.watcher.following
        files = following.discover()
        for file in files:
            following.read_new(file)
        before = {s.id: (s.messages, s.version) for s in app.sessions.list()}
        for file in files:
            if file.path.stat().st_size:
                imported = app.importing.import_file(file.path.name, file.path.read_bytes())
                assert [(one.session_id, one.added) for one in imported] == [(file.session_id, 0)]
        assert {s.id: (s.messages, s.version) for s in app.sessions.list()} == before
        app.close()


class TestFilesWithoutMessages:
    """Followed files without any message."""

    FACTS = b'{"type":"custom-title","customTitle":"Roses","sessionId":"x"}\n{"type":"nobody-knows"}\n'

    def test_are_no_sessions_before_their_first_message(self, place: Place) -> None:
        """A file that is empty or has only facts is no session, and its facts are kept."""
        events = heard(place.app)
        place.file.touch()
        assert place.look() == 0
        place.write(self.FACTS)
        assert place.look() == 0
        assert (place.app.sessions.list(), events) == ([], [])
        place.write(row(0))
        assert place.look() == 1
        [session] = place.app.sessions.list()
        assert (session.title, session.messages, session.unknown) == ("Roses", 1, 1)

    def test_keep_their_facts_after_a_restart(self, place: Place) -> None:
        """The file is read again from its start."""
        place.write(self.FACTS)
        place.look()
        other = place.open()
        place.write(row(0))
        assert place.look(other) == 1
        assert other.sessions.get(NAME).title == "Roses"
        other.close()

    def test_are_reported_if_malformed(self, place: Place) -> None:
        """A file whose only line is malformed is listed."""
        place.write(b"{broken\n")
        place.look()
        assert [s.malformed for s in place.app.sessions.list()] == [1]

    def test_do_not_hide_their_sub_agents(self, place: Place) -> None:
        """A sub-agent of such a session is listed under its own name."""
        place.file.touch()
        child = place.file.parent / NAME / "subagents" / "agent-c0ffee.jsonl"
        child.parent.mkdir(parents=True)
        said = {
            "role": "assistant",
            "content": [{"type": "text", "text": "ready"}],
            "id": "m",
            "model": "claude-x",
        }
        about = {
            "uuid": "a1",
            "parentUuid": None,
            "sessionId": NAME,
            "isSidechain": True,
            "agentId": "c0ffee",
        }
        child.write_text(json.dumps({"type": "assistant", **about, "message": said}) + "\n")
        place.look()
        [session] = place.app.sessions.list()
        assert (session.title, session.parent_id) == ("sub-agent c0ffee", NAME)

    def test_do_not_become_active_by_a_message_without_a_time(self, place: Place) -> None:
        """A message without a time leaves the session idle."""
        place.write(row(0).replace(b'"timestamp":"2026-01-31T12:00:00Z",', b""))
        place.look()
        [session] = place.app.sessions.list()
        assert (session.last_activity, session.activity, session.state) == (None, "idle", "idle")
