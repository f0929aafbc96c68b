"""Caches by text, which users and programs send."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import scoring
from scoring.history.content.names import identifiers
from scoring.tokens.estimator import estimate

# What the texts and their readers take. Threads that other tests left, one that loads a tokenizer, take memory too.
OURS = [tracemalloc.Filter(inclusive=True, filename_pattern=f"{Path(scoring.__file__).parent}/*"),
        tracemalloc.Filter(inclusive=True, filename_pattern=__file__)]  # fmt: skip


@pytest.mark.parametrize("read", [estimate, identifiers])
@pytest.mark.parametrize("piece", ["{}", "/x/{}/y1.py", "/{0}/{0}/{0}", "{}1", "\n", "-"])
def test_keep_no_long_piece_of_a_text(read: Callable[[str], object], piece: str) -> None:
    """Their bound is a number of pieces, so that messages of a million letters would fill the memory."""
    gc.freeze()  # so that the search for garbage leaves out what earlier tests made
    tracemalloc.start()
    try:
        for letter in "abcdef":
            read((piece.format(letter) * 100_000)[:100_000] + letter)
            read(piece.format(letter * 100_000))
        gc.collect()
        taken = tracemalloc.take_snapshot().filter_traces(OURS)
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in taken.traces) < 300_000
