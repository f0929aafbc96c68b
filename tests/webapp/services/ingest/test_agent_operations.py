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


class TestTurn:
    """One operation of the agent's."""

    def test_says_what_the_agent_said(self, app: App) -> None:
        """Trigger, and tokens before where it alone has measured them, on the chart too."""
        followed(app, *conversation(2))
        events = heard(app)
        app.ingest.append_records("s", [Compaction(None, "manual", 167_094, "c")])
        [operation] = app.operations.list("s")
        assert operation.reason == "the agent compacted its context (manual)"
        assert operation.tokens_before == 167_094
        [mark] = app.sessions.timeline("s").changes
        assert (mark.kind, mark.before, mark.number) == ("compaction", 167_094, 8)
        assert SessionUpdated("s") in events

    def test_has_one_size_before_it(self, app: App) -> None:  # X11
        """The size is that of the gauge before the turn, not the agent's own, slightly different estimate."""
        answer = entry(2, said("ok"), usage=usage(167_000, 10), call_key="a")
        followed(app, user("go"), model="claude-opus-4-6")
        app.ingest.append_records("s", [answer])
        before = app.sessions.get("s").agent
        app.ingest.append_records("s", [Compaction(None, "auto", 167_748, "c")])
        [operation], [mark] = app.operations.list("s"), app.sessions.timeline("s").changes
        session = app.sessions.get("s")
        assert before is not None
        assert operation.tokens_before == mark.before == before.tokens == 167_010
        assert "167,010" in session.limit_source
        assert "167,748" not in f"{operation} {mark} {session}"

    def test_names_a_summary_that_is_encrypted(self, app: App) -> None:  # X24
        """The history and the chart name it as unreadable."""
        followed(app, *conversation(1))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", unreadable=True)])
        [operation], [mark] = app.operations.list("s"), app.sessions.timeline("s").changes
        assert "its summary is encrypted and cannot be read" in (operation.reason or "")
        assert mark.label == operation.reason

    def test_explains_itself_in_the_archive(self, app: App) -> None:
        """Every message that left says why."""
        followed(app, *conversation(1))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c")])
        reasons = {m.reason for m in app.search.archive("s").messages}
        assert reasons == {"the agent compacted its context (auto)"}

    def test_is_noted_under_a_name_of_its_own(self) -> None:
        """The entry that follows has the same source id."""
        assert agent_operation_id(Rewind(None, "x")) == "rewind:x"
        assert agent_operation_id(Compaction(None, "auto", None, None)) is None


class TestSummaries:
    """An agent's summaries come and go with the messages they cover."""

    def standing(self, app: App) -> list[int]:
        """Numbers of the summaries in the context."""
        numbers: list[int] = app.store.summaries.active_numbers(app.store.sessions.get("s").key)
        return numbers

    def test_come_back_where_the_agent_goes_back_before_its_compaction(self, app: App) -> None:
        """The pruned view is restored with the messages that the summary covered."""
        followed(app, *conversation(6))
        app.summarising.summarise("s")
        before = app.context.get("s").messages
        app.ingest.append_records("s", [Compaction(None, "auto", 1_000, "c")])
        assert self.standing(app) == []
        app.ingest.append_records("s", [Rewind("id-23", "r", live=tuple(f"id-{n}" for n in range(24)))])
        assert self.standing(app) == [1]
        assert app.context.get("s").messages == before
        assert list(app.verify()) == []

    def test_stay_out_where_somebody_took_them_apart(self, app: App) -> None:
        """An expanded summary stays expanded through a rewind."""
        followed(app, *conversation(6))
        app.summarising.summarise("s")
        live = tuple(f"id-{n}" for n in range(24))
        app.ingest.append_records(
            "s", [Compaction(None, "auto", 1_000, "c"), Rewind("id-23", "r", live=live)]
        )
        app.summarising.expand("s", 1)
        app.ingest.append_records("s", [Rewind("id-22", "r2", live=live[:23])])
        assert self.standing(app) == []
        assert context_numbers(app, "s") == list(range(1, 24))
        assert list(app.verify()) == []
