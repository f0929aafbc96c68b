"""Exports of a session."""

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
from webapp.store.summaries import SummaryRow


def content(app: App, session: str, name: str) -> Any:
    """Return the exported file, parsed."""
    _, _, chunks = app.exporting.export(session, name)
    return json.loads(b"".join(chunks))


class TestExport:
    """Exports in every format."""

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
    def test_writes_the_pruned_context(self, app: App, name: str) -> None:  # X13
        """A dropped message is not in the exported list."""
        followed(app, *conversation(4), user("end"))
        whole = content(app, "s", name)
        app.by_hand.drop("s", mid(app, "s", 4))
        assert len(content(app, "s", name)) < len(whole)

    def test_writes_a_body_with_a_system_prompt(self, app: App) -> None:
        """The system prompt is a field of the body."""
        session = managed(app, wire("user", "hi"), system="be brief")
        assert content(app, session, "anthropic")["system"] == "be brief"

    def test_writes_one_state_of_a_transcript(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A summary that is expanded while the file is made is in it."""
        followed(app, *conversation(12))
        app.summarising.summarise("s")
        before = b"".join(app.exporting.export("s", "claude-code")[2])
        active = app.store.summaries.active

        def later(key: int) -> list[SummaryRow]:
            monkeypatch.undo()
            expanding = threading.Thread(target=app.summarising.expand, args=("s", 1))
            expanding.start()
            expanding.join(PATIENCE)
            return active(key)

        monkeypatch.setattr(app.store.summaries, "active", later)
        after = b"".join(app.exporting.export("s", "claude-code")[2])
        assert app.sessions.get("s").operations == 2
        assert after.count(b"\n") == before.count(b"\n")

    def test_names_the_file_after_the_session(self, app: App) -> None:
        """Any title gives a safe file name."""
        followed(app, user("a/b: ../c?"))
        name, kind, _ = app.exporting.export("s", "jsonl")
        assert "/" not in name
        assert name.endswith(".coppice.jsonl")
        assert kind == "application/x-ndjson"

    def test_explains_why_a_transcript_is_impossible(self, app: App) -> None:
        """The session of a program has no transcript of an agent."""
        session = managed(app, wire("user", "hi"))
        with pytest.raises(Conflict, match="came from api"):
            app.exporting.export(session, "claude-code")

    def test_does_not_block_writes_while_it_is_sent(self, app: App) -> None:
        """A client may read slowly, and a write cannot begin inside a snapshot."""
        followed(app, user("a" * 200_000))
        chunks = app.exporting.export("s")[2]
        assert next(chunks)
        with app.store.write():
            app.store.small.put_setting("any", {})
        assert b"".join(chunks).endswith(b"}\n")

    def test_runs_for_two_requests_at_a_time(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """More would take the connections of other requests, so a third one is asked to try again."""
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

    def test_refuses_an_unknown_format_or_session(self, app: App) -> None:
        """Both are errors."""
        followed(app, user("hi"))
        with pytest.raises(Invalid, match="format"):
            app.exporting.export("s", "morse")
        with pytest.raises(NotFound):
            app.exporting.export("nobody")
