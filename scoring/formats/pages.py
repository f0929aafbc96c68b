"""The number of pages of a PDF, from its bytes alone."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_HEAD = 1_024  # a PDF's first line is among so many bytes
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
# Newer files keep objects, pages among them, in compressed streams: `<< /Type /ObjStm … >> stream`, a line end, data.
_PACKED, _STREAM, _DICTIONARY = b"/ObjStm", re.compile(rb"stream\r?\n"), 400
# A small file must not ask for much work: so many streams are unpacked, and so many bytes of all of them.
_MOST_STREAMS, _MOST_UNPACKED, _MOST_PACKED = 4_000, 16 << 20, 1 << 20


def pages(data: bytes) -> int:
    """Return the number of pages of a PDF; 0 for other data, or if its pages cannot be found."""
    if b"%PDF-" not in data[:_HEAD]:
        return 0
    return len(_PAGE.findall(data)) + sum(len(_PAGE.findall(objects)) for objects in _unpacked(data))


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the compressed streams of objects, as far as they can be unpacked."""
    at, left = 0, _MOST_UNPACKED
    for _ in range(_MOST_STREAMS):
        at = data.find(_PACKED, at) + 1
        if not at or left <= 0:
            return
        stream = _STREAM.search(data, at, at + _DICTIONARY)
        if stream is None:
            continue
        try:
            packed = memoryview(data)[stream.end() : stream.end() + _MOST_PACKED]
            objects = zlib.decompressobj().decompress(packed, left)
        except zlib.error:
            continue
        left -= len(objects)
        yield objects
