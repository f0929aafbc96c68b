"""The window of a session: its sources and their precedence."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.webapp.building import START, conversation, entry, followed, managed, said, usage, user
from webapp.agents.records import Compaction, Meta, Record
from webapp.app import App
from webapp.bodies import ModelRow, SessionChange
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.session import Session
from webapp.services.session.times import to_ms

WIDE, NARROW = "claude-opus-4-6", "claude-sonnet-4-5"
LISTED, UNLISTED = "claude-opus-4-8", "claude-opus-4-9"


def taking(app: App, session_id: str, *inputs: int) -> SessionAnswer:
    """Append a call for each number of input tokens to a session; return the session."""
    calls = [entry(500 + n, said("x"), usage=usage(n), call_key=f"call of {n}", model=None) for n in inputs]
    app.ingest.append_records(session_id, calls)
    return app.sessions.get(session_id)


def compacted(app: App, session_id: str, tokens: int, trigger: str = "auto", at: int = 0) -> SessionAnswer:
    """Append a compaction at `tokens` tokens to a session; return the session."""
    when = START + timedelta(seconds=at)
    app.ingest.append_records(session_id, [Compaction(when, trigger, tokens, f"c{tokens}")])
    return app.sessions.get(session_id)


class TestTheWindowOfAnAgent:
    """The window that an agent uses, which may be smaller than the model's."""

    def test_is_assumed_to_be_the_agents_default(self, app: App) -> None:  # X10
        """The session marks the window as assumed."""
        session = app.sessions.get(followed(app, *conversation(1), model=WIDE))
        assert (session.window, session.limit, session.window_assumed) == (200_000, 200_000, True)
        assert session.limit_source == "assumed: Claude Code starts with 200,000 tokens by default"

    @pytest.mark.parametrize(
        ("version", "proxied", "window"),
        [("2.1.90", False, 200_000), ("2.1.197", False, 1_000_000), ("2.1.197", True, 200_000),
         ("2.1.332", True, 1_000_000)],
    )  # fmt: skip
    def test_is_the_models_own_in_newer_versions(
        self, app: App, version: str, proxied: bool, window: int
    ) -> None:  # X10
        """Some versions use it only without a proxy."""
        name = followed(app, *conversation(1), model=LISTED)
        app.ingest.append_records(name, [Meta(version=version)])
        with app.store.write():
            session = Session.load(app.environment, name)
            session.state.proxy.name = f"proxy-{name}" if proxied else ""
            session.save()
        assert app.sessions.get(name).window == window

    @pytest.mark.parametrize("model", [None, "gw-prod-claude", "claude-opus-6-20270101"])
    def test_is_the_agents_default_for_an_unknown_model(self, app: App, model: str | None) -> None:  # X10
        """The agent uses it with any model, also before its first answer names one."""
        session = app.sessions.get(followed(app, user("hi"), model=model))
        assert (session.window, session.limit, session.window_assumed) == (200_000, 200_000, True)
        assert all("200,000" in note for note in session.notes)

    def test_is_that_of_the_model_for_a_program(self, app: App) -> None:
        """A program that uses the API gets the model's window."""
        session = app.sessions.get(managed(app, model=WIDE))
        assert (session.window, session.window_assumed) == (1_000_000, False)

    def test_of_an_unlisted_version_is_assumed_from_the_version_before(self, app: App) -> None:  # X10
        """The session names the version whose limits it assumes."""
        session = app.sessions.get(managed(app, model="gpt-5.7"))
        assert (session.window, session.window_assumed) == (1_050_000, True)
        assert session.limit_source.startswith("assumed: limits as gpt-5.6")

    @pytest.mark.parametrize(("tokens", "window"), [(167_731, 200_000), (967_000, 1_000_000)])
    def test_is_learned_from_a_compaction(self, app: App, tokens: int, window: int) -> None:  # X10
        """The tokens at an automatic compaction show the window."""
        session = compacted(app, followed(app, *conversation(2), model=WIDE), tokens)
        assert (session.window, session.window_kind, session.window_assumed) == (window, "compaction", False)

    def test_applies_to_the_agents_other_sessions(self, app: App) -> None:  # X10
        """Earlier and later sessions with the same model have the window, too."""
        followed(app, *conversation(1), session_id="before", model=WIDE)
        compacted(app, followed(app, *conversation(2), session_id="told", model=WIDE), 967_000)
        followed(app, *conversation(1), session_id="after", model=WIDE)
        for name in ("before", "after"):
            session = app.sessions.get(name)
            assert (session.window, session.window_kind) == (1_000_000, "remembered")
            assert session.limit_source == "Claude Code compacted another session at 967,000 tokens"
        other = app.sessions.get(followed(app, *conversation(1), session_id="x", model="claude-sonnet-4-6"))
        assert other.window_assumed

    def test_of_an_unlisted_version_is_remembered_for_it_only(self, app: App) -> None:  # X10
        """The window of an unlisted version is not applied to the version before it."""
        compacted(app, followed(app, *conversation(2), session_id="told", model=UNLISTED), 167_000)
        assert app.sessions.get(followed(app, session_id="own", model=UNLISTED)).window == 200_000
        assert app.sessions.get(followed(app, session_id="before", model=LISTED)).window == 1_000_000

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_is_that_of_the_latest_compaction(self, app: App, order: Any) -> None:  # X10
        """The times of the compactions decide, not the order of reading."""
        for n in order:
            session_id = followed(app, *conversation(2), session_id=f"s{n}", model=WIDE)
            compacted(app, session_id, (167_000, 967_000)[n], at=n)
        assert app.sessions.get(followed(app, session_id="new", model=WIDE)).window == 1_000_000

    @pytest.mark.parametrize(("tokens", "trigger"), [(167_094, "manual"), (40_000, "auto")])
    def test_is_not_learned_from_a_manual_or_early_compaction(
        self, app: App, tokens: int, trigger: str
    ) -> None:
        """The window stays assumed."""
        assert compacted(app, followed(app, *conversation(2), model=WIDE), tokens, trigger).window_assumed

    def test_is_learned_from_the_models_name(self, app: App) -> None:  # X10
        """The window of a suffix is remembered for sessions whose transcripts omit it."""
        marked = app.sessions.get(followed(app, *conversation(1), session_id="m", model=f"{WIDE}[1m]"))
        assert (marked.window, marked.window_kind) == (1_000_000, "marker")
        assert app.sessions.get(followed(app, session_id="s", model=WIDE)).window == 1_000_000


