"""Width and height from the first bytes of an image."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats.dimensions import dimensions
from tests.scoring.formats.lists import PNG

VP8X = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (99).to_bytes(3, "little") + (49).to_bytes(3, "little")
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 99 | 49 << 14)
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 100, 50 | 0x4000)
JPEG_HEAD = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc4\x00\x02"
JPEG = JPEG_HEAD + b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 50, 100) + b"\x03"


class TestDimensions:
    """The four image formats that models accept."""

    @pytest.mark.parametrize(
        ("data", "size"),
        [
            (base64.b64decode(PNG), (2, 3)),
            (b"GIF89a" + struct.pack("<HH", 100, 50), (100, 50)),
            (b"GIF87a" + struct.pack("<HH", 1, 65535), (1, 65535)),
            (VP8X, (100, 50)),
            (VP8L, (100, 50)),
            (VP8, (100, 50)),
            (JPEG, (100, 50)),
        ],
        ids=["png", "gif89", "gif87", "webp-extended", "webp-lossless", "webp-lossy", "jpeg"],
    )
    def test_are_read_from_the_header(self, data: bytes, size: tuple[int, int]) -> None:
        """The width is first, then the height."""
        assert dimensions(data) == size

    @pytest.mark.parametrize(
        "data", [b"", b"BM", b"\xff\xd8", b"\xff\xd8\xff\xd9\0\0\0\0\0\0\0\0", b"RIFF\0\0\0\0WEBPXXXX"]
    )
    def test_are_zero_where_the_header_does_not_say(self, data: bytes) -> None:
        """Other formats and damaged headers give no size."""
        assert dimensions(data) == (0, 0)

    @pytest.mark.parametrize("data", [base64.b64decode(PNG), VP8X, VP8L, VP8, JPEG, b"GIF89aabcd"])
    def test_never_fail_on_what_is_cut_short(self, data: bytes) -> None:
        """Every beginning of an image can be read."""
        for end in range(len(data)):
            width, height = dimensions(data[:end])
            assert width >= 0
            assert height >= 0

    @given(
        st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF1234WEBP"]),
        st.binary(max_size=60),
    )
    def test_never_fail_on_nonsense(self, head: bytes, rest: bytes) -> None:
        """Arbitrary bytes after a known signature raise nothing."""
        width, height = dimensions(head + rest)
        assert width >= 0
        assert height >= 0
