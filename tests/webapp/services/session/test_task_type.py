"""The task type of a session: recognised from its log, chosen in settings or for it alone, used by every plan."""

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
from webapp.services.planning.requests import PlanRequest, PruneRequest
from webapp.services.session.answers import Likeness, SessionTaskType
from webapp.services.session.session import Session
from webapp.store.sqlite.migrations import m003_facts_for_task_types

RULES = (
    "You are a shop's agent. Policy: a customer may cancel an order, or get a refund or an exchange, only if eligible. "
    "Confirm every payment, and transfer complaints."
)
WORDS = {"keywords": [{"name": "fruit", "share": 1.0, "words": ["marmalade"]}]}


def work(turns: int) -> list[Message]:
    """A user's wish, and commands that are run for it."""
    out = [user("make it so")]
    for n in range(turns):
        out += [call(f"c{n}"), result(f"c{n}", "plain words " * 30)]
    return out


def talk(turns: int) -> list[Message]:
    """A conversation without any tool."""
    return [
        one for n in range(turns) for one in (user(f"what of topic {n}?"), said(f"plain words on {n} " * 9))
    ]


def of(app: App, session: str = "s") -> SessionTaskType:
    """The session's task type as JSON."""
    return app.sessions.get(session).task_type


class TestTaskType:
    """The task type in the answer."""

    def test_is_what_the_session_looks_like_with_the_reason(self, app: App) -> None:  # B18
        """The type is recognised by default; the counts grow with every append."""
        followed(app, user("hello"))
        assert (of(app).name, of(app).setting, of(app).own) == ("any", "auto", False)
        app.ingest.append_records("s", entries(*work(5), start=10))
        assert of(app).name == "coding"
        assert of(app).reason == "looks like coding: 42 % of its messages are tool outputs, of Bash"
        assert of(app).looks_like == Likeness(name="coding", reason=of(app).reason)

    def test_can_be_chosen_for_one_session_and_given_back(self, app: App) -> None:  # B18
        """A choice comes before the looks; null gives it back to the settings."""
        followed(app, *work(5))
        app.sessions.patch("s", settings={"task_type": "research"})
        assert (of(app).name, of(app).own) == ("research", True)
        assert of(app).reason == "research was chosen for this session"
        assert of(app).looks_like.name == "coding"
        app.sessions.patch("s", settings={"task_type": "any"})
        assert of(app).reason == "this session uses the common settings"
        app.sessions.patch("s", settings={"task_type": None})
        assert (of(app).name, of(app).own) == ("coding", False)

    def test_can_be_chosen_for_all_sessions(self, app: App) -> None:  # B18
        """The setting applies to all sessions; "any" uses the common settings."""
        followed(app, *work(5))
        app.settings.put({"task_type": "chat"})
        assert (of(app).name, of(app).reason) == ("chat", "chat was chosen for all sessions")
        app.settings.put({"task_type": "any"})
        assert (of(app).name, of(app).reason) == ("any", "the settings treat all sessions alike")

    def test_stays_when_what_it_was_recognised_by_is_pruned(self, app: App) -> None:  # B18
        """The type follows from the log, in plans too."""
        followed(app, *work(12), said("done"))
        row = app.store.sessions.get("s")
        before = app.histories.of(Session.of(app.environment, row)).history.facts
        app.prunes.apply("s", PruneRequest(max_tokens=40))
        assert of(app).name == "coding"
        row = app.store.sessions.get("s")
        assert (
            app.histories.of(Session.of(app.environment, row)).history.facts
            == Session.of(app.environment, row).state.facts
            == before
        )

    def test_counts_a_message_once_that_comes_in_parts(self, app: App) -> None:
        """Rows of one call are one message, whenever they come."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        for n, tool in enumerate(("Read", "Edit")):
            app.ingest.append_records("s", [entry(n, call(f"c{n}", tool), group="g")])
        facts = Session.load(app.environment, "s").state.facts
        assert (facts.messages, facts.tools) == (1, {"Read": 1, "Edit": 1})

    def test_is_known_to_an_open_view_after_an_append(self, app: App) -> None:
        """An extended view counts like one that is read from the store."""
        followed(app, *conversation(3))
        app.histories.of(Session.load(app.environment, "s"))
        app.ingest.append_records("s", entries(*work(9), start=50))
        row = app.store.sessions.get("s")
        assert (
            app.histories.of(Session.of(app.environment, row)).history.facts
            == Session.of(app.environment, row).state.facts
        )

    def test_is_counted_for_sessions_that_were_there_before(self, app: App, engine: str) -> None:
        """A migration of the store reads their logs once."""
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
    """Meter, list and plan agree."""

    def test_have_the_weights_of_the_type(self, app: App) -> None:  # B18
        """Contributions in the list, weights kept with the prune: all are those of the type in force."""
        own = {**app.settings.get().settings.weights, "recency": 77.0}
        app.settings.put({"task_types": {"coding": {"weights": own}}})
        followed(app, *work(12), said("done"))
        message = next(m for m in app.messages.page("s").messages if m.signals["recency"] > 0)
        assert message.contributions["recency"] == pytest.approx(77 * message.signals["recency"], abs=0.01)
        assert app.prunes.plan("s", PlanRequest()).preset == "custom"
        applied = app.prunes.apply("s", PruneRequest(max_tokens=60))
        operation = app.store.operations.get(app.store.sessions.get("s").key, applied.operation.n)
        assert operation.plan["weights"]["recency"] == 77.0

    def test_keep_the_name_of_the_preset_that_the_settings_are(self, app: App) -> None:
        """A type's own weights are part of the preset, not a departure from it."""
        managed(app, wire("system", RULES), *[wire("user", f"order {n}") for n in range(6)], id="s")
        assert of(app).name == "support"
        assert app.prunes.plan("s", PlanRequest()).preset == "Foresight"

    def test_compare_settings_that_are_tried_with_those_that_are_saved(self, app: App) -> None:  # X4, B18
        """The type is resolved in the tried settings: only a change for this session's type changes a fate."""
        app.settings.put({"strategy": "score", "cap_tokens": 1_333})
        followed(app, *talk(60))
        assert of(app).name == "chat"
        flat = {"recency": 0.0, "role": 0.0, "keywords": 0.0, "length": 100.0, "relevance": 0.0}
        other = {"task_types": {"coding": {"weights": flat}}}
        assert app.prunes.plan("s", PlanRequest(compare=True, settings=other)).changed == 0
        same = {"task_types": {"chat": {"weights": flat}}}
        assert app.prunes.plan("s", PlanRequest(compare=True, settings=same)).changed > 0

    def test_rate_by_the_words_of_the_type_once(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # B18
        """Stored ratings of another list are made again, not on every look, and neither after a prune."""
        app.settings.put({"strategy": "score"})
        followed(app, *talk(10), user("the marmalade"), said("ok"))
        app.settings.put({"task_types": {"chat": WORDS}})
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 1.0
        applied = app.prunes.apply("s", PruneRequest(max_tokens=100))
        app.operations.undo("s", applied.operation.n)
        asked: list[Any] = []
        real = app.store.log.rows_of
        monkeypatch.setattr(app.store.log, "rows_of", lambda *a: asked.append(a) or real(*a))
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 1.0
        assert asked == []
        app.sessions.patch("s", settings={"task_type": "any"})
        row = app.store.sessions.get("s")
        assert app.prunes._planning.make(Session.of(app.environment, row)).plan.parts["keywords"][-2] == 0.0

    def test_read_no_text_again_for_foresight(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Foresight does not use keyword ratings, so another list costs nothing."""
        followed(app, *talk(10))
        app.prunes._planning.make(Session.load(app.environment, "s"))
        app.settings.put({"keywords": WORDS["keywords"]})
        asked: list[Any] = []
        real = app.store.log.rows_of
        monkeypatch.setattr(app.store.log, "rows_of", lambda *a: asked.append(a) or real(*a))
        app.prunes._planning.make(Session.load(app.environment, "s"))
        assert asked == []

    def test_rate_what_comes_in_by_the_words_of_the_type(self, app: App) -> None:  # B18
        """A message is stored with the rating of the type in force when it came."""
        app.settings.put({"task_types": {"chat": WORDS}})
        followed(app, *talk(4))
        app.ingest.append_records("s", entries(user("marmalade"), start=60))
        row = app.store.sessions.get("s")
        assert app.histories.of(Session.of(app.environment, row)).history.keywords[-1] == 1.0

    def test_are_not_learned_from_where_the_common_weights_do_not_count(self, app: App) -> None:  # X15, B18
        """A session whose type has its own weights is left out of the search for common weights."""
        words = [user(f"the code is code_{n}") for n in range(30)]
        followed(app, *words, user("which was first?"), said("code_0 and code_1"))
        settings = app.environment.settings()
        assert app.suggesting._cases(["s"], settings)
        app.settings.put(
            {"task_types": {"chat": {"weights": dict(DEFAULT_TASK_TYPES.support.weights or {})}}}
        )
        assert app.suggesting._cases(["s"], app.environment.settings()) == []
