"""The windows that the user's configuration of an agent gives to models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.agents import AGENTS
from webapp.agents.reading.finding import read_json_file
from webapp.app import App
from webapp.bodies import ModelRow, SessionChange
from webapp.config import Config
from webapp.wiring import build

LOCAL = "workshop-7b"


def written(file: Path, content: Any) -> None:
    """Write JSON, or a text as it is, to a file in new folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def of_pi(home: Path, window: int | None) -> None:
    """Set a window of the model in pi's configuration."""
    models = [{"id": "other"}, *([{"id": LOCAL, "contextWindow": window}] if window else [])]
    written(home / ".pi/agent/models.json", {"providers": {"bench": {"models": models}}})


def of_opencode(home: Path, window: int | None) -> None:
    """Set a window of the model in OpenCode's configuration."""
    limit = {"limit": {"context": window, "output": 4_096}} if window else {}
    provider = {"bench": {"models": {"other": {}, LOCAL: limit}}}
    written(home / ".config/opencode/opencode.json", {"provider": provider})


def pi_says(home: Path, n: int, cwd: Path) -> None:
    """Add an answer of the model to a session of pi."""
    file = home / ".pi/agent/sessions/--src--/2026-01-31_s1.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    session = {"type": "session", "id": "s1", "timestamp": "2026-01-31T12:00:00Z", "cwd": str(cwd)}
    answer = {
        "role": "assistant",
        "provider": "bench",
        "model": LOCAL,
        "content": [{"type": "text", "text": "ok"}],
    }
    row = {"type": "message", "id": f"m{n}", "parentId": f"m{n - 1}" if n else None, "message": answer}
    with file.open("a") as out:
        out.writelines(json.dumps(one) + "\n" for one in ([] if n else [session]) + [row])


def opencode_says(home: Path, n: int, cwd: Path) -> None:
    """Add an answer of the model to a session of OpenCode."""
    storage = home / ".local/share/opencode/storage"
    session = {
        "id": "s1",
        "directory": str(cwd),
        "title": "Bench",
        "version": "1.0.0",
        "time": {"updated": n + 1},
    }
    written(storage / "session/p1/s1.json", session)
    answer = {"id": f"m{n}", "sessionID": "s1", "role": "assistant", "providerID": "bench", "modelID": LOCAL}
    written(storage / f"message/s1/m{n}.json", answer | {"time": {"created": n + 1, "completed": n + 1}})
    part = {"id": f"p{n}", "messageID": f"m{n}", "sessionID": "s1", "type": "text", "text": f"ok {n}"}
    written(storage / f"part/m{n}/p{n}.json", part)


class Desk:
    """A home folder with a session of an agent, whose folder is `cwd`."""

    def __init__(self, home: Path, sets: Callable[..., None], says: Callable[..., None]) -> None:
        self.home, self.cwd = home, home / "src" / "deep"
        self._sets, self._says, self._n = sets, says, 0
        self.app: App = build(Config(db=home / "a.db", tokenizer=False, env={"HOME": str(home)}))

    def sets(self, window: int | None) -> None:
        """Set the window in the agent's configuration, or none."""
        self._sets(self.home, window)

    def looked(self) -> tuple[int, bool, str]:
        """Return the limit after another answer, whether it is assumed, and its source."""
        self._says(self.home, self._n, self.cwd)
        self._n += 1
        following = self.app.watcher.following
        assert sum(following.read_new(file) for file in following.discover()) == 1
        return self.shown()

    def shown(self) -> tuple[int, bool, str]:
        """Return the limit, whether it is assumed, and its source."""
        session = self.app.sessions.get("s1")
        return session.limit, session.window_assumed, session.limit_source


