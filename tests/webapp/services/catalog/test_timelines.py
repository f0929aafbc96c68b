"""The timeline of a session: its sizes, their causes, and the operations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import count

import pytest

from tests.webapp.building import conversation, entries, followed, managed, mid, said, user, wire
from webapp.agents.records import Compaction, Usage, UsageReport
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.services.session.answers import Region


def read(app: App, session: str, path: str, words: int, n: int) -> None:
    """Append a call that reads a file, and its result."""
    call = {
        "id": f"c{n}",
        "type": "function",
        "function": {"name": "Read", "arguments": json.dumps({"path": path})},
    }
    rows = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} of it " * words},
    ]
    app.ingest.append_messages(session, rows)


class TestTheTimeline:
    """The timeline of a session, which the chart draws."""

    def test_is_stacked_and_names_its_steps(self, app: App) -> None:  # X19
        """The regions of each point add up to it, and a step is named by the file that was read."""
        session = managed(app, wire("user", "look at the spec"))
        read(app, session, "docs/spec.md", 400, 1)
        read(app, session, "src/main.py", 5, 2)
        line = app.timelines.of(session)
        assert all(sum(point.regions) == point.pruned for point in line.points)
        by_region = dict(zip(line.regions, line.points[-1].regions, strict=True))
        shown = {one.name: one.tokens for one in app.sessions.get(session).pruned.regions}
        assert by_region == shown
        causes = [point.cause for point in line.points if point.cause is not None]
        largest = max(causes, key=lambda cause: cause.tokens)
        assert (largest.number, largest.label) == (3, "Read spec.md")

    def test_excludes_pruned_messages(self, app: App) -> None:  # X19
        """Later points do not include the pruned tokens."""
        session = managed(app, wire("user", "look at the spec"))
        for n in range(6):
            read(app, session, f"docs/{n}.md", 200, n)
        app.prunes.apply(session, PruneBody(max_tokens=2_000))
        app.ingest.append_messages(session, [{"role": "user", "content": "go on"}])
        last = app.timelines.of(session).points[-1]
        assert sum(last.regions) == last.pruned == app.sessions.get(session).pruned.tokens

    def test_ends_at_the_size_that_is_shown(self, app: App) -> None:  # X10 X11
        """Usage that is reported after the message it belongs to: chart and gauge say the same."""
        rows = [user("look at the spec"), said("The spec says. " * 300), user("go on"), said("Done. " * 300)]
        followed(app, *rows)
        app.ingest.append_records("s", [UsageReport(Usage(25_000, 700), None, "k", input_end="id-2")])
        shown, line = app.sessions.get("s"), app.timelines.of("s")
        assert shown.agent is not None
        assert (line.points[-1].agent, line.points[-1].pruned) == (shown.agent.tokens, shown.pruned.tokens)
        by_region = dict(zip(line.regions, line.points[-1].regions, strict=True))
        assert by_region == {one.name: one.tokens for one in shown.agent.regions}

    def test_shows_every_operation_and_undo(self, app: App) -> None:
        """A prune has its tokens before and after."""
        followed(app, *conversation(10))
        app.prunes.apply("s", PruneBody(max_tokens=400))
        app.operations.undo("s")
        line = app.timelines.of("s", points=5)
        assert [m.kind for m in line.changes] == ["prune", "undo"]
        assert [m.number for m in line.changes] == [line.points[-1].number] * 2
        assert line.changes[0].before > line.changes[0].after
        assert len(line.points) == 5
        assert line.points[-1].pruned == line.points[-1].agent


def shown(regions: Iterable[Region] | None) -> dict[str, int]:
    """Return the tokens of each region of an answer that has any."""
    return {one.name: one.tokens for one in regions or () if one.tokens}


def charted(app: App, session: str) -> list[dict[str, int]]:
    """Return the tokens of each region at each point of a chart."""
    line = app.timelines.of(session)
    return [
        {name: tokens for name, tokens in zip(line.regions, point.regions, strict=True) if tokens}
        for point in line.points
    ]


def agent(app: App) -> str:
    """Create a session with tool definitions and six large outputs, in one turn; return its id."""
    tool = {"type": "function", "function": {"name": "Read", "description": "Read a file.", "parameters": {}}}
    session = managed(app, wire("user", "look at the specs"), tools=[tool])
    for n in range(6):
        read(app, session, f"docs/{n}.md", 200, n)
    return session


CHANGES: dict[str, Callable[[App, str], object]] = {
    "prune": lambda app, session: app.prunes.apply(session, PruneBody(max_tokens=2_000)),
    "summary": lambda app, session: app.summarising.summarise(session),
    "overflow": lambda app, session: app.overflow.relieve(session),
    "drop": lambda app, session: app.by_hand.drop(session, mid(app, session, 3)),
}


class TestRegionsAfterAnOperation:
    """The regions of the chart at an operation: those that it left, not those before it on a smaller scale."""

    @pytest.mark.parametrize("kind", CHANGES)
    def test_are_those_of_the_context(self, app: App, kind: str) -> None:  # X19
        """At once, and still after more messages, with shortened outputs and summaries; an undo brings back all."""
        seconds = count(app.environment.clock(), 1_000)
        app.environment.clock = lambda: next(seconds)
        session = agent(app)
        whole = charted(app, session)[-1]
        CHANGES[kind](app, session)
        after = shown(app.sessions.get(session).pruned.regions)
        assert charted(app, session)[-2:] == [whole, after]
        assert after == shown(app.operations.one(session, 1).regions_after)
        app.ingest.append_messages(session, [wire("user", "go on")])
        grown = shown(app.sessions.get(session).pruned.regions)
        assert charted(app, session)[-3:] == [whole, after, grown]
        app.operations.undo(session)
        back = shown(app.sessions.get(session).pruned.regions)
        assert charted(app, session)[-4:] == [whole, after, grown, back]
        app.ingest.append_messages(session, [wire("assistant", "done")])
        assert charted(app, session)[-5:-1] == [whole, after, grown, back]

    def test_are_those_after_a_compaction(self, app: App) -> None:  # X19
        """The last point has the regions that the operation noted, and the points after it grow from there."""
        followed(app, *conversation(8))
        whole = charted(app, "s")[-1]
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c1", kept=("id-22", "id-23"))])
        after = shown(app.operations.one("s", 1).regions_after)
        assert charted(app, "s")[-2:] == [whole, after]
        app.ingest.append_records("s", entries(user("go on"), start=100))
        assert charted(app, "s")[-2] == after
