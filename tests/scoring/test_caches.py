"""Caches by text, which users and programs send."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import scoring
from scoring.history.content.names import identifiers
from scoring.tokens.estimator import estimate

Read = Callable[[str], object]

# The memory that the texts and their readers take.
OURS = [tracemalloc.Filter(inclusive=True, filename_pattern=f"{Path(scoring.__file__).parent}/*"),
        tracemalloc.Filter(inclusive=True, filename_pattern=__file__)]  # fmt: skip


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    """A process without threads: those that other tests left take memory, too."""
    with ProcessPoolExecutor(1, get_context("spawn")) as made:
        yield made


@pytest.mark.parametrize("read", [estimate, identifiers])
@pytest.mark.parametrize("piece", ["{}", "/x/{}/y1.py", "/{0}/{0}/{0}", "{}1", "\n", "-"])
def test_keep_no_long_piece_of_a_text(read: Read, piece: str, process: ProcessPoolExecutor) -> None:
    """Their bound is a number of pieces, so that messages of a million letters would fill the memory."""
    assert process.submit(kept_by, read, piece).result() < 300_000


def kept_by(read: Read, piece: str) -> int:
    """Return the bytes that are still in use after long texts of a piece were read."""
    tracemalloc.start()
    try:
        for letter in "abcdef":
            read((piece.format(letter) * 100_000)[:100_000] + letter)
            read(piece.format(letter * 100_000))
        gc.collect()
        taken = tracemalloc.take_snapshot().filter_traces(OURS)
    finally:
        tracemalloc.stop()
    return sum(trace.size for trace in taken.traces)
