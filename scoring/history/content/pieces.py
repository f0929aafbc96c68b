"""Long texts in pieces: what is searched in one call lets no other thread run until it returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A search over so many characters takes about a millisecond.
PIECE_CHARS = 32_768
_BLANK = re.compile(r"\s")


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end at a blank, so that no word or name is parted; together they are the text."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        found = _BLANK.search(text, start + PIECE_CHARS)
        end = found.start() if found else len(text)
        yield text[start:end]
        start = end
    yield text[start:]
