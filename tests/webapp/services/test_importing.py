"""Files in: recognised, once each, and nothing lost of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.errors import MalformedMessage
from tests.shared import SHARED, shared_data
from tests.webapp.building import wire
from webapp.errors import Invalid, Malformed

TURNS = [wire("system", "rules"), wire("user", "hi"), wire("assistant", "hello"), wire("user", "bye")]


def dumped(value: Any) -> bytes:
    """JSON as a file."""
    return json.dumps(value).encode()


def lines(*rows: Any) -> bytes:
    """JSON lines as a file."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class TestLists:
    """Message lists."""

    @pytest.mark.parametrize(
        "data",
        [
            dumped(TURNS),
            dumped({"model": "gpt-5", "messages": TURNS}),
            lines(*TURNS),
            json.dumps(TURNS, indent=1).encode(),
        ],
    )
    def test_come_as_a_list_a_body_or_lines(self, app: Any, data: bytes) -> None:
        """All the same messages."""
        [imported] = app.importing.import_file("chat.json", data)["imported"]
        assert (imported["added"], imported["title"], imported["source"]) == (4, "chat", "import")
        assert app.context.get(imported["session_id"], "openai")["messages"] == TURNS

    def test_add_nothing_twice_and_the_rest_of_a_longer_one(self, app: Any) -> None:
        """In the session that they continue, whatever the file is called."""
        [first] = app.importing.import_file("a.json", dumped(TURNS[:3]))["imported"]
        [again] = app.importing.import_file("b.json", dumped(TURNS[:2]))["imported"]
        [longer] = app.importing.import_file("c.json", dumped(TURNS))["imported"]
        assert (again["added"], longer["added"], longer["known"]) == (0, 1, 3)
        assert first["session_id"] == again["session_id"] == longer["session_id"]
        assert len(app.sessions.list()) == 1

    def test_that_go_on_differently_are_sessions_of_their_own(self, app: Any) -> None:
        """Even with the same beginning."""
        app.importing.import_file("a.json", dumped(TURNS))
        app.importing.import_file("a.json", dumped([*TURNS[:2], wire("assistant", "other")]))
        assert len(app.sessions.list()) == 2

    def test_may_be_appended_to_and_imported_again(self, app: Any) -> None:
        """What a program appended counts as part of the list."""
        [first] = app.importing.import_file("a.json", dumped(TURNS[:2]))["imported"]
        app.ingest.append_messages(first["session_id"], TURNS[2:])
        [again] = app.importing.import_file("a.json", dumped(TURNS))["imported"]
        assert (again["session_id"], again["added"]) == (first["session_id"], 0)


class TestBadFiles:
    """One clear message each, and nothing changes."""

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "empty"), (b"  \n ", "empty"), (b"\x00\x01\x02" * 400, "not recognised"),
            (b"hello", "not recognised"), (b"[" * 100_000, "not recognised"), (b'{"a": 1}', "not recognised"),
            ("häh".encode("utf-16"), "not recognised"),
            (b'{"coppice": 99}\n', "version"), (b"[]", "not recognised"),
        ],
    )  # fmt: skip
    def test_are_refused_in_words(self, app: Any, data: bytes, words: str) -> None:
        """What, where, what to do."""
        with pytest.raises(Malformed, match=words):
            app.importing.import_file("x.json", data)
        assert app.sessions.list() == []

    def test_with_a_broken_message_are_refused_with_its_place(self, app: Any) -> None:
        """A list is all or nothing."""
        with pytest.raises(MalformedMessage, match="message 1"):
            app.importing.import_file("x.json", dumped([wire("user", "ok"), {"role": "user", "content": 5}]))
        assert app.sessions.list() == []

    def test_with_broken_lines_are_used_as_far_as_they_go(self, app: Any) -> None:
        """Each bad line is told by number; the others count."""
        row = {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "sessionId": "s1",
            "message": {"role": "user", "content": "hi"},
        }
        data = (
            lines(row)
            + b"{broken\n"
            + b"\xff\xfe\n"
            + b"[" * 100_000
            + b"\n"
            + lines({**row, "uuid": "u2", "parentUuid": "u1"})
        )
        [imported] = app.importing.import_file("x.jsonl", data)["imported"]
        assert (imported["added"], imported["skipped"]) == (2, 3)
        assert [p.split(":")[0] for p in imported["problems"]] == ["line 2", "line 3", "line 4"]

    def test_of_a_format_that_is_none_are_refused(self, app: Any) -> None:
        """By its name."""
        with pytest.raises(Invalid, match="format"):
            app.importing.import_file("x", b"{}", format="morse")


class TestDeleted:
    """A session that was deleted."""

    def test_comes_back_when_somebody_asks_for_it(self, app: Any) -> None:
        """An import is a wish; only following is not."""
        row = {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "sessionId": "s1",
            "message": {"role": "user", "content": "hi"},
        }
        [first] = app.importing.import_file("x.jsonl", lines(row))["imported"]
        app.sessions.delete(first["session_id"])
        [again] = app.importing.import_file("x.jsonl", lines(row))["imported"]
        assert (again["session_id"], again["added"]) == (first["session_id"], 1)


FILES = sorted(
    p
    for p in (SHARED / "data" / "transcripts").rglob("*.json*")
    if "opencode" not in p.parts and ".meta." not in p.name
)


class TestRealFiles:
    """Those beside the repository."""

    @pytest.mark.parametrize("path", FILES or [Path("missing")], ids=lambda p: p.stem[:24])
    def test_come_in_whole_and_once(self, app: Any, path: Path) -> None:  # X12
        """The second time adds nothing, the store is sound, regions add up."""
        shared_data("transcripts")
        data = path.read_bytes()
        if not data.strip():
            with pytest.raises(Malformed, match="empty"):
                app.importing.import_file(str(path), data)
            return
        imported = app.importing.import_file(str(path), data)["imported"]
        assert app.importing.import_file(str(path), data)["imported"][0]["added"] == 0
        assert list(app.verify()) == []
        assert sum(i["added"] for i in imported) > 0
        for session in app.sessions.list():
            for gauge in filter(None, (session["agent"], session["pruned"])):
                assert sum(r["tokens"] for r in gauge["regions"]) == gauge["tokens"]

    @pytest.mark.parametrize("share", [0.3, 0.7])
    def test_grow_to_the_same_as_if_read_at_once(self, app: Any, share: float) -> None:
        """A part first, then the whole: the same log and the same numbers."""
        [path] = shared_data("transcripts").glob("claude-code/projects/-src-deep-manifest/a7da*.jsonl")
        data = path.read_bytes()
        cut = data.index(b"\n", int(len(data) * share)) + 1
        app.importing.import_file(str(path), data[:cut])
        grown = app.importing.import_file(str(path), data)["imported"][0]["session_id"]
        first = app.sessions.get(grown)
        app.sessions.delete(grown)
        app.importing.import_file(str(path), data)
        second = app.sessions.get(grown)
        for name in ("messages", "turns", "agent", "pruned", "operations"):
            assert first[name] == second[name]