@pytest.fixture(params=[(of_pi, pi_says), (of_opencode, opencode_says)], ids=["pi", "opencode"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A desk of each agent with such windows."""
    made = Desk(tmp_path, *request.param)
    yield made
    made.app.close()


class TestAFollowedSession:
    """A session whose model is the user's own."""

    def test_has_the_window_of_the_agents_configuration(self, desk: Desk) -> None:  # X10
        """The page says where it is set, and does not call it assumed."""
        desk.sets(32_768)
        limit, assumed, source = desk.looked()
        assert (limit, assumed) == (32_768, False)
        assert source in {"set in pi's models.json", "set in OpenCode's configuration"}
        assert not desk.app.sessions.get("s1").notes

    def test_follows_a_change_of_the_configuration(self, desk: Desk) -> None:  # X10
        """The configuration is read again with each answer."""
        seen = []
        for window in (None, 32_768, 65_536, None):
            desk.sets(window)
            seen.append(desk.looked())
        assert [limit for limit, _, _ in seen[1:3]] == [32_768, 65_536]
        assert seen[0] == seen[3]
        assert seen[0][1]

    def test_ignores_a_window_that_no_model_has(self, desk: Desk) -> None:  # X10
        """Such a session would never be full."""
        usual = desk.looked()
        desk.sets(10**15)
        assert desk.looked() == usual

    def test_has_the_window_after_a_restart(self, desk: Desk) -> None:  # X10
        """A new reader reads on without the rows that named the model first."""
        desk.sets(32_768)
        desk.looked()
        desk.app.watcher.following.forget_all()
        desk.sets(65_536)
        assert desk.looked()[0] == 65_536

    def test_has_the_users_limit_first(self, desk: Desk) -> None:  # X10
        """A window set in Coppice, for the session or the model, has precedence."""
        desk.sets(32_768)
        desk.looked()
        desk.app.models.put(LOCAL, ModelRow(window=50_000))
        assert desk.shown()[0] == 50_000
        desk.app.sessions.patch("s1", SessionChange(window=40_000))
        assert desk.shown()[0] == 40_000


def test_of_two_providers_the_smaller_window_counts(tmp_path: Path) -> None:  # X10
    """Sessions name a model without its provider, unless that is a known host."""
    of_opencode(tmp_path, 64_000)
    written(
        tmp_path / ".config/opencode/opencode.jsonc",
        {"provider": {"second": {"models": {LOCAL: {"limit": {"context": 16_000}}}}}},
    )
    desk = Desk(tmp_path, of_opencode, opencode_says)
    assert desk.looked()[0] == 16_000
    desk.app.close()


class TestOpenCode:
    """The files of OpenCode's configuration."""

    def test_near_the_session_have_precedence(self, tmp_path: Path) -> None:
        """Those outside its repository are not read."""
        root, env = tmp_path / "src", {"HOME": str(tmp_path)}
        (root / ".git").mkdir(parents=True)

        def found() -> list[tuple[str, int]]:
            declared = AGENTS["opencode"].declared_windows
            assert declared is not None
            return [*declared.read(env, str(root / "deep"))]

        def config(window: int) -> dict[str, Any]:
            return {"provider": {"ollama": {"models": {"m": {"limit": {"context": window}}}}}}

        written(tmp_path / "opencode.json", config(9_000))
        assert found() == []
        places = [
            tmp_path / ".config/opencode/opencode.json",
            root / "opencode.json",
            root / "deep/opencode.jsonc",
            root / ".opencode/opencode.json",
        ]
        for n, place in enumerate(places, 1):
            written(place, config(10_000 + n))
            assert found() == [("ollama/m", 10_000 + n)]


class TestPi:
    """pi's models.json."""

    def test_can_change_the_window_of_a_known_model(self, tmp_path: Path) -> None:
        """A model of the user's own replaces a known one of that name, and has pi's usual window without one."""
        about = {"modelOverrides": {"a": {"contextWindow": 1_000}, "b": {"contextWindow": 2_000}}}
        models = [{"id": "b", "contextWindow": 3_000}, {"id": "c"}, "odd"]
        written(
            tmp_path / ".pi/agent/models.json",
            {"providers": {"openrouter": about | {"models": models}, "x": 1}},
        )
        declared = AGENTS["pi"].declared_windows
        assert declared is not None
        found = [*declared.read({"HOME": str(tmp_path)}, None)]
        assert found == [("openrouter/a", 1_000), ("openrouter/b", 3_000), ("openrouter/c", 128_000)]


def test_json_with_comments_is_read(tmp_path: Path) -> None:
    """Comments and last commas are left out, unless they are in a string."""
    file = tmp_path / "a.jsonc"
    written(file, '{ // a\n "u": "http://x/*y*/,]", /* b,\n} */ "q": "\\"//", "l": [1, 2, // c\n ],\n}')
    assert read_json_file(file, commented=True) == {"u": "http://x/*y*/,]", "q": '"//', "l": [1, 2]}
    assert read_json_file(file) is None
