"""Media blocks of every format: what they are, and finding their bytes again."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from scoring.formats.media import Source, data_url, media_of, placeholder, source_of, sources_in
from scoring.messages import Media
from tests.scoring.formats.lists import PNG

URL = "https://example.org/a.png"
INLINE = f"data:image/png;base64,{PNG}"


class TestSourceOf:
    """The bytes of a media block."""

    @pytest.mark.parametrize(
        ("block", "source"),
        [
            (
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                Source("image", "image/png", PNG),
            ),
            ({"type": "image", "source": {"type": "url", "url": URL}}, Source("image", url=URL)),
            (
                {"type": "document", "title": "t", "source": {"type": "file", "file_id": "f"}},
                Source("document", file_id="f", name="t"),
            ),
            ({"type": "container_upload", "file_id": "f"}, Source("document", file_id="f")),
            ({"type": "image_url", "image_url": {"url": INLINE}}, Source("image", "image/png", PNG)),
            ({"type": "image_url", "image_url": URL}, Source("image", url=URL)),
            (
                {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
                Source("image", url=URL, detail="low"),
            ),
            ({"type": "input_image", "image_url": URL, "detail": "auto"}, Source("image", url=URL)),
            (
                {"type": "input_image", "image_url": URL, "detail": "original"},
                Source("image", url=URL, detail="original"),
            ),
            ({"type": "input_image", "image_url": URL, "detail": {}}, Source("image", url=URL)),
            (
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}},
                Source("audio", "audio/mp3", "AA"),
            ),
            ({"type": "file", "file": {"file_id": "f"}}, Source("document", file_id="f")),
            (
                {"type": "file", "file": {"filename": "n", "file_data": "AAAA"}},
                Source("document", data="AAAA", name="n"),
            ),
            ({"type": "input_image", "file_id": "f"}, Source("image", file_id="f")),
            (
                {"type": "input_file", "filename": "n", "file_data": "AAAA"},
                Source("document", data="AAAA", name="n"),
            ),
            ({"type": "input_file", "file_url": URL}, Source("document", url=URL)),
            ({"type": "input_file", "file_id": "f"}, Source("document", file_id="f")),
            ({"inline_data": {"mime_type": "audio/wav", "data": "AA"}}, Source("audio", "audio/wav", "AA")),
            (
                {"fileData": {"mimeType": "application/pdf", "fileUri": URL}},
                Source("document", "application/pdf", url=URL),
            ),
            ({"type": "image", "base64": PNG, "mime_type": "image/png"}, Source("image", "image/png", PNG)),
            (
                {"type": "image", "source_type": "url", "url": URL, "mime_type": "image/png"},
                Source("image", "image/png", url=URL),
            ),
            ({"type": "file", "file_id": "f"}, Source("document", file_id="f")),
        ],
    )
    def test_reads_the_shapes_of_all_formats(self, block: Any, source: Source) -> None:
        """Inline bytes, addresses and file ids."""
        assert source_of(block) == source

    @pytest.mark.parametrize(
        "block",
        [
            None,
            "x",
            [],
            {},
            {"type": "text"},
            {"type": "image"},
            {"type": "image", "source": 5},
            {"type": "document", "source": {"type": "text", "data": "words"}},
            {"image_url": {"url": 5}},
        ],
    )
    def test_is_none_for_other_blocks(self, block: Any) -> None:
        """Text blocks and damaged blocks have no source."""
        assert source_of(block) is None


class TestMediaOf:
    """Media parts made from blocks."""

    def test_measures_bytes(self) -> None:
        """Digest, size, width and height come from the decoded data."""
        raw = base64.b64decode(PNG)
        digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
        assert media_of(Source("image", "image/png", PNG)) == Media(
            "image", "image/png", digest, len(raw), 2, 3
        )

    def test_gives_equal_bytes_one_digest(self) -> None:
        """Line breaks inside base64 do not matter; other bytes or another address give another digest."""
        wrapped = Source("image", "image/png", PNG[:20] + "\n" + PNG[20:])
        assert media_of(wrapped).digest == media_of(Source("image", data=PNG)).digest
        assert (
            len({media_of(s).digest for s in (Source("image", url="a"), Source("image", url="b"), wrapped)})
            == 3
        )

    @pytest.mark.parametrize("data", ["A", "é", "\ud800", "====", "!!"])
    def test_survives_data_that_is_no_base64(self, data: str) -> None:
        """Damaged data still has a digest."""
        assert media_of(Source("image", data=data)).digest


class TestSourcesIn:
    """The bytes of a wire object."""

    def test_finds_them_at_any_depth(self) -> None:
        """All media of an object by digest, however deep they lie."""
        deep: Any = {"type": "image", "base64": PNG}
        for _ in range(50_000):
            deep = [deep]
        found = sources_in({"content": deep, "more": {"fileData": {"fileUri": URL}}})
        assert {s.kind for s in found.values()} == {"image", "document"}
        assert found[media_of(Source("image", data=PNG)).digest].data == PNG


def test_placeholders_say_kind_type_and_size() -> None:
    """A placeholder has in brackets what is known of the media."""
    assert placeholder(Media("image", "image/png", "d", 9, 2, 3)) == "[image: image/png 2x3]"
    assert placeholder(Media("audio")) == "[audio]"


def test_addresses_are_urls() -> None:
    """A remote source is its URL, inline bytes a data URL."""
    assert data_url(Source("image", url=URL)) == URL
    assert data_url(Source("image", "image/png", PNG)) == INLINE
    assert data_url(Source("document", data="AA")) == "data:application/octet-stream;base64,AA"
