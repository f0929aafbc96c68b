"""Reads compressed bodies, so that compressed calls can be observed and edited.

Some agents compress their requests with zstd. What is forwarded stays compressed. Brotli is missing: no client is
known to send it, and providers are asked not to compress.
"""

from __future__ import annotations

import sys
import zlib
from typing import Any

# The `wbits` of zlib for each of its formats.
_ZLIB = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def unpacked(data: bytes, coding: str, most: int, *, cut: bool = False) -> bytes:
    """Return a body without the compression that its `content-encoding` names; "" for none.

    With `cut`, a body that breaks off is read as far as it goes.

    Raises:
        ValueError: the compression is unknown, the body is broken, or it is longer than `most` bytes.
    """
    name = coding.strip().lower()
    if name in ("", "identity"):
        return data
    decompressor, failure = _decompressor(name)
    try:
        found: bytes = decompressor.decompress(data, most)
    except failure as error:
        raise ValueError(f"it cannot be read as {name}: {error}") from None
    if not decompressor.eof and (len(found) >= most or not cut):
        raise ValueError(f"it is longer than {most} bytes, or its {name} is incomplete")
    if decompressor.unused_data:
        raise ValueError(f"something follows its {name}")
    return found


def _decompressor(name: str) -> tuple[Any, type[Exception]]:
    """Return the decompressor of a compression, and the error that it raises. Raises ValueError for an unknown one."""
    if name in _ZLIB:
        return zlib.decompressobj(_ZLIB[name]), zlib.error
    if name != "zstd":
        raise ValueError(f"it is compressed with {name}, which cannot be read here")
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor(), zstd.ZstdError
