"""The timeline of a session: its sizes, their causes, and the operations."""

from __future__ import annotations

import json

from tests.webapp.building import conversation, followed, managed, said, user, wire
from webapp.agents.records import Usage, UsageReport
from webapp.app import App
from webapp.bodies import PruneBody


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
