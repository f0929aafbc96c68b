"""The heaviest messages of a context, in groups."""

from __future__ import annotations

import orjson
import pytest

from tests.webapp.building import managed, wire
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.errors import NotFound
from webapp.services.planning.answers import HeavyGroup, HeavyKind


def called(
    app: App, session: str, n: int, tool: str, arguments: dict[str, str], output: str, *, failed: bool = False
) -> None:
    """Append a call with its result."""
    call = {"type": "tool_use", "id": f"c{n}", "name": tool, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": output, "is_error": failed}
    rows = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    app.ingest.append_messages(session, rows)


def reader(app: App) -> str:
    """Create a session that read one file three times, another once, and ran a command twice; return its id."""
    session = managed(app, wire("user", "look at the spec"))
    for n in range(3):
        called(app, session, n, "read_file", {"path": "docs/spec.md"}, f"version {n} of the spec " * 60)
    called(app, session, 3, "read_file", {"path": "docs/other.md"}, "something else " * 60)
    for n in (4, 5):
        called(app, session, n, "bash", {"command": "make test"}, "all of it is as it was " * 60)
    return session


def group(app: App, session: str, kind: str, name: str) -> HeavyGroup:
    """Return the group of a kind and name."""
    return next(one for one in app.heaviest.of(session).groups if (one.kind, one.name) == (kind, name))


def members(app: App, session: str, kind: HeavyKind, name: str) -> list[int]:
    """Return the numbers of the messages of a group that a plan may change."""
    return [one.number for one in app.heaviest.members(session, kind, name).members]


class TestTheHeaviest:
    """The heaviest files, tools and repeated outputs."""

    def test_count_the_reads_of_a_file_and_the_superseded_ones(self, app: App) -> None:  # X19
        """The last read is current; the earlier ones are superseded."""
        spec = group(app, session := reader(app), "file", "docs/spec.md")
        assert (spec.reads, spec.superseded, spec.messages) == (3, 2, 3)
        assert 0 < spec.superseded_tokens < spec.tokens
        assert members(app, session, "file", "docs/spec.md") == [3, 5, 7]
        assert group(app, session, "file", "docs/other.md").superseded == 0

    def test_count_the_edits_of_a_file(self, app: App) -> None:  # X19
        """A call that changes a part of a file is one of its messages, as one that writes all of it."""
        session = managed(app, wire("user", "look at the spec"))
        called(app, session, 0, "Write", {"file_path": "/a.py", "content": "first = 1\n" * 9}, "done")
        for n in range(1, 4):
            edit = {
                "file_path": "/a.py",
                "old_string": f"the old line {n}",
                "new_string": f"the new line {n}",
            }
            called(app, session, n, "Edit", edit, "done")
        file = group(app, session, "file", "/a.py")
        assert (file.writes, file.edits, file.messages) == (1, 3, 4)
        assert members(app, session, "file", "/a.py") == [2, 4, 6, 8]

    def test_count_only_what_a_plan_may_clear(self, app: App) -> None:  # X7, X19
        """Failed calls do not count, and a much shorter read does not supersede."""
        session = managed(app, wire("user", "look at the spec"))
        called(app, session, 0, "read_file", {"path": "a.md"}, "all of it " * 200)
        called(app, session, 1, "read_file", {"path": "a.md"}, "a part " * 40)
        called(app, session, 2, "write_file", {"path": "a.md", "content": "new"}, "no space", failed=True)
        for n in (3, 4):
            called(app, session, n, "bash", {"command": "make"}, "it failed again " * 60, failed=True)
        file = group(app, session, "file", "a.md")
        assert (file.reads, file.writes, file.superseded) == (2, 1, 0)
        assert [one for one in app.heaviest.of(session).groups if one.kind == "repeated"] == []
        called(app, session, 5, "read_file", {"path": "a.md"}, "all of it, longer " * 200)
        assert group(app, session, "file", "a.md").superseded == 2

    def test_sum_the_calls_and_results_of_a_tool(self, app: App) -> None:  # X19
        """Messages without a tool are grouped by role, apart from the tools."""
        session = reader(app)
        assert group(app, session, "tool", "read_file").messages == 8
        assert group(app, session, "tool", "bash").messages == 4
        assert group(app, session, "role", "user").messages == 1
        tools = [one.name for one in app.heaviest.of(session).groups if one.kind == "tool"]
        assert sorted(tools) == ["bash", "read_file"]
        assert members(app, session, "role", "user") == [1]

    def test_find_repeated_outputs(self, app: App) -> None:  # X19
        """The earlier of two equal outputs is redundant."""
        assert group(app, session := reader(app), "repeated", "").removable == 1
        assert members(app, session, "repeated", "") == [11]

    def test_are_shares_of_the_pruned_context(self, app: App) -> None:  # X19
        """The total is that of the context after the prune."""
        session = reader(app)
        app.prunes.apply(session, PruneBody(max_tokens=700))
        heaviest = app.heaviest.of(session)
        assert heaviest.tokens == app.sessions.get(session).pruned.tokens
        tools = [one for one in heaviest.groups if one.kind == "tool"]
        assert sum(one.tokens for one in tools) <= heaviest.tokens

    def test_exclude_pinned_messages(self, app: App) -> None:  # X5
        """Pinned messages count in the group, but no plan may drop them."""
        session = reader(app)
        [row] = [m for m in app.messages.page(session).messages if m.number == 3]
        app.by_hand.pin(session, row.id)
        spec = group(app, session, "file", "docs/spec.md")
        assert (spec.messages, spec.removable) == (3, 2)
        assert members(app, session, "file", "docs/spec.md") == [5, 7]

    def test_refuse_an_unknown_group(self, app: App) -> None:
        """The error names the unknown file."""
        session = reader(app)
        with pytest.raises(NotFound, match="no such file: docs/none.md"):
            app.heaviest.members(session, "file", "docs/none.md")

    def test_stay_small_with_many_messages(self, app: App) -> None:
        """The page reads them at each new message, and the members of a group only if it is chosen."""
        session = reader(app)
        before = len(orjson.dumps(app.heaviest.of(session)))
        app.ingest.append_messages(session, [wire("user", f"question {n}") for n in range(600)])
        assert len(orjson.dumps(app.heaviest.of(session))) < before + 100
        assert len(members(app, session, "role", "user")) == 500
