"""Sessions as answers: their state, activity, notes and titles."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.webapp.building import entry, followed, managed, said, usage, user, wire
from webapp.app import App
from webapp.bodies import SessionChange
from webapp.services.ingest.answers import BriefStats
from webapp.services.session.labels import source_label
from webapp.services.session.state import SessionState


class TestSession:
    """A session as the API answers it."""

    def test_is_in_warning_above_its_target(self, app: App) -> None:  # B17
        """A session above its target is in warning; below it the session is active."""
        session = managed(app, wire("user", "word " * 3_000), settings={"cap_tokens": 1_000})
        assert app.sessions.get(session).state == "warning"
        app.sessions.patch(session, SessionChange(settings={"cap_tokens": None}))
        assert app.sessions.get(session).state == "active"

    def test_shows_the_activity_of_its_agent(self, app: App) -> None:
        """The activity follows from the last message and its time."""
        session = managed(app, wire("user", "hi"))
        assert app.sessions.get(session).activity == "working"
        app.ingest.append_messages(session, [wire("assistant", "hello")])
        assert app.sessions.get(session).activity == "waiting"
        followed(app, user("long ago"))
        assert app.sessions.get("s").activity == "stale"

    def test_is_not_current_for_years_by_a_wrong_clock(self, app: App) -> None:
        """A time in the future counts as the server's own."""
        ahead = datetime.now(UTC) + timedelta(days=9_000)
        followed(app, user("hi"))
        later = replace(entry(9, said("x"), usage=usage(30_000), call_key="k"), at=ahead)
        app.ingest.append_records("s", [later])
        row = app.store.sessions.get("s")
        assert max(row.last_activity_at, row.state["called_at"]) <= app.environment.clock()

    def test_notes_an_unknown_model(self, app: App) -> None:
        """The first note names the unknown model."""
        session = app.sessions.get(managed(app, model="nobody-knows-1"))
        assert session.model_known is False
        assert "nobody-knows-1" in session.notes[0]

    def test_is_brief_in_the_answer_to_an_append(self, app: App) -> None:
        """The answer has the numbers of the gauge, and whether the session is above its target."""
        name = managed(app)
        stats = app.ingest.append_messages(name, [wire("user", "hi")]).stats
        session = app.sessions.get(name)
        own = session.pruned
        assert stats == BriefStats(
            tokens=own.tokens, utilization=own.utilization, certainty=own.certainty, messages=1,
            limit=session.limit, needsPruning=False, state=session.state,
        )  # fmt: skip
        app.sessions.patch(name, SessionChange(settings={"cap_tokens": 1_000, "aim_percent": 10}))
        assert app.ingest.append_messages(name, [wire("user", "word " * 2_000)]).stats.needsPruning

    def test_has_the_mean_growth_per_turn(self) -> None:
        """The growth is unknown before the second turn, and once the context has fallen below the first of them."""
        assert SessionState(turn_tokens=[100]).growth_per_turn(500) is None
        assert SessionState(turn_tokens=[100, 200]).growth_per_turn(500) == 200
        assert SessionState(turn_tokens=[100, 200]).growth_per_turn(99) is None


class TestTurnsLeft:
    """The turns until the target."""

    def test_are_none_of_a_sub_agent_that_has_answered(self, app: App) -> None:  # X18
        """It has grown and may be far from its target, but it gets no further turn."""
        texts = [one for n in range(3) for one in (user(f"task {n} " * 50), said("done " * 50))]
        for name, parent in (("main", None), ("main.agent-1", "main")):
            followed(app, *texts, session_id=name, parent_id=parent)
        main, child = app.sessions.get("main"), app.sessions.get("main.agent-1")
        assert main.turns_left is not None
        assert (child.growth_per_turn, child.turns_left) == (main.growth_per_turn, None)
        assert "it has ended" in child.verdict.text


class TestTitles:
    """The title of a session."""

    def test_of_a_sub_agent_without_words_is_its_id(self, app: App) -> None:
        """The title is the sub-agent's own id, without that of its parent."""
        followed(app, user(""), session_id="11-22.agent-c0ffee", parent_id="11-22")
        assert app.sessions.get("11-22.agent-c0ffee").title == "sub-agent c0ffee"

    def test_of_a_sub_agent_is_its_first_request(self, app: App) -> None:
        """The sub-agent may have its own file or be in that of its session."""
        followed(app, user("look for roses"), session_id="11-22.agent-c0ffee", parent_id="11-22")
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(1, user("prune them"), stream="agent-x")])
        assert app.sessions.get("11-22.agent-c0ffee").title == "look for roses"
        assert app.sessions.get("s.agent-x").title == "prune them"

    def test_of_another_session_is_its_id(self, app: App) -> None:
        """A session without a request has its id as the title."""
        app.ingest.ensure("plain", "claude-code")
        assert app.sessions.get("plain").title == "plain"


@pytest.mark.parametrize(
    ("source", "label"),
    [("claude-code", "Claude Code"), ("api", "API"), ("import", "import"), ("mine", "mine")],
)
def test_a_source_is_shown_by_its_label(source: str, label: str) -> None:
    """Agents and built-in sources have labels, and another source is shown unchanged."""
    assert source_label(source) == label


def test_sessions_of_an_unmaintained_agent_are_marked_legacy(app: App) -> None:  # X12
    """Sessions of Gemini CLI are marked, and those of Claude Code are not."""
    labels = {}
    for source in ("gemini-cli", "claude-code"):
        app.ingest.ensure(source, source)
        labels[source] = app.sessions.get(source).source_label
    assert labels == {"gemini-cli": "Gemini CLI (legacy)", "claude-code": "Claude Code"}
