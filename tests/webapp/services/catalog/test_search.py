"""Search in the text of all sessions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.webapp.building import call, conversation, followed, managed, mid, result, user, wire
from webapp.app import App
from webapp.errors import NotFound
from webapp.services.catalog.search import SNIPPET_CHARS, snippet
from webapp.services.planning.requests import PruneRequest


class TestArchive:
    """Messages that are out of the context."""

    def test_holds_what_was_taken_out_and_nothing_else(self, app: App) -> None:  # B15
        """Newest first; with words, those that say them."""
        followed(app, *conversation(10), user("end"))
        event = app.prunes.apply("s", PruneRequest(max_tokens=300)).event
        assert event is not None
        removed = event["removed_ids"]
        assert [m.id for m in app.search.archive("s").messages] == removed[::-1]
        assert {m.number for m in app.search.archive("s", "line 3").messages} == {15}
        app.operations.undo("s")
        assert app.search.archive("s").messages == []


class TestEverywhere:
    """Everything ever said."""

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
        app.operations.drop("s", mid(app, "s", 2))
        found = app.search.everywhere("marmalade").results
        assert {(r.session_id, r.number, r.in_context) for r in found} == {
            ("s", 2, False),
            ("s", 3, False),
            ("t", 1, True),
        }
        assert {r.session_id for r in app.search.everywhere("marmalade", "t").results} == {"t"}

    def test_finds_a_call_by_what_it_says_and_shows_that(self, app: App) -> None:  # X14
        """JSON escapes are not searched: a word at the beginning of a line is found."""
        followed(app, user("look"), call("c", "Write", '{"content": "jar \\"of\\"\\nplums", "path": "a.md"}'))
        [found] = app.search.everywhere("plums").results
        assert found.snippet == 'Write jar "of" plums a.md'
        assert app.search.everywhere("content").results == []

    def test_is_limited_to_a_role_a_tool_and_days(self, app: App) -> None:
        """Each limit alone, both days included."""
        followed(app, user("plums"), call("c", "Write", '{"path": "plums.md"}'))

        def roles(**within: Any) -> list[str]:
            return sorted(hit.role for hit in app.search.everywhere("plums", **within).results)

        assert roles() == ["assistant", "user"]
        assert roles(role="user") == ["user"]
        assert roles(tool="Write") == ["assistant"]
        assert roles(tool="Read") == []
        at = app.search.everywhere("plums", role="user").results[0].at
        day = datetime.fromisoformat(at).date() if at else None
        if day is not None:
            assert "user" in roles(since=day, until=day)
            assert "user" not in roles(since=day + timedelta(days=1))
            assert "user" not in roles(until=day - timedelta(days=1))

    def test_comes_in_pages_that_hold_each_message_once(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_says_nothing_to_nothing(self, app: App) -> None:
        """An empty query finds nothing, and an unknown session is refused."""
        assert app.search.everywhere("  ").results == []
        with pytest.raises(NotFound):
            app.search.everywhere("x", "nobody")


class TestSnippet:
    """The place in a text."""

    @pytest.mark.parametrize("q", ["needle", "NEED", '"needle here"'])
    def test_shows_the_words_and_a_little_around(self, q: str) -> None:
        """One line, cut on both sides."""
        text = "hay " * 500 + "\nneedle here " + "hay " * 500
        found = snippet(text, q)
        assert "needle here" in found
        assert found.startswith("… ")
        assert found.endswith(" …")
        assert len(found) <= SNIPPET_CHARS + 4

    def test_is_the_beginning_where_no_word_is_seen(self) -> None:
        """The index folds accents, the snippet does not."""
        assert snippet("naïve input", "naive") == "naïve input"
