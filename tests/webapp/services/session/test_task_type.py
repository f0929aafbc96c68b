"""The task type of a session: recognised, or chosen in settings or for the session, and used by plans."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlite_utils import Database

from scoring.messages import Message
from scoring.settings.task_types import DEFAULT_TASK_TYPES
from tests.webapp.building import (
    call,
    conversation,
    entries,
    entry,
    followed,
    managed,
    result,
    said,
    user,
    wire,
)
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody, SessionChange
from webapp.services.session.answers import RecognisedType, SessionTaskType
from webapp.services.session.session import Session
from webapp.store.sqlite.migrations import m003_facts_for_task_types

RULES = (
    "You are a shop's agent. Policy: a customer may cancel an order, or get a refund or an exchange, only if eligible. "
    "Confirm every payment, and transfer complaints."
)
WORDS = {"keywords": [{"name": "fruit", "share": 1.0, "words": ["marmalade"]}]}


def work(turns: int) -> list[Message]:
    """Return a request and `turns` commands run for it."""
    out = [user("make it so")]
    for n in range(turns):
        out += [call(f"c{n}"), result(f"c{n}", "plain words " * 30)]
    return out


def talk(turns: int) -> list[Message]:
    """Return a conversation of `turns` turns without tools."""
    return [
        one for n in range(turns) for one in (user(f"what of topic {n}?"), said(f"plain words on {n} " * 9))
    ]


def of(app: App, session: str = "s") -> SessionTaskType:
    """Return the session's task type."""
    return app.sessions.get(session).task_type


