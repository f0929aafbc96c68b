"""The bytes of an imported file, unpacked and converted to UTF-8, in blocks or whole.

UTF-16 and UTF-32 are recognised by their byte order mark (UTF-16 also by the NULs between the letters of JSON) and
decoded while reading. Bytes that are not UTF-8 stay in the blocks, and are replaced (`mended`) in the line or message
that contains them, so that their place is known. Only `whole` holds a file completely.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import BinaryIO

from webapp.agents.reading import packed

BLOCK = 1 << 20
HEAD_BYTES = 1 << 18

BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_WIDE = ((b"[\0", "utf-16-le"), (b"{\0", "utf-16-le"), (b"\0[", "utf-16-be"), (b"\0{", "utf-16-be"))


class Content:
    """The content of a file: bytes, or an open, seekable binary file.

    `progress` is called with the number of bytes used so far, and the total. Raises OSError if a compressed file
    cannot be unpacked.
    """

    def __init__(self, data: bytes | BinaryIO, progress: Callable[[int, int], None] | None = None) -> None:
        self._file = io.BytesIO(data) if isinstance(data, bytes) else data
        if self._read(0, len(packed.MAGIC)) == packed.MAGIC:
            self._file.seek(0)
            self._file = packed.unpacked(self._file)
        self.size = self._file.seek(0, io.SEEK_END)
        self._progress = progress
        start = self._read(0, 4)
        self.encoding = next((name for bom, name in BOMS if start.startswith(bom)), None) or next(
            (name for sign, name in _WIDE if start.startswith(sign)), "utf-8"
        )

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield the content as UTF-8, in blocks."""
        decoder = codecs.getincrementaldecoder(self.encoding)("replace") if self.encoding != "utf-8" else None
        for at in range(0, self.size, size):
            block = self._read(at, size)
            if decoder is not None:
                block = decoder.decode(block, at + size >= self.size).encode("utf-8", "replace")
            yield block
            if self._progress is not None:
                self._progress(min(at + size, self.size), self.size)

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """Return about the first `size` bytes as valid UTF-8, without a byte order mark."""
        block = next(self.blocks(size), b"").removeprefix(codecs.BOM_UTF8)
        return block.decode("utf-8", "replace").encode()

    def whole(self) -> bytes:
        """Return all of it as UTF-8, without a byte order mark."""
        if self.encoding == "utf-8":
            return self._read(0, self.size).removeprefix(codecs.BOM_UTF8)
        return b"".join(self.blocks())

    @property
    def empty(self) -> bool:
        """Return True if it holds only white space."""
        return not any(block.removeprefix(codecs.BOM_UTF8).strip() for block in self.blocks())


def mended(data: bytes) -> tuple[bytes, str] | None:
    """Return bytes with U+FFFD for those that are not UTF-8, and their place; None if all are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        first = error
    else:
        return None
    text = data.decode("utf-8", "replace")
    more = text.count("\ufffd") - data.count(b"\xef\xbf\xbd") - 1
    line_start = data.rfind(b"\n", 0, first.start) + 1
    where = f"byte 0x{data[first.start]:02x} at {first.start - line_start + 1}"
    others = f" ({more:,} more like it)" if more > 0 else ""
    return text.encode(), f"{where} is not UTF-8; read as \ufffd{others}. Save the file as UTF-8 to mend it"


def line_of(data: bytes, at: int) -> int:
    """Return the number of the line, from 1, that contains byte `at`."""
    return data.count(b"\n", 0, at) + 1
