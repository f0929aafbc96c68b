"""Sessions: listed, changed and deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoring.errors import InvalidSettings
from tests.webapp.building import (
    conversation,
    entries,
    entry,
    followed,
    heard,
    managed,
    said,
    transactions,
    user,
    wire,
)
from webapp.agents.records import Meta
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody, SessionChange, SessionsQuery
from webapp.errors import Invalid
from webapp.events import SessionDeleted
from webapp.services.catalog.answers import Parent
from webapp.store.sessions import COLUMNS
from webapp.store.sql import listed


class TestList:
    """The list of sessions."""

    def test_filters_by_state_source_and_words(self, app: App) -> None:
        """Words are searched in title, model, folder and id."""
        managed(
            app, wire("user", "x " * 4_000), id="full", title="Parser work", settings={"cap_tokens": 1_000}
        )
        followed(app, user("lexer"), session_id="other")

        def ids(**by: Any) -> list[str]:
            return [one.id for one in app.sessions.list(SessionsQuery(**by))]

        assert ids(state="warning") == ["full"]
        assert ids(source="claude-code") == ["other"]
        assert ids(q="PARSER work") == ["full"]
        assert ids(q="parser lexer") == []

    def test_sorts_in_both_directions(self, app: App) -> None:
        """A minus reverses the order, and an unknown order is refused."""
        managed(app, wire("user", "x " * 400), id="big", title="b")
        managed(app, wire("user", "x"), id="small", title="a")
        assert [s.id for s in app.sessions.list(SessionsQuery(sort="tokens"))] == ["big", "small"]
        assert [s.id for s in app.sessions.list(SessionsQuery(sort="-tokens"))] == ["small", "big"]
        assert [s.id for s in app.sessions.list(SessionsQuery(sort="title"))] == ["small", "big"]
        with pytest.raises(Invalid, match="sort"):
            app.sessions.list(SessionsQuery(sort="colour"))


class TestPages:
    """The list in pages."""

    @pytest.fixture
    def ids(self, app: App) -> list[str]:
        """Return the ids of five sessions in the order of the whole list."""
        for n in range(5):
            managed(app, wire("user", "x " * n), id=f"s{n}", title=f"Part {n % 2}")
        return [one.id for one in app.sessions.list()]

    @pytest.mark.parametrize("wish", [{}, {"sort": "title"}, {"sort": "verdict"}, {"q": "part"}])
    def test_hold_the_whole_list_in_its_order(self, app: App, ids: list[str], wish: dict[str, Any]) -> None:
        """Each session is on one page, in every order, and the last page has no next one."""
        whole, after, found = [one.id for one in app.sessions.list(SessionsQuery(**wish))], None, []
        while True:
            page = app.sessions.page(SessionsQuery(limit=2, after=after, **wish))
            found += [one.id for one in page.sessions]
            assert (len(page.sessions) <= 2, page.total) == (True, 5)
            if (after := page.next) is None:
                break
        assert found == whole

    def test_without_a_limit_is_the_whole_list(self, app: App, ids: list[str]) -> None:
        """A request without a limit returns all sessions."""
        page = app.sessions.page()
        assert ([one.id for one in page.sessions], page.total, page.next) == (ids, 5, None)

    def test_leave_out_files_without_a_message(self, app: App) -> None:
        """A followed file without messages is on no page and not counted."""
        managed(app, wire("user", "x"), id="s")
        app.store.sessions.create(
            id="quiet", source="claude-code", kind="followed", created_at=1, last_activity_at=9**15
        )
        page = app.sessions.page(SessionsQuery(limit=5))
        assert ([one.id for one in page.sessions], page.total) == (["s"], 1)

    def test_refuse_an_unknown_cursor(self, app: App, ids: list[str]) -> None:
        """The error says to begin with the first page."""
        with pytest.raises(Invalid, match="first page"):
            app.sessions.page(SessionsQuery(limit=2, after="nobody"))


class TestATitleThatNobodySees:
    """A session is listed by words that can be clicked."""

    def test_is_none(self, app: App) -> None:
        """A new session takes its title from the first words, as with an empty one."""
        session = managed(app, wire("user", "Fix the login"), title=" \u200b")
        assert app.sessions.get(session).title == "Fix the login"

    def test_is_replaced_by_the_id(self, app: App) -> None:
        """Also one that was stored before, or that another machine sent."""
        session = managed(app, title="Old")
        row = app.store.sessions.get(session)
        with app.store.write(session):
            app.store.sessions.update(row.key, title="\u200b ")
        assert app.sessions.get(session).title == session


class TestPatch:
    """Changing a session."""

    def test_resets_a_setting_with_null(self, app: App) -> None:
        """Null restores the common value of a setting."""
        session = managed(app, settings={"fresh_tail": 3, "aim_percent": 40})
        app.sessions.patch(session, SessionChange(settings={"fresh_tail": None}, title="New", automatic=True))
        row = app.store.sessions.get(session)
        assert (row.settings, row.title, row.automatic) == ({"aim_percent": 40}, "New", 1)

    def test_changes_nothing_if_a_value_is_invalid(self, app: App) -> None:
        """All changes are made or none."""
        session = managed(app, title="Old")
        with pytest.raises(InvalidSettings):
            app.sessions.patch(session, SessionChange(title="New", settings={"strategy": "luck"}))
        assert app.sessions.get(session).title == "Old"

    @pytest.mark.parametrize("title", ["  ", "\x07\n", "\u200b\u2060\ufeff", "\u3164"])
    def test_refuses_a_title_that_nobody_sees(self, app: App, title: str) -> None:
        """An empty title is refused as well; null removes the title."""
        session = managed(app, title="Old")
        with pytest.raises(Invalid, match="at least 1 character that can be seen, got"):
            app.sessions.patch(session, SessionChange(title=title))
        assert app.sessions.get(session).title == "Old"

    def test_refuses_a_window_without_usable_tokens(self, app: App) -> None:  # C5
        """A model too small for the reserve is refused, and so is a reserve too large for the model."""
        session = managed(app, settings={"response_reserve": 16_000})
        for change in ({"model": "gpt-4"}, {"settings": {"response_reserve": 400_000}}):
            with pytest.raises(InvalidSettings, match="window"):
                app.sessions.patch(session, SessionChange(**change))
        row = app.store.sessions.get(session)
        assert (row.model, row.settings) == ("gpt-5", {"response_reserve": 16_000})

    def test_accepts_changes_while_nothing_is_usable(self, app: App) -> None:
        """A session without usable tokens can still be changed."""
        session = managed(app, model="gpt-4")
        app.settings.put({"response_reserve": 16_000})
        app.sessions.patch(session, SessionChange(title="Too small", settings={"fresh_tail": 3}))
        assert app.sessions.get(session).title == "Too small"

    def test_updates_the_limits_with_the_model(self, app: App) -> None:
        """The new limits apply immediately."""
        session = managed(app)
        app.sessions.patch(session, SessionChange(model="claude-haiku-4-5"))
        assert app.sessions.get(session).window == 200_000

    @pytest.mark.parametrize(
        ("before", "after"),
        [("gpt-5", "claude-opus-4-7"), ("claude-opus-4-7", "gpt-5"), (None, "claude-opus-4-7")],
    )
    def test_shows_messages_as_the_new_model_counts_them(
        self, app: App, before: str | None, after: str
    ) -> None:  # S11
        """Those from before the change, too, whose stored counts stay; a change back shows what was shown before."""
        texts = [wire("user", f"Look at file_{n}.py, and say why it leaks.") for n in range(40)]
        changed, new = (managed(app, *texts, model=model) for model in (before, after))
        shown = app.sessions.get(changed).pruned.tokens
        app.sessions.patch(changed, SessionChange(model=after))
        for session in (changed, new):
            app.ingest.append_messages(session, texts[:5])
        expected = app.sessions.get(new).pruned.tokens
        assert app.sessions.get(changed).pruned.tokens == pytest.approx(expected, rel=0.02)
        pages = [app.messages.page(session).messages[0] for session in (changed, new)]
        assert pages[0].tokens == pytest.approx(pages[1].tokens, abs=1)
        app.sessions.patch(changed, SessionChange(model=before))
        assert app.sessions.get(changed).pruned.tokens == pytest.approx(shown * 45 / 40, rel=0.02)
        assert list(app.store.verify()) == []

    def test_counts_as_before_once_the_agent_names_the_old_model_again(self, app: App) -> None:  # S11
        """A model in a transcript counts like one that a person sets."""
        session = followed(app, *conversation(4))
        app.ingest.append_records(session, [Meta(model="gpt-5")])
        before = app.sessions.get(session).agent.tokens
        app.sessions.patch(session, SessionChange(model="claude-opus-4-7"))
        assert app.sessions.get(session).agent.tokens > 1.2 * before
        app.ingest.append_records(session, [Meta(model="gpt-5")])
        assert app.sessions.get(session).agent.tokens == before
        assert app.store.sessions.get(session).state["counted_as"] == ""

    def test_keeps_real_sizes_whatever_the_model(self, app: App) -> None:  # X11
        """A reported size stays, and the next report teaches what the new model counts."""
        session = managed(app, wire("user", "Look at the parser."))
        app.ingest.append_messages(
            session, [wire("assistant", "Done.")], usage={"input_tokens": 900, "output_tokens": 4}
        )
        before = app.sessions.get(session).pruned
        app.sessions.patch(session, SessionChange(model="claude-opus-4-7"))
        after = app.sessions.get(session).pruned
        assert (after.tokens, after.certainty) == (before.tokens, before.certainty) == (904, "exact")

    def test_locks_out_no_writer_of_another_session(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """With PostgreSQL several sessions are written at once."""
        managed(app, id="x")
        opened = transactions(app, monkeypatch)
        app.sessions.patch("x", SessionChange(title="new", window=200_000))
        assert set(opened) == {"x"}


class TestDelete:
    """Deleting a session."""

    def test_deletes_all_data_of_the_session(self, app: App) -> None:
        """The log, sub-agents and search index of the session are deleted; other sessions stay."""
        followed(app, *conversation(2))
        app.ingest.append_records("s", [entry(70, user("explore"), stream="agent-x")])
        followed(app, user("parser elsewhere"), session_id="t")
        events = heard(app)
        app.sessions.delete("s")
        assert [s.id for s in app.sessions.list()] == ["t"]
        assert {r.session_id for r in app.search.everywhere("parser").results} == {"t"}
        assert [e for e in events if isinstance(e, SessionDeleted)] == [
            SessionDeleted("s.agent-x"),
            SessionDeleted("s"),
        ]
        assert list(app.verify()) == []

    def test_leaves_a_fork_of_the_session(self, app: App) -> None:
        """A fork goes on by itself, so it outlives what it began with."""
        followed(app, user("hi"))
        followed(app, user("hi"), session_id="f", parent_id="s", agent_type="fork")
        app.sessions.delete("s")
        assert [s.id for s in app.sessions.list()] == ["f"]

    @pytest.mark.parametrize("parents", [{"a": "a"}, {"b": "a", "a": "b"}, {"b": "a", "c": "b", "a": "c"}])
    def test_ends_with_circular_parents(self, app: App, parents: dict[str, str]) -> None:
        """Sessions may be recorded as each other's parents; all of the circle are deleted."""
        for child, parent in parents.items():
            followed(app, user("hi"), session_id=child, parent_id=parent)
        followed(app, user("hi"), session_id="other")
        app.sessions.delete("a")
        assert [s.id for s in app.sessions.list()] == ["other"]

    def test_allows_the_id_of_a_managed_session_again(self, app: App) -> None:
        """Only a followed session leaves a marker."""
        managed(app, wire("user", "hi"), id="x")
        app.sessions.delete("x")
        assert app.new_sessions.create(id="x").messages == 0


