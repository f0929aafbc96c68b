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

    def test_includes_the_summary_in_the_tokens_after(self, app: App) -> None:  # X11
        """History and chart have the size of the context that the agent sends next, however the rows arrive."""
        followed(app, *conversation(2))
        brief = entry(8, user("a summary " * 400), kind="compaction_summary")
        app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c")])
        [cut] = app.operations.list("s")
        app.ingest.append_records("s", [brief, entry(9, user("go on " * 400))])
        [live], [mark] = app.operations.list("s"), app.timelines.of("s").changes
        assert live.tokens_after == mark.after > cut.tokens_after + 500
        assert live.freed == live.tokens_before - live.tokens_after
        after = app.operations.one("s", live.n).regions_after
        assert after is not None
        assert {region.name: region.tokens for region in after}["summary"] > 500
        app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c"), brief])
        assert app.operations.list("s") == [live]
        followed(app, *conversation(2), session_id="whole")
        cut_again = Compaction(None, "auto", 9_000, "c")
        app.ingest.append_records("whole", [cut_again, brief, entry(9, user("go on " * 400))])
        [whole] = app.operations.list("whole")
        assert (whole.tokens_after, whole.freed) == (live.tokens_after, live.freed)
        assert list(app.verify()) == []

    def test_includes_the_whole_replacement_in_the_tokens_after(self, app: App) -> None:  # X11
        """The new context is as large as the session is right behind it."""
        followed(app, *conversation(2))
        brief = (
            entry(0, user("known")),
            entry(8, user("a summary " * 400), kind="compaction_summary"),
            entry(9, user("go on " * 400)),
        )
        app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c", brief)])
        [operation], session = app.operations.list("s"), app.sessions.get("s")
        assert session.agent is not None
        assert operation.tokens_after == session.agent.tokens > 1_000

    def test_has_no_later_message_in_the_tokens_after(self, app: App) -> None:
        """A summary that does not follow at once is no part of the compaction."""
        followed(app, *conversation(2))
        app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c")])
        [cut] = app.operations.list("s")
        later = [entry(8, user("go on")), entry(9, user("a summary " * 400), kind="compaction_summary")]
        app.ingest.append_records("s", later)
        assert app.operations.list("s") == [cut]

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
