"""OpenCode 2: its tables beside the older ones, and tables of an unknown schema."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scoring.messages import Reasoning
from tests.webapp.agents.opencode.second_generation import SAID, database, write
from tests.webapp.agents.samples import of, said
from webapp.agents.opencode import decoder as opencode
from webapp.agents.opencode import files
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Unknown, UsageReport
from webapp.config import Config
from webapp.wiring import build


def read(path: Path, state: dict[str, Any]) -> list[Record]:
    """Return the new records of the only session in a database."""
    [file] = files.in_database(path)
    return list(opencode.read(file, state))


class TestTheSecondGeneration:
    """Sessions in the tables that OpenCode writes since September 2026."""

    @pytest.mark.parametrize("sessions", ["session_v2", "session"])
    def test_is_read_with_calls_results_and_usage(self, tmp_path: Path, sessions: str) -> None:  # X12
        """The table of sessions may have either of its two names."""
        path = database(tmp_path, "opencode-beta.db", sessions)
        write(path, SAID)
        records = read(path, {})
        assert said(records) == [
            ("system", "Use metric units."), ("user", "List the beds."), ("assistant", ""), ("tool", "seven beds"),
            ("assistant", "Seven."), ("reminder", "Shell command: ls\n\nbeds.txt"),
        ]  # fmt: skip
        answer = next(e for e in of(Entry, records) if e.message.role == "assistant")
        assert answer.message.calls[0].name == "read"
        assert any(e.usage and e.usage.input_tokens == 2_100 for e in of(Entry, records))
        assert {m.model for m in of(Meta, records)} >= {"claude-sonnet-4-5"}
        assert [u.type for u in of(Unknown, records)] == ["part of type novelty"]

    def test_names_a_host_that_has_windows_of_its_own(self, tmp_path: Path) -> None:  # X10
        """Here the provider is beside the id of the model."""
        answer = {
            "model": {"id": "gpt-5.5", "providerID": "github-copilot"},
            "tokens": {"input": 9, "output": 1},
        }
        path = database(tmp_path)
        write(path, [("user", {"text": "List the beds."}), ("assistant", answer | {"content": []})])
        assert "github-copilot/gpt-5.5" in {m.model for m in of(Meta, read(path, {}))}

    def test_is_followed_through_changes_in_place(self, tmp_path: Path) -> None:  # X12
        """An updated row and a new row are read."""
        path, state = database(tmp_path), dict[str, Any]()
        write(path, SAID[:2])
        read(path, state)
        write(path, [("user", {"text": "List all beds."})], first=1, updated=7)
        write(path, SAID[2:3], first=2)
        records = read(path, state)
        assert said(records)[0] == ("user", "List all beds.")
        assert of(Entry, records)[0].supersedes is not None
        assert len(of(Entry, records)) == 4
        assert read(path, state) == []

    def test_marks_a_compaction(self, tmp_path: Path) -> None:  # X12
        """The compaction has its summary and the newest messages it kept, and the others leave."""
        path, state = database(tmp_path), dict[str, Any]()
        write(path, SAID[:3])
        read(path, state)
        write(
            path, [("compaction", {"reason": "auto", "summary": "Seven beds.", "recent": "Seven."})], first=3
        )
        records = read(path, state)
        [compaction] = of(Compaction, records)
        assert (compaction.trigger, compaction.kept) == ("auto", ())
        assert [e.kind for e in of(Entry, records)] == ["compaction_summary"]

    def test_replaces_the_context_by_that_of_a_native_compaction(self, tmp_path: Path) -> None:  # X12
        """The provider's summary is in the messages that are sent from then on, encrypted as a thought is."""
        path, state = database(tmp_path), dict[str, Any]()
        write(path, SAID[:3])
        read(path, state)
        window = [
            {"role": "user", "content": [{"type": "text", "text": "List the beds."}]},
            {"role": "assistant", "content": [{"type": "compaction", "id": "cmp_1", "encrypted": "x" * 500}]},
        ]
        context = {"version": 1, "provenance": {"modelID": "gpt-5.2"}, "messages": window}
        row = {
            "status": "completed",
            "reason": "auto",
            "summary": "",
            "recent": "",
            "providerContext": context,
        }
        write(path, [("compaction", row), ("user", {"text": "And the paths?"})], first=3)
        records = read(path, state)
        [compaction] = of(Compaction, records)
        assert (compaction.trigger, compaction.kept, compaction.unreadable) == ("auto", (), True)
        assert said(compaction.replacement or ()) == [("user", "List the beds."), ("assistant", "")]
        assert compaction.replacement is not None
        assert compaction.replacement[1].message.parts == (Reasoning("", 500),)
        assert [entry.kind for entry in compaction.replacement] == ["message", "compaction_summary"]
        assert said(records) == [("user", "And the paths?")]
        assert not of(Unknown, records)
        assert read(path, state) == []

    @pytest.mark.parametrize("status", ["completed", "failed"])
    def test_reports_the_usage_of_a_compaction_apart(self, tmp_path: Path, status: str) -> None:  # X9
        """It is that of the request for the summary, not the size of the new context."""
        path, tokens = database(tmp_path), {"input": 900, "output": 30, "reasoning": 5}
        row = {"status": status, "summary": "Seven.", "model": {"id": "gpt-5.2"}, "tokens": tokens}
        write(path, [*SAID[:3], ("compaction", row)])
        [report] = [one for one in of(UsageReport, read(path, {})) if one.apart]
        assert (report.call_key, report.model) == ("compaction msg_3", "gpt-5.2")
        assert (report.usage.input_tokens, report.usage.output_tokens) == (900, 35)

    @pytest.mark.parametrize("status", ["running", "failed"])
    def test_ignores_a_compaction_that_is_not_complete(self, tmp_path: Path, status: str) -> None:
        """The agent sends what was before it."""
        path, state = database(tmp_path), dict[str, Any]()
        write(path, SAID[:3])
        read(path, state)
        summary = {"reason": "auto", "summary": "Seven", "recent": "", "status": status}
        write(path, [("compaction", summary)], first=3)
        assert read(path, state) == []
        write(path, [("compaction", {**summary, "status": "completed"})], first=3, updated=7)
        records = read(path, state)
        assert len(of(Compaction, records)) == 1
        assert [who for who, _ in said(records)] == ["reminder"]

    def test_reads_attached_files_and_skills_as_they_are_sent(self, tmp_path: Path) -> None:
        """A text is sent as such, images and PDFs as files, and other files are not sent."""
        path = database(tmp_path)
        files = [
            {"mime": "text/plain", "name": "beds.txt", "data": "c2V2ZW4=", "source": {"type": "inline"}},
            {"mime": "image/png", "data": "AAAA"},
            {"mime": "application/pdf", "data": "JVBERi0="},
            {"mime": "application/zip", "data": "UEsDBA=="},
        ]
        skills = [{"id": "s", "name": "garden", "text": "Water them."}]
        write(path, [("user", {"text": "Look.", "files": files, "skills": skills}),
                     ("skill", {"skill": "s", "name": "garden", "text": "Weed them."})])  # fmt: skip
        records = read(path, {})
        assert said(records) == [
            ("user", "Look.\nAttached file: beds.txt\n\nseven\nWater them."), ("reminder", "Weed them."),
        ]  # fmt: skip
        assert [m.mime for m in of(Entry, records)[0].message.media] == ["image/png", "application/pdf"]

    def test_reads_what_happened_beside_the_conversation_as_it_is_sent(self, tmp_path: Path) -> None:  # X12
        """A new folder is a sentence; a command in the background is sent once, by the message at its end."""
        path = database(tmp_path)
        write(path, [
            ("location-switched", {"location": {"directory": "/beds"}}),
            ("shell", {"command": "make", "output": {"output": "ok"}, "metadata": {"background": True}}),
            ("synthetic", {"text": "make ended"}),
        ])  # fmt: skip
        records = read(path, {})
        assert said(records) == [
            ("reminder", "The working directory has been changed to /beds."), ("reminder", "make ended"),
        ]  # fmt: skip
        assert not of(Unknown, records)

    def test_reads_everything_in_a_result(self, tmp_path: Path) -> None:
        """Images are in blocks, as is what a failed tool had written; the output of a shell is in an object."""
        path = database(tmp_path)
        picture = {"type": "file", "uri": "data:image/png;base64,AAAA", "mime": "image/png"}
        failed = {"status": "error", "input": {}, "error": {"type": "x", "message": "no"}}
        tools = [
            {"status": "completed", "input": {}, "content": [{"type": "text", "text": "one"}, picture]},
            {**failed, "content": [{"type": "text", "text": "half"}]},
            {"status": "completed", "input": {}, "content": [], "structured": {"a": 1}},
        ]
        content = [{"type": "tool", "id": f"c{n}", "name": "x", "state": s} for n, s in enumerate(tools)]
        write(path, [("assistant", {**SAID[2][1], "content": content}),
                     ("shell", {"command": "ls", "output": {"output": "beds.txt"}})])  # fmt: skip
        _, results, shell = of(Entry, read(path, {}))
        assert [(r.text, r.is_error, len(r.media)) for r in results.message.results] == [
            ("one", False, 1),
            ("no\nhalf", True, 0),
            ('{"a":1}', False, 0),
        ]
        assert shell.message.text == "Shell command: ls\n\nbeds.txt"

    def test_replaces_the_older_tables(self, tmp_path: Path) -> None:  # X12
        """The new tables are used as soon as they have a row of the session."""
        path = database(tmp_path)
        with sqlite3.connect(path) as db:
            db.execute(
                "CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT)"
            )
            db.execute(
                "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INT, time_updated INT, "
                "data TEXT)"
            )
            db.execute("INSERT INTO message VALUES ('msg_1', 'ses_n', 1, 1, '{\"role\": \"user\"}')")
            text = json.dumps({"type": "text", "text": "List the beds."})
            db.execute("INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_n', 1, 1, ?)", [text])
        state: dict[str, Any] = {}
        assert said(read(path, state)) == [("user", "List the beds.")]
        write(path, SAID[:3])
        after = said(read(path, state))
        assert ("assistant", "Seven.") in after
        assert ("user", "List the beds.") not in after


