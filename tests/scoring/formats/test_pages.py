"""The pages of PDFs."""

from __future__ import annotations

import zlib

import pytest

from scoring.formats import Source, media_of
from scoring.formats.pages import pages

PAGE = b"<< /Type /Page /Parent 1 0 R >>"
TREE = b"1 0 obj << /Type /Pages /Count 3 >> endobj "


def pdf(*objects: bytes, packed: bytes = b"") -> bytes:
    """Return a PDF with these objects, and others in a compressed stream."""
    stream = zlib.compress(packed)
    head = b"9 0 obj << /Type /ObjStm /N 3 /Filter /FlateDecode /Length %d >>\nstream\r\n" % len(stream)
    return b"\n".join([b"%PDF-1.7", *objects, head + stream + b"\nendstream endobj", b"%%EOF"])


class TestPages:
    """The number of pages."""

    def test_are_counted_in_the_open_and_in_compressed_streams(self) -> None:  # P8
        """The tree of pages is none itself, however the names are spaced."""
        assert pages(pdf(TREE, PAGE, b"<</Type/Page>>")) == 2
        assert pages(pdf(TREE, packed=PAGE * 3)) == 3
        assert pages(pdf(TREE, PAGE, packed=PAGE)) == 2

    @pytest.mark.parametrize("data", [b"", b"no PDF " + PAGE, b"%PDF-1.7", pdf(TREE)])
    def test_are_none_where_none_are_found(self, data: bytes) -> None:
        """Then the document has its flat cost."""
        assert pages(data) == 0

    def test_are_found_as_far_as_a_stream_is_readable(self) -> None:
        """An encrypted or broken stream hides its pages only."""
        whole = pdf(PAGE, packed=PAGE * 3)
        assert pages(whole.replace(b"stream\r\n", b"stream\r\n\xff")) == 1
        assert pages(whole[: whole.index(b"stream\r\n") + 9]) == 1

    def test_do_not_unpack_without_end(self) -> None:
        """A small file can pack gigabytes."""
        bomb = pdf(packed=b"\0" * (64 << 20) + PAGE)
        assert len(bomb) < 100_000
        assert pages(bomb + bomb) == 0

    def test_are_part_of_a_medium(self) -> None:
        """Only of documents."""
        data = "JVBERi0xLjcKPDwvVHlwZS9QYWdlPj4="  # %PDF-1.7, one page
        assert media_of(Source("document", "application/pdf", data)).pages == 1
        assert media_of(Source("image", "application/pdf", data)).pages == 0
