"""The bytes of an imported file as UTF-8."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.agents.reading.content import Content, line_of, mended

TEXT = '[{"role": "user", "content": "grüße 👋"}]'


class TestContent:
    """Reading the content of a file."""

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
    @pytest.mark.parametrize("size", [3, 7, 1 << 20])
    def test_is_utf8_for_any_blocks(self, encoding: str, size: int) -> None:
        """A block may end in the middle of a character."""
        content = Content(BytesIO(TEXT.encode(encoding)))
        assert b"".join(content.blocks(size)).decode().removeprefix("\ufeff") == TEXT
        assert content.whole().decode() == content.head().decode() == TEXT

    def test_reports_the_bytes_used(self) -> None:
        """The number grows with each block up to all bytes; reading the beginning uses none."""
        progress: list[tuple[int, int]] = []
        content = Content(b"x" * 10, lambda done, size: progress.append((done, size)))
        assert content.head()
        assert not content.empty
        assert progress == []
        list(content.blocks(4))
        assert progress == [(4, 10), (8, 10), (10, 10)]

    @pytest.mark.parametrize("data", [b"", b"  \n", b"\xef\xbb\xbf", b"\xff\xfe", "\n".encode("utf-16")])
    def test_is_empty_with_blanks_only(self, data: bytes) -> None:
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
    """Repairing invalid UTF-8."""

    @given(st.binary(max_size=40))
    def test_makes_text_of_any_bytes(self, data: bytes) -> None:
        """Invalid bytes become U+FFFD, and valid text is unchanged."""
        found = mended(data)
        assert data.decode("utf-8", "replace") == (data if found is None else found[0]).decode()

    def test_reports_place_and_number(self) -> None:
        """The place counts from 1 at the start of the line."""
        assert mended(b"ab\ncd\xe9 \xe9") == (
            "ab\ncd\ufffd \ufffd".encode(),
            "byte 0xe9 at 3 is not UTF-8; read as \ufffd (1 more like it). Save the file as UTF-8 to mend it",
        )

    def test_lines_count_from_one(self) -> None:
        """Line numbers follow from the newlines before."""
        assert [line_of(b"a\nb\n", at) for at in (0, 1, 2, 4)] == [1, 1, 2, 3]
