"""Compactions and rewinds, in the words of the history; what they do to contexts stands in test_ingest."""

from __future__ import annotations

from tests.webapp.building import context_numbers, conversation, followed, heard
from webapp.agents.records import Compaction, Rewind
from webapp.app import App
from webapp.events import SessionUpdated
from webapp.services.ingest.agent_operations import agent_operation_id


class TestTurn:
    """One operation of the agent's."""

    def test_says_what_the_agent_said(self, app: App) -> None:
        """Trigger and tokens before, on the chart too."""
        followed(app, *conversation(2))
        events = heard(app)
        app.ingest.append_records("s", [Compaction(None, "manual", 167_094, "c")])
        [operation] = app.operations.list("s")
        assert "manual, 167,094 tokens before" in operation.reason
        [mark] = app.sessions.timeline("s").marks
        assert (mark.kind, mark.before, mark.number) == ("compaction", 167_094, 8)
        assert SessionUpdated("s") in events

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
        numbers: list[int] = app.store.summaries.standing_numbers(app.store.sessions.get("s").key)
        return numbers

    def test_come_back_where_the_agent_goes_back_before_its_compaction(self, app: App) -> None:
        """The pruned view is as it was: what the summary covered is lost to neither turn."""
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
        """Once it is back it is a summary like any other: what is expanded stays expanded through a rewind."""
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
<<<<<<< HEAD


class TestTheWindow:
    """An automatic compaction tells the window that the agent ran with."""

    WIDE = "claude-opus-4-7"

    def compacted(self, app: App, tokens: int, trigger: str = "auto", **columns: Any) -> Session:
        """A session whose agent compacted at so many tokens."""
        session_id = followed(app, *conversation(2), model=self.WIDE, **columns)
        app.ingest.append_records(session_id, [Compaction(None, trigger, tokens, "c1")])
        return app.sessions.get(session_id)

    def test_is_the_smaller_one_with_a_note(self, app: App) -> None:  # X10
        """The table knows what the model could take, not what it was given."""
        session = self.compacted(app, 167_094)
        assert (session.window, session.limit) == (200_000, 200_000)
        assert session.notes == [
            "the agent compacted by itself at 167,094 tokens: the window is taken to be 200,000"
        ]

    @pytest.mark.parametrize(
        ("tokens", "trigger"), [(967_000, "auto"), (167_094, "manual"), (40_000, "auto")]
    )
    def test_stays_where_nothing_is_implied(self, app: App, tokens: int, trigger: str) -> None:
        """At the end of the known window, by hand, or set to come early."""
        session = self.compacted(app, tokens, trigger)
        assert (session.window, session.notes) == (1_000_000, [])

    def test_moves_up_again_for_good_where_a_call_takes_more(self, app: App) -> None:  # X10
        """A later compaction does not take it back."""
        session = self.compacted(app, 167_094)
        more: list[Record] = [
            entry(90, said("x"), usage=usage(250_000), call_key="k"),
            Compaction(None, "auto", 167_000, "c2"),
        ]
        app.ingest.append_records(session.id, more)
        after = app.sessions.get(session.id)
        assert (after.window, len(after.notes)) == (1_000_000, 2)

    def test_is_the_users_where_that_is_set(self, app: App) -> None:
        """Overrides win."""
        app.models.put(self.WIDE, window=500_000)
        assert self.compacted(app, 167_094).window == 500_000
=======
>>>>>>> e43ac10 (Show the window an agent runs with, and set aside usage that cannot be true)
