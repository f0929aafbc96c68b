"""The growth of a context explained: regions over time, and the cause of each step."""

from __future__ import annotations

import json

from tests.webapp.building import managed, wire
from webapp.app import App
from webapp.services.catalog.growth import Grown, Step, regions_at, steps_at
from webapp.services.planning.requests import PruneRequest


def read(app: App, session: str, path: str, words: int, n: int) -> None:
    """Let the agent read a file."""
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


class TestRegions:
    """The parts of a context after some of its messages."""

    def test_follow_what_comes_and_what_leaves(self) -> None:  # X19
        """A message that an operation took counts up to it."""
        log = [Grown(1, 10, "user", None), Grown(2, 50, "tool", 3), Grown(3, 5, "assistant", None)]
        assert regions_at(log, [1, 2, 3, 4]) == [
            {"user": 10},
            {"user": 10, "tool": 50},
            {"user": 10, "tool": 50, "assistant": 5},
            {"user": 10, "assistant": 5},
        ]

    def test_are_summed_where_samples_are_thinned(self) -> None:  # X19
        """A message that came and left between two samples is in neither."""
        log = [Grown(n, 10, "user", 5 if n < 4 else None) for n in range(1, 11)]
        assert regions_at(log, [4, 10]) == [{"user": 40}, {"user": 70}]


class TestSteps:
    """The message that a step is named by."""

    def test_are_told_by_their_largest_message(self) -> None:  # X19
        """None where nothing came."""
        log = [Grown(n, tokens, "tool", None) for n, tokens in enumerate((5, 9, 7, 0), 1)]
        assert steps_at(log, [3, 3, 4]) == [Step(2, 9), None, None]


class TestTheTimeline:
    """The chart's answer."""

    def test_is_stacked_and_names_its_steps(self, app: App) -> None:  # X19
        """The parts of each point add up to it; a step has the file that was read."""
        session = managed(app, wire("user", "look at the spec"))
        read(app, session, "docs/spec.md", 400, 1)
        read(app, session, "src/main.py", 5, 2)
        line = app.sessions.timeline(session)
        assert all(sum(point.regions) == point.pruned for point in line.points)
        by_region = dict(zip(line.regions, line.points[-1].regions, strict=True))
        shown = {one.name: one.tokens for one in app.sessions.get(session).pruned.regions}
        assert by_region == shown
        causes = [point.cause for point in line.points if point.cause is not None]
        largest = max(causes, key=lambda cause: cause.tokens)
        assert (largest.number, largest.label) == (3, "Read spec.md")

    def test_loses_what_a_prune_took(self, app: App) -> None:  # X19
        """The points after it hold what it left."""
        session = managed(app, wire("user", "look at the spec"))
        for n in range(6):
            read(app, session, f"docs/{n}.md", 200, n)
        app.prunes.apply(session, PruneRequest(max_tokens=2_000))
        app.ingest.append_messages(session, [{"role": "user", "content": "go on"}])
        last = app.sessions.timeline(session).points[-1]
        assert sum(last.regions) == last.pruned == app.sessions.get(session).pruned.tokens
