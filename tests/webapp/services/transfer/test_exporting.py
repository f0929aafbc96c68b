"""Files out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webapp.building import conversation, followed, managed, mid, user, wire
from webapp.app import App
from webapp.errors import Conflict, Invalid, NotFound


def content(app: App, session: str, name: str) -> Any:
    """The exported file, parsed."""
    _, _, chunks = app.exporting.export(session, name)
    return json.loads(b"".join(chunks))


class TestExport:
    """Exports in every format."""

    @pytest.mark.parametrize(("name", "key"), [("openai", None), ("anthropic", None), ("gemini", None)])
    def test_writes_the_pruned_context(self, app: App, name: str, key: str | None) -> None:  # X13
        """The context is a list that a program can send."""
        followed(app, *conversation(4), user("end"))
        whole = content(app, "s", name)
        app.operations.drop("s", mid(app, "s", 4))
        assert len(content(app, "s", name)) < len(whole)
        assert key is None

    def test_writes_a_body_where_there_is_more_than_a_list(self, app: App) -> None:
        """The prompt is in its own field."""
        session = managed(app, wire("user", "hi"), system="be brief")
        assert content(app, session, "anthropic")["system"] == "be brief"

    def test_names_the_file_after_the_session(self, app: App) -> None:
        """Any title gives a safe file name."""
        followed(app, user("a/b: ../c?"))
        name, kind, _ = app.exporting.export("s", "jsonl")
        assert "/" not in name
        assert name.endswith(".coppice.jsonl")
        assert kind == "application/x-ndjson"

    def test_says_why_a_transcript_cannot_be_made(self, app: App) -> None:
        """The session is from another agent."""
        session = managed(app, wire("user", "hi"))
        with pytest.raises(Conflict, match="came from api"):
            app.exporting.export(session, "claude-code")

    def test_refuses_what_it_does_not_know(self, app: App) -> None:
        """Format and session."""
        followed(app, user("hi"))
        with pytest.raises(Invalid, match="format"):
            app.exporting.export("s", "morse")
        with pytest.raises(NotFound):
            app.exporting.export("nobody")
