"""The heaviest of a context in groups."""

from __future__ import annotations

import json

import orjson
import pytest

from tests.webapp.building import managed, wire
from webapp.app import App
from webapp.errors import NotFound
from webapp.services.planning.answers import HeavyGroup, HeavyKind
from webapp.services.planning.requests import PruneRequest


def called(app: App, session: str, n: int, tool: str, arguments: dict[str, str], output: str) -> None:
    """Append a call with its result."""
    call = {"id": f"c{n}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    rows = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": output},
    ]
    app.ingest.append_messages(session, rows)


def reader(app: App) -> str:
    """Return a session that read one file three times, another once, and ran one command twice."""
    session = managed(app, wire("user", "look at the spec"))
    for n in range(3):
        called(app, session, n, "read_file", {"path": "docs/spec.md"}, f"version {n} of the spec " * 60)
    called(app, session, 3, "read_file", {"path": "docs/other.md"}, "something else " * 60)
    for n in (4, 5):
        called(app, session, n, "bash", {"command": "make test"}, "all of it is as it was " * 60)
    return session


def group(app: App, session: str, kind: str, name: str) -> HeavyGroup:
    """Return one group."""
    return next(one for one in app.heavy.of(session).groups if (one.kind, one.name) == (kind, name))


def members(app: App, session: str, kind: HeavyKind, name: str) -> list[int]:
    """Return the numbers of the messages of a group that a plan may take."""
    return [one.number for one in app.heavy.members(session, kind, name).members]


class TestTheHeaviest:
    """The heaviest files, tools and repeated outputs."""

    def test_count_the_reads_of_a_file_and_the_superseded_ones(self, app: App) -> None:  # X19
        """The last read is current; the earlier ones are superseded."""
        spec = group(app, session := reader(app), "file", "docs/spec.md")
        assert (spec.reads, spec.superseded, spec.messages) == (3, 2, 3)
        assert 0 < spec.superseded_tokens < spec.tokens
        assert members(app, session, "file", "docs/spec.md") == [3, 5, 7]
        assert group(app, session, "file", "docs/other.md").superseded == 0

    def test_sum_up_a_tool_with_calls_and_results(self, app: App) -> None:  # X19
        """A role without tools has a separate entry."""
        session = reader(app)
        assert group(app, session, "tool", "read_file").messages == 8
        assert group(app, session, "tool", "bash").messages == 4
        assert group(app, session, "tool", "user").messages == 1

    def test_tell_outputs_that_come_again(self, app: App) -> None:  # X19
        """The earlier one is the redundant one."""
        assert group(app, session := reader(app), "repeated", "").removable == 1
        assert members(app, session, "repeated", "") == [11]

    def test_are_parts_of_the_context_after_a_prune(self, app: App) -> None:  # X19
        """All shares have one denominator: the context that is listed."""
        session = reader(app)
        app.prunes.apply(session, PruneRequest(max_tokens=700))
        heaviest = app.heavy.of(session)
        assert heaviest.tokens == app.sessions.get(session).pruned.tokens
        tools = [one for one in heaviest.groups if one.kind == "tool"]
        assert sum(one.tokens for one in tools) <= heaviest.tokens

    def test_leave_out_what_is_pinned(self, app: App) -> None:  # X5
        """Pinned messages count in the total, but no plan may drop them."""
        session = reader(app)
        [row] = [m for m in app.messages.page(session).messages if m.number == 3]
        app.operations.pin(session, row.id)
        spec = group(app, session, "file", "docs/spec.md")
        assert (spec.messages, spec.removable) == (3, 2)
        assert members(app, session, "file", "docs/spec.md") == [5, 7]

    def test_have_members_only_where_there_is_such_a_group(self, app: App) -> None:
        """A file that no call touched is an error that names it."""
        session = reader(app)
        with pytest.raises(NotFound, match="no such file: docs/none.md"):
            app.heavy.members(session, "file", "docs/none.md")

    def test_take_few_bytes_however_many_messages_there_are(self, app: App) -> None:  # X4
        """The page asks for them each time messages arrive; the members of one group only where it is chosen."""
        session = reader(app)
        before = len(orjson.dumps(app.heavy.of(session)))
        app.ingest.append_messages(session, [wire("user", f"question {n}") for n in range(600)])
        assert len(orjson.dumps(app.heavy.of(session))) < before + 100
        assert len(members(app, session, "tool", "user")) == 500
