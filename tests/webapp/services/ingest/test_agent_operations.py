"""Compactions and rewinds in the history; test_ingest has their effects on contexts."""

from __future__ import annotations

from tests.webapp.building import (
    context_numbers,
    conversation,
    entry,
    followed,
    heard,
    said,
    usage,
    user,
)
from webapp.agents.records import Compaction, Rewind
from webapp.app import App
from webapp.events import SessionUpdated
from webapp.services.ingest.agent_operations import agent_operation_id


class TestOperation:
    """An operation that the agent made itself."""

    def test_has_the_trigger_and_tokens_of_the_agent(self, app: App) -> None:
        """Without a usage report, history and chart show the agent's own count of tokens."""
        followed(app, *conversation(2))
        events = heard(app)
        app.ingest.append_records("s", [Compaction(None, "manual", 167_094, "c")])
        [operation] = app.operations.list("s")
        assert operation.reason == "the agent compacted its context (manual)"
        assert operation.tokens_before == 167_094
        [mark] = app.timelines.of("s").changes
        assert (mark.kind, mark.before, mark.number) == ("compaction", 167_094, 8)
        assert SessionUpdated("s") in events

    def test_prefers_the_gauge_to_the_agents_estimate(self, app: App) -> None:  # X11
        """The tokens before are those of the gauge, not the agent's slightly different estimate."""
        answer = entry(2, said("ok"), usage=usage(167_000, 10), call_key="a")
        followed(app, user("go"), model="claude-opus-4-6")
        app.ingest.append_records("s", [answer])
        before = app.sessions.get("s").agent
        app.ingest.append_records("s", [Compaction(None, "auto", 167_748, "c")])
        [operation], [mark] = app.operations.list("s"), app.timelines.of("s").changes
        session = app.sessions.get("s")
        assert before is not None
        assert operation.tokens_before == mark.before == before.tokens == 167_010
        assert "167,010" in session.limit_source
        assert "167,748" not in f"{operation} {mark} {session}"

    def test_reports_an_encrypted_summary(self, app: App) -> None:  # X24
        """The history and the chart name it as unreadable."""
        followed(app, *conversation(1))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", unreadable=True)])
        [operation], [mark] = app.operations.list("s"), app.timelines.of("s").changes
        assert "its summary is encrypted and cannot be read" in (operation.reason or "")
        assert mark.label == operation.reason

    def test_is_the_reason_in_the_archive(self, app: App) -> None:
        """Every removed message has the operation as its reason."""
        followed(app, *conversation(1))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c")])
        reasons = {m.reason for m in app.search.archive("s").messages}
        assert reasons == {"the agent compacted its context (auto)"}

    def test_has_its_own_source_id(self) -> None:
        """The id differs from that of the entry that follows."""
        assert agent_operation_id(Rewind(None, "x")) == "rewind:x"
        assert agent_operation_id(Compaction(None, "auto", None, None)) is None


class TestSummaries:
    """Summaries during operations of the agent."""

    def active(self, app: App) -> list[int]:
        """Return the numbers of the summaries in the context."""
        numbers: list[int] = app.store.summaries.active_numbers(app.store.sessions.get("s").key)
        return numbers

    def test_return_when_the_agent_rewinds_its_compaction(self, app: App) -> None:
        """A rewind to before the compaction restores the summary."""
        followed(app, *conversation(6))
        app.summarising.summarise("s")
        before = app.context.get("s").messages
        app.ingest.append_records("s", [Compaction(None, "auto", 1_000, "c")])
        assert self.active(app) == []
        app.ingest.append_records("s", [Rewind("id-23", "r", live=tuple(f"id-{n}" for n in range(24)))])
        assert self.active(app) == [1]
        assert app.context.get("s").messages == before
        assert list(app.verify()) == []

    def test_stay_expanded_after_a_rewind(self, app: App) -> None:
        """A rewind does not restore a summary that was expanded."""
        followed(app, *conversation(6))
        app.summarising.summarise("s")
        live = tuple(f"id-{n}" for n in range(24))
        app.ingest.append_records(
            "s", [Compaction(None, "auto", 1_000, "c"), Rewind("id-23", "r", live=live)]
        )
        app.summarising.expand("s", 1)
        app.ingest.append_records("s", [Rewind("id-22", "r2", live=live[:23])])
        assert self.active(app) == []
        assert context_numbers(app, "s") == list(range(1, 24))
        assert list(app.verify()) == []
