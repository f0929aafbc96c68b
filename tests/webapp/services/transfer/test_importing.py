"""Imports: files are recognised and added once, and bad parts lose no other part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared import SHARED, shared_data
from tests.webapp.building import transactions, wire
from tests.webapp.services.transfer.rows import claude_row, lines
from webapp.app import App
from webapp.errors import Invalid, Malformed, NoSession

TURNS = [wire("system", "rules"), wire("user", "hi"), wire("assistant", "hello"), wire("user", "bye")]


def dumped(value: Any) -> bytes:
    """Return a value as a JSON file."""
    return json.dumps(value).encode()


class TestNames:
    """Session ids in files."""

    def test_that_no_address_can_contain_are_refused(self, app: App) -> None:
        """The error names the id, and nothing of the file is stored."""
        row = {"type": "user", "uuid": "u1", "sessionId": "a/b", "message": {"role": "user", "content": "hi"}}
        with pytest.raises(Invalid, match='got "a/b"'):
            app.importing.import_file("t.jsonl", json.dumps(row).encode())
        assert app.sessions.list() == []

    @pytest.mark.parametrize("before", [b"", b"\n", b" \r\n\n"])
    def test_that_are_missing_are_made_of_the_first_row(self, app: App, before: bytes) -> None:  # X12
        """Two files without one stay two sessions, also behind blank lines, and each is the same one again."""
        found = []
        for text in ("hi", "bye", "hi"):
            row = {"type": "user", "uuid": text, "message": {"role": "user", "content": text}}
            [imported] = app.importing.import_file("t.jsonl", before + json.dumps(row).encode())
            found.append(imported.session_id)
        assert found[0] == found[2] != found[1]


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
    def test_may_be_a_list_a_body_or_lines(self, app: App, data: bytes) -> None:
        """All three give the same messages."""
        [imported] = app.importing.import_file("chat.json", data)
        assert (imported.added, imported.title, imported.source) == (4, "chat", "import")
        assert imported.source_label == "import"
        assert app.context.get(imported.session_id, "openai").messages == TURNS

    def test_add_only_new_messages(self, app: App) -> None:
        """A longer list extends the session that it continues, under any file name."""
        [first] = app.importing.import_file("a.json", dumped(TURNS[:3]))
        [again] = app.importing.import_file("b.json", dumped(TURNS[:2]))
        [longer] = app.importing.import_file("c.json", dumped(TURNS))
        assert (again.added, longer.added, longer.known) == (0, 1, 3)
        assert first.session_id == again.session_id == longer.session_id
        assert len(app.sessions.list()) == 1

    def test_lock_out_other_writers_for_a_new_session_alone(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With PostgreSQL several sessions are written at once."""
        opened = transactions(app, monkeypatch)
        body = {"model": "gpt-5", "messages": [wire("user", "hi")], "temperature": 0.5}
        [found] = app.importing.import_file("a.json", json.dumps(body).encode())
        assert opened.count(None) == 1
        assert (app.store.sessions.get(found.session_id).envelope or {})["temperature"] == 0.5

    def test_that_continue_differently_are_separate_sessions(self, app: App) -> None:
        """A common beginning does not join two lists."""
        app.importing.import_file("a.json", dumped(TURNS))
        app.importing.import_file("a.json", dumped([*TURNS[:2], wire("assistant", "other")]))
        assert len(app.sessions.list()) == 2

    def test_may_be_appended_to_and_imported_again(self, app: App) -> None:
        """Messages that a program appended count as part of the list."""
        [first] = app.importing.import_file("a.json", dumped(TURNS[:2]))
        app.ingest.append_messages(first.session_id, TURNS[2:])
        [again] = app.importing.import_file("a.json", dumped(TURNS))
        assert (again.session_id, again.added) == (first.session_id, 0)


def gemini_document(title: str, messages: int) -> bytes:
    """Return a session as older versions of Gemini CLI write it, with its first messages."""
    said = [
        {"id": f"m{n}", "type": ("user", "gemini")[n % 2], "content": f"text {n}"} for n in range(messages)
    ]
    return dumped({"sessionId": "s", "projectHash": "x", "summary": title, "messages": said})