class TestTheDate:
    """The day on which the source of the window was read, or showed it."""

    def test_is_that_of_the_source(self, app: App) -> None:  # X10
        """The table has its own date, other windows the day on which something showed them, or the user set them."""
        app.environment.clock = lambda: to_ms(START + timedelta(days=40)) or 0
        day = "2026-01-31"
        table = app.sessions.get(managed(app, model=WIDE))
        assert (table.window_kind, table.limit_date) == ("table", app.environment.model(WIDE).date)
        usual = app.sessions.get(
            followed(app, *conversation(1), session_id="usual", model="claude-sonnet-4-6")
        )
        assert (usual.window_kind, usual.limit_date) == ("usual", None)
        called = taking(app, followed(app, session_id="called", model=NARROW), 240_000)
        assert (called.window_kind, called.limit_date) == ("usage", "2026-02-03")
        told = compacted(app, followed(app, *conversation(2), session_id="told", model=WIDE), 967_000)
        assert (told.window_kind, told.limit_date) == ("compaction", day)
        other = app.sessions.get(followed(app, *conversation(1), session_id="other", model=WIDE))
        assert (other.window_kind, other.limit_date) == ("remembered", day)
        marked = app.sessions.get(followed(app, *conversation(1), session_id="m", model=f"{LISTED}[1m]"))
        assert (marked.window_kind, marked.limit_date) == ("marker", day)
        own = app.sessions.patch("m", SessionChange(window=500_000))
        assert (own.window_kind, own.limit_date) == ("own", "2026-03-12")
        app.models.put("ours", ModelRow(window=64_000))
        ours = app.sessions.get(managed(app, model="ours"))
        assert (ours.limit_source, ours.limit_date) == ("own setting", "2026-03-12")