class TestStatistics:
    """Statistics, timeline and trend of a session."""

    def test_name_a_parent_with_messages(self, app: App) -> None:
        """A parent that is empty, deleted or unknown is not named."""
        followed(app, session_id="empty")
        followed(app, user("the task"), session_id="p", title="The parent")
        for parent in ("p", "empty", "nobody"):
            followed(app, user("look"), session_id=f"of-{parent}", parent_id=parent)
        assert app.sessions.stats("of-p").parent == Parent(id="p", title="The parent")
        assert [app.sessions.stats(f"of-{one}").parent for one in ("empty", "nobody")] == [None, None]
        assert app.sessions.stats("p").parent is None

    def test_have_an_exact_utilization(self, app: App) -> None:  # B11
        """The utilization is tokens of limit, not rounded."""
        stats = app.sessions.stats(managed(app, wire("user", "hi " * 50)))
        assert stats.utilizationPercent == 100 * stats.tokens / stats.limit > 0
        assert (stats.items, stats.needsPruning) == (1, False)
        assert stats.as_of.endswith("Z")

    def test_have_a_short_trend_for_any_session(self, app: App) -> None:
        """The trend has at most 24 points."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", entries(*(said(f"{n}") for n in range(300))))
        trend = app.sessions.get("s").trend
        assert 12 <= len(trend) <= 24
        assert trend == sorted(trend)

    def test_have_a_trend_that_ends_at_their_gauge(self, app: App) -> None:  # X10
        """Of a long session not every size is stored; the present one is shown all the same."""
        session = managed(app, *(wire("user", f"step {n} " * 40) for n in range(60)))
        app.prunes.apply(session, PruneBody(max_tokens=400))
        shown = app.sessions.get(session)
        assert shown.trend[-1] == shown.pruned.utilization
        assert shown.trend[-2] > shown.trend[-1]


class TestDamagedValues:
    """Stored values that are damaged."""

    @pytest.mark.parametrize("column", ["state", "settings", "notes"])
    @pytest.mark.parametrize(
        "value",
        ["broken", "null", "[]", "{}", "7", '"x"', '{"calibration": 7}', '{"trail": ["a"]}', '{"stride": []}',
         '{"facts": {"tools": 3}}', '{"weights": []}', '{"unwritten": [1]}', '{"strategy": {}}', "[7]"],
    )  # fmt: skip
    def test_of_a_session_hide_no_session(self, app: App, column: str, value: str) -> None:
        """The session is listed and can still be appended to and planned."""
        for name in ("s", "t"):
            followed(app, *conversation(3), session_id=name)
        with app.store.write():
            app.store.db.run(f"UPDATE sessions SET {column} = ? WHERE id = 's'", (value,))
        assert {one.id for one in app.sessions.list()} == {"s", "t"}
        assert app.sessions.get("s").messages == 12
        app.ingest.append_records("s", entries(*conversation(1), start=50))
        app.prunes.plan("s", PlanBody(max_tokens=100))

    @pytest.mark.parametrize("value", ["''", "'{'", "x'ff00'", "9e999", "1.5"])
    def test_of_another_type_hide_no_session(self, app: App, value: str) -> None:
        """SQLite accepts any value in any column, so each column of a session's row gets a wrong one."""
        if not isinstance(app.config.database, Path):
            pytest.skip("a column of PostgreSQL holds its own type only")
        for name in ("s", "t"):
            followed(app, *conversation(3), session_id=name)
        kept = app.store.db.row(f"SELECT {listed(COLUMNS)} FROM sessions WHERE id = 's'") or ()
        for column, before in zip(COLUMNS, kept, strict=True):
            if column in ("key", "id", "kind", "deleted_at"):
                continue
            with app.store.write():
                app.store.db.run(f"UPDATE sessions SET \"{column}\" = {value} WHERE id = 's'")
            shown = {one.id: one for one in app.sessions.list()}
            paged = {one.id for one in app.sessions.page(SessionsQuery(limit=5)).sessions}
            assert {*shown} == paged == {"s", "t"}, column
            assert app.sessions.get("s").notes == shown["s"].notes, column
            if isinstance(before, int):
                assert f"its stored {column} is damaged" in " ".join(shown["s"].notes), column
            with app.store.write():
                app.store.db.run(f"UPDATE sessions SET \"{column}\" = ? WHERE id = 's'", (before,))

    def test_of_a_session_are_noted(self, app: App) -> None:
        """The notes of the session describe the damage."""
        followed(app, *conversation(3))
        with app.store.write():
            app.store.db.run("""UPDATE sessions SET settings = 'x', state = '{"stride": []}'""")
        notes = app.sessions.get("s").notes
        assert any("stored settings is damaged" in note for note in notes)
        assert any("was reset" in note for note in notes)

    @pytest.mark.parametrize("table", ["settings", "model_overrides"])
    @pytest.mark.parametrize("value", ["broken", "[]", "7", "null", '{"weights": 7, "window": "x"}'])
    def test_of_the_settings_leave_the_sessions_readable(self, app: App, table: str, value: str) -> None:
        """The defaults apply, and each session notes the damage."""
        followed(app, *conversation(3))
        with app.store.write():
            app.store.db.run(f"INSERT INTO {table} VALUES ('settings', ?)", (value,))
        app.environment.forget()
        [session] = app.sessions.list()
        assert any("settings is damaged" in note for note in session.notes) == (value in ("broken", "null"))
