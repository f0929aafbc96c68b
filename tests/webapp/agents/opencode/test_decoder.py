"""OpenCode's sessions: the tree of files and the database."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.shared import shared_data
from tests.webapp.agents.opencode.layouts import TREE, as_database, as_projects, copied
from tests.webapp.agents.samples import facts, of, said
from webapp.agents.opencode import decoder as opencode
from webapp.agents.opencode import files
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, TranscriptFile, Unknown

BEDS = [
    ("user", "List the beds.\nFile beds.txt: seven"), ("assistant", ""), ("tool", "beds.txt\nno such file"),
    ("assistant", "One list."), ("assistant", "They listed beds."), ("user", "And the paths?"),
]  # fmt: skip


def session(root: Path, name: str = "ses_1") -> TranscriptFile:
    """Return a session as discovery finds it."""
    return next(f for f in files.discover(root) if f.session_id == name)


def read(file: TranscriptFile, state: dict[str, Any]) -> list[Record]:
    """Return the records of all changes since the last read."""
    return list(opencode.read(file, state))


def add_message(db: sqlite3.Connection, name: str, data: dict[str, Any], *parts: dict[str, Any]) -> None:
    """Add a message with its parts to the first session, as the newest."""
    at = 9_999_999_000_000 + int(name.removeprefix("msg_"))
    db.execute("INSERT INTO message VALUES (?, 'ses_1', ?, 9, ?)", [name, at, json.dumps(data)])
    for part in parts:
        add_part(db, name, part)


def add_part(db: sqlite3.Connection, message: str, data: dict[str, Any]) -> None:
    """Add a part to a message of the first session."""
    (known,) = db.execute("SELECT count(*) FROM part WHERE message_id = ?", [message]).fetchone()
    name = f"prt_{message}_{known}"
    db.execute("INSERT INTO part VALUES (?, ?, 'ses_1', 9, ?, ?)", [name, message, known, json.dumps(data)])


@pytest.fixture(params=["tree", "projects", "database"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same sessions in all layouts."""
    if request.param == "projects":
        return as_projects(tmp_path)
    if request.param == "tree":
        return copied(tmp_path)
    as_database(tmp_path)
    return tmp_path


class TestASession:
    """A session, which gives the same in all layouts."""

    def test_gives_each_message_once(self, root: Path) -> None:  # X12
        """Text after a result is another message, unsent parts are skipped, and a second read gives nothing."""
        state: dict[str, Any] = {}
        assert said(read(session(root), state)) == BEDS
        assert read(session(root), json.loads(json.dumps(state))) == []

    def test_reports_usage_with_the_cache(self, root: Path) -> None:
        """Input is the sum of sent, cached and newly cached tokens; output includes reasoning."""
        entries = [e for e in of(Entry, read(session(root), {})) if e.usage]
        assert [(e.call_key, e.usage.input_tokens, e.usage.output_tokens) for e in entries if e.usage] == [
            ("msg_02", 950, 20), ("msg_04", 1050, 20),
        ]  # fmt: skip

    def test_shows_the_compaction(self, root: Path) -> None:  # X12
        """A summary gives a compaction, then the summary."""
        records = read(session(root), {})
        (compaction,) = of(Compaction, records)
        assert (compaction.trigger, compaction.kept) == ("auto", ())
        summary = records[records.index(compaction) + 1]
        assert isinstance(summary, Entry)
        assert summary.kind == "compaction_summary"
        assert of(Rewind, records) == []

    def test_links_calls_and_results(self, root: Path) -> None:  # P4
        """Both results have their calls, and the failed one is marked."""
        entries = of(Entry, read(session(root), {}))
        results = [r for e in entries for r in e.message.results]
        assert [r.call_id for r in results] == [c.id for e in entries for c in e.message.calls]
        assert [r.is_error for r in results] == [False, True]

    def test_reports_facts_and_unknown_parts(self, root: Path) -> None:
        """Facts are title, folder and parent, and unknown parts are counted."""
        records = read(session(root), {})
        assert facts(records, Meta, "title") == ["The beds"]
        assert facts(records, Meta, "model") == ["claude-sonnet-4-5"]
        assert of(Unknown, records) == [Unknown(None, "part hologram")]
        assert facts(read(session(root, "ses_2"), {}), Meta, "parent") == ["ses_1"]

    def test_is_found_once_with_its_sub_agents(self, root: Path) -> None:
        """The newest is first, and parents are named."""
        found = list(files.discover(root))
        assert {f.session_id: f.parent_id for f in found} == {"ses_1": None, "ses_2": "ses_1"}