def opencode_document(title: str, messages: int) -> bytes:
    """Return a session as `opencode export` writes it, with its first messages."""
    said = [
        {
            "info": {"id": f"msg_{n}", "role": ("user", "assistant")[n % 2], "time": {"created": n}},
            "parts": [{"id": f"prt_{n}", "type": "text", "text": f"text {n}"}],
        }
        for n in range(messages)
    ]
    return dumped({"info": {"id": "ses_1", "title": title}, "messages": said})


class TestDocuments:
    """Files that an agent writes again as a whole, with the title of the session at their beginning."""

    @pytest.mark.parametrize("document", [gemini_document, opencode_document])
    def test_bring_a_new_title_and_no_old_one(
        self, app: App, document: Callable[[str, int], bytes]
    ) -> None:  # X12
        """A session that was renamed since the first import has its new title, also after an older copy."""
        app.importing.import_file("a.json", document("First", 4))
        titles = []
        for title, messages in (("Renamed", 4), ("First", 2), ("Renamed again", 6)):
            [imported] = app.importing.import_file("a.json", document(title, messages))
            titles.append(app.store.sessions.get(imported.session_id).title)
        assert titles == ["Renamed", "Renamed", "Renamed again"]


class TestBadFiles:
    """Files that cannot be imported."""

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "empty"), (b"  \n ", "empty"), (b"\x00\x01\x02" * 400, "not recognised"),
            (b"hello", "not recognised"), (b"[" * 100_000, "not recognised"), (b'{"a": 1}', "not recognised"),
            ("häh".encode("utf-16"), "not recognised"), (b"\x1f\x8b\x08abc", "gzip data"),
            (b'{"messages": []}', "empty"), ("\ufeff \n".encode(), "empty"), (b'[{"role": "us', "breaks off"),
            (b'{"coppice": 99}\n', "version"), (b"[]", "not recognised"),
        ],
    )  # fmt: skip
    def test_are_refused_with_a_reason(self, app: App, data: bytes, words: str) -> None:
        """The error says why, and nothing is stored."""
        with pytest.raises(Malformed, match=words):
            app.importing.import_file("x.json", data)
        assert app.sessions.list() == []

    def test_without_a_valid_message_are_refused_with_a_place(self, app: App) -> None:
        """The error has the place of the first invalid message."""
        with pytest.raises(Malformed, match="x.json: message 0: expected content"):
            app.importing.import_file("x.json", dumped([{"role": "user", "content": 5}]))
        assert app.sessions.list() == []

    def test_with_malformed_lines_are_imported_in_part(self, app: App) -> None:
        """Each malformed line is reported by number, and the others are imported."""
        data = (
            lines(claude_row())
            + b"{broken\n"
            + b"\xff\xfe\n"
            + b"[" * 100_000
            + b"\n"
            + lines(claude_row(uuid="u2", parentUuid="u1"))
        )
        [imported] = app.importing.import_file("x.jsonl", data)
        assert (imported.added, imported.skipped) == (2, 3)
        assert [p.split(":")[0] for p in imported.problems] == ["line 2", "line 3", "line 4"]

    def test_of_an_unknown_format_are_refused(self, app: App) -> None:
        """The error names the unknown format."""
        with pytest.raises(Invalid, match="format"):
            app.importing.import_file("x", b"{}", format="morse")


BAD_MESSAGES = [
    (b'{"role": "wizard", "content": "x"}', "message 1: expected role to be one of"),
    (b'{"role": "user", "content": 5}', "message 1: expected"),
    (b"5", "message 1: expected a message to be an object, got a number"),
    (
        b'{"role": "user", "content": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        "message 1: JSON nested too deeply",
    ),
    (
        b'{"role": "user", "content": ' + b"[" * 500 + b"]" * 500 + b"}",
        "message 1: JSON nested deeper than 200",
    ),
    (b'{"role": "user", "content": "x", "n": NaN}', "message 1: NaN is not a number in JSON"),
    (b'{"role": "user", "content" "x"}', "message 1: broken JSON"),
    (b"", "message 1: nothing, no JSON"),
]


