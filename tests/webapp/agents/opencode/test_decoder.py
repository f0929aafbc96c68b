"""OpenCode's sessions: the tree of files and the database."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.shared import shared_data
from tests.webapp.agents.samples import SAMPLES, facts, of, said
from webapp.agents.opencode import decoder as opencode
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, TranscriptFile, Unknown

TREE = SAMPLES / "opencode" / "opencode"
BEDS = [
    ("user", "List the beds.\nFile beds.txt: seven"), ("assistant", ""), ("tool", "beds.txt\nno such file"),
    ("assistant", "One list."), ("assistant", "They listed beds."), ("user", "And the paths?"),
]  # fmt: skip


def copied(tmp_path: Path) -> Path:
    """A tree that may be changed."""
    root = tmp_path / "opencode"
    shutil.copytree(TREE, root)
    return root


def as_database(root: Path) -> Path:
    """The sample tree as the newer layout has it, in WAL as the agent writes it."""
    path = root / "opencode.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    times = "time_created INT, time_updated INT"
    db.execute(
        f"CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, {times})"
    )
    db.execute(f"CREATE TABLE message (id TEXT, session_id TEXT, {times}, data TEXT)")
    db.execute(f"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, {times}, data TEXT)")
    for file in sorted((TREE / "storage").rglob("*.json")):
        row = json.loads(file.read_bytes())
        if file.parent.parent.name == "session":
            about = [row["id"], row.get("parentID"), row["directory"], row["title"], "1.2.0"]
            values = [*about, 1, row["time"]["updated"]]
            db.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?)", values)
        elif file.parent.parent.name == "message":
            at = row["time"]["created"]
            db.execute(
                "INSERT INTO message VALUES (?,?,?,?,?)", [row.pop("id"), "ses_1", at, at, json.dumps(row)]
            )
        else:
            ids = [row.pop("id"), row.pop("messageID"), row.pop("sessionID")]
            db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", [*ids, 1, 1, json.dumps(row)])
    db.commit()
    db.close()
    return path


def session(root: Path, name: str = "ses_1") -> TranscriptFile:
    """A session as discovery finds it."""
    return next(f for f in opencode.discover(root) if f.session_id == name)


def read(file: TranscriptFile, state: dict[str, Any]) -> list[Record]:
    """Return the records of all changes since the last read."""
    return list(opencode.read(file, state))


@pytest.fixture(params=["tree", "database"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same sessions in both layouts."""
    if request.param == "tree":
        return copied(tmp_path)
    as_database(tmp_path)
    return tmp_path


class TestASession:
    """The same in both layouts."""

    def test_gives_each_message_once(self, root: Path) -> None:  # X12
        """Words behind a result are a message of their own; what is not sent is left out; twice read is nothing."""
        state: dict[str, Any] = {}
        assert said(read(session(root), state)) == BEDS
        assert read(session(root), json.loads(json.dumps(state))) == []

    def test_tells_usage_with_the_cache(self, root: Path) -> None:
        """Input is what was sent, read and written together, once a row; the output holds the reasoning."""
        entries = [e for e in of(Entry, read(session(root), {})) if e.usage]
        assert [(e.call_key, e.usage.input_tokens, e.usage.output_tokens) for e in entries if e.usage] == [
            ("msg_02", 950, 20), ("msg_04", 1050, 20),
        ]  # fmt: skip

    def test_shows_the_compaction(self, root: Path) -> None:  # X12
        """A summary is a compaction and then the summary."""
        records = read(session(root), {})
        (compaction,) = of(Compaction, records)
        assert (compaction.trigger, compaction.kept) == ("auto", ())
        summary = records[records.index(compaction) + 1]
        assert isinstance(summary, Entry)
        assert summary.kind == "compaction_summary"
        assert of(Rewind, records) == []

    def test_ties_calls_and_results(self, root: Path) -> None:  # P4
        """Both results, the failed one marked."""
        entries = of(Entry, read(session(root), {}))
        results = [r for e in entries for r in e.message.results]
        assert [r.call_id for r in results] == [c.id for e in entries for c in e.message.calls]
        assert [r.is_error for r in results] == [False, True]

    def test_tells_its_facts_and_what_nobody_knows(self, root: Path) -> None:
        """Title, folder, parent; unknown parts are counted."""
        records = read(session(root), {})
        assert facts(records, Meta, "title") == ["The beds"]
        assert facts(records, Meta, "model") == ["claude-sonnet-4-5"]
        assert of(Unknown, records) == [Unknown(None, "part hologram")]
        assert facts(read(session(root, "ses_2"), {}), Meta, "parent") == ["ses_1"]

    def test_is_found_once_with_its_sub_agents(self, root: Path) -> None:
        """Newest first; parents are named."""
        files = list(opencode.discover(root))
        assert {f.session_id: f.parent_id for f in files} == {"ses_1": None, "ses_2": "ses_1"}


