"""Files out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.waiting import PATIENCE
from tests.webapp.building import conversation, followed, managed, mid, user, wire
from webapp.app import App
from webapp.errors import BusyStore, Conflict, Invalid, NotFound
from webapp.services.transfer.own_format import OwnFormat
from webapp.store.sessions import SessionRow


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

    def test_holds_nothing_of_the_store_while_it_is_sent(self, app: App) -> None:
        """However slowly its client reads; a write cannot begin inside a snapshot."""
        followed(app, user("a" * 200_000))
        chunks = app.exporting.export("s")[2]
        assert next(chunks)
        with app.store.write():
            app.store.small.put_setting("any", {})
        assert b"".join(chunks).endswith(b"}\n")

    def test_are_made_two_at_a_time(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """More would take the connections of other requests; those that wait too long are told to come back."""
        monkeypatch.setattr("webapp.services.transfer.exporting.WAIT_SECONDS", 0.0)
        followed(app, user("hi"))
        lines, begun, go = OwnFormat.lines, threading.Semaphore(0), threading.Event()

        def slow(own: OwnFormat, row: SessionRow) -> Iterator[bytes]:
            begun.release()
            go.wait(PATIENCE)
            yield from lines(own, row)

        monkeypatch.setattr(OwnFormat, "lines", slow)
        threads = [threading.Thread(target=app.exporting.export, args=("s",)) for _ in range(2)]
        for thread in threads:
            thread.start()
            assert begun.acquire(timeout=PATIENCE)
        with pytest.raises(BusyStore, match="try again"):
            app.exporting.export("s", "openai")
        go.set()
        for thread in threads:
            thread.join()
        assert app.exporting.export("s", "openai")

    def test_refuses_what_it_does_not_know(self, app: App) -> None:
        """Format and session."""
        followed(app, user("hi"))
        with pytest.raises(Invalid, match="format"):
            app.exporting.export("s", "morse")
        with pytest.raises(NotFound):
            app.exporting.export("nobody")