class TestBadMessages:
    """A bad message, which is skipped and reported with its place."""

    @pytest.mark.parametrize(("bad", "problem"), BAD_MESSAGES)
    @pytest.mark.parametrize("shape", [b"[%b]", b'{"model": "gpt-5", "messages": [%b], "n": 1}'])
    def test_in_a_list_are_skipped(self, app: App, bad: bytes, problem: str, shape: bytes) -> None:
        """Messages before and after a bad one are imported."""
        items = [json.dumps(turn).encode() for turn in TURNS]
        data = shape % b", ".join([items[0], bad, *items[1:]])
        [imported] = app.importing.import_file("x.json", data)
        assert (imported.added, imported.skipped) == (4, 1)
        assert [p[: len(problem)] for p in imported.problems] == [problem]
        assert app.context.get(imported.session_id, "openai").messages == TURNS
        assert list(app.verify()) == []

    @pytest.mark.parametrize(("bad", "problem"), [case for case in BAD_MESSAGES if case[0]])
    def test_among_lines_are_skipped(self, app: App, bad: bytes, problem: str) -> None:
        """Each line is one message, and the session notes the skipped one."""
        items = [json.dumps(turn).encode() for turn in TURNS]
        data = b"\n".join([items[0], bad, *items[1:]])
        [imported] = app.importing.import_file("x.jsonl", data)
        assert (imported.added, imported.skipped) == (4, 1)
        assert imported.problems[0].startswith("line 2: " + problem.partition(": ")[2].partition(" ")[0])
        session = app.sessions.get(imported.session_id)
        assert (session.malformed, session.notes) == (1, [f"x.jsonl: {imported.problems[0]}"])

    def test_may_be_repaired(self, app: App) -> None:
        """Half a surrogate pair becomes U+FFFD and is reported."""
        data = dumped(TURNS).replace(b'"hello"', b'"a \\ud83d b"')
        [imported] = app.importing.import_file("x.json", data)
        assert (imported.added, imported.skipped) == (4, 0)
        assert imported.problems == ["message 2: half a surrogate pair; read as \ufffd"]
        assert app.context.get(imported.session_id, "openai").messages[2]["content"] == "a \ufffd b"

    @pytest.mark.parametrize("cut", [0.3, 0.5, 0.9, 0.999])
    @pytest.mark.parametrize("body", [False, True])
    def test_at_the_end_of_a_truncated_file_are_skipped(self, app: App, cut: float, body: bool) -> None:
        """The complete messages are imported, and the report has their number."""
        turns = [wire("user" if n % 2 == 0 else "assistant", f'say "{n}" [] {{') for n in range(40)]
        data = dumped({"model": "gpt-5", "messages": turns} if body else turns)
        [imported] = app.importing.import_file("x.json", data[: int(len(data) * cut)])
        assert 40 * cut - 2 <= imported.added <= 40 * cut
        assert f"the file breaks off before its list ends; {imported.added} messages" in imported.problems[-1]
        [whole] = app.importing.import_file("x.json", data)
        assert (whole.session_id, whole.added) == (imported.session_id, 40 - imported.added)


class TestEncodings:
    """Files in encodings other than UTF-8."""

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-8-sig"])
    @pytest.mark.parametrize("by_line", [False, True])
    def test_that_the_first_bytes_identify_are_read(self, app: App, encoding: str, by_line: bool) -> None:
        """The text is the same as in UTF-8."""
        turns = [wire("user", "grüße 👋"), wire("assistant", "ça va")]
        text = "\n".join(json.dumps(t, ensure_ascii=False) for t in turns) if by_line else json.dumps(turns)
        [imported] = app.importing.import_file("x.json", text.encode(encoding))
        assert (imported.added, imported.problems) == (2, [])
        assert app.context.get(imported.session_id, "openai").messages == turns

    def test_of_a_transcript_are_read(self, app: App) -> None:
        """A transcript in UTF-16 is read line by line."""
        text = json.dumps(claude_row(text="é"), ensure_ascii=False) + "\n"
        [imported] = app.importing.import_file("x.jsonl", text.encode("utf-16"))
        assert (imported.added, imported.skipped) == (1, 0)

    def test_unknown_in_a_list_are_reported(self, app: App) -> None:
        """Invalid bytes are replaced; the report has the byte, its place and the remedy."""
        data = json.dumps([wire("user", "café olé"), *TURNS], ensure_ascii=False).encode("latin-1")
        [imported] = app.importing.import_file("x.json", data)
        assert (imported.added, imported.skipped) == (5, 0)
        assert imported.problems == [
            "line 1: byte 0xe9 at 34 is not UTF-8; read as \ufffd (1 more like it). Save the file as UTF-8 to mend it"
        ]

    def test_unknown_in_lines_are_reported(self, app: App) -> None:
        """Lines of transcripts and lists with invalid bytes are used, and reported."""
        rows = [claude_row(text=text, uuid=f"u{n}") for n, text in enumerate(("ok", "café"))]
        for name, lines_ in (("a.jsonl", rows), ("b.jsonl", [wire("user", "ok"), wire("user", "café")])):
            data = "\n".join(json.dumps(row, ensure_ascii=False) for row in lines_).encode("latin-1")
            [imported] = app.importing.import_file(name, data)
            assert (imported.added, imported.skipped) == (2, 0)
            assert imported.problems[0].startswith("line 2: byte 0xe9 at ")


