"""Transcripts that an agent resumes from: the pruned view, and only that, read back the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.shared import shared_data
from webapp.config import Config
from webapp.wiring import build

FILES = {
    "claude-code": "claude-code/projects/-src-deep-manifest/a7da*.jsonl",
    "codex": "codex/sessions/2025/11/17/*.jsonl",
}


@pytest.fixture(params=sorted(FILES))
def session(app: Any, request: pytest.FixtureRequest) -> dict[str, Any]:
    """A real session of each agent, pruned."""
    [path] = shared_data("transcripts").glob(FILES[request.param])
    session_id = app.importing.import_file(str(path), path.read_bytes())["imported"][0]["session_id"]
    tokens = app.sessions.get(session_id)["pruned"]["tokens"]
    app.prunes.apply(session_id, {"max_tokens": int(tokens * 0.7)})
    found: dict[str, Any] = app.sessions.get(session_id)
    return found


class TestTranscript:
    """A new file with a new session id."""

    def test_reads_back_as_the_pruned_view(
        self, app: Any, session: dict[str, Any], tmp_path: Path
    ) -> None:  # X13
        """The same messages with the same words, in the same order."""
        name, _, chunks = app.exporting.export(session["id"], session["source"])
        other = build(Config(db=tmp_path / "other.db", tokenizer=False, env={}))
        [imported] = other.importing.import_file(name, b"".join(chunks))["imported"]
        assert imported["session_id"] != session["id"]
        assert (imported["skipped"], imported["problems"]) == (0, [])
        there = [m.text for m in other.context.messages(other.store.sessions.get(imported["session_id"]))]
        here = [m.text for m in app.context.messages(app.store.sessions.get(session["id"]))]
        assert there == here
        other.close()

    def test_names_only_itself(self, app: Any, session: dict[str, Any]) -> None:
        """No row says that it belongs to the session it was made from."""
        _, _, chunks = app.exporting.export(session["id"], session["source"])
        rows = [orjson.loads(line) for line in b"".join(chunks).splitlines()]
        assert all(row.get("sessionId") != session["id"] for row in rows)
        parents = [row.get("parentUuid") for row in rows if "parentUuid" in row]
        uuids = [row["uuid"] for row in rows if "uuid" in row]
        assert parents == [None, *uuids[:-1]][: len(parents)]
