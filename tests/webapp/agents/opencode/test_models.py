"""The windows that OpenCode's user gives to models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.agents.opencode.second_generation import SAID, database, write
from webapp.agents.opencode.models import window_of
from webapp.config import Config
from webapp.wiring import build

MODEL = ("lmstudio", "qwen/qwen3-coder")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the path of a database in OpenCode's usual folder."""
    return database(tmp_path / ".local" / "share" / "opencode")


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """Return a folder in a repository."""
    (tmp_path / "code" / ".git").mkdir(parents=True)
    (tmp_path / "code" / "garden").mkdir()
    return tmp_path / "code" / "garden"


def configure(path: Path, tokens: Any) -> None:
    """Write a configuration that gives the model this window."""
    provider, model = MODEL
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"provider": {provider: {"models": {model: {"limit": {"context": tokens, "output": 4_096}}}}}}
    path.write_text("// ours\n" + json.dumps(said))


def test_of_the_project_come_before_those_of_the_user(
    store: Path, garden: Path, tmp_path: Path
) -> None:  # X10
    """The nearest configuration decides, up to the folder of the repository."""
    user = tmp_path / ".config" / "opencode"
    assert window_of(store, str(garden), *MODEL) is None
    for path, tokens in (
        (user / "config.json", 8_000),
        (user / "opencode.json", 16_000),
        (garden.parent / "opencode.json", 32_000),
        (garden / "opencode.jsonc", 64_000),
        (garden / ".opencode" / "opencode.json", 128_000),
    ):
        configure(path, tokens)
        assert window_of(store, str(garden), *MODEL) == tokens
    assert window_of(store, None, *MODEL) == 16_000
    assert window_of(tmp_path / "elsewhere.db", None, *MODEL) is None
    configure(tmp_path / "opencode.json", 1_000)
    assert window_of(store, str(garden.parent), *MODEL) == 32_000


@pytest.mark.parametrize("tokens", [None, "many", -1, 0, [], {}])
def test_that_are_no_numbers_are_none(store: Path, tmp_path: Path, tokens: Any) -> None:
    """So is a broken configuration."""
    path = tmp_path / ".config" / "opencode" / "opencode.json"
    configure(path, tokens)
    assert window_of(store, None, *MODEL) is None
    path.write_text("{")
    assert window_of(store, None, *MODEL) is None


def test_are_those_of_the_session_that_runs_with_them(store: Path, tmp_path: Path) -> None:  # X10
    """The page names the agent as their source."""
    configure(tmp_path / ".config" / "opencode" / "opencode.json", 32_768)
    provider, model = MODEL
    answer = {**SAID[2][1], "model": {"id": model, "providerID": provider}}
    write(store, [SAID[1], ("assistant", answer)])
    app = build(Config(db=tmp_path / "c.db", tokenizer=False, follow=False, env={"HOME": str(tmp_path)}))
    following = app.watcher.following
    for file in following.files_at(store):
        following.read_new(file)
    session = app.sessions.get("ses_n")
    assert session.model == f"{provider}/{model}"
    assert (session.window, session.limit_source) == (32_768, "reported by the agent")
    app.close()
