"""A folder for hints of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def hints_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, which exists."""
    folder = tmp_path / "hints"
    folder.mkdir()
    monkeypatch.setenv("COPPICE_HINTS", str(folder))
    return folder
