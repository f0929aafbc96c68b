"""The bytes of an imported file as UTF-8."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.agents.reading.text import Content, line_of, mended

TEXT = '[{"role": "user", "content": "grüße 👋"}]'


class TestContent:
    """Reading the content of a file."""

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
    @pytest.mark.parametrize("size", [3, 7, 1 << 20])
    def test_is_utf8_however_it_is_cut_into_blocks(self, encoding: str, size: int) -> None:
        """A block may end in the middle of a letter."""
        content = Content(BytesIO(TEXT.encode(encoding)))
        assert b"".join(content.blocks(size)).decode().removeprefix("\ufeff") == TEXT
        assert content.whole().decode() == content.head().decode() == TEXT

    def test_tells_how_much_of_it_is_used(self) -> None:
        """As blocks are asked for, up to all of it; looking at its beginning uses nothing."""
        told: list[tuple[int, int]] = []
        content = Content(b"x" * 10, lambda done, size: told.append((done, size)))
        assert content.head()
        assert not content.empty
        assert told == []
        list(content.blocks(4))
        assert told == [(4, 10), (8, 10), (10, 10)]

    @pytest.mark.parametrize("data", [b"", b"  \n", b"\xef\xbb\xbf", b"\xff\xfe", "\n".encode("utf-16")])
    def test_is_empty_where_there_are_blanks_only(self, data: bytes) -> None:
        """A byte order mark counts as a blank."""
        assert Content(data).empty

    @given(st.binary(max_size=64))
    def test_may_be_any_bytes(self, data: bytes) -> None:
        """No bytes raise an error."""
        content = Content(data)
        content.head(8).decode()
        assert content.size == len(data)
        assert content.empty == (not content.whole().strip())


class TestMending:
    """Bytes that are no UTF-8."""

    @given(st.binary(max_size=40))
    def test_makes_text_of_any_bytes_and_touches_no_text(self, data: bytes) -> None:
        """Invalid bytes become U+FFFD."""
        found = mended(data)
        assert data.decode("utf-8", "replace") == (data if found is None else found[0]).decode()

    def test_tells_where_and_how_many(self) -> None:
        """Counted from the line's start, from 1."""
        assert mended(b"ab\ncd\xe9 \xe9") == (
            "ab\ncd\ufffd \ufffd".encode(),
            "byte 0xe9 at 3 is not UTF-8; read as \ufffd (1 more like it). Save the file as UTF-8 to mend it",
        )

    def test_lines_count_from_one(self) -> None:
        """Line numbers follow from the newlines before."""
        assert [line_of(b"a\nb\n", at) for at in (0, 1, 2, 4)] == [1, 1, 2, 3]
