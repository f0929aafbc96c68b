"""Compactions and rewinds, in the words of the history; what they do to contexts stands in test_ingest."""

from __future__ import annotations

from typing import Any

from tests.webapp.building import conversation, followed, heard
from webapp.events import SessionUpdated
from webapp.services.turning import turn_id
from webapp.transcripts.records import Compaction, Rewind


class TestTurn:
    """One operation of the agent's."""

    def test_says_what_the_agent_said(self, app: Any) -> None:
        """Trigger and tokens before, on the chart too."""
        followed(app, *conversation(2))
        events = heard(app)
        app.ingest.append_records("s", [Compaction(None, "manual", 167_094, "c")])
        [operation] = app.operations.list("s")
        assert "manual, 167,094 tokens before" in operation["reason"]
        [mark] = app.sessions.timeline("s")["marks"]
        assert (mark["kind"], mark["before"], mark["number"]) == ("compaction", 167_094, 8)
        assert SessionUpdated("s") in events

    def test_explains_itself_in_the_archive(self, app: Any) -> None:
        """Every message that left says why."""
        followed(app, *conversation(1))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c")])
        reasons = {m["reason"] for m in app.search.archive("s")}
        assert reasons == {"the agent compacted its context (auto)"}

    def test_is_noted_under_a_name_of_its_own(self) -> None:
        """The entry that follows has the same source id."""
        assert turn_id(Rewind(None, "x")) == "rewind:x"
        assert turn_id(Compaction(None, "auto", None, None)) is None
