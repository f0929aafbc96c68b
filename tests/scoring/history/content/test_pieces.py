"""Long texts in pieces: nothing is lost at the seams."""

from __future__ import annotations

import re

import pytest

from scoring.history.content import pieces as module
from scoring.history.content.names import identifiers
from scoring.history.content.pieces import PIECE_CHARS, pieces
from scoring.history.content.words import words_of

LONG = " ".join(
    f"see https://example.org/a/{n} and src/parser_{n}.py, Ärger{n} ΣΑΣ parseRow{n}\n" for n in range(9_000)
)


class TestPieces:
    """Parts of one text."""

    @pytest.mark.parametrize("text", ["", "short", "x" * (3 * PIECE_CHARS), LONG, "\n" * (2 * PIECE_CHARS)])
    def test_are_the_text_together(self, text: str) -> None:
        """Joined, the pieces give the text; a word without blanks is never split."""
        assert "".join(pieces(text)) == text

    def test_end_at_blanks(self) -> None:
        """No word is split, and no piece is longer than necessary."""
        found = list(pieces(LONG))
        assert all(re.match(r"\s", piece) for piece in found[1:])
        assert max(map(len, found)) < PIECE_CHARS + 200

    def test_say_the_same_as_the_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Names and words do not depend on where a text is split."""
        parted = identifiers(LONG), words_of(LONG)
        monkeypatch.setattr(module, "PIECE_CHARS", len(LONG))
        assert (identifiers(LONG), words_of(LONG)) == parted
