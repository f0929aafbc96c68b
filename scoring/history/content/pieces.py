"""Long texts in pieces, because a search in one call lets no other thread run until it returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A search over this many characters takes about a millisecond.
PIECE_CHARS = 32_768
_BLANK = re.compile(r"\s")


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end at a blank, so that no word or name is split; joined they are the text."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        found = _BLANK.search(text, start + PIECE_CHARS)
        end = found.start() if found else len(text)
        yield text[start:end]
        start = end
    yield text[start:]
