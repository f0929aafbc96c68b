"""Ingest: each record is stored once, joined to its message, counted and announced."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.webapp.building import (
    call,
    context_numbers,
    conversation,
    entries,
    entry,
    followed,
    managed,
    mid,
    result,
    said,
    usage,
    user,
    wire,
)
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, Unknown, UsageReport
from webapp.app import App
from webapp.bodies import PruneBody, SessionChange
from webapp.config import Config
from webapp.errors import Conflict, Invalid, Malformed, NotFound, TooLarge
from webapp.events import Event, MessagesAppended
from webapp.store.context import AGENT
from webapp.wiring import build


class TestRecords:
    """Appending the records of a transcript."""

    def test_are_stored_once(self, app: App) -> None:
        """Known rows are skipped, and new rows of the same file are added."""
        records = entries(*conversation(3))
        app.ingest.ensure("s", "claude-code")
        assert len(app.ingest.append_records("s", records[:7]).nos) == 7
        again = app.ingest.append_records("s", records)
        assert (len(again.nos), again.known) == (5, 7)
        assert app.sessions.get("s").messages == 12

    def test_of_one_group_form_one_message(self, app: App) -> None:  # X12
        """The blocks of a call form one message in any number of batches, and its usage counts once."""
        app.ingest.ensure("s", "claude-code")
        rows = [
            entry(1, user("go")),
            entry(2, said("let me look"), group="g", usage=usage(1_000, 5), call_key="g"),
            entry(3, call("c1"), group="g", usage=usage(1_000, 40), call_key="g"),
            entry(4, result("c1", "out")),
            entry(5, call("c2"), group="g", usage=usage(1_000, 40), call_key="g"),
        ]
        for row in rows:
            app.ingest.append_records("s", [row])
        app.ingest.ensure("t", "claude-code")
        app.ingest.append_records("t", rows)
        for session in ("s", "t"):
            assert app.sessions.get(session).messages == 3
            one = app.messages.one(session, mid(app, session, 2))
            assert [part["type"] for part in one.parts] == ["text", "tool_call", "tool_call"]
            [call_row] = app.store.usage.calls(app.store.sessions.get(session).key)
            assert (call_row.input_tokens, call_row.output_tokens) == (1_000, 40)
        assert app.sessions.get("s").agent == app.sessions.get("t").agent
        assert list(app.verify()) == []

    def test_that_supersede_another_replace_it(self, app: App) -> None:
        """The log keeps both, and the message has the newer text."""
        followed(app, user("go"), said("par"))
        app.ingest.append_records("s", [entry(9, said("partial, now whole"), supersedes="id-1")])
        assert app.sessions.get("s").messages == 2
        assert app.messages.one("s", mid(app, "s", 2)).text == "partial, now whole"
        assert app.store.sessions.get("s").next_seq == 3
        assert list(app.verify()) == []

    def test_of_a_sub_agent_form_their_own_session(self, app: App) -> None:  # X12
        """The session of a sub-agent has the agent's session as parent."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        app.ingest.append_records(
            "s",
            [
                entry(1, user("go")),
                entry(2, user("explore"), stream="agent-x"),
                Meta(agent_type="Explore", stream="agent-x"),
            ],
        )
        child = app.sessions.get("s.agent-x")
        assert (child.parent_id, child.agent_type, child.messages) == ("s", "Explore", 1)
        assert app.sessions.get("s").messages == 1

    def test_that_cannot_be_read_are_counted_and_noted(self, app: App) -> None:
        """The others are used; reading the whole file again does not count them again."""
        app.ingest.ensure("s", "claude-code")
        records: list[Record] = [Problem(1, "not JSON"), entry(1, user("go")), Unknown(3, "odd")]
        for _ in range(2):
            added = app.ingest.append_records("s", records, whole_file=True)
            assert (added.skipped, added.problems) == (2, ["line 1: not JSON", "not read: odd"])
        session = app.sessions.get("s")
        assert (session.malformed, session.unknown, session.messages) == (1, 1, 1)
        assert session.notes == ["line 1: not JSON", "not read: odd"]

    def test_of_an_unknown_session_are_refused(self, app: App) -> None:
        """The session has to exist."""
        with pytest.raises(NotFound):
            app.ingest.append_records("nobody", entries(user("hi")))

    def test_of_a_deleted_session_are_ignored(self, app: App) -> None:
        """A deleted session is not created again."""
        followed(app, user("go"))
        app.sessions.delete("s")
        assert app.ingest.ensure("s", "claude-code") is None

    def test_keep_a_title_chosen_meanwhile(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A title set while a batch was prepared stays; the agent's other facts are stored."""
        app.ingest.ensure("s", "codex")
        other, write = build(config), app.ingest._writer._write

        def later(*values: Any) -> Any:
            other.sessions.patch("s", SessionChange(title="chosen by hand"))
            return write(*values)

        monkeypatch.setattr(app.ingest._writer, "_write", later)
        app.ingest.append_records("s", [Meta("Fix it", "gpt-5", "/src"), entry(1, user("go"))])
        session = app.sessions.get("s")
        assert (session.title, session.model, session.cwd) == ("chosen by hand", "gpt-5", "/src")
        other.close()

    def test_describe_the_session(self, app: App) -> None:
        """Title, model, folder and window come from the records."""
        app.ingest.ensure("s", "codex")
        app.ingest.append_records(
            "s", [Meta("Fix it", "gpt-5", "/src", window=258_400), entry(1, user("go"))]
        )
        session = app.sessions.get("s")
        assert (session.title, session.model, session.cwd) == ("Fix it", "gpt-5", "/src")
        assert (session.window, session.limit_source) == (258_400, "reported by the agent")

    def test_are_announced_after_they_are_stored(self, app: App) -> None:
        """A listener finds the announced messages in the store."""
        found: list[int] = []

        def look(event: Event) -> None:
            if isinstance(event, MessagesAppended):
                found.append(app.messages.page(event.session_id).total)

        app.bus.subscribe(look)
        followed(app, *conversation(1))
        assert found == [4]


class TestCompaction:
    """A compaction by the agent, which replaces its context."""

    def test_empties_both_views_and_is_an_operation(self, app: App) -> None:  # X12
        """Later messages are the new context, and the log keeps all messages."""
        followed(app, *conversation(3))
        summary = entry(50, user("so far: all fine"), kind="compaction_summary")
        app.ingest.append_records(
            "s", [Compaction(None, "auto", 9_000, "c1"), summary, entry(51, user("go on"))]
        )
        assert context_numbers(app, "s") == context_numbers(app, "s", AGENT) == [13, 14]
        [operation] = app.operations.list("s")
        assert (operation.kind, operation.actor, operation.undoable) == (
            "compaction",
            "agent",
            False,
        )
        assert app.sessions.get("s").messages == 14
        assert list(app.verify()) == []
        with pytest.raises(Conflict, match="cannot be undone"):
            app.operations.undo("s", operation.n)

    def test_is_stored_once(self, app: App) -> None:
        """Reading the file again changes nothing."""
        records: list[Record] = [
            *entries(*conversation(2)),
            Compaction(None, "auto", None, "c1"),
            entry(50, user("summary")),
        ]
        app.ingest.ensure("s", "claude-code")
        for _ in range(2):
            app.ingest.append_records("s", records)
        assert len(app.operations.list("s")) == 1
        assert context_numbers(app, "s") == [9]

    def test_keeps_messages_repeated_in_its_new_history(self, app: App) -> None:
        """A known entry keeps its number and its place."""
        followed(app, *conversation(2))
        new = entry(60, user("summary"), kind="compaction_summary")
        repeated = entries(*conversation(2))[4]
        app.ingest.append_records(
            "s", [Compaction(None, "auto", None, "c1", (repeated, new)), entry(61, user("more"))]
        )
        assert context_numbers(app, "s", AGENT) == [5, 9, 10]
        assert list(app.verify()) == []

    def test_blocks_the_undo_of_older_operations(self, app: App) -> None:
        """A prune before it cannot be undone; a prune after it can."""
        followed(app, *conversation(6))
        first = app.prunes.apply("s", PruneBody(max_tokens=300)).operation.n
        app.ingest.append_records(
            "s", [Compaction(None, "auto", None, "c1"), *entries(*conversation(6), start=90)]
        )
        later = app.prunes.apply("s", PruneBody(max_tokens=300)).operation.n
        with pytest.raises(Conflict, match="compaction"):
            app.operations.undo("s", first)
        assert app.operations.undo("s", later).undone == [later]


class TestRewind:
    """A conversation that continues from an earlier point."""

    def test_removes_later_messages_from_both_views(self, app: App) -> None:
        """The log keeps the removed messages."""
        followed(app, user("a"), said("b"), user("c"), said("d"))
        app.ingest.append_records(
            "s", [Rewind("id-1", "id-9", None, "", ("id-0", "id-1")), entry(9, user("other way"))]
        )
        assert context_numbers(app, "s", AGENT) == context_numbers(app, "s") == [1, 2, 5]
        assert app.sessions.get("s").messages == 5
        assert list(app.verify()) == []

    def test_restores_another_branch(self, app: App) -> None:
        """A message dropped by an operation stays out of the pruned view."""
        followed(app, user("a"), said("b"), user("c"), said("d"))
        app.by_hand.drop("s", mid(app, "s", 2))
        app.ingest.append_records("s", [Rewind("id-0", "id-8", None, "", ("id-0",)), entry(8, user("e"))])
        assert context_numbers(app, "s", AGENT) == [1, 5]
        app.ingest.append_records(
            "s", [Rewind("id-3", "id-9", None, "", ("id-0", "id-1", "id-2", "id-3")), entry(9, user("f"))]
        )
        assert context_numbers(app, "s", AGENT) == [1, 2, 3, 4, 6]
        assert context_numbers(app, "s") == [1, 3, 4, 6]
        assert list(app.verify()) == []


class TestUsageReport:
    """Usage reported apart from messages."""

    def test_sets_the_total_at_its_call(self, app: App) -> None:  # X11
        """The total is the reported input and output, plus the messages after the call."""
        followed(app, user("go"), call("c1"))
        app.ingest.append_records("s", [UsageReport(usage(5_000, 100), None, "k1", input_end="id-0")])
        gauge = app.sessions.get("s").agent
        assert (gauge.tokens, gauge.certainty) == (5_100, "exact")
        app.ingest.append_records("s", [UsageReport(usage(5_000, 100), None, "k1", input_end="id-0")])
        assert app.sessions.get("s").agent.tokens == 5_100
        app.ingest.append_records("s", [entry(5, result("c1", "out " * 50))])
        later = app.sessions.get("s").agent
        assert later.tokens > 5_100
        assert later.certainty == "calibrated"


class TestAutomaticPruning:
    """Pruning in the transaction of the append that crosses the target."""

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return settings with a small target, which a few messages cross."""
        return {
            "automatic": True,
            "cap_tokens": 2_000,
            "aim_percent": 1,
            "minimum_gain_percent": 0,
            "fresh_tail": 2,
            **more,
        }

    def test_cuts_to_the_aim_after_each_crossing(self, app: App) -> None:  # X9
        """The answer to the append reports the prune."""
        session = managed(app, settings=self.settings())
        answers = [
            app.ingest.append_messages(session, [wire("assistant", f"{n} " + "word " * 300)])
            for n in range(12)
        ]
        pruned = [answer.prune for answer in answers if answer.prune is not None]
        assert pruned
        assert pruned[0].operation.actor == "automatic"
        assert pruned[0].event is not None
        assert pruned[0].event.reason == "automatic"
        assert app.sessions.get(session).pruned.tokens <= 2_000 + 400
        assert list(app.verify()) == []

    def test_waits_for_the_minimum_gain(self, app: App) -> None:  # X9
        """Nothing is pruned while the gain is too small."""
        session = managed(app, settings=self.settings(minimum_gain_percent=100, fresh_tail=6))
        for n in range(12):
            assert (
                app.ingest.append_messages(session, [wire("assistant", f"{n} " + "word " * 300)]).prune
                is None
            )
        assert app.sessions.get(session).operations == 0

    def test_applies_the_minimum_gain_to_the_capped_limit(self, app: App) -> None:  # X9, X10
        """A cap of 2,000 means a limit of 2,500, of which the minimum gain is a share."""
        session = managed(app, settings=self.settings(minimum_gain_percent=40, aim_percent=60))
        pruned = [
            app.ingest.append_messages(session, [wire("assistant", f"{n} " + "word " * 300)]).prune
            for n in range(12)
        ]
        assert any(pruned)
        assert app.sessions.get(session).aim_tokens == 1_500

    def test_is_off_if_switched_off_for_the_session(self, app: App) -> None:  # X9
        """A session that is not automatic is never pruned by an append."""
        session = managed(app, settings=self.settings())
        app.sessions.patch(session, SessionChange(automatic=False))
        for n in range(12):
            app.ingest.append_messages(session, [wire("assistant", f"{n} " + "word " * 300)])
        assert app.sessions.get(session).prunes == 0

    def test_prunes_the_pruned_view_of_a_followed_session(self, app: App) -> None:
        """The agent's own context does not change."""
        app.ingest.ensure("s", "claude-code", settings=self.settings())
        app.ingest.append_records("s", entries(*(said(f"{n} " + "word " * 300) for n in range(12))))
        session = app.sessions.get("s")
        assert session.prunes >= 1
        assert session.agent.messages == 12
        assert session.pruned.messages < 12
        assert session.state == "warning"


class TestLongIds:
    """Ids beyond what an index of PostgreSQL takes; SQLite refuses them alike."""

    @pytest.fixture(params=["sqlite", "postgresql"])
    def engine(self, request: pytest.FixtureRequest) -> str:
        """Both engines."""
        return str(request.param)

    LONG = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(100))

    @pytest.mark.parametrize(
        "record",
        [
            Entry(user("odd"), LONG),
            UsageReport(usage(100), None, LONG),
            Entry(user("odd"), "odd", stream=f"agent-{LONG}"),
            Meta(parent=LONG),
            Rewind(None, LONG),
            Compaction(None, "auto", None, "c", (Entry(user("odd"), LONG),)),
        ],
        ids=lambda record: type(record).__name__,
    )
    def test_cost_their_row(self, app: App, record: Record) -> None:
        """The note says what was left out; the rows around it are appended."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(1, user("go")), record, entry(2, user("on"))])
        session = app.sessions.get("s")
        assert (session.messages, session.malformed) == (2, 1)
        assert "an id that is too long is left out; at most 2,000 bytes are taken" in session.notes[0]
        assert [row.id for row in app.store.sessions.all()] == ["s"]

    def test_of_sessions_and_files_are_refused(self, app: App) -> None:
        """The error names what is too long, its size and the limit."""
        with pytest.raises(Invalid, match="the id of a session takes 6,400 bytes; expected at most 2,000"):
            app.ingest.ensure(self.LONG, "claude-code")
        with (
            pytest.raises(Invalid, match="the path of a followed file takes 6,400 bytes"),
            app.store.write(),
        ):
            app.store.small.put_file(self.LONG, "s", {}, 1)

    def test_of_an_imported_session_refuse_its_file(self, app: App) -> None:
        """An export of our own that was changed by hand, or comes from a store that took longer ids."""
        followed(app, user("go"), said("ok"))
        data = b"".join(app.exporting.export("s")[2]).replace(b'"id-1"', f'"{self.LONG}"'.encode())
        app.sessions.delete("s")
        with pytest.raises((Invalid, Malformed), match="source_id in entries takes 6,400 bytes"):
            app.importing.import_file("s.jsonl", data)


class TestSizes:
    """Limits on the size of a message, a session and the store."""

    @pytest.fixture
    def small(self, config: Config) -> Iterator[App]:
        """An application that limits a message to 10 kB and a session to 50 kB."""
        made = build(replace(config, max_message=0.01, max_session=0.05))
        yield made
        made.close()

    def test_refuse_a_list_with_a_message_that_is_too_large(self, small: App) -> None:
        """The error has the numbers and the setting; nothing of the list is appended."""
        managed(small, wire("user", "go"), id="m")
        with pytest.raises(TooLarge, match=r"message 2 takes 0\.1 MiB, .* \(max_message\)"):
            small.ingest.append_messages("m", [wire("assistant", "ok"), wire("user", "x" * 90_000)])
        assert small.sessions.get("m").messages == 1

    def test_skip_a_large_message_of_a_transcript(self, small: App) -> None:
        """The message is counted and reported; the others are appended."""
        followed(small, user("go"), said("x" * 90_000), user("on"))
        session = small.sessions.get("s")
        assert (session.messages, session.malformed) == (2, 1)
        assert "max_message" in session.notes[0]

    def test_refuse_to_append_to_a_session_that_is_too_large(self, small: App) -> None:
        """Its messages stay readable and can be pruned."""
        managed(small, wire("user", "go"), id="m")
        for n in range(3):
            small.ingest.append_messages("m", [wire("user", f"{n}" * 9_000)])
        with pytest.raises(TooLarge, match="max_session"):
            small.ingest.append_messages("m", [wire("user", "one more")])
        assert small.sessions.get("m").messages == 4

    def test_refuse_to_append_to_a_store_that_is_too_large(self, config: Config) -> None:
        """Deleting still works."""
        app = build(replace(config, max_store=0.05))
        managed(app, id="m")
        with pytest.raises(TooLarge, match="max_store"):
            app.ingest.append_messages("m", [wire("user", "x")])
        app.sessions.delete("m")
        app.close()
