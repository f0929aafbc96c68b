"""Broken files of all kinds; `python -m tests.fuzzing SECONDS` tries more of them."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from tests.fuzzing import GARBAGE, rounds
from webapp.config import Config
from webapp.errors import CoppiceError
from webapp.wiring import build


@pytest.mark.parametrize("seed", [1, 2])
def test_a_broken_file_causes_no_damage(tmp_path: Path, seed: int) -> None:
    """Any file gives messages and problems or a typed error, and the store has no fault."""
    found = list(islice(rounds(tmp_path, seed), 42))
    assert [(which, fault) for which, fault in found if fault is not None] == []


def test_a_file_of_garbage_is_no_session(tmp_path: Path) -> None:
    """A session is created only if the file has content."""
    app = build(Config(db=tmp_path / "a.db", tokenizer=False, follow=False, env={}))
    for garbage in GARBAGE:
        with suppress(CoppiceError):
            answer = app.importing.import_file("x.jsonl", garbage)
            assert all(one.added or one.problems or one.skipped for one in answer)
    assert list(app.verify()) == []
    app.close()
