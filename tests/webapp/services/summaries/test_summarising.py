"""Summaries of a session: covered messages, models, applying and undoing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from scoring.formats import validate
from scoring.messages import REMINDER, Message, Text
from scoring.summary import OLDER_BELOW
from scoring.summary.sections import SECTIONS
from tests.webapp.building import (
    call,
    context_numbers,
    conversation,
    entries,
    entry,
    followed,
    heard,
    managed,
    mid,
    result,
    said,
    user,
    wire,
)
from webapp.agents.records import Compaction
from webapp.app import App
from webapp.config import Config
from webapp.errors import Conflict, NotFound
from webapp.events import ContextSummarized
from webapp.services.summaries.summarising import NOTHING_NEW, Summarising, Written

GOOD = "\n".join(f"## {name}\n- about {name.lower()}" for name in SECTIONS)


TURN = [wire("user", "please change src/parser.py"), wire("assistant", "done " * 50)]


def compaction(model: str, text: str) -> dict[str, Any]:
    """Return the provider's compaction of what came before, as the model's provider writes it."""
    if model == "gpt-5":
        return {"type": "compaction", "id": text, "encrypted_content": "gAAA" * 50}
    return {"role": "assistant", "content": [{"type": "compaction", "content": text}]}


def items(app: App, session: str = "s") -> list[tuple[int, int]]:
    """Return the (kind, number) of each item of the context."""
    row = app.store.sessions.get(session)
    return [(item.kind, item.ref) for item in app.store.contexts.items(row.key, 1)]


class TestSummarising:
    """Summaries by the built-in summariser."""

    def test_is_placed_at_its_first_message(self, app: App) -> None:  # S8, C2, C6
        """The summary is first, the later messages keep their order, and no result loses its call."""
        followed(app, *conversation(6), user("end"))
        made = app.summarising.summarise("s")
        assert items(app)[0] == (1, 1)
        assert items(app)[1:] == [(0, no) for no in range(17 + 3, 26)]
        assert made.summary.messages == 19
        assert made.summary.tokens < made.summary.replaced_tokens
        assert list(app.verify()) == []

    @pytest.mark.parametrize("newest", [True, False], ids=["newest", "followed by another"])
    @pytest.mark.parametrize("model", ["claude-sonnet-4-6", "gpt-5"])
    def test_follows_the_newest_compaction_of_the_provider(
        self, app: App, model: str, newest: bool
    ) -> None:  # C2, C7
        """Its content is nowhere else, and the provider ignores what comes before it. A second summary does too."""
        first = compaction(model, "first")
        listed = [wire("user", "begin"), first, *TURN * 7]
        listed += [] if newest else [compaction(model, "second"), *TURN * 7]
        session = managed(app, *listed, model=model)
        for _ in range(2):
            made = app.summarising.summarise(session)
            sent = app.context.get(session).messages
            place = sent.index(first if newest else compaction(model, "second"))
            assert "[Summary" in sent[place + 1]["content"]
            assert (first in sent) == newest
            assert OLDER_BELOW not in made.summary.note
            app.ingest.append_messages(session, TURN * 7)

    def test_has_the_users_task_and_not_that_of_a_hook(self, app: App) -> None:  # S4
        """A program's text in the user's role is neither the task, nor a decision, nor a request."""
        notes = [Message("user", (Text(text),), REMINDER) for text in (
            "Mail server 6.0 registered. Never reply to it.", "Status set to busy.",
        )]  # fmt: skip
        followed(
            app, notes[0], user("Please port the parser to Rust."), *conversation(6), notes[1], user("end")
        )
        text = app.summarising.summarise("s").summary.text
        assert "Task: Please port the parser to Rust." in text
        assert "registered" not in text
        assert "Never reply" not in text

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "responses"])
    def test_is_sent_in_every_format(self, app: App, name: str) -> None:  # C2, X6
        """The context with the summary is valid."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        made = app.context.get("s", name)
        assert "[Summary: depth 1, 19 messages, covers 2026-01-31 to 2026-01-31]" in str(made.messages)
        assert validate(made.messages, name, ready=False) == []

    def test_keeps_system_messages_and_pins(self, app: App) -> None:  # B7
        """System messages and pins are never covered."""
        session = managed(
            app, wire("system", "Be brief."), *[wire("user", f"word {n} " * 30) for n in range(12)]
        )
        app.by_hand.pin(session, mid(app, session, 3))
        app.summarising.summarise(session)
        assert {(0, 1), (0, 3)} <= set(items(app, session))

    def test_says_that_messages_that_stay_below_are_older(self, app: App) -> None:  # C2, M7
        """A pinned message from inside the span stands below the summary, whose end is later."""
        followed(app, *conversation(6), user("end"))
        app.by_hand.pin("s", mid(app, "s", 5))
        made = app.summarising.summarise("s").summary
        assert items(app)[:2] == [(1, 1), (0, 5)]
        assert made.note == OLDER_BELOW
        assert "Last request" not in made.text

    def test_has_what_an_agent_summed_up_in_the_agents_words(self, app: App) -> None:  # S4
        """The text with which an agent begins a new context is no request of the user."""
        summary = entry(0, user("We chose SQLite because it needs no server."), kind="compaction_summary")
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [summary, *entries(*conversation(6), user("end"), start=1)])
        text = app.summarising.summarise("s").summary.text
        assert "Agent: We chose SQLite because it needs no server." in text
        assert "User: We chose" not in text

    def test_does_not_cover_a_call_that_waits_for_its_result(self, app: App) -> None:  # P4
        """The later result follows its call in the context."""
        followed(app, user("go"), call("late"), *conversation(6), user("end"))
        app.summarising.summarise("s")
        assert (0, 2) in items(app)
        app.ingest.append_records("s", entries(result("late", "the very output"), start=40))
        assert list(app.verify()) == []
        assert "the very output" in str(app.context.get("s", "anthropic").messages)

    def test_counts_as_a_region_of_the_gauge(self, app: App) -> None:  # P1
        """Regions add up to the total, and a summary is no message of the log."""
        followed(app, *conversation(6), user("end"))
        before = app.sessions.get("s")
        made = app.summarising.summarise("s")
        gauge = made.session.pruned
        assert sum(region.tokens for region in gauge.regions) == gauge.tokens < before.pruned.tokens
        assert made.session.messages == before.messages

    def test_is_announced(self, app: App) -> None:  # B14
        """The event has the number of messages and the summary's id."""
        followed(app, *conversation(6), user("end"))
        events = heard(app)
        app.summarising.summarise("s")
        event = next(e for e in events if isinstance(e, ContextSummarized))
        assert (event.summarized, event.summary_id) == (19, "s/1")

    def test_counts_what_stays_without_the_summary(self, app: App) -> None:  # B10, B14
        """Both counts are of messages, and a summary is none: together they are all that were in the context."""
        followed(app, *conversation(6), user("end"))
        events, before = heard(app), app.sessions.get("s").pruned.messages
        made = app.summarising.summarise("s")
        event = next(e for e in events if isinstance(e, ContextSummarized))
        assert event.summarized + event.kept == before == 25
        assert (made.operation.summarised, made.operation.summary) == (19, 1)

    def test_of_summaries_is_one_level_deeper(self, app: App) -> None:  # C7
        """The second summary covers the first and the later messages."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        app.ingest.append_records("s", _more(40))
        made = app.summarising.summarise("s")
        assert (made.summary.depth, made.summary.covers.summaries) == (2, [1])
        assert [one.in_context for one in app.summarising.list("s").summaries] == [True, False]
        assert len(app.summarising.one("s", 2).message_ids) == made.summary.messages
        assert list(app.verify()) == []

    def test_immediately_after_another_is_refused(self, app: App) -> None:  # C9, S3
        """Without new messages there is nothing to summarise."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        with pytest.raises(Conflict, match=NOTHING_NEW):
            app.summarising.summarise("s")

    def test_survives_an_export(self, app: App, config: Config) -> None:  # S9, S1
        """An import restores the summary and its place."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        data = b"".join(app.exporting.export("s")[2])
        before = items(app), app.summarising.list("s")
        app.sessions.delete("s")
        app.importing.import_file("x.jsonl", data)
        assert (items(app), app.summarising.list("s")) == before
        assert list(app.verify()) == []


class TestUndo:
    """Undoing a summary restores the earlier context."""

    def test_restores_the_covered_messages(self, app: App) -> None:  # X2, C7
        """Later messages stay."""
        followed(app, *conversation(6), user("end"))
        before = context_numbers(app, "s")
        made = app.summarising.summarise("s")
        app.ingest.append_records("s", _more(26, 1))
        app.operations.undo("s", made.operation.n)
        assert context_numbers(app, "s") == [*before, 26]
        assert list(app.verify()) == []

    def test_restores_the_summary_below(self, app: App) -> None:  # X2, C7
        """Undoing a deeper summary restores the one that it covered."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        app.ingest.append_records("s", _more(40))
        there = items(app)
        app.summarising.summarise("s")
        app.operations.undo("s")
        assert items(app) == there

    def test_can_also_expand_a_summary(self, app: App) -> None:  # C7
        """Expanding a summary is an operation that can be undone."""
        followed(app, *conversation(6), user("end"))
        before = items(app)
        app.summarising.summarise("s")
        covered = items(app)
        app.summarising.expand("s", 1)
        assert items(app) == before
        with pytest.raises(Conflict):
            app.summarising.expand("s", 1)
        app.operations.undo("s")
        assert items(app) == covered
        assert list(app.verify()) == []

    def test_agrees_a_number_with_its_noun(self, app: App) -> None:
        """One message is not "1 messages"."""
        followed(app, *conversation(6), user("end"))
        covered = app.summarising.summarise("s").operation.messages
        back = app.summarising.expand("s", 1).message
        assert back == f"{covered:,} messages back in the place of summary 1"
        app.operations.undo("s")
        for no in range(2, covered + 1):
            with suppress(Conflict):  # a unit comes back whole
                app.by_hand.restore("s", mid(app, "s", no))
        assert app.summarising.expand("s", 1).message == "1 message back in the place of summary 1"

    def test_of_a_single_message_places_it_after_the_summary(self, app: App) -> None:  # X2
        """A restored message that was covered first follows the summary."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        app.by_hand.restore("s", mid(app, "s", 1))
        assert items(app)[:2] == [(1, 1), (0, 1)]
        assert list(app.verify()) == []

    def test_refuses_an_unknown_summary(self, app: App) -> None:
        """An unknown number is an error."""
        followed(app, user("hi"))
        with pytest.raises(NotFound):
            app.summarising.one("s", 7)
        with pytest.raises(NotFound):
            app.summarising.expand("s", 7)


class Model:
    """A model that gives one answer after another; it calls `meanwhile` before each."""

    def __init__(self, *answers: Written, meanwhile: Callable[[], object] | None = None) -> None:
        self.answers, self.meanwhile = list(answers), meanwhile
        self.asked: list[str] = []

    def __call__(self, system: str, text: str, cancelled: threading.Event | None) -> Written:
        """Return the next answer."""
        self.asked.append(text)
        if self.meanwhile is not None:
            self.meanwhile()
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def with_model(app: App, model: Model) -> Summarising:
    """Return summaries by a model, for a session with enough messages."""
    followed(app, *conversation(6), user("end"))
    return Summarising(app.environment, app.histories, model)


class TestByAModel:
    """Summaries by a model, level by level."""

    def test_has_the_models_text(self, app: App) -> None:  # S4
        """The summary has the model's name and cost."""
        made = with_model(app, Model(Written(GOOD, "", "m-1", 0.25))).summarise("s")
        assert (made.summary.level, made.summary.model, made.summary.cost) == (
            "structured",
            "m-1",
            0.25,
        )
        assert "about key decisions" in made.summary.text

    def test_asks_again_for_less(self, app: App) -> None:  # C9
        """The second request asks for a terser summary; the costs add up."""
        model = Model(Written("no sections", "", "m", 0.25), Written(GOOD, "", "m", 0.5))
        made = with_model(app, model).summarise("s")
        assert (made.summary.level, made.summary.cost, len(model.asked)) == ("terser", 0.75, 2)

    def test_falls_back_to_the_built_in_one(self, app: App) -> None:  # C9
        """After a failure of the model the caller gets the reason."""
        made = with_model(app, Model(Written("", "the endpoint answers 401", "m"))).summarise("s")
        assert made.summary.level == "deterministic"
        assert made.problems == ["the endpoint answers 401"]

    def test_changes_nothing_if_cancelled(self, app: App) -> None:  # C9
        """A summary cancelled during the request is not stored."""
        cancelled = threading.Event()
        summarising = with_model(app, Model(Written(GOOD, "", "m"), meanwhile=cancelled.set))
        before = items(app)
        with pytest.raises(Conflict, match="cancelled"):
            summarising.summarise("s", cancelled=cancelled)
        assert items(app) == before
        assert app.summarising.list("s").summaries == []

    def test_changes_nothing_if_the_session_changed(self, app: App) -> None:  # C6
        """A summary of messages that changed meanwhile is stale."""
        summarising = with_model(
            app, Model(Written(GOOD, "", "m"), meanwhile=lambda: app.by_hand.drop("s", mid(app, "s", 1)))
        )
        with pytest.raises(Conflict, match="changed"):
            summarising.summarise("s")
        assert app.summarising.list("s").summaries == []
        assert list(app.verify()) == []

    def test_changes_nothing_if_a_result_arrived(self, app: App) -> None:  # C6, P4
        """A covered call got another result meanwhile, and a unit is covered as a whole or not at all."""
        followed(app, *conversation(6), user("end"))

        def meanwhile(system: str, text: str, cancelled: threading.Event | None) -> Written:
            app.ingest.append_records("s", entries(result("call-0", "more"), start=40))
            return Written(GOOD)

        with pytest.raises(Conflict, match="a result has arrived"):
            Summarising(app.environment, app.histories, meanwhile).summarise("s")
        assert app.operations.list("s") == []
        assert list(app.verify()) == []

    def test_continues_if_messages_were_appended(self, app: App) -> None:  # C6
        """Messages appended meanwhile are not covered."""
        summarising = with_model(
            app, Model(Written(GOOD, "", "m"), meanwhile=lambda: app.ingest.append_records("s", _more(26, 2)))
        )
        summarising.summarise("s")
        assert items(app)[-2:] == [(0, 26), (0, 27)]


class TestACompaction:
    """A compaction by the agent while a summary is in the pruned view."""

    def test_removes_the_summary(self, app: App) -> None:
        """The messages that it covered are out of the agent's context."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c-1", None)])
        assert items(app) == []
        assert list(app.verify()) == []


def _more(start: int, count: int = 20) -> list[Any]:
    made = [m for n in range(count) for m in (user(f"more {n} " * 20), said(f"yes {n} " * 20))]
    return entries(*made[:count], start=start)


def test_a_short_session_has_nothing_to_summarise(app: App) -> None:  # S3
    """All of its messages are recent."""
    followed(app, user("a"), call("c"), result("c", "b"), said("d"))
    with pytest.raises(Conflict, match=NOTHING_NEW):
        app.summarising.summarise("s")
