"""Readers: the same records for any portions, and positions that survive a restart."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.messages import Message, Text
from tests.damages import damaged_objects
from tests.webapp.agents.samples import grow, said, samples_of
from webapp.agents import AGENTS
from webapp.agents.agent import Agent
from webapp.agents.reading.readers import CHUNK_RECORDS, Chunk, LineReader, Position, Reader, WholeReader
from webapp.agents.reading.tail import Line
from webapp.agents.records import Entry, Problem, Record, TranscriptFile

LINES = [
    (agent, file) for agent in AGENTS.values() for file in samples_of(agent) if file.path.suffix == ".jsonl"
]


def records_of(chunks: Iterator[Chunk]) -> list[Record]:
    """Return the records of all chunks."""
    return [record for chunk in chunks for record in chunk.records]


class Echo:
    """A decoder that repeats each line as a message, and fails on "bad"."""

    def __init__(self, _file: TranscriptFile | None = None) -> None:
        self.lines = 0

    def feed(self, line: Line) -> Iterator[Record]:
        """Return the line as a message, with the number of lines so far."""
        if line.data == b"bad":
            raise TypeError("unhashable")
        self.lines += 1
        yield Entry(Message("user", (Text(f"{self.lines} {line.data.decode()}"),)), str(line.number))


def opened(path: Path, position: Position | None = None) -> Reader:
    """Return a reader of a file of lines."""
    return LineReader(TranscriptFile(path, "s", None, "x"), position or {}, Echo)


class TestLines:
    """Files that grow by lines."""

    @pytest.mark.parametrize(("agent", "file"), LINES, ids=lambda v: getattr(v, "session_id", v.source)[-20:])
    def test_give_the_same_after_any_restart(
        self, agent: Agent, file: TranscriptFile, tmp_path: Path
    ) -> None:  # X12
        """A new reader for each line, started at the stored position, gives the same records."""
        whole = records_of(agent.reader(file, {}).read())
        path = tmp_path / file.path.name
        copy = TranscriptFile(path, file.session_id, file.parent_id, file.source, file.title, file.agent_type)
        position, followed = Position(), list[Record]()
        for line in file.path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            with path.open("ab") as out:
                out.write(line)
            for chunk in agent.reader(copy, position).read():
                followed += chunk.records
                position = json.loads(json.dumps(chunk.position))
        assert followed == whole

    def test_of_a_kept_reader_are_decoded_once(self, tmp_path: Path) -> None:
        """A reader keeps its decoder, and a new reader decodes the earlier lines again."""
        path = tmp_path / "a.jsonl"
        grow(path, b"a\nb\nhalf")
        reader = opened(path)
        assert said(records_of(reader.read())) == [("user", "1 a"), ("user", "2 b")]
        grow(path, b"\n")
        [chunk] = reader.read()
        assert said(chunk.records) == [("user", "3 half")]
        grow(path, b"c\n")
        assert said(records_of(opened(path, chunk.position).read())) == [("user", "4 c")]

    def test_come_in_chunks(self, tmp_path: Path) -> None:
        """A reader stopped after a portion continues with the next one."""
        path = tmp_path / "a.jsonl"
        grow(path, b"x\n" * (2 * CHUNK_RECORDS))
        reader = opened(path)
        first = next(reader.read())
        assert len(first.records) == CHUNK_RECORDS
        assert said(records_of(reader.read()))[0] == ("user", f"{CHUNK_RECORDS + 1} x")

    def test_of_an_unchanged_file_are_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The stored size and time suffice, so the file is not opened."""
        path = tmp_path / "a.jsonl"
        grow(path, b"a\n")
        [chunk] = opened(path).read()
        monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
        assert list(opened(path, chunk.position).read()) == []

    @pytest.mark.parametrize("kept", [True, False])
    def test_of_a_replaced_file_restart(self, tmp_path: Path, kept: bool) -> None:
        """All lines are read by a new decoder, after a restart record."""
        path = tmp_path / "a.jsonl"
        grow(path, b"a\nb\n")
        reader = opened(path)
        [chunk] = reader.read()
        path.unlink()
        grow(path, b"other\n")
        [again] = (reader if kept else opened(path, chunk.position)).read()
        assert again.restarted
        assert said(again.records) == [("user", "1 other")]

    def test_behind_a_damaged_position_come_again_from_the_first(self, tmp_path: Path) -> None:
        """A position that cannot be read would keep its file from being followed for good."""
        path = tmp_path / "a.jsonl"
        grow(path, b"a\n")
        [whole] = opened(path).read()
        grow(path, b"b\n")
        for position in damaged_objects(whole.position):
            [chunk] = opened(path, position).read()
            assert [words for _, words in said(chunk.records)] in (["1 a", "2 b"], ["2 b"]), position

    def test_on_which_the_decoder_fails_are_skipped(self, tmp_path: Path) -> None:
        """The row is reported with its line and the error; its neighbours are used."""
        path = tmp_path / "a.jsonl"
        grow(path, b"a\nbad\nb\n")
        first, problem, last = records_of(opened(path).read())
        assert problem == Problem(2, "the row could not be used: TypeError: unhashable")
        assert said([first, last]) == [("user", "1 a"), ("user", "2 b")]


class TestWholes:
    """Sessions that change in place."""

    def reader(self, path: Path, position: Position | None = None) -> Reader:
        """Return a reader that gives the new words of a document, or a problem."""

        def compare(file: TranscriptFile, state: dict[str, Any]) -> Iterator[Record]:
            text = file.path.read_text()
            known = state.setdefault("known", [])
            if text.endswith("!"):
                yield Problem(1, "broken")
            for word in text.split():
                if word not in known and word != "!":
                    known.append(word)
                    yield Entry(Message("user", (Text(word),)), word)

        return WholeReader(
            TranscriptFile(path, "s", None, "x"),
            position or {},
            compare,
            lambda state: isinstance(state, dict),
        )

    def test_give_changes_since_the_position(self, tmp_path: Path) -> None:
        """The same reader or a new one gives only changes."""
        path = tmp_path / "a.json"
        path.write_text("one")
        reader = self.reader(path)
        [chunk] = reader.read()
        assert said(chunk.records) == [("user", "one")]
        assert list(reader.read()) == list(self.reader(path, chunk.position).read()) == []
        path.write_text("one two")
        for again in (reader, self.reader(path, chunk.position)):
            assert said(records_of(again.read())) == [("user", "two")]

    def test_that_are_being_written_are_read_later(self, tmp_path: Path) -> None:
        """An unreadable file is reported only if it has not changed for a while."""
        path = tmp_path / "a.json"
        path.write_text("!")
        reader = self.reader(path)
        assert list(reader.read()) == []
        os.utime(path, (1, 1))
        assert records_of(reader.read()) == [Problem(1, "broken")]
