"""Sessions as `opencode export` writes them."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from tests.webapp.agents.opencode.layouts import TREE, copied
from tests.webapp.agents.samples import of, said
from webapp.agents.opencode import decoder, exported, files
from webapp.agents.reading.content import Content
from webapp.agents.recognise import recognise
from webapp.agents.records import Meta, Problem
from webapp.app import App


def document() -> dict[str, Any]:
    """Return the session `ses_1` of the sample tree as the agent exports it."""
    storage = TREE / "storage"
    [info] = [json.loads(file.read_bytes()) for file in (storage / "session").rglob("ses_1.json")]
    messages = []
    for file in sorted((storage / "message" / "ses_1").glob("*.json")):
        message = json.loads(file.read_bytes())
        parts = sorted((storage / "part" / message["id"]).glob("*.json"))
        messages.append({"info": message, "parts": [json.loads(part.read_bytes()) for part in parts]})
    return {"info": info, "messages": messages, "todos": []}


@pytest.fixture(params=[2, None], ids=["as the agent writes it", "in one line"])
def data(request: pytest.FixtureRequest) -> bytes:
    """An exported session."""
    return json.dumps(document(), indent=request.param).encode()


class TestAnExport:
    """A file of one session."""

    def test_is_read_as_its_session_is(self, data: bytes, tmp_path: Path) -> None:  # X12
        """The messages and facts are those of the agent's own files."""
        [file] = [f for f in files.discover(copied(tmp_path)) if f.session_id == "ses_1"]
        own, found = list(decoder.read(file, {})), list(exported.decode(Content(data)))
        assert said(found) == said(own)
        assert of(Meta, found) == of(Meta, own)

    def test_is_recognised(self, data: bytes) -> None:  # X12
        """Its first bytes are enough, and they name the session."""
        for head in (data, data[:2_000]):
            assert recognise(head) == "opencode"
            assert exported.origin(PurePath("a.json"), head, False).session_id == "ses_1"

    def test_is_one_session_with_its_own_files(self, app: App, data: bytes, tmp_path: Path) -> None:  # X12
        """Messages that are known already are not added again."""
        [first] = app.importing.import_file("a.json", data)
        [again] = app.importing.import_file("a.json", data)
        own = [one for _, one in app.importing.import_sessions(copied(tmp_path)) if one.session_id == "ses_1"]
        assert (first.session_id, first.source) == ("ses_1", "opencode")
        assert first.added > 0
        assert [again.added, own[0].added] == [0, 0]

    def test_loses_only_messages_without_an_id(self) -> None:  # X12
        """They cannot be told apart from each other; the others are read."""
        whole = document()
        first, *others = whole["messages"]
        found = list(
            exported.decode(Content(json.dumps({**whole, "messages": [{}, first, 1, *others]}).encode()))
        )
        assert said(found) == said(list(exported.decode(Content(json.dumps(whole).encode()))))
        assert [problem.reason for problem in of(Problem, found)] == [
            "message 0: it has no id", "message 2: it has no id",
        ]  # fmt: skip

    def test_loses_only_what_is_broken(self) -> None:  # X12
        """A file that breaks off gives the messages before, and says so."""
        text = json.dumps(document(), indent=2).encode()
        found = list(exported.decode(Content(text[: text.rindex(b'"parts"')])))
        assert said(found)[:1] == said(list(exported.decode(Content(text))))[:1]
        assert of(Problem, found)
