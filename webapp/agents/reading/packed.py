"""Reads files that are compressed with zstd as if they were not.

Codex compresses a rollout that nobody wrote to for a week, to a file with `.zst` behind its name, and unpacks it before
it writes to it again (openai/codex #25087 and #25089).
"""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENDING = ".zst"
# The endings of files of lines that an agent compresses.
ENDINGS = (".jsonl", f".jsonl{ENDING}")
MAGIC = b"\x28\xb5\x2f\xfd"
# The most bytes that are read of one: a small file can unpack to more than any memory holds.
MOST_UNPACKED = 1 << 30
_STEP = 1 << 20

T = TypeVar("T")


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return the content of an open, compressed file, which is closed with it.

    Reading raises OSError if the file is damaged or has more than `MOST_UNPACKED` bytes.
    """
    return io.BufferedReader(_Unpacked(file))


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._packed, self._file = file, zstd.ZstdFile(file)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._checked(lambda: self._file.readinto(buffer))

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            while self._checked(lambda: self._file.read(_STEP)):
                pass
            whence = io.SEEK_CUR
        return self._checked(lambda: self._file.seek(offset, whence))

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _checked(self, step: Callable[[], T]) -> T:
        """Return the result of a step. Raises OSError if it fails, or comes to more than `MOST_UNPACKED` bytes."""
        try:
            found = step()
        except (zstd.ZstdError, EOFError) as error:
            raise OSError(errno.EIO, "is damaged or incomplete zstd data") from error
        if self._file.tell() > MOST_UNPACKED:
            raise OSError(errno.EFBIG, f"unpacks to more than {MOST_UNPACKED >> 30} GiB")
        return found
