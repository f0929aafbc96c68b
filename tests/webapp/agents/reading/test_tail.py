"""The tail of a growing file, which gives every line once."""

from __future__ import annotations

import os
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webapp.agents.samples import grow
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.reading.tail import (
    FilePosition,
    FileTail,
    Item,
    Line,
    Restarted,
    Splitter,
    decode_line,
    lines_of,
)
from webapp.agents.records import Entry, Problem

TEXTS = st.lists(
    st.binary(max_size=40).map(lambda b: b"{" + b.translate(None, b"\n\r\x00") + b"}"), max_size=12
)


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    """Return the data in pieces cut at `cuts`, taken modulo its length."""
    places = sorted({c % (len(data) + 1) for c in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(places)]


def replace(path: Path, data: bytes) -> None:
    """Replace the content of the file."""
    before = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def test_a_pipe_has_no_lines(tmp_path: Path) -> None:
    """A pipe that takes the place of a transcript is a problem, and holds up no other file."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    tail = FileTail(path)
    assert len(list(tail.read())) == 1
    path.unlink()
    os.mkfifo(path)
    assert list(tail.read()) == [Problem(None, "cannot be read: is not a regular file")]


class TestLines:
    """Cutting bytes into lines."""

    @given(TEXTS, st.lists(st.integers(0, 600), max_size=8))
    def test_are_the_same_for_any_blocks(self, texts: list[bytes], cuts: list[int]) -> None:
        """Any split of a file into blocks gives the same numbered lines."""
        data = b"".join(t + b"\n" for t in texts)
        assert list(lines_of(split(data, cuts))) == [Line(n, t) for n, t in enumerate(texts, 1)]

    @given(TEXTS, st.lists(st.integers(0, 600), max_size=6), st.booleans())
    def test_of_a_growing_file_are_read_once_across_restarts(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], cuts: list[int], keep: bool
    ) -> None:
        """A tail, or a new one from each stored position, gives each line once."""
        path = tmp_path_factory.mktemp("tail") / "a.jsonl"
        tail, seen = FileTail(path), list[Item]()
        for piece in split(b"".join(t + b"\r\n" for t in texts), cuts):
            grow(path, piece)
            if not keep:
                tail = FileTail(path, FilePosition.from_dict(tail.position.to_dict()))
            seen += tail.read()
        assert seen == [Line(n, t) for n, t in enumerate(texts, 1)]

    @given(TEXTS, st.integers(0, 14))
    def test_are_not_lost_by_a_stop(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], stop: int
    ) -> None:
        """A reader that stops after a few lines gets the rest later, even a new one from its position."""
        path = tmp_path_factory.mktemp("tail") / "a.jsonl"
        path.write_bytes(b"".join(t + b"\n" for t in texts))
        tail = FileTail(path)
        first = list(islice(tail.read(), stop))
        again = list(FileTail(path, tail.position).read())
        assert first + again == [Line(n, t) for n, t in enumerate(texts, 1)]

    def test_without_a_newline_are_incomplete(self, tmp_path: Path) -> None:
        """A half-written last line is read when it is complete."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n{"b"')
        tail = FileTail(path)
        assert list(tail.read()) == [Line(1, b'{"a":1}')]
        grow(path, b":2}\n")
        assert list(tail.read()) == [Line(2, b'{"b":2}')]

    def test_that_are_empty_count_but_are_not_given(self) -> None:
        """Blank lines count in the numbers of the others."""
        assert list(lines_of([b"\n\n{}\n  \n[]"])) == [Line(3, b"{}"), Line(5, b"[]")]

    def test_too_long_are_skipped_with_a_problem(self, tmp_path: Path) -> None:
        """A line over the limit is one problem, and the lines around it are read."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n' + b"x" * 5000 + b'\n{"b":2}\n')
        items = list(FileTail(path, max_line=1000).read())
        assert items[0] == Line(1, b'{"a":1}')
        assert items[2] == Line(3, b'{"b":2}')
        assert isinstance(items[1], Problem)
        assert items[1].line == 2
        assert "5,000 bytes" in items[1].reason

    def test_of_any_length_need_limited_memory(self) -> None:
        """While an endless line grows, its kept bytes stay within the limit."""
        splitter = Splitter(max_line=1000)
        for _ in range(50):
            assert list(splitter.feed(b"y" * 300)) == []
            assert splitter._held <= 1000
        assert splitter.pending == 15_000

    def test_that_grow_slowly_are_not_read_again(self, tmp_path: Path) -> None:
        """A long half line stays in memory until it is complete."""
        path = tmp_path / "a.jsonl"
        whole = b'{"long":"' + b"z" * 400_000 + b'"}'
        tail = FileTail(path)
        for at in range(0, len(whole), 100_000):
            grow(path, whole[at : at + 100_000])
            assert list(tail.read()) == []
        grow(path, b"\n")
        assert list(tail.read()) == [Line(1, whole)]


class TestChangedFiles:
    """Files that changed otherwise than by growing."""

    @given(TEXTS.filter(bool), TEXTS, st.booleans())
    def test_that_are_replaced_are_read_again(
        self, tmp_path_factory: pytest.TempPathFactory, old: list[bytes], new: list[bytes], keep: bool
    ) -> None:
        """Other content gives a restart and all its lines; a continuation gives no restart."""
        path = tmp_path_factory.mktemp("tail") / "a.jsonl"
        path.write_bytes(b"".join(t + b"\n" for t in old))
        tail = FileTail(path)
        list(tail.read())
        replace(path, b"".join(t + b"\n" for t in new))
        items = list((tail if keep else FileTail(path, tail.position)).read())
        if new[: len(old)] == old:
            assert items == [Line(n, t) for n, t in enumerate(new, 1) if n > len(old)]
        else:
            assert isinstance(items[0], Restarted)
            assert items[1:] == [Line(n, t) for n, t in enumerate(new, 1)]

    def test_that_are_truncated_are_read_again(self, tmp_path: Path) -> None:
        """A shorter file is read from its start."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n{"b":2}\n')
        tail = FileTail(path)
        list(tail.read())
        replace(path, b'{"a":1}\n')
        assert list(tail.read()) == [Restarted(), Line(1, b'{"a":1}')]

    def test_that_lose_half_a_line_continue(self, tmp_path: Path) -> None:
        """Truncating an incomplete line causes no restart, even if it was long."""
        path = tmp_path / "a.jsonl"
        for half in (b"half", b"h" * 300_000):
            path.write_bytes(b'{"a":1}\n' + half)
            tail = FileTail(path)
            list(tail.read())
            replace(path, b'{"a":1}\n{"b":2}\n')
            assert list(tail.read()) == [Line(2, b'{"b":2}')]

    def test_that_do_not_change_are_not_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An unchanged file is only checked by its size and time."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"{}\n")
        tail = FileTail(path)
        list(tail.read())
        monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
        assert list(tail.read()) == []

    def test_that_are_missing_have_no_lines(self, tmp_path: Path) -> None:
        """A missing file is read as soon as it exists."""
        path = tmp_path / "later.jsonl"
        tail = FileTail(path)
        assert list(tail.read()) == []
        path.write_bytes(b"{}\n")
        assert list(tail.read()) == [Line(1, b"{}")]


class TestOtherFiles:
    """Files in other encodings or with binary data."""

    @pytest.mark.parametrize(
        ("data", "word"),
        [
            ('{"a":1}\n{"b":2}\n'.encode("utf-16"), "UTF-16"),
            ('{"a":1}\n{"b":2}\n'.encode("utf-16-le"), "UTF-16"),
            ('{"a":1}\n'.encode("utf-32"), "UTF-32"),
            (b"SQLite format 3\x00" + bytes(900), "SQLite"),
            (b"\x1f\x8b\x08\x00" + bytes(range(256)) * 9, "gzip"),
            (bytes(range(256)) * 2000, "binary"),
        ],
    )
    def test_are_one_problem(self, tmp_path: Path, data: bytes, word: str) -> None:
        """The reason names the kind of file, and is reported once while the file grows."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(data)
        tail = FileTail(path)
        (problem,) = tail.read()
        assert isinstance(problem, Problem)
        assert problem.line == 1
        assert word in problem.reason
        grow(path, b"more\n")
        assert list(tail.read()) == []
        assert [type(i) for i in lines_of([data])] == [Problem]

    def test_with_a_byte_order_mark_are_read(self) -> None:
        """UTF-8 with a byte order mark is UTF-8."""
        assert list(lines_of([b'\xef\xbb\xbf{"a":1}\n'])) == [Line(1, b'{"a":1}')]

    def test_with_nothing_in_them_have_no_lines(self) -> None:
        """An empty file is no problem."""
        assert list(lines_of([b""])) == []


class TestFeeding:
    """Feeding a line to its decoder."""

    ROW = '{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"café"}}'

    def test_replaces_and_reports_invalid_utf8(self) -> None:
        """The row is still used."""
        problem, *records = decode_line(Decoder(), Line(3, self.ROW.encode("latin-1")))
        assert isinstance(problem, Problem)
        assert (problem.line, problem.used) == (3, True)
        assert records == decode_line(Decoder(), Line(3, self.ROW.replace("é", "\ufffd").encode()))

    def test_reports_one_problem_per_line(self) -> None:
        """A line with invalid UTF-8 and invalid JSON gives one problem."""
        [problem] = decode_line(Decoder(), Line(3, self.ROW.encode("latin-1")[:-1]))
        assert problem == Problem(3, problem.reason)


WHOLE = [
    b'{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":[{"type":"text","text":"{\\"x\\""}]}}',
    b'{"parentUuid":"a","type":"user","uuid":"b","message":{"role":"user","content":"}{ and more {"}}',
    b'{"parentUuid":"b","isSidechain":false,"type":"progress","data":{"type":"hook"},"uuid":"p"}',
    b'{"type":"file-history-snapshot","snapshot":{"of":[{"x":1}]}}',
    b'{"parentUuid":"b","type":"assistant","uuid":"c","message":{"role":"assistant","content":"Yes."}}',
]


class TestRowsOnOneLine:
    """Rows without a newline between them."""

    @pytest.mark.parametrize("behind", range(len(WHOLE) - 1))
    def test_are_read_as_if_each_had_its_own(self, behind: int) -> None:  # X12
        """Nothing is a problem, because nothing is missing."""
        lines = [*WHOLE[:behind], WHOLE[behind] + WHOLE[behind + 1], *WHOLE[behind + 2 :]]
        assert entries(lines) == entries(WHOLE)

    @pytest.mark.parametrize("zeros", range(len(WHOLE) - 1))
    def test_are_read_on_both_sides_of_zeros(self, zeros: int) -> None:  # X12
        """A power cut can leave zeros where a file ended."""
        lines = [*WHOLE[:zeros], WHOLE[zeros] + bytes(8) + WHOLE[zeros + 1], *WHOLE[zeros + 2 :]]
        assert entries(lines) == entries(WHOLE)

    @pytest.mark.parametrize("torn", range(len(WHOLE) - 1))
    def test_are_read_behind_one_that_is_torn(self, torn: int) -> None:  # X12
        """An agent was killed within a row, wherever; only that row is lost, and no part of it is a row."""
        for size in range(1, len(WHOLE[torn])):
            part = WHOLE[torn][:size]
            lost = {entry[0] for entry in entries([WHOLE[torn]])}
            rest = [entry for entry in entries(WHOLE) if entry[0] not in lost]
            if not part.rstrip().endswith(
                (b":", b",", b"[")
            ):  # there, the next row seems to be a value of it
                assert entries([*WHOLE[:torn], part + WHOLE[torn + 1], *WHOLE[torn + 2 :]]) == rest
            assert entries([*WHOLE[:torn], part, *WHOLE[torn + 1 :]]) == rest


def entries(lines: list[bytes]) -> list[tuple[str | None, str]]:
    """Return the source ids and texts of the messages in lines."""
    decoder = Decoder()
    found = [record for n, data in enumerate(lines, 1) for record in decode_line(decoder, Line(n, data))]
    return [(one.source_id, one.message.text) for one in found if isinstance(one, Entry)]
