"""`coppice import`: files and folders, each reported."""

from __future__ import annotations

import json
import random
import resource
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from tests.webapp.agents.codex.rollouts import OWN, SECOND, Rollouts, turn, up_to
from tests.webapp.agents.opencode.layouts import TREE, as_database
from tests.webapp.commands.running import Run
from webapp.store import Store

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHAT = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Write a file with a message list."""
    file = tmp_path / "in" / "chat.json"
    file.parent.mkdir()
    file.write_text(json.dumps(CHAT))
    return file


class TestImporting:
    """Importing files, and the report."""

    def test_adds_a_file_once(self, run: Run, chat: Path) -> None:
        """A second import adds nothing."""
        assert "2 messages added" in run("import", chat).out
        again = run("import", chat)
        assert (again.code, "0 messages added, 2 known" in again.out) == (0, True)

    @pytest.mark.parametrize("kind", ["list", "transcript"])
    def test_leaves_no_empty_session_on_a_full_disk(self, run: Run, chat: Path, db: Path, kind: str) -> None:
        """The error is right: nothing was stored. With room again the same import works."""
        rng = random.Random(1)
        said = [{"role": "user", "content": rng.randbytes(10_000).hex()} for _ in range(40)]
        rows = [
            {"type": "user", "uuid": f"u{n}", "sessionId": "s", "message": one} for n, one in enumerate(said)
        ]
        chat.write_text(json.dumps(said) if kind == "list" else "\n".join(map(json.dumps, rows)) + "\n")
        Store(db).close()
        allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (db.stat().st_size + 200_000, allowed[1]))
        try:
            done = run("import", chat)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
        assert (done.code, len(done.err.splitlines())) == (1, 1)
        with closing(Store(db)) as store:
            assert store.sessions.everything() == []
        assert "40 messages added" in run("import", chat).out

    def test_adds_new_messages_of_a_longer_version(self, run: Run, chat: Path) -> None:
        """Messages that are stored already are not added again."""
        run("import", chat)
        chat.write_text(json.dumps([*CHAT, {"role": "user", "content": "more"}]))
        assert "1 message added" in run("import", chat).out

    def test_reports_each_file_of_a_folder_that_fails(self, run: Run, chat: Path) -> None:
        """The other files are imported."""
        (chat.parent / "package.json").write_text('{"name": "x"}')
        (chat.parent / "half.json").write_text('[{"role": "us')
        (chat.parent / "empty.jsonl").touch()
        (chat.parent / "agent-1.meta.json").write_text("{}")
        done = run("import", chat.parent)
        assert (done.code, "2 messages added" in done.out) == (1, True)
        assert "package.json: not recognised" in done.err
        assert "half.json" in done.err
        assert "empty.jsonl" in done.err
        assert "meta" not in done.err
        assert "2 of 4 files could not be imported" in done.err

    def test_names_compressed_files_of_a_folder(self, run: Run, chat: Path) -> None:
        """Nothing of these is read, and the others are imported."""
        for name in ("a.jsonl.gz", "b.json.gz", "notes.gz"):
            (chat.parent / name).write_bytes(b"x")
        done = run("import", chat.parent)
        assert (done.code, "2 messages added" in done.out) == (0, True)
        words = "a.jsonl.gz is compressed and left out, as is 1 more; unpack it first (`gunzip a.jsonl.gz`)"
        assert words in done.err
        chat.unlink()
        (chat.parent / "b.json.gz").unlink()
        done = run("import", chat.parent)
        assert (done.code, "no .jsonl or .json file in" in done.err) == (2, True)
        assert "a.jsonl.gz is compressed and left out; unpack" in done.err

    def test_reads_files_compressed_with_zstd(self, run: Run, chat: Path) -> None:
        """A damaged one is reported, and the others are imported."""
        whole = zstd.compress(chat.read_bytes())
        (chat.parent / f"{chat.name}.zst").write_bytes(whole)
        chat.unlink()
        (chat.parent / "half.jsonl.zst").write_bytes(whole[: len(whole) // 2])
        done = run("import", chat.parent)
        assert (done.code, "2 messages added" in done.out) == (1, True)
        assert "half.jsonl.zst: cannot be read: is damaged or incomplete zstd data" in done.err

    def test_reads_the_meta_file_of_a_sub_agent(self, run: Run, chat: Path, db: Path) -> None:
        """The meta file is beside the transcript."""
        said = {"role": "user", "content": "hi"}
        row = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "message": said}
        (chat.parent / "agent-1.jsonl").write_text(json.dumps(row) + "\n")
        (chat.parent / "agent-1.meta.json").write_text('{"agentType": "Explore"}')
        assert run("import", chat.parent / "agent-1.jsonl").code == 0
        store = Store(db)
        assert store.sessions.get("s.agent-1").agent_type == "Explore"
        store.close()

    def test_of_a_folder_leaves_out_what_another_file_continues(self, run: Run, chat: Path) -> None:  # X12
        """A session that was reverted is in several files; the newest one contains it, with what was reverted."""
        rollouts = Rollouts(chat.parent)
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        assert f"{OWN}  6 messages added" in run("import", rollouts.root).out

    def test_accepts_empty_files_in_a_folder(self, run: Run, chat: Path) -> None:
        """Files without messages are reported, but are no failure."""
        (chat.parent / "empty.jsonl").touch()
        done = run("import", chat.parent)
        assert (done.code, "empty.jsonl" in done.err) == (0, True)

    def test_imports_real_transcripts(self, run: Run, transcripts: Path) -> None:  # S1
        """The store has no fault after importing transcripts of Claude Code and Codex."""
        done = run("import", transcripts / "claude-code", transcripts / "codex")
        assert done.code == 0
        assert run("verify").code == 0
        assert len(json.loads(run("sessions", "--json").out)) > 5

    def test_can_name_the_model(self, run: Run, chat: Path) -> None:
        """An option names the model of a file without one."""
        run("import", chat, "--model", "gpt-5")
        assert json.loads(run("sessions", "--json").out)[0]["model"] == "gpt-5"


class TestCodes:
    """Exit codes: 0 for success, 1 if some files failed, 2 if all did."""

    def test_distinguish_some_from_none(self, run: Run, chat: Path, tmp_path: Path) -> None:
        """A named file has to be readable."""
        broken = tmp_path / "broken.jsonl"
        broken.write_bytes(b"\x00\x01\x02" * 100)
        assert run("import", chat, broken).code == 1
        done = run("import", broken)
        assert done.code == 2
        assert str(broken) in done.err

    def test_of_a_file_without_a_readable_line_are_2(self, run: Run, chat: Path) -> None:
        """It adds no session, which would stand in the way of an import in the right format."""
        chat.write_text(json.dumps(CHAT, indent=1))
        done = run("import", chat, "--format", "claude-code")
        assert (done.code, done.out) == (2, "")
        assert "nothing in it can be read as a session of Claude Code: line 1: broken JSON" in done.err
        assert json.loads(run("sessions", "--json").out) == []

    def test_of_an_empty_folder_are_2(self, run: Run, tmp_path: Path) -> None:
        """There is nothing to import."""
        empty = tmp_path / "empty"
        empty.mkdir()
        assert run("import", empty).code == 2

    def test_moves_the_bar_within_a_file(self, run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The bar advances while a large file is read."""
        seen: list[float] = []
        update = Progress.update

        def watched(self: Progress, task: Any, **given: Any) -> None:
            update(self, task, **given)
            seen.append(self.tasks[task].completed)

        monkeypatch.setattr(Progress, "update", watched)
        rows = [{"role": "user", "content": f"{n} " + "words " * 300} for n in range(3_000)]
        (chat.parent / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        run("import", chat.parent)
        total = sum(file.stat().st_size for file in chat.parent.iterdir())
        assert seen == sorted(seen)
        assert seen[-1] == total
        assert len({done for done in seen if done > chat.stat().st_size}) > 1

    def test_of_an_unknown_format_are_2(self, run: Run, chat: Path) -> None:
        """The error lists the known formats."""
        done = run("import", chat, "--format", "morse")
        assert done.code == 2
        assert "morse" in done.err


class TestOpenCode:
    """Sessions of OpenCode, stored in many small files or in one database."""

    @pytest.mark.parametrize("layout", ["tree", "database"])
    def test_is_imported_session_by_session(self, run: Run, tmp_path: Path, layout: str) -> None:  # X12
        """Each session of a folder is reported once, with what is not read; a second import adds nothing."""
        root = tmp_path / "in" / "opencode"
        shutil.copytree(TREE, root)
        if layout == "database":
            as_database(root)
            shutil.rmtree(root / "storage")
        done = run("import", root.parent)
        said = [line.split(": ", 1)[1] for line in done.err.splitlines()]
        assert (done.code, said) == (0, ["not read: part hologram"])
        assert done.out.count("messages added") > 1
        assert run("import", root.parent).out.count(" 0 messages added") == done.out.count("messages added")

    def test_takes_the_options_of_an_import(self, run: Run, db: Path) -> None:
        """The model is that of a session that names none; a format of other files is refused."""
        run("import", TREE, "--model", "gpt-5.5", "--format", "opencode")
        with closing(Store(db)) as store:
            models = {row.id: row.model for row in store.sessions.all()}
        assert models == {"ses_1": "claude-sonnet-4-5", "ses_2": "gpt-5.5"}
        done = run("import", TREE, "--format", "pi")
        assert (done.code, f"--format pi does not fit {TREE}" in done.err) == (2, True)

    def test_is_imported_from_a_database_file(self, run: Run, tmp_path: Path) -> None:
        """Any file name works; a database without sessions is reported."""
        root = tmp_path / "opencode"
        shutil.copytree(TREE, root)
        as_database(root)
        moved = root / "saved.db"
        sqlite3.connect(root / "opencode.db").execute(f"VACUUM INTO '{moved}'").connection.close()
        assert run("import", moved).code == 0
        (root / "other.db").write_bytes(b"no database")
        done = run("import", root / "other.db")
        assert (done.code, "no sessions of OpenCode" in done.err) == (2, True)

    def test_is_not_made_of_another_database(self, run: Run, tmp_path: Path) -> None:
        """A database of another program adds no session; the reason names its tables."""
        other = tmp_path / "other.db"
        sqlite3.connect(other).execute("CREATE TABLE places (url TEXT)").connection.close()
        done = run("import", other)
        assert (done.code, done.out) == (2, "")
        assert "got places" in done.err
        assert "no sessions of OpenCode" in done.err


class TestLinks:
    """Links in an imported folder."""

    def test_to_elsewhere_are_skipped_and_reported(self, run: Run, tmp_path: Path) -> None:
        """A folder of another user must not include other files; a link within it is no second session."""
        inside, secret = tmp_path / "in", tmp_path / "secret.jsonl"
        inside.mkdir()
        secret.write_text('{"role": "user", "content": "secret"}')
        (inside / "a.jsonl").symlink_to(secret)
        (inside / "own.json").write_text('[{"role": "user", "content": "mine"}]')
        (inside / "again.json").symlink_to("own.json")
        done = run("import", inside)
        assert done.out.count("1 message added") == len(done.out.splitlines()) == 1
        assert f"{inside / 'a.jsonl'} leads out of {inside}" in done.err
