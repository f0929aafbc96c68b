"""A hundred turns of three calls at once, through the real SDKs, pruned as they go: the provider refuses none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reach.turns import ASK, run

TURNS = 34  # with each of three protocols; `make turns` runs three hundred


@pytest.mark.parametrize("protocol", list(ASK))
def test_prunes_break_no_pair_and_no_order(protocol: str, tmp_path: Path) -> None:  # X6, X9, X13
    """Every call with its result, the thoughts with their calls, and the beginning that each API wants."""
    done = run(protocol, TURNS, prunes=True, folder=tmp_path)
    assert done.refused == 0
    assert done.calls == 2 * TURNS
    assert done.prunes >= 7
    assert done.cached > 0
