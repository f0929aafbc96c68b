"""Caches by text, which users and programs send."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from scoring.history.content.names import identifiers
from scoring.tokens.estimator import estimate


@pytest.mark.parametrize("read", [estimate, identifiers])
@pytest.mark.parametrize("piece", ["{}", "/x/{}/y1.py", "/{0}/{0}/{0}", "{}1", "\n", "-"])
def test_keep_no_long_piece_of_a_text(read: Callable[[str], object], piece: str) -> None:  # P8
    """Their bound is a number of pieces, so that messages of a million letters would fill the memory."""
    texts = [(piece.format(letter) * 100_000)[:100_000] + letter for letter in "abcdefghijkl"]
    texts += [piece.format(letter * 100_000) for letter in "abcdefghijkl"]
    tracemalloc.start()
    try:
        for text in texts:
            read(text)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 300_000
