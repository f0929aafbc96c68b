"""Fixtures of tests of agents' commands."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def hints_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An existing folder for hints, separate for each test."""
    folder = tmp_path / "hints"
    folder.mkdir()
    monkeypatch.setenv("COPPICE_HINTS", str(folder))
    return folder