class TestTaskType:
    """The task type in the answer."""

    def test_is_recognised_with_a_reason(self, app: App) -> None:  # B18
        """By default the type is recognised from the messages so far."""
        followed(app, user("hello"))
        assert (of(app).name, of(app).setting, of(app).own) == ("any", "auto", False)
        app.ingest.append_records("s", entries(*work(5), start=10))
        assert of(app).name == "coding"
        assert of(app).reason == "looks like coding: 42 % of its messages are tool outputs, of Bash"
        assert of(app).looks_like == RecognisedType(name="coding", reason=of(app).reason)

    def test_can_be_chosen_for_one_session_and_reset(self, app: App) -> None:  # B18
        """A choice overrides the recognised type, and null restores it."""
        followed(app, *work(5))
        app.sessions.patch("s", SessionChange(settings={"task_type": "research"}))
        assert (of(app).name, of(app).own) == ("research", True)
        assert of(app).reason == "research was chosen for this session"
        assert of(app).looks_like.name == "coding"
        app.sessions.patch("s", SessionChange(settings={"task_type": "any"}))
        assert of(app).reason == "this session uses the common settings"
        app.sessions.patch("s", SessionChange(settings={"task_type": None}))
        assert (of(app).name, of(app).own) == ("coding", False)

    def test_can_be_chosen_for_all_sessions(self, app: App) -> None:  # B18
        """The setting applies to all sessions; "any" uses the common settings."""
        followed(app, *work(5))
        app.settings.put({"task_type": "chat"})
        assert (of(app).name, of(app).reason) == ("chat", "chat was chosen for all sessions")
        app.settings.put({"task_type": "any"})
        assert (of(app).name, of(app).reason) == ("any", "the settings treat all sessions alike")

    def test_does_not_change_with_a_prune(self, app: App) -> None:  # B18
        """The type follows from the log, not from the pruned view."""
        followed(app, *work(12), said("done"))
        row = app.store.sessions.get("s")
        before = app.histories.of(Session.of(app.environment, row)).history.task_counts
        app.prunes.apply("s", PruneBody(max_tokens=40))
        assert of(app).name == "coding"
        row = app.store.sessions.get("s")
        assert (
            app.histories.of(Session.of(app.environment, row)).history.task_counts
            == Session.of(app.environment, row).state.facts
            == before
        )

    def test_counts_a_message_of_several_rows_once(self, app: App) -> None:
        """Rows of one call are one message, even in several batches."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        for n, tool in enumerate(("Read", "Edit")):
            app.ingest.append_records("s", [entry(n, call(f"c{n}", tool), group="g")])
        facts = Session.load(app.environment, "s").state.facts
        assert (facts.messages, facts.tools) == (1, {"Read": 1, "Edit": 1})

    def test_is_updated_in_a_cached_view(self, app: App) -> None:
        """A view extended by an append counts like one read from the store."""
        followed(app, *conversation(3))
        app.histories.of(Session.load(app.environment, "s"))
        app.ingest.append_records("s", entries(*work(9), start=50))
        row = app.store.sessions.get("s")
        assert (
            app.histories.of(Session.of(app.environment, row)).history.task_counts
            == Session.of(app.environment, row).state.facts
        )

    def test_is_added_to_sessions_of_an_earlier_version(self, app: App, engine: str) -> None:
        """A migration of the store counts their messages."""
        if engine != "sqlite" or not isinstance(app.config.database, Path):
            pytest.skip("a database of PostgreSQL begins with a newer schema")
        followed(app, *work(5))
        row = app.store.sessions.get("s")
        facts = row.state.pop("facts")
        app.store.sessions.update(row.key, state=row.state)
        assert of(app).name == "any"
        with closing(sqlite3.connect(app.config.database)) as connection, connection:
            m003_facts_for_task_types(Database(connection))
        again = app.store.sessions.get("s").state["facts"]
        assert again == orjson.loads(orjson.dumps(facts))
        assert of(app).name == "coding"


class TestPlans:
    """Plans and lists, which use the task type."""

    def test_have_the_weights_of_the_type(self, app: App) -> None:  # B18
        """Contributions in the list and weights stored with a prune are those of the type."""
        own = {**app.settings.get().settings.weights, "recency": 77.0}
        app.settings.put({"task_types": {"coding": {"weights": own}}})
        followed(app, *work(12), said("done"))
        message = next(m for m in app.messages.page("s").messages if m.signals["recency"] > 0)
        assert message.contributions["recency"] == pytest.approx(77 * message.signals["recency"], abs=0.01)
        assert app.prunes.plan("s", PlanBody()).preset == "custom"
        applied = app.prunes.apply("s", PruneBody(max_tokens=60))
        operation = app.store.operations.get(app.store.sessions.get("s").key, applied.operation.n)
        assert operation.facts.weights["recency"] == 77.0

    def test_keep_the_name_of_the_preset(self, app: App) -> None:
        """The weights that a preset has for a type do not make it custom."""
        managed(app, wire("system", RULES), *[wire("user", f"order {n}") for n in range(6)], id="s")
        assert of(app).name == "support"
        assert app.prunes.plan("s", PlanBody()).preset == "Foresight"

    def test_compare_tried_settings_with_saved_ones(self, app: App) -> None:  # X4, B18
        """Only a change for the type of this session changes a fate."""
        app.settings.put({"strategy": "score", "cap_tokens": 1_333})
        followed(app, *talk(60))
        assert of(app).name == "chat"
        flat = {"recency": 0.0, "role": 0.0, "keywords": 0.0, "length": 100.0, "relevance": 0.0}
        other = {"task_types": {"coding": {"weights": flat}}}
        assert app.prunes.plan("s", PlanBody(compare=True, settings=other)).changed == 0
        same = {"task_types": {"chat": {"weights": flat}}}
        assert app.prunes.plan("s", PlanBody(compare=True, settings=same)).changed > 0

    def test_rate_by_the_keywords_of_the_type_once(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # B18
        """Ratings of another list are computed once, and reused after a prune and its undo."""
        app.settings.put({"strategy": "score"})
        followed(app, *talk(10), user("the marmalade"), said("ok"))
        app.settings.put({"task_types": {"chat": WORDS}})
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 1.0
        applied = app.prunes.apply("s", PruneBody(max_tokens=100))
        app.operations.undo("s", applied.operation.n)
        asked: list[Any] = []
        real = app.store.log.rows_of
        monkeypatch.setattr(app.store.log, "rows_of", lambda *a: asked.append(a) or real(*a))
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 1.0
        assert asked == []
        app.sessions.patch("s", SessionChange(settings={"task_type": "any"}))
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 0.0

    def test_need_no_keyword_ratings_for_foresight(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Foresight does not use keyword ratings, so another list costs nothing."""
        followed(app, *talk(10))
        app.prunes._planning.make(Session.load(app.environment, "s"))
        app.settings.put({"keywords": WORDS["keywords"]})
        asked: list[Any] = []
        real = app.store.log.rows_of
        monkeypatch.setattr(app.store.log, "rows_of", lambda *a: asked.append(a) or real(*a))
        app.prunes._planning.make(Session.load(app.environment, "s"))
        assert asked == []

    def test_rate_new_messages_by_the_keywords_of_the_type(self, app: App) -> None:  # B18
        """A message is stored with the rating of the session's type."""
        app.settings.put({"task_types": {"chat": WORDS}})
        followed(app, *talk(4))
        app.ingest.append_records("s", entries(user("marmalade"), start=60))
        row = app.store.sessions.get("s")
        assert app.histories.of(Session.of(app.environment, row)).history.keywords[-1] == 1.0

    def test_are_not_learned_from_if_the_type_has_own_weights(self, app: App) -> None:  # X15, B18
        """A session whose type has its own weights is left out of the search for common weights."""
        words = [user(f"the code is code_{n}") for n in range(30)]
        followed(app, *words, user("which was first?"), said("code_0 and code_1"))
        settings = app.environment.settings()
        assert app.suggesting._cases(["s"], settings)
        app.settings.put(
            {"task_types": {"chat": {"weights": dict(DEFAULT_TASK_TYPES.support.weights or {})}}}
        )
        assert app.suggesting._cases(["s"], app.environment.settings()) == []