class TestTheTree:
    """Changes in files."""

    def test_gives_added_and_changed_parts(self, tmp_path: Path) -> None:
        """A changed part gives a newer version of its message, as for a cleared output."""
        root, state = copied(tmp_path), dict[str, Any]()
        read(session(root), state)
        part = root / "storage" / "part" / "msg_02" / "prt_12.json"
        row = json.loads(part.read_bytes())
        row["state"]["time"]["compacted"] = 5
        part.write_text(json.dumps(row))
        (changed,) = read(session(root), state)
        assert isinstance(changed, Entry)
        assert changed.supersedes == "msg_02:results"
        assert "[Old tool result content cleared]" in changed.message.text

    def test_names_an_unreadable_file(self, tmp_path: Path) -> None:
        """A half-written part is a problem with its name, the rest is read, and the part when complete."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        whole = part.read_bytes()
        part.write_bytes(whole[:10])
        records = read(session(root), state)
        assert said(records) == BEDS[:-1]
        assert ["prt_40.json" in p.reason for p in of(Problem, records)] == [True]
        part.write_bytes(whole)
        assert said(read(session(root), state)) == BEDS[-1:]

    def test_waits_while_the_session_file_is_unreadable(self, tmp_path: Path) -> None:
        """There is one problem and no message, and the position does not change."""
        root, state = copied(tmp_path), dict[str, Any]()
        file = session(root)
        read(file, state)
        before, whole = json.dumps(state), file.path.read_bytes()
        for broken in (whole[:15], b""):
            file.path.write_bytes(broken)
            assert [type(r) for r in read(file, state)] == [Problem]
        file.path.unlink()
        assert [type(r) for r in read(file, state)] == [Problem]
        assert json.dumps(state) == before
        file.path.write_bytes(whole)
        assert read(file, state) == []

    @pytest.mark.parametrize("name", ["message/ses_1/msg_05.json", "part/msg_05/prt_40.json"])
    def test_keeps_a_message_that_is_half_written(self, tmp_path: Path, name: str) -> None:
        """An unreadable message keeps its last version, is reported once, and delays no new message."""
        root, state = copied(tmp_path), dict[str, Any]()
        read(session(root), state)
        broken, new = root / "storage" / name, root / "storage" / "message" / "ses_1" / "msg_06.json"
        whole = broken.read_bytes()
        broken.write_bytes(whole[:20])
        assert [type(r) for r in read(session(root), state)] == [Problem]
        new.write_text(json.dumps({"id": "msg_06", "role": "user", "time": {"created": 1 << 50}}))
        (root / "storage" / "part" / "prt_60.json").write_text(
            json.dumps({"id": "prt_60", "messageID": "msg_06", "type": "text", "text": "And the trees?"})
        )
        assert [type(r) for r in read(session(root), json.loads(json.dumps(state)))] == [Entry]
        read(session(root), state)
        broken.write_bytes(whole)
        assert read(session(root), state) == []

    def test_keeps_all_parts_while_a_loose_one_is_unreadable(self, tmp_path: Path) -> None:
        """The message of an unreadable loose part is unknown, so all parts stay."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        loose = part.rename(root / "storage" / "part" / part.name)
        assert said(read(session(root), state)) == BEDS
        whole = loose.read_bytes()
        loose.write_bytes(whole[:10])
        assert [type(r) for r in read(session(root), state)] == [Problem]
        loose.write_bytes(whole)
        assert read(session(root), state) == []

    def test_ignores_a_file_that_is_being_written(self, tmp_path: Path) -> None:
        """The file is not reported, and is read when it is complete."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        whole = part.read_bytes()
        part.write_bytes(whole[:10])
        written = part.stat().st_mtime
        assert list(opencode.read(session(root), state, written)) == []
        assert state == {}
        records = list(opencode.read(session(root), state, written + 1))
        assert (said(records), len(of(Problem, records))) == (BEDS[:-1], 1)

    @pytest.mark.parametrize("complete", [{"finish": "stop"}, {"time": {"created": 4, "completed": 5}}])
    def test_waits_for_the_end_of_a_summary(self, tmp_path: Path, complete: dict[str, Any]) -> None:  # X12
        """After one that was cut off, OpenCode sends the messages before it. The first versions wrote no `finish`."""
        root, state = copied(tmp_path), dict[str, Any]()
        file = root / "storage" / "message" / "ses_1" / "msg_04.json"
        row = {**json.loads(file.read_bytes()), "time": {"created": 4}}
        del row["finish"]
        file.write_text(json.dumps(row))
        records = read(session(root), state)
        assert said(records) == [BEDS[n] for n in (0, 1, 2, 3, 5)]
        assert not of(Compaction, records)
        file.write_text(json.dumps({**row, **complete}))
        records = read(session(root), state)
        assert [e.kind for e in of(Entry, records)] == ["compaction_summary"]
        assert len(of(Compaction, records)) == 1

    def test_takes_back_a_summary_that_failed(self, tmp_path: Path) -> None:
        """OpenCode ignores it, and sends what was before it again."""
        root, state = copied(tmp_path), dict[str, Any]()
        read(session(root), state)
        file = root / "storage" / "message" / "ses_1" / "msg_04.json"
        file.write_text(json.dumps({**json.loads(file.read_bytes()), "error": {"name": "APIError"}}))
        failed, rewind = read(session(root), state)
        assert failed == Unknown(None, "answer that ended with APIError")
        assert isinstance(rewind, Rewind)
        assert rewind.live == ("msg_01", "msg_02", "msg_02:results", "msg_02:2", "msg_05")

    def test_reports_deleted_messages(self, tmp_path: Path) -> None:
        """A deleted message leaves the context."""
        root, state = copied(tmp_path), dict[str, Any]()
        read(session(root), state)
        (root / "storage" / "message" / "ses_1" / "msg_05.json").unlink()
        (rewind,) = read(session(root), state)
        assert isinstance(rewind, Rewind)
        assert rewind.live == ("msg_04",)


class TestTheDatabase:
    """Changes in tables."""

    @pytest.mark.parametrize(("target", "part"), [("msg_05", None), ("msg_04", "prt_99")])
    def test_ends_where_the_user_took_it_back_to(self, tmp_path: Path, target: str, part: str | None) -> None:
        """OpenCode deletes the rest when the next message is sent, and until then can bring it back."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        with closing(sqlite3.connect(path)) as db:
            db.execute("ALTER TABLE session ADD revert TEXT")
            revert = {"messageID": target, **({"partID": part} if part else {})}
            for value, live in [(json.dumps(revert), ("msg_04",)), (None, ("msg_04", "msg_05"))]:
                db.execute("UPDATE session SET revert = ?, time_updated = time_updated + 1", [value])
                db.commit()
                (rewind,) = read(session(tmp_path), state)
                assert isinstance(rewind, Rewind)
                assert rewind.live == live

    def test_gives_added_rows(self, tmp_path: Path) -> None:  # X12
        """Rows in the write-ahead log of a running agent are read, and its files do not change."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["opencode.db"]
        agent = sqlite3.connect(path)
        data = json.dumps({"role": "user"})
        agent.execute("INSERT INTO message VALUES ('msg_06', 'ses_1', 9999999999999, 9, ?)", [data])
        part = json.dumps({"type": "text", "text": "And the trees?"})
        agent.execute("INSERT INTO part VALUES ('prt_50', 'msg_06', 'ses_1', 9, 9, ?)", [part])
        agent.commit()
        assert said(read(session(tmp_path), state)) == [("user", "And the trees?")]
        agent.close()

    def test_is_read_though_newer_tables_note_its_model(self, tmp_path: Path) -> None:  # X12
        """OpenCode 1.15 to 1.17 write changes of model and agent into the table of the second generation."""
        path = as_database(tmp_path)
        with closing(sqlite3.connect(path)) as db:
            db.execute(
                "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, time_updated INT, data TEXT)"
            )
            for kind in ("agent-switched", "model-switched"):
                db.execute("INSERT INTO session_message VALUES (?, 'ses_1', ?, 9, '{}')", [kind, kind])
            db.commit()
        assert said(read(session(tmp_path), {})) == BEDS

    def test_gives_what_left_before_what_was_said_since(self, tmp_path: Path) -> None:  # X12
        """The usage of a new answer is that of the context without the messages that the user took back."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        with closing(sqlite3.connect(path)) as db:
            db.execute("DELETE FROM message WHERE id = 'msg_05'")
            add_message(db, "msg_06", {"role": "user"}, {"type": "text", "text": "And the roses?"})
            tokens = {"input": 900, "output": 9, "reasoning": 0, "cache": {"read": 0, "write": 0}}
            answer = {"role": "assistant", "finish": "stop", "tokens": tokens}
            add_message(db, "msg_07", answer, {"type": "text", "text": "Red."})
            db.commit()
        rewind, asked, said_since = read(session(tmp_path), state)
        assert isinstance(rewind, Rewind)
        assert rewind.live == ("msg_04",)
        assert isinstance(asked, Entry)
        assert asked.parent == "msg_04"
        assert isinstance(said_since, Entry)
        assert said_since.usage is not None

    def test_waits_for_the_parts_of_a_new_message(self, tmp_path: Path) -> None:  # X12
        """OpenCode writes a message first and then its parts; one that stays without parts is counted."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        with closing(sqlite3.connect(path)) as db:
            add_message(db, "msg_06", {"role": "user"})
            db.commit()
            assert read(session(tmp_path), state) == []
            add_part(db, "msg_06", {"type": "text", "text": "And the roses?"})
            db.commit()
            assert said(read(session(tmp_path), state)) == [("user", "And the roses?")]
            add_message(db, "msg_07", {"role": "user"})
            db.commit()
            assert read(session(tmp_path), state) == []
            add_message(db, "msg_08", {"role": "assistant"}, {"type": "text", "text": "Red."})
            db.commit()
            assert of(Unknown, read(session(tmp_path), state)) == [Unknown(None, "message without parts")]

    def test_reports_the_usage_of_each_call_in_a_row(self, tmp_path: Path) -> None:  # X11
        """Versions before 1.0 write all calls of a turn into one row, whose own usage is that of the last."""

        def call(number: int) -> list[dict[str, Any]]:
            tokens = {"input": number * 100, "output": 9, "reasoning": 0, "cache": {"read": 0, "write": 0}}
            text = {"type": "text", "text": f"Call {number}."}
            return [{"type": "step-start"}, text, {"type": "step-finish", "tokens": tokens}]

        def usages(records: list[Record]) -> list[tuple[str | None, int]]:
            return [(one.call_key, one.usage.input_tokens) for one in of(Entry, records) if one.usage]

        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        with closing(sqlite3.connect(path)) as db:
            first, second = call(1), call(2)
            add_message(db, "msg_06", {"role": "assistant", "tokens": first[-1]["tokens"]}, *first)
            db.commit()
            one = usages(read(session(tmp_path), state))
            for part in second:
                add_part(db, "msg_06", part)
            db.commit()
            two = usages(read(session(tmp_path), state))
        assert (one, two) == ([("msg_06", 100)], [("msg_06:2", 200)])
        assert usages(read(session(tmp_path), {}))[-2:] == one + two

    def test_counts_what_is_not_read_of_a_growing_message(self, tmp_path: Path) -> None:  # X12
        """Each part counts once, as if the message had been read when it was complete."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        with closing(sqlite3.connect(path)) as db:
            add_message(db, "msg_06", {"role": "assistant"}, {"type": "step-start"})
            found = []
            for kind in ("hologram", "hologram", "smell"):
                add_part(db, "msg_06", {"type": kind})
                db.commit()
                found.append([one.type for one in of(Unknown, read(session(tmp_path), state))])
        assert found == [["part hologram"], ["part hologram"], ["part smell"]]

    @pytest.mark.parametrize("table", ["message", "part"])
    def test_keeps_the_message_of_a_damaged_row(self, tmp_path: Path, table: str) -> None:
        """Its message does not change, and the damage is reported once."""
        path, state = as_database(tmp_path), dict[str, Any]()
        read(session(tmp_path), state)
        where = "id = 'msg_05'" if table == "message" else "message_id = 'msg_05'"
        agent = sqlite3.connect(path)
        agent.execute(f"UPDATE {table} SET time_updated = 9, data = substr(data, 1, 9) WHERE {where}")
        agent.commit()
        assert {type(r) for r in read(session(tmp_path), state)} == {Problem}
        agent.execute("UPDATE message SET time_updated = 8 WHERE id = 'msg_01'")
        agent.commit()
        agent.close()
        assert read(session(tmp_path), state) == []

    def test_keeps_a_session_that_was_deleted(self, tmp_path: Path) -> None:
        """A missing session is one problem, and no message leaves."""
        path, state = as_database(tmp_path), dict[str, Any]()
        file = session(tmp_path)
        read(file, state)
        before = json.dumps(state)
        agent = sqlite3.connect(path)
        for table in ("session", "message", "part"):
            agent.execute(f"DELETE FROM {table}")
        agent.commit()
        agent.close()
        assert [type(r) for r in read(file, state)] == [Problem]
        assert json.dumps(state) == before

    def test_is_a_problem_if_unreadable(self, tmp_path: Path) -> None:
        """This applies to a damaged and to a missing database."""
        file = TranscriptFile(tmp_path / "opencode.db", "s", None, files.SOURCE)
        assert [type(r) for r in read(file, {})] == [Problem]
        file.path.write_bytes(b"no database at all" * 100)
        assert [type(r) for r in read(file, {})] == [Problem]
        assert list(files.discover(tmp_path)) == []


