"""The model and overheads that a session starts with, learned from its agent's other sessions."""

from __future__ import annotations

from statistics import median
from typing import Unpack

from scoring.models import ModelLimits
from tests.scoring.builders import BALANCED
from tests.webapp.building import entry, followed, managed, said, usage, user, wire
from webapp.agents import AGENTS
from webapp.agents.records import Meta
from webapp.app import App
from webapp.services.session.answers import Gauge
from webapp.services.session.limits import Window, limits_of
from webapp.services.session.session import Session
from webapp.store.sessions import KnownColumns, SessionRow

OPUS = "claude-opus-4-5"


def reported(app: App, name: str, unseen: int, **columns: Unpack[KnownColumns]) -> None:
    """Create a session of Claude Code with two calls that each carry `unseen` unseen tokens."""
    app.ingest.ensure(name, "claude-code", **(KnownColumns(model=OPUS) | columns))
    app.ingest.append_records(
        name,
        [
            entry(1, user("hi")),
            entry(2, said("hello"), usage=usage(unseen + 10, 8), call_key=f"{name} 1"),
            entry(3, user("go on")),
            entry(4, said("done"), usage=usage(unseen + 40, 8), call_key=f"{name} 2"),
        ],
    )


def gauge(app: App, name: str) -> Gauge:
    """Return the agent's gauge."""
    found = app.sessions.get(name).agent
    assert found is not None
    return found


def row(app: App, name: str) -> SessionRow:
    """Return the session's row."""
    found: SessionRow = app.store.sessions.get(name)
    return found


class TestANewSession:
    """A session before its first call."""

    def test_assumes_the_overhead_of_earlier_sessions(self, app: App) -> None:  # X11
        """The overhead is in the region of unseen tokens, until the session's first call replaces it."""
        reported(app, "a", 20_000)
        followed(app, user("hi"), session_id="b", model=OPUS)
        before = gauge(app, "b")
        assert before.certainty == "estimated"
        assert abs(before.tokens - 20_010) < 60
        assert {r.name: r.tokens for r in before.regions}["unseen"] > 19_900
        reply = entry(2, said("hello"), usage=usage(30_000, 8), call_key="b 1")
        app.ingest.append_records("b", [reply])
        assert (gauge(app, "b").tokens, gauge(app, "b").certainty) == (30_008, "exact")
        calls = app.store.usage.calls(row(app, "b").key)
        assert abs((calls[0].estimated or 0) - 20_010) < 60

    def test_without_messages_is_empty(self, app: App) -> None:  # X11
        """A session without messages has no tokens."""
        reported(app, "a", 20_000)
        app.ingest.ensure("b", "claude-code", model=OPUS)
        assert gauge(app, "b").tokens == 0

    def test_learns_nothing_from_itself(self, app: App) -> None:  # X11
        """Otherwise reading a file row by row would give other numbers than reading it at once."""
        app.ingest.ensure("parent", "claude-code", model=OPUS)
        for n in range(6):
            name = f"{'abcdef'[n]} child"
            app.ingest.ensure(name, "claude-code", model=OPUS, parent_id="parent")
            first, second = usage(9_000, 8), usage(9_100 + 100 * n, 8)
            at = 1 if n else 11  # the session with a single call was active last
            rows = [entry(at, user("hi")), entry(at + 1, said("hello"), usage=first, call_key=f"{n} 1")]
            rows += [entry(3, user("go on")), entry(4, said("done"), usage=second, call_key=f"{n} 2")]
            app.ingest.append_records(name, rows if n else rows[:2])
        others = [app.store.sessions.get(f"{name} child").state["calibration"]["second"] for name in "bcdef"]
        assert Session.load(app.environment, "a child").calibration_with_others.second == median(others)

    def test_learns_nothing_from_what_others_inherited(self, app: App) -> None:  # X11
        """A forked sub-agent sends its parent's messages, which its own transcript does not contain."""
        reported(app, "plan", 14_000, parent_id="parent", agent_type="Plan")
        app.ingest.ensure("worker", "claude-code", model=OPUS, parent_id="parent", agent_type="worker")
        app.ingest.append_records("worker", [Meta(inherits=True)])
        reported(app, "worker", 49_000)
        reported(app, "fork", 75_000, parent_id="parent", agent_type="fork")
        followed(app, user("hi"), session_id="b", model=OPUS, parent_id="parent", agent_type="Explore")
        assert abs(gauge(app, "b").tokens - 14_010) < 60

    def test_assumes_no_overhead_without_other_sessions(self, app: App) -> None:  # X11
        """The first session of an agent has only its own tokens."""
        followed(app, user("hi"), session_id="b", model=OPUS)
        assert gauge(app, "b").tokens < 50

    def test_of_a_program_has_no_overhead(self, app: App) -> None:
        """The messages of a program contain everything that it sends."""
        reported(app, "a", 20_000)
        name = managed(app, wire("user", "hi"))
        assert app.sessions.get(name).pruned.tokens < 50

    def test_counts_for_the_agents_usual_model_until_its_own_is_known(self, app: App) -> None:  # S11
        """All tokens are counted again as soon as the model is known; models of other sessions do not matter."""
        reported(app, "a", 20_000, model="claude-haiku-4-5")
        words = "please change the parser so that it reads comments " * 20
        followed(app, user(words), session_id="b")
        followed(app, user(words), session_id="c", model=AGENTS["claude-code"].usual_model)
        followed(app, user(words), session_id="d", model="gpt-5")
        guessed, usual, plain = (app.store.log.message(row(app, n).key, 1).tokens for n in "bcd")
        assert guessed == usual > 1.3 * plain
        app.ingest.append_records("b", [Meta(model="gpt-5")])
        assert app.store.log.message(row(app, "b").key, 1).tokens == plain
        assert app.store.contexts.totals(row(app, "b").key) == app.store.contexts.totals(row(app, "d").key)

    def test_shows_the_same_in_any_order_of_sessions(self, app: App) -> None:  # X11
        """Overheads of other sessions are looked up when needed, for the chart too, and never stored."""
        shown = []
        for first, then in ("ab", "ba"):
            for name in (first, then):
                if name == "a":
                    reported(app, "a", 20_000)
                else:
                    followed(app, user("hi"), user("go on"), session_id="b", model=OPUS)
            shown.append((gauge(app, "b"), app.sessions.get("b").trend, app.timelines.of("b").points))
            app.sessions.delete("a")
            app.sessions.delete("b")
            with app.store.write():
                for name in "ab":
                    if (gone := app.store.sessions.find(name)) is not None:
                        app.store.sessions.remove(gone, None)
        assert shown[0] == shown[1]
        assert shown[0][0].tokens > 20_000
        assert all(point.agent > 20_000 for point in shown[0][2])

    def test_has_a_chart_that_includes_the_overhead(self, app: App) -> None:  # X11
        """The overhead of the first call also applies to the points before it."""
        reported(app, "a", 20_000)
        points = app.timelines.of("a").points
        assert all(20_000 <= point.agent < 20_060 for point in points)


class TestUsageAboveTheTable:
    """A call larger than the model's window."""

    def test_raises_a_separate_input_limit(self) -> None:  # X10
        """Accepted input raises the limit of input; a reported window does not."""
        model = ModelLimits("m", 400_000, 272_000)
        assert limits_of(model, Window(1_000_000, "usage", ""), BALANCED).limit == 1_000_000
        assert limits_of(model, Window(300_000, "reported", ""), BALANCED).limit == 272_000