class TestAnUnknownSchema:
    """Tables of an unknown schema."""

    def test_is_reported_once(self, tmp_path: Path) -> None:  # X12
        """An unknown schema is a problem, which is not repeated."""
        home = tmp_path / "share"
        (home / "opencode").mkdir(parents=True)
        with sqlite3.connect(home / "opencode" / "opencode.db") as db:
            db.execute("CREATE TABLE conversation_v3 (id TEXT)")
        os.utime(home / "opencode" / "opencode.db", (1_000, 1_000))  # no file that is being written
        made = build(Config(db=tmp_path / "b.db", env={"XDG_DATA_HOME": str(home), "HOME": str(tmp_path)}))
        try:
            following = made.watcher.following
            for _ in range(2):
                for file in following.discover():
                    following.read_new(file)
            [session] = made.sessions.list()
            assert session.title == "opencode.db cannot be read"
            assert session.malformed == 1
            assert any("unknown schema" in note and "conversation_v3" in note for note in session.notes)
        finally:
            made.close()

    def test_is_not_reported_for_a_new_database(self, tmp_path: Path) -> None:
        """A new database has no tables yet."""
        sqlite3.connect(tmp_path / "opencode.db").close()
        assert list(files.in_database(tmp_path / "opencode.db")) == []
        assert of(Problem, []) == []