def test_the_folder_follows_the_environment() -> None:
    """The folder is in XDG_DATA_HOME or its default."""
    assert files.roots({"HOME": "/h"}) == [Path("/h/.local/share/opencode")]
    assert files.roots({"XDG_DATA_HOME": "/x"}) == [Path("/x/opencode")]


@pytest.mark.parametrize(("layout", "entries"), [("storage_v2", 10), ("storage_legacy", 3)])
def test_shared_samples_are_read(tmp_path: Path, layout: str, entries: int) -> None:
    """Both older layouts are read, and a message without parts is counted."""
    shutil.copytree(shared_data("transcripts", "small", "opencode", layout), tmp_path / "storage")
    records = [r for f in files.discover(tmp_path) for r in opencode.read(f, {})]
    assert len(of(Entry, records)) == entries
    assert len(of(Unknown, records)) == (layout == "storage_legacy")


class TestLinks:
    """Links and names that lead out of the agent's folder."""

    def outside(self, tmp_path: Path) -> Path:
        """A tree of another user, beside the followed one."""
        other = tmp_path / "other"
        shutil.copytree(TREE, other)
        return other

    @pytest.mark.parametrize(
        ("place", "messages"),
        [
            ("storage", 0), ("storage/session", 0), ("storage/session/garden", 0),
            ("storage/message", 0), ("storage/message/ses_1", 0),
            ("storage/part", 0), ("storage/part/msg_01", 5),
        ],
    )  # fmt: skip
    def test_out_of_a_tree_are_ignored(
        self, tmp_path: Path, place: str, messages: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        """This applies to folders of sessions, messages and parts, and is reported."""
        root, other = copied(tmp_path), self.outside(tmp_path)
        shutil.rmtree(root / place)
        (root / place).symlink_to(other / place)
        found = [f for f in files.discover(root) if f.session_id == "ses_1"]
        assert len([w for f in found for w in said(read(f, {}))]) == messages
        assert "leads out of" in caplog.text

    def test_ids_with_dots_never_leave_the_folder(self, tmp_path: Path) -> None:
        """The id of a session or message is part of a path, and may contain `..`."""
        root, other = copied(tmp_path), self.outside(tmp_path)
        for file, name in (
            ("session/garden/ses_2.json", f"../../../{other.name}/storage/message/ses_1"),
            ("message/ses_1/msg_01.json", f"../../../{other.name}/storage/part/msg_01"),
        ):
            path = root / "storage" / file
            path.write_text(json.dumps(json.loads(path.read_bytes()) | {"id": name}))
        read_now = [said(read(file, {})) for file in files.discover(root)]
        assert sorted(len(one) for one in read_now) == [0, 5]

    @pytest.mark.parametrize("name", ["opencode.db", "opencode.db-wal"])
    def test_of_a_database_and_its_log_are_not_followed(self, tmp_path: Path, name: str) -> None:
        """Neither the file nor its write-ahead log may be a link."""
        root, other = tmp_path / "in", tmp_path / "out"
        for folder in (root, other):
            folder.mkdir()
            as_database(folder)
        with closing(sqlite3.connect(other / "opencode.db")) as db:
            db.execute("UPDATE session SET title = 'secret'")
            db.commit()
            (root / name).unlink(missing_ok=True)
            (root / name).symlink_to(other / name)
            assert "secret" not in [file.title for file in files.discover(root)]
            assert "secret" not in [file.title for file in files.recent_sessions_of(root / name, root)]


class TestFinding:
    """The sessions that a folder or a changed file belongs to."""

    def test_includes_all_trees_and_databases_of_a_folder(self, tmp_path: Path) -> None:
        """The name of a tree does not matter."""
        root = copied(tmp_path)
        (root / "storage").rename(root / "saved")
        assert files.archives_at(tmp_path) == files.archives_at(root / "saved") == [root / "saved"]
        there = {file.session_id for file in files.sessions_in(root / "saved")}
        assert there
        database = as_database(root)
        assert files.archives_at(tmp_path) == [database, root / "saved"]
        assert files.archives_at(database) == [database]
        assert there == {file.session_id for file in files.sessions_in(database)}

    @pytest.mark.parametrize("layout", [copied, as_projects])
    def test_every_file_of_a_tree_belongs_to_one_session(
        self, tmp_path: Path, layout: Callable[[Path], Path]
    ) -> None:
        """A part and a message name their session."""
        root = layout(tmp_path)
        known = {file.session_id for file in files.discover(root)}
        for path in root.rglob("*.json"):
            assert {file.session_id for file in files.sessions_of(path, root)} <= known
        session = next(path for path in root.rglob("ses_1.json"))
        assert [file.path for file in files.sessions_of(session, root)] == [session]

    def test_includes_the_trees_of_projects(self, tmp_path: Path) -> None:  # X12
        """A session that a newer version has copied to its own tree is found once; only answers name the folder."""
        root = as_projects(tmp_path / "data")
        assert files.archives_at(tmp_path) == [root / "project" / "garden" / "storage"]
        assert facts(read(session(root), {}), Meta, "cwd") == ["/garden"]
        shutil.copytree(TREE / "storage", root / "storage")
        found = list(files.discover(root))
        assert sorted(file.session_id for file in found) == ["ses_1", "ses_2"]
        assert all(file.path.is_relative_to(root / "storage") for file in found)

    def test_other_files_have_no_session(self, tmp_path: Path) -> None:
        """These are other databases, malformed files and names with wildcards."""
        root = copied(tmp_path)
        (root / "storage" / "message" / "x.json").write_text('{"sessionID": "*"}')
        for path in (
            root / "other.db",
            root / "opencode.db",
            root / "storage" / "message" / "x.json",
            tmp_path / "a",
        ):
            assert list(files.sessions_of(path, root)) == []
