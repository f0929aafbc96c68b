"""Files compressed with zstd, read as if they were not."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from webapp.agents.reading import packed
from webapp.agents.reading.content import Content
from webapp.agents.reading.finding import open_file, read_head
from webapp.agents.reading.tail import FileTail, Line
from webapp.agents.records import Problem

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LINES = [b'{"n": %d, "of": "%s"}' % (n, os.urandom(40).hex().encode()) for n in range(20_000)]
TEXT = b"".join(line + b"\n" for line in LINES)


def lines(tail: FileTail) -> list[bytes]:
    """Return what is new in a file."""
    return [item.data for item in tail.read() if isinstance(item, Line)]


class TestACompressedFile:
    """A file of lines with `.zst` behind its name."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """A file of several blocks, in two frames."""
        path = tmp_path / "a.jsonl.zst"
        half = len(TEXT) // 2
        path.write_bytes(zstd.compress(TEXT[:half]) + zstd.compress(TEXT[half:]))
        return path

    def test_has_the_lines_that_it_had_before(self, path: Path) -> None:  # X12
        """They are read once, also after a restart."""
        tail = FileTail(path)
        assert lines(tail) == LINES
        assert tail.position.offset == len(TEXT)
        assert lines(tail) == []
        assert lines(FileTail(path, tail.position)) == []

    def test_continues_where_the_file_was_read_to_before(self, path: Path, tmp_path: Path) -> None:
        """The position is one in the content, and a wrong one is noticed."""
        plain = tmp_path / "a.jsonl"
        plain.write_bytes(b"".join(line + b"\n" for line in LINES[:7]))
        tail = FileTail(plain)
        assert lines(tail) == LINES[:7]
        assert lines(FileTail(path, tail.position)) == LINES[7:]

    def test_begins_with_the_first_bytes_of_its_content(self, path: Path) -> None:
        """These name the session."""
        assert read_head(path, 100) == TEXT[:100]

    def test_that_is_damaged_is_a_problem(self, path: Path) -> None:
        """Nothing of it is read, because its size is not known."""
        path.write_bytes(path.read_bytes()[:-2_000])
        reason = "cannot be read: is damaged or incomplete zstd data"
        assert list(FileTail(path).read()) == [Problem(None, reason)]

    def test_that_unpacks_to_too_much_is_refused(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It takes no more memory and time than the largest one that is read."""
        monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
        path.write_bytes(zstd.compress(b" " * (8 << 20)))
        with open_file(path) as file, pytest.raises(OSError, match="unpacks to more"):
            file.seek(0, os.SEEK_END)
        with pytest.raises(OSError, match="unpacks to more"):
            Content(io.BytesIO(path.read_bytes()))

    def test_is_imported_by_its_content(self) -> None:  # X12
        """The size, the blocks and the whole are those of the content."""
        content = Content(zstd.compress(TEXT))
        assert (content.size, content.head(50), content.whole()) == (len(TEXT), TEXT[:50], TEXT)
        assert b"".join(content.blocks(1000)) == TEXT