class TestTheTree:
    """Changes in files."""

    def test_gives_what_was_added_and_changed(self, tmp_path: Path) -> None:
        """A part that changed makes a newer version; a cleared output is what is sent now."""
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

    def test_says_which_file_is_broken(self, tmp_path: Path) -> None:
        """A half-written part is a problem with its name; the rest is read, and the part when it is whole."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        whole = part.read_bytes()
        part.write_bytes(whole[:10])
        records = read(session(root), state)
        assert said(records) == BEDS[:-1]
        assert ["prt_40.json" in p.reason for p in of(Problem, records)] == [True]
        part.write_bytes(whole)
        assert said(read(session(root), state)) == BEDS[-1:]

    def test_stands_still_while_its_own_file_is_broken(self, tmp_path: Path) -> None:
        """One problem and no message: none of its own, none of another session; the state stays."""
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
    def test_takes_nothing_back_that_is_half_written(self, tmp_path: Path, name: str) -> None:
        """An unreadable message keeps its last version; the fault is reported once, and new messages come in."""
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

    def test_takes_no_part_away_that_lies_loose_and_broken(self, tmp_path: Path) -> None:
        """Nobody can say whose it is, so all that is known stands."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        loose = part.rename(root / "storage" / "part" / part.name)
        assert said(read(session(root), state)) == BEDS
        whole = loose.read_bytes()
        loose.write_bytes(whole[:10])
        assert [type(r) for r in read(session(root), state)] == [Problem]
        loose.write_bytes(whole)
        assert read(session(root), state) == []

    def test_is_left_alone_while_a_file_is_being_written(self, tmp_path: Path) -> None:
        """Nothing is reported of it, and it is read when it is whole."""
        root, state = copied(tmp_path), dict[str, Any]()
        part = root / "storage" / "part" / "msg_05" / "prt_40.json"
        whole = part.read_bytes()
        part.write_bytes(whole[:10])
        written = part.stat().st_mtime
        assert list(opencode.read(session(root), state, written)) == []
        assert state == {}
        told = list(opencode.read(session(root), state, written + 1))
        assert (said(told), len(of(Problem, told))) == (BEDS[:-1], 1)

    def test_tells_what_was_taken_back(self, tmp_path: Path) -> None:
        """A message that is deleted has left the context."""
        root, state = copied(tmp_path), dict[str, Any]()
        read(session(root), state)
        (root / "storage" / "message" / "ses_1" / "msg_05.json").unlink()
        (rewind,) = read(session(root), state)
        assert isinstance(rewind, Rewind)
        assert rewind.live == ("msg_04",)


class TestTheDatabase:
    """Changes in tables."""

    def test_gives_what_was_added(self, tmp_path: Path) -> None:  # X12
        """Rows written by a running agent, still in its log, are seen; its files stay as they are."""
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

    @pytest.mark.parametrize("table", ["message", "part"])
    def test_takes_nothing_back_of_a_broken_row(self, tmp_path: Path, table: str) -> None:
        """Its message stands as it was; told once."""
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

    def test_without_the_session_any_more_takes_nothing_back(self, tmp_path: Path) -> None:
        """One problem; the log stands."""
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

    def test_that_cannot_be_read_is_a_problem(self, tmp_path: Path) -> None:
        """Damaged or missing."""
        file = TranscriptFile(tmp_path / "opencode.db", "s", None, opencode.SOURCE)
        assert [type(r) for r in read(file, {})] == [Problem]
        file.path.write_bytes(b"no database at all" * 100)
        assert [type(r) for r in read(file, {})] == [Problem]
        assert list(opencode.discover(tmp_path)) == []


def test_the_folder_is_the_environments() -> None:
    """XDG_DATA_HOME, else the usual place."""
    assert opencode.roots({"HOME": "/h"}) == [Path("/h/.local/share/opencode")]
    assert opencode.roots({"XDG_DATA_HOME": "/x"}) == [Path("/x/opencode")]


