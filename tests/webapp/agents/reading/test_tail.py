"""The tail of a growing file: every line once, whatever the writer does."""

from __future__ import annotations

import os
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.reading.tail import FilePosition, FileTail, Item, Line, Restarted, Splitter, fed, lines_of
from webapp.agents.records import Problem

TEXTS = st.lists(
    st.binary(max_size=40).map(lambda b: b"{" + b.translate(None, b"\n\r\x00") + b"}"), max_size=12
)


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data cut into pieces at the places `cuts` (taken modulo its length)."""
    places = sorted({c % (len(data) + 1) for c in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(places)]


def grow(path: Path, data: bytes) -> None:
    """Appends to the file, with a time of change of its own even on coarse clocks."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    with path.open("ab") as file:
        file.write(data)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def replace(path: Path, data: bytes) -> None:
    """Writes other content into the file."""
    before = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


class TestLines:
    """Cutting bytes into lines."""

    @given(TEXTS, st.lists(st.integers(0, 600), max_size=8))
    def test_are_the_same_however_the_bytes_are_cut(self, texts: list[bytes], cuts: list[int]) -> None:
        """Any split of a file into blocks gives the same numbered lines."""
        data = b"".join(t + b"\n" for t in texts)
        assert list(lines_of(split(data, cuts))) == [Line(n, t) for n, t in enumerate(texts, 1)]

    @given(TEXTS, st.lists(st.integers(0, 600), max_size=6), st.booleans())
    def test_of_a_growing_file_come_once_over_restarts(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], cuts: list[int], keep: bool
    ) -> None:
        """Appends in any pieces, read by one tail or by a new one from the stored mark each time: each line once."""
        path = tmp_path_factory.mktemp("tail") / "a.jsonl"
        tail, seen = FileTail(path), list[Item]()
        for piece in split(b"".join(t + b"\r\n" for t in texts), cuts):
            grow(path, piece)
            if not keep:
                tail = FileTail(path, FilePosition.from_dict(tail.position.to_dict()))
            seen += tail.read()
        assert seen == [Line(n, t) for n, t in enumerate(texts, 1)]

    @given(TEXTS, st.integers(0, 14))
    def test_are_not_lost_by_stopping_in_the_middle(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], stop: int
    ) -> None:
        """A reader that takes a few lines and comes back later, or a new one from its mark, gets the rest."""
        path = tmp_path_factory.mktemp("tail") / "a.jsonl"
        path.write_bytes(b"".join(t + b"\n" for t in texts))
        tail = FileTail(path)
        first = list(islice(tail.read(), stop))
        again = list(FileTail(path, tail.position).read())
        assert first + again == [Line(n, t) for n, t in enumerate(texts, 1)]

    def test_without_newline_are_no_lines_yet(self, tmp_path: Path) -> None:
        """A half-written last line is given out when it is whole."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n{"b"')
        tail = FileTail(path)
        assert list(tail.read()) == [Line(1, b'{"a":1}')]
        grow(path, b":2}\n")
        assert list(tail.read()) == [Line(2, b'{"b":2}')]

    def test_that_are_empty_count_but_are_not_given(self) -> None:
        """Blank lines keep the numbering of the others."""
        assert list(lines_of([b"\n\n{}\n  \n[]"])) == [Line(3, b"{}"), Line(5, b"[]")]

    def test_too_long_are_skipped_with_a_problem(self, tmp_path: Path) -> None:
        """A line over the limit costs one Problem and no memory; those around it are read."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n' + b"x" * 5000 + b'\n{"b":2}\n')
        items = list(FileTail(path, max_line=1000).read())
        assert items[0] == Line(1, b'{"a":1}')
        assert items[2] == Line(3, b'{"b":2}')
        assert isinstance(items[1], Problem)
        assert items[1].line == 2
        assert "5,000 bytes" in items[1].reason

    def test_of_any_length_are_held_within_the_limit(self) -> None:
        """While an endless line arrives, memory stays within the limit."""
        splitter = Splitter(max_line=1000)
        for _ in range(50):
            assert list(splitter.feed(b"y" * 300)) == []
            assert splitter._held <= 1000
        assert splitter.pending == 15_000

    def test_that_grow_slowly_are_not_read_again(self, tmp_path: Path) -> None:
        """A long half line stays in memory, and comes out whole."""
        path = tmp_path / "a.jsonl"
        whole = b'{"long":"' + b"z" * 400_000 + b'"}'
        tail = FileTail(path)
        for at in range(0, len(whole), 100_000):
            grow(path, whole[at : at + 100_000])
            assert list(tail.read()) == []
        grow(path, b"\n")
        assert list(tail.read()) == [Line(1, whole)]


class TestChangedFiles:
    """Files that did not just grow."""

    @given(TEXTS.filter(bool), TEXTS, st.booleans())
    def test_that_are_replaced_are_read_anew(
        self, tmp_path_factory: pytest.TempPathFactory, old: list[bytes], new: list[bytes], keep: bool
    ) -> None:
        """Other content under the same name gives all its lines behind a Restarted; a mere continuation does not."""
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

    def test_that_are_cut_off_are_read_anew(self, tmp_path: Path) -> None:
        """A shorter file begins again, and says by how much it is shorter."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"a":1}\n{"b":2}\n')
        tail = FileTail(path)
        list(tail.read())
        replace(path, b'{"a":1}\n')
        restarted, line = tail.read()
        assert isinstance(restarted, Restarted)
        assert "16 bytes were read, 8 are left" in restarted.reason
        assert line == Line(1, b'{"a":1}')

    def test_that_lose_half_a_line_go_on(self, tmp_path: Path) -> None:
        """Cutting off what was not yet a line is no restart, even if it was long."""
        path = tmp_path / "a.jsonl"
        for half in (b"half", b"h" * 300_000):
            path.write_bytes(b'{"a":1}\n' + half)
            tail = FileTail(path)
            list(tail.read())
            replace(path, b'{"a":1}\n{"b":2}\n')
            assert list(tail.read()) == [Line(2, b'{"b":2}')]

    def test_that_do_not_change_are_not_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An idle file costs a stat."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"{}\n")
        tail = FileTail(path)
        list(tail.read())
        monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
        assert list(tail.read()) == []

    def test_that_are_missing_have_no_lines(self, tmp_path: Path) -> None:
        """A file that does not exist yet is read when it does."""
        path = tmp_path / "later.jsonl"
        tail = FileTail(path)
        assert list(tail.read()) == []
        path.write_bytes(b"{}\n")
        assert list(tail.read()) == [Line(1, b"{}")]


class TestFilesThatAreNoText:
    """Encodings and binary data: one Problem a file, with the reason."""

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
        """The reason names what the file is, and it is said once however the file grows."""
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
    """A line and its decoder."""

    ROW = '{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"café"}}'

    def test_mends_what_is_no_utf8_and_tells_it(self) -> None:
        """The row is used."""
        problem, *records = fed(Decoder(), Line(3, self.ROW.encode("latin-1")))
        assert isinstance(problem, Problem)
        assert (problem.line, problem.used) == (3, True)
        assert records == fed(Decoder(), Line(3, self.ROW.replace("é", "\ufffd").encode()))

    def test_tells_one_problem_of_a_line_that_is_broken_besides(self) -> None:
        """A line broken in two ways gives one problem."""
        [problem] = fed(Decoder(), Line(3, self.ROW.encode("latin-1")[:-1]))
        assert problem == Problem(3, problem.reason)
