"""The shared material beside the repository, and functions that return its files.

Real transcripts and labelled sessions are in `../shared/`; they are read there and never copied. A test that needs them
is skipped, with the reason, where they are missing.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("COPPICE_SHARED") or ROOT.parent / "shared")


def is_idle(name: str) -> bool:
    """Return whether a test never runs: it is parametrised with nothing although the shared material is there."""
    return name.endswith("[NOTSET]") and SHARED.is_dir()


def shared_path(*parts: str) -> Path:
    """Return a file or folder of the shared material; skip the calling test or module where it is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared/{'/'.join(parts)} is not beside the repository", allow_module_level=True)
    return path


def shared_data(*parts: str) -> Path:
    """Return a path under `shared/data`, as in `shared_data("transcripts", "codex")`; skip where it is missing."""
    return shared_path("data", *parts)


def shared_files(pattern: str, *parts: str) -> list[Path]:
    """Return the files under `shared/data` that match, sorted; none where it is missing, so it can parametrise."""
    return sorted(SHARED.joinpath("data", *parts).glob(pattern))


def samples() -> list[Path]:
    """Return transcripts and lists to break: our own samples, and the shared ones where they are."""
    own = (ROOT / "tests" / "transcripts").rglob("*.json*")
    found = [*own, *shared_files("transcripts/**/*.json*")]
    wanted = (path for path in found if ".meta." not in path.name and "opencode" not in str(path))
    return sorted(path for path in wanted if path.stat().st_size > 0)