@pytest.mark.parametrize(("layout", "entries"), [("storage_v2", 10), ("storage_legacy", 3)])
def test_shared_samples_give_what_they_can(tmp_path: Path, layout: str, entries: int) -> None:
    """Both older layouts, parts beside or below their messages; a message without parts is counted."""
    shutil.copytree(shared_data("transcripts", "small", "opencode", layout), tmp_path / "storage")
    records = [r for f in opencode.discover(tmp_path) for r in opencode.read(f, {})]
    assert len(of(Entry, records)) == entries
    assert len(of(Unknown, records)) == (layout == "storage_legacy")


class TestLinks:
    """Files that lie below the agent's folder by a link, or by a name that leads elsewhere."""

    def outside(self, tmp_path: Path) -> Path:
        """A tree of somebody else, beside the followed one."""
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
    def test_of_a_tree_are_left_out_where_they_lead_out(
        self, tmp_path: Path, place: str, messages: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Folders of sessions, messages and parts alike; what is left out is said."""
        root, other = copied(tmp_path), self.outside(tmp_path)
        shutil.rmtree(root / place)
        (root / place).symlink_to(other / place)
        found = [f for f in opencode.discover(root) if f.session_id == "ses_1"]
        assert len([w for f in found for w in said(read(f, {}))]) == messages
        assert "leads out of" in caplog.text

    def test_names_that_climb_lead_nowhere(self, tmp_path: Path) -> None:
        """The id of a session or a message is a part of a path, and may say `..`."""
        root, other = copied(tmp_path), self.outside(tmp_path)
        for file, name in (
            ("session/garden/ses_2.json", f"../../../{other.name}/storage/message/ses_1"),
            ("message/ses_1/msg_01.json", f"../../../{other.name}/storage/part/msg_01"),
        ):
            path = root / "storage" / file
            path.write_text(json.dumps(json.loads(path.read_bytes()) | {"id": name}))
        read_now = [said(read(file, {})) for file in opencode.discover(root)]
        assert sorted(len(one) for one in read_now) == [0, 5]

    @pytest.mark.parametrize("name", ["opencode.db", "opencode.db-wal"])
    def test_of_a_database_and_its_log_are_not_followed(self, tmp_path: Path, name: str) -> None:
        """Neither the file nor its write-ahead log, which SQLite would take from any database."""
        root, other = tmp_path / "in", tmp_path / "out"
        for folder in (root, other):
            folder.mkdir()
            as_database(folder)
        with closing(sqlite3.connect(other / "opencode.db")) as db:
            db.execute("UPDATE session SET title = 'secret'")
            db.commit()
            (root / name).unlink(missing_ok=True)
            (root / name).symlink_to(other / name)
            assert "secret" not in [file.title for file in opencode.discover(root)]
            assert "secret" not in [file.title for file in opencode.worked_on(root / name)]


class TestFinding:
    """The sessions that a folder or a changed file belongs to."""

    def test_a_folder_holds_those_of_its_trees_and_databases(self, tmp_path: Path) -> None:
        """Whatever the tree is called."""
        root = copied(tmp_path)
        (root / "storage").rename(root / "saved")
        assert opencode.archives_at(tmp_path) == opencode.archives_at(root / "saved") == [root / "saved"]
        there = {file.session_id for file in opencode.sessions_in(root / "saved")}
        assert there
        database = as_database(root)
        assert opencode.archives_at(tmp_path) == [database, root / "saved"]
        assert opencode.archives_at(database) == [database]
        assert there == {file.session_id for file in opencode.sessions_in(database)}

    def test_every_file_of_a_tree_belongs_to_one_session(self, tmp_path: Path) -> None:
        """A part and a message name it, a session is it."""
        root = copied(tmp_path)
        known = {file.session_id for file in opencode.discover(root)}
        for path in (root / "storage").rglob("*.json"):
            assert {file.session_id for file in opencode.sessions_of(path)} <= known
        session = next((root / "storage" / "session").rglob("*.json"))
        assert [file.path for file in opencode.sessions_of(session)] == [session]

    def test_what_belongs_to_none_has_none(self, tmp_path: Path) -> None:
        """Other databases, broken files, names that are patterns."""
        root = copied(tmp_path)
        (root / "storage" / "message" / "x.json").write_text('{"sessionID": "*"}')
        for path in (
            root / "other.db",
            root / "opencode.db",
            root / "storage" / "message" / "x.json",
            tmp_path / "a",
        ):
            assert list(opencode.sessions_of(path)) == []
