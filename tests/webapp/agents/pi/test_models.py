"""The windows that pi's user gives to models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.agents.pi.rows import row
from webapp.agents.pi.models import USUAL, windows_beside
from webapp.app import App
from webapp.config import Config
from webapp.wiring import build

MODELS = """{
  // models of this machine
  "providers": {
    "ollama": {"baseUrl": "http://localhost:11434/v1", "models": [
      {"id": "tinyllama", "contextWindow": 16384},
      {"id": "plain"}, {"id": "odd", "contextWindow": "many"},
    ]},
    "openai": {"modelOverrides": {"gpt-5.1": {"contextWindow": 64000.0}, "gpt-5": {"maxTokens": 9}}},
    "broken": [],
  }
}"""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Return the path of a session in pi's folder, which has models of the user's."""
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    (tmp_path / ".pi" / "agent" / "models.json").write_text(MODELS)
    path = tmp_path / ".pi" / "agent" / "sessions" / "--garden--" / "2026_p.jsonl"
    path.parent.mkdir(parents=True)
    return path


def change(name: str, provider: str, model: str, parent: str | None) -> dict[str, Any]:
    """Return the row of a change of models."""
    return {"type": "model_change", "id": name, "parentId": parent, "provider": provider, "modelId": model}


def test_are_read_from_its_folder(session: Path, tmp_path: Path) -> None:  # X10
    """One that is defined without a window has pi's usual one, and a broken one none."""
    assert windows_beside(session) == {
        ("ollama", "tinyllama"): 16_384,
        ("ollama", "plain"): USUAL,
        ("openai", "gpt-5.1"): 64_000,
    }
    assert windows_beside(tmp_path / "2026_p.jsonl") == {}
    (tmp_path / ".pi" / "agent" / "models.json").write_text('{"providers": [')
    assert windows_beside(session) == {}


def test_are_those_of_the_session_that_runs_with_them(session: Path, tmp_path: Path) -> None:  # X10
    """They hold until the model changes; without one, the window is that of the model."""
    app = build(Config(db=tmp_path / "c.db", tokenizer=False, follow=False, env={"HOME": str(tmp_path)}))
    rows = [{"type": "session", "id": "p"}, change("m1", "ollama", "tinyllama", None), row("a", "m1", "hi")]
    assert limit_after(app, session, rows) == (16_384, "reported by the agent")
    rows += [change("m2", "openai", "gpt-5.1", "a"), row("b", "m2", "and now?")]
    assert limit_after(app, session, rows) == (64_000, "reported by the agent")
    rows += [change("m3", "openai", "gpt-5", "b"), row("c", "m3", "and now?")]
    assert limit_after(app, session, rows)[0] > 200_000
    app.close()


def limit_after(app: App, path: Path, rows: list[dict[str, Any]]) -> tuple[int, str]:
    """Return the window of a followed session after these rows, and its source."""
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    following = app.watcher.following
    for file in following.files_at(path):
        following.read_new(file)
    session = app.sessions.get("p")
    return session.window, session.limit_source
