"""Search in the text of all sessions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.webapp.building import call, conversation, followed, managed, mid, result, user, wire
from tests.webapp.store.queries import queries
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.errors import NotFound
from webapp.services.catalog.search import SNIPPET_CHARS, snippet


class TestArchive:
    """Messages that are out of the context."""

    def test_lists_exactly_the_removed_messages(self, app: App) -> None:  # B15
        """The newest is first, and words filter the list."""
        followed(app, *conversation(10), user("end"))
        event = app.prunes.apply("s", PruneBody(max_tokens=300)).event
        assert event is not None
        removed = event.removed_ids
        assert [m.id for m in app.search.archive("s").messages] == removed[::-1]
        assert {m.number for m in app.search.archive("s", "line 3").messages} == {15}
        app.operations.undo("s")
        assert app.search.archive("s").messages == []


class TestEverywhere:
    """The search in all sessions."""

    def test_finds_words_calls_and_outputs_pruned_or_not(self, app: App) -> None:  # X14
        """The search covers all sessions, or one."""
        followed(
            app,
            user("fix it"),
            call("c", "Grep", '{"pattern": "marmalade"}'),
            result("c", "jar of marmalade"),
            user("end"),
        )
        followed(app, user("marmalade elsewhere"), session_id="t")
        app.by_hand.drop("s", mid(app, "s", 2))
        found = app.search.everywhere("marmalade").results
        assert {(r.session_id, r.number, r.in_context) for r in found} == {
            ("s", 2, False),
            ("s", 3, False),
            ("t", 1, True),
        }
        assert {r.session_id for r in app.search.everywhere("marmalade", "t").results} == {"t"}

    def test_finds_a_call_by_its_values(self, app: App) -> None:  # X14
        """The values of arguments are searched, without JSON escapes and field names."""
        followed(app, user("look"), call("c", "Write", '{"content": "jar \\"of\\"\\nplums", "path": "a.md"}'))
        [found] = app.search.everywhere("plums").results
        assert found.snippet == 'Write jar "of" plums a.md'
        assert app.search.everywhere("content").results == []

    def test_filters_by_role_tool_and_days(self, app: App) -> None:
        """Each filter works alone, and both days are included."""
        followed(app, user("plums"), call("c", "Write", '{"path": "plums.md"}'))

        def roles(**within: Any) -> list[str]:
            return sorted(hit.role for hit in app.search.everywhere("plums", **within).results)

        assert roles() == ["assistant", "user"]
        assert roles(role="user") == ["user"]
        assert roles(tool="Write") == ["assistant"]
        assert roles(tool="Read") == []
        at = app.search.everywhere("plums", role="user").results[0].at
        assert at is not None
        day = datetime.fromisoformat(at).date()
        assert "user" in roles(since=day, until=day)
        assert "user" not in roles(since=day + timedelta(days=1))
        assert "user" not in roles(until=day - timedelta(days=1))
        moment = datetime.fromisoformat(at)
        assert "user" in roles(since=moment, until=moment + timedelta(seconds=1))
        assert "user" not in roles(since=moment + timedelta(seconds=1))
        assert "user" not in roles(until=moment)

    def test_returns_each_message_on_one_page(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last page names no next one."""
        monkeypatch.setattr("webapp.services.catalog.search.HITS", 2)
        managed(app, *[wire("user", f"plums {n}") for n in range(5)], id="five")
        found, after, pages = [], None, 0
        while pages == 0 or after is not None:
            page = app.search.everywhere("plums", after=after)
            found += [hit.number for hit in page.results]
            after, pages = page.next, pages + 1
        assert sorted(found) == [1, 2, 3, 4, 5]
        assert pages == 3

    def test_asks_the_store_as_often_for_many_results(self, app: App) -> None:
        """Each query is a way to a database that may be on another machine."""
        managed(app, wire("user", "pears"), id="one")
        for n in range(20):
            managed(app, wire("user", f"plums {n}"), id=f"s{n}")
        with queries(app.store) as for_one:
            assert len(app.search.everywhere("pears").results) == 1
        with queries(app.store) as for_many:
            assert len(app.search.everywhere("plums").results) == 20
        assert 0 < len(for_one) == len(for_many)

    def test_finds_nothing_for_an_empty_query(self, app: App) -> None:
        """An empty query has no results, and an unknown session is refused."""
        assert app.search.everywhere("  ").results == []
        with pytest.raises(NotFound):
            app.search.everywhere("x", "nobody")


class TestSnippet:
    """The snippet of a text around the words of a query."""

    @pytest.mark.parametrize("q", ["needle", "NEED", '"needle here"'])
    def test_shows_the_words_with_their_surroundings(self, q: str) -> None:
        """The snippet is one line, cut on both sides."""
        text = "hay " * 500 + "\nneedle here " + "hay " * 500
        found = snippet(text, q)
        assert "needle here" in found
        assert found.startswith("… ")
        assert found.endswith(" …")
        assert len(found) <= SNIPPET_CHARS + 4

    def test_shows_a_word_inside_a_run_without_spaces(self) -> None:
        """The snippet shows the word where the index found it."""
        found = snippet("前" * 500 + "配置文件" + "后" * 500, "文件")
        assert "配置文件" in found
        assert found.startswith("… ")

    def test_shows_a_word_behind_an_underscore(self) -> None:
        """The snippet shows the word where the index found it."""
        assert "test_orders.py" in snippet("hay " * 500 + "test_orders.py " + "hay " * 500, "orders.py")

    def test_is_the_beginning_if_no_word_occurs(self) -> None:
        """The index folds accents, the snippet does not."""
        assert snippet("naïve input", "naive") == "naïve input"
