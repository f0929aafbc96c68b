"""Fixtures of tests of proxied calls."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def hints_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own folder of edit scripts."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