class TestOpenFiles:
    """Files passed as open files."""

    def test_are_read_like_bytes(self, app: App, tmp_path: Path) -> None:
        """An open file is read from its beginning, not from its position."""
        path = tmp_path / "chat.json"
        path.write_bytes(dumped(TURNS))
        with path.open("rb") as file:
            file.read(10)
            [imported] = app.importing.import_file(str(path), file)
        assert imported.added == 4


FILES = sorted(
    p
    for p in (SHARED / "data" / "transcripts").rglob("*.json*")
    if "opencode" not in p.parts and ".meta." not in p.name
)


class TestRealFiles:
    """Imports of the shared real files."""

    @pytest.mark.parametrize("path", FILES or [Path("missing")], ids=lambda p: p.stem[:24])
    def test_are_imported_once(self, app: App, path: Path) -> None:  # X12
        """A second import adds nothing, the store has no fault, and regions add up."""
        shared_data("transcripts")
        data = path.read_bytes()
        if not data.strip():
            with pytest.raises(Malformed, match="empty"):
                app.importing.import_file(str(path), data)
            return
        if path.stem.startswith("agent-acompact"):
            with pytest.raises(NoSession, match="asked this itself"):
                app.importing.import_file(str(path), data)
            return
        imported = app.importing.import_file(str(path), data)
        [again] = app.importing.import_file(str(path), data)
        assert (again.added, imported[0].known) == (0, 0)
        share_an_id = b'"uuid":"[trimmed for fixture]"' in data.replace(b": ", b":")
        assert again.known == imported[0].added or (share_an_id and 0 < again.known < imported[0].added)
        assert list(app.verify()) == []
        assert sum(i.added for i in imported) > 0
        for session in app.sessions.list():
            for gauge in filter(None, (session.agent, session.pruned)):
                assert sum(r.tokens for r in gauge.regions) == gauge.tokens

    @pytest.mark.parametrize("share", [0.3, 0.7])
    def test_give_the_same_in_two_parts(self, app: App, share: float) -> None:
        """Importing a part and then the whole file gives the same messages and numbers."""
        [path] = shared_data("transcripts").glob("claude-code/projects/-src-deep-manifest/a7da*.jsonl")
        data = path.read_bytes()
        cut = data.index(b"\n", int(len(data) * share)) + 1
        app.importing.import_file(str(path), data[:cut])
        grown = app.importing.import_file(str(path), data)[0].session_id
        first = app.sessions.get(grown)
        app.sessions.delete(grown)
        app.importing.import_file(str(path), data)
        second = app.sessions.get(grown)
        for name in ("messages", "turns", "agent", "pruned", "operations"):
            assert getattr(first, name) == getattr(second, name)


class TestProgress:
    """The progress of an import."""

    def test_is_reported_while_messages_are_added(self, app: App) -> None:
        """It ends with all bytes of the file, and messages are added before that."""
        rows = [
            {
                "type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "big",
                "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": "words " * 300},
            }
            for n in range(3_000)
        ]  # fmt: skip
        data = lines(*rows)
        seen: list[tuple[int, int, int]] = []

        def progress(done: int, size: int) -> None:
            found = app.store.sessions.find("big")
            seen.append((done, size, found.next_no - 1 if found is not None else 0))

        app.importing.import_file("big.jsonl", data, progress=progress)
        assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
        assert seen[-1][:2] == (len(data), len(data))
        assert 0 < seen[-1][2] < 3_000