class TestACallAboveTheWindow:
    """A call with more tokens than the assumed window."""

    def test_selects_the_next_known_window_of_the_model(self, app: App) -> None:  # X10
        """The window becomes that of the wide variant, or the model's own."""
        for model in (NARROW, WIDE):
            session = taking(app, followed(app, session_id=model, model=model), 150_000, 240_000, 90_000)
            assert (session.window, session.limit, session.window_kind) == (1_000_000, 1_000_000, "usage")
            assert session.limit_source == "a call took 240,000 tokens"
            assert session.over_limit is None

    def test_overrides_a_compaction(self, app: App) -> None:  # X10
        """A larger call overrides a compaction before and after it."""
        session_id = followed(app, *conversation(2), model=WIDE)
        compacted(app, session_id, 167_000)
        assert taking(app, session_id, 250_000).window == 1_000_000
        assert compacted(app, session_id, 166_000).window == 1_000_000

    @pytest.mark.parametrize(
        ("model", "tokens", "limit", "offered"),
        [
            ("gpt-5", 300_000, 272_000, 400_000),
            ("nobody-knows-it", 210_000, 200_000, 400_000),
            ("own", 5_100, 5_000, 128_000),
        ],
    )
    def test_is_reported_if_no_larger_window_is_known(
        self, app: App, model: str, tokens: int, limit: int, offered: int
    ) -> None:  # X10
        """The limit stays, even the user's own, and a larger one is offered."""
        app.models.put("own", ModelRow(window=5_000))
        session = taking(app, followed(app, session_id="s", model=model), tokens)
        assert session.limit == limit
        assert session.over_limit is not None
        assert (session.over_limit.tokens, session.over_limit.offered) == (tokens, offered)

    def test_is_resolved_by_a_window_of_the_user(self, app: App) -> None:  # X10
        """A window set by the user applies, and can be reset."""
        session_id = "s"
        app.ingest.ensure(session_id, "codex", model="gpt-5")
        taking(app, session_id, 300_000)
        session = app.sessions.patch(session_id, SessionChange(window=400_000))
        assert (session.limit, session.window_kind, session.over_limit) == (400_000, "own", None)
        assert session.input_limit is None, "the chosen window has no separate input limit"
        back = app.sessions.patch(session_id, SessionChange(window=None))
        assert (back.limit, back.input_limit, back.window_kind) == (272_000, 272_000, "table")

    def test_can_be_overridden_by_the_user(self, app: App) -> None:  # X10
        """The user can reduce a window that a call widened."""
        session_id = followed(app, session_id="s", model=NARROW)
        taking(app, session_id, 240_000)
        session = app.sessions.patch(session_id, SessionChange(window=200_000))
        assert (session.limit, session.window_kind) == (200_000, "own")

    @pytest.mark.parametrize("by", ["agent", "user"])
    def test_does_not_affect_another_model(self, app: App, by: str) -> None:  # X10
        """After a change of model its own window applies."""
        session_id = followed(app, session_id="s", model=NARROW)
        taking(app, session_id, 240_000)
        if by == "user":
            app.sessions.patch(session_id, SessionChange(model="claude-haiku-4-5"))
        else:
            changed: list[Record] = [Meta(model="claude-haiku-4-5")]
            app.ingest.append_records(session_id, changed)
        session = app.sessions.get(session_id)
        assert (session.window, session.over_limit, session.window_assumed) == (200_000, None, False)

    def test_does_not_end_a_reported_window(self, app: App) -> None:  # X10
        """Removing the user's window brings back what the agent reported."""
        app.ingest.ensure("s", "codex", model="gpt-5")
        app.ingest.append_records("s", [Meta(window=258_400), entry(1, said("x"))])
        app.sessions.patch("s", SessionChange(window=400_000))
        session = app.sessions.patch("s", SessionChange(window=None))
        assert (session.limit, session.window_kind) == (258_400, "reported")

    def test_does_not_change_a_reported_window(self, app: App) -> None:
        """The newest report of the agent applies."""
        app.ingest.ensure("s", "codex", model="gpt-5")
        for n, window in enumerate((400_000, 258_400)):
            app.ingest.append_records("s", [Meta(window=window), entry(n, said("x"))])
        session = app.sessions.get("s")
        assert (session.limit, session.window_kind) == (258_400, "reported")
