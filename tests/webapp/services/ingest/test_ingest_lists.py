"""Message lists that programs append: in any wire format, once per key, completely or not at all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from scoring.errors import MalformedMessage
from scoring.formats import validate
from tests.webapp.building import followed, heard, managed, user, wire
from webapp.app import App
from webapp.config import Config
from webapp.errors import BusyStore, Conflict
from webapp.events import MessagesAppended, SessionCreated
from webapp.services.ingest.answers import Appended
from webapp.wiring import build


class TestMessageLists:
    """Message lists that a program appends."""

    def test_are_accepted_in_any_wire_format(self, app: App) -> None:
        """The context returns the same objects."""
        blocks = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"p": 1}}]
        messages = [
            {
                "role": "user",
                "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}],
            },
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "out"}]},
        ]
        session = managed(app)
        answer = app.ingest.append_messages(session, messages)
        assert (answer.added, len(answer.ids)) == (3, 3)
        assert app.context.get(session).messages == messages

    def test_have_the_time_of_their_arrival(self, app: App) -> None:  # C3, M6
        """Rows, chart and summaries use that time."""
        session = managed(app)
        talk = [wire("user" if n % 2 == 0 else "assistant", f"{n} " * 200) for n in range(30)]
        app.ingest.append_messages(session, talk, {"input_tokens": 9_000})
        now = app.sessions.get(session).last_activity
        assert now is not None
        assert {m.at for m in app.messages.page(session).messages} == {now}
        assert {p.at for p in app.timelines.of(session).points} == {now}
        app.summarising.summarise(session)
        assert f", covers {now[:10]} to {now[:10]}]" in app.context.get(session).messages[0]["content"]

    @pytest.mark.parametrize("named", [{}, {"name": "look"}, {"tool_name": "look"}])
    @pytest.mark.parametrize("ids", [{}, {"id": "c1"}])
    def test_keep_results_without_an_id_with_their_call(
        self, app: App, named: dict[str, str], ids: dict[str, str]
    ) -> None:  # P4
        """Ollama's results have at most the tool's name; each is one unit with its call, sent at once or one by one."""
        calls: list[dict[str, Any]] = [
            {"function": {"name": "look", "arguments": {"at": n}}} for n in range(2)
        ]
        calls[0] |= ids
        answer = {"role": "assistant", "content": "", "tool_calls": calls}
        results = [{"role": "tool", "content": f"{n} " * 50, **named} for n in range(2)]
        talk = [wire("user", "Look."), answer, *results, wire("assistant", "Done."), wire("user", "Thanks.")]
        at_once, one_by_one = managed(app, *talk), managed(app)
        for message in talk:
            app.ingest.append_messages(one_by_one, [message])
        for session in (at_once, one_by_one):
            units = sorted(m.unit for m in app.messages.page(session).messages)
            assert units == [1, 2, 2, 2, 5, 6]
            assert validate(app.context.get(session).messages, "openai") == []
        app.ingest.append_messages(one_by_one, talk, whole=True)
        assert app.sessions.get(one_by_one).messages == len(talk)

    def test_keep_equal_messages(self, app: App) -> None:
        """Two equal messages are two messages."""
        session = managed(app, wire("user", "yes"), wire("assistant", "ok"), wire("user", "yes"))
        app.ingest.append_messages(session, [wire("user", "yes")])
        assert app.sessions.get(session).messages == 4

    def test_under_a_key_are_appended_once(self, app: App) -> None:
        """The same request again gets the same answer; another one under the key is refused."""
        session = managed(app)
        first = app.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k")
        assert app.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k") == first
        assert app.sessions.get(session).messages == 1
        with pytest.raises(Conflict, match="other messages"):
            app.ingest.append_messages(session, [wire("user", "ho")], idempotency_key="k")

    def test_under_a_key_are_stored_together_with_the_answer(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If the answer cannot be stored, nothing is appended, so a retry appends once."""
        session = managed(app)
        put = app.store.small.put_answer
        left = [BusyStore("another process is writing; try again")]

        def busy_once(*values: Any) -> None:
            if left:
                raise left.pop()
            put(*values)

        monkeypatch.setattr(app.store.small, "put_answer", busy_once)
        with pytest.raises(BusyStore):
            app.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k")
        assert app.sessions.get(session).messages == 0
        answer = app.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k")
        assert (answer.added, app.sessions.get(session).messages) == (1, 1)

    def test_under_a_key_are_appended_once_by_two_processes(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second process returns the answer of the first, even if both had started."""
        session, other = managed(app), build(config)
        first: list[Appended] = []
        write = app.ingest._writer._write

        def later(*values: Any) -> Any:
            if not first:
                first.append(other.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k"))
            return write(*values)

        monkeypatch.setattr(app.ingest._writer, "_write", later)
        assert app.ingest.append_messages(session, [wire("user", "hi")], idempotency_key="k") == first[0]
        assert app.sessions.get(session).messages == 1
        other.close()

    def test_keep_equal_messages_of_two_processes(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An equal message that another process appends meanwhile is another message."""
        session, other = managed(app), build(config)
        clock, already = app.environment.clock, list[Appended]()

        def later() -> int:
            if not already:
                already.append(other.ingest.append_messages(session, [wire("user", "hi")]))
            return clock()

        monkeypatch.setattr(app.environment, "clock", later)
        assert app.ingest.append_messages(session, [wire("user", "hi")]).added == 1
        assert app.sessions.get(session).messages == 2
        other.close()

    def test_that_return_to_an_earlier_branch_are_the_context_again(self, app: App) -> None:
        """The context is the last whole list, however often it goes back and forth; a repeat changes nothing."""
        session, talk = managed(app), [wire("user", word) for word in "abcde"]
        branch = [*talk[:2], wire("user", "another way")]
        seen, wanted = list[tuple[Any, int]](), list[tuple[Any, int]]()
        for operations, end in enumerate(
            (talk[:3], talk[:2], talk[:3], talk[3:4], talk, branch, talk, talk[:4])
        ):
            for _ in range(2):
                app.ingest.append_messages(session, end, whole=True)
                seen.append((app.context.get(session).messages, app.sessions.get(session).operations))
                wanted.append((end, operations))
        assert seen == wanted

    def test_that_return_in_part_can_go_on_one_by_one(self, app: App) -> None:
        """A message that is appended after a shorter list follows that list's end."""
        session, talk = managed(app), [wire("user", word) for word in "abc"]
        app.ingest.append_messages(session, talk, whole=True)
        app.ingest.append_messages(session, talk[:2], whole=True)
        app.ingest.append_messages(session, [wire("user", "d")])
        app.ingest.append_messages(session, [*talk[:2], wire("user", "d"), wire("user", "e")], whole=True)
        texts = [message["content"] for message in app.context.get(session).messages]
        assert (texts, app.sessions.get(session).operations) == (["a", "b", "d", "e"], 1)

    def test_replace_a_branch_that_another_process_appends_meanwhile(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If two programs send a whole list each, the context is one of them, never a mix."""
        begun = [wire("user", "hi"), wire("assistant", "hello")]
        session, other = managed(app), build(config)
        app.ingest.append_messages(session, begun, whole=True)
        clock, already = app.environment.clock, list[Appended]()

        def later() -> int:
            if not already:
                theirs = [*begun, wire("user", "one way")]
                already.append(other.ingest.append_messages(session, theirs, whole=True))
            return clock()

        monkeypatch.setattr(app.environment, "clock", later)
        ours = [*begun, wire("user", "another way")]
        app.ingest.append_messages(session, ours, whole=True)
        assert app.context.get(session).messages == ours
        other.close()

    def test_are_appended_despite_another_process(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An append that always comes second is still stored."""
        session, other = managed(app), build(replace(config, busy_seconds=0.05))
        write = app.ingest._writer._write

        def later(*values: Any) -> Any:
            with suppress(BusyStore):
                other.ingest.append_messages(session, [wire("user", "ho")])
            return write(*values)

        monkeypatch.setattr(app.ingest._writer, "_write", later)
        assert app.ingest.append_messages(session, [wire("user", "hi")]).added == 1
        assert app.context.get(session).messages[-1] == wire("user", "hi")
        other.close()

    def test_set_the_total_by_their_usage(self, app: App) -> None:  # X11
        """The total is the reported input and output."""
        session = managed(app, wire("user", "hi"))
        reported = {"prompt_tokens": 900, "completion_tokens": 30}
        stats = app.ingest.append_messages(session, [wire("assistant", "hello")], usage=reported).stats
        assert (stats.tokens, stats.certainty) == (930, "exact")

    def test_that_are_broken_change_nothing(self, app: App) -> None:
        """All messages are appended or none."""
        session = managed(app, wire("user", "hi"))
        with pytest.raises(MalformedMessage, match="message 1"):
            app.ingest.append_messages(session, [wire("user", "ok"), {"role": "user", "content": 7}])
        assert app.sessions.get(session).messages == 1

    def test_are_refused_in_a_followed_session(self, app: App) -> None:
        """A followed session grows by its transcript only."""
        followed(app, user("go"))
        with pytest.raises(Conflict, match="transcript"):
            app.ingest.append_messages("s", [wire("user", "hi")])

    def test_are_announced(self, app: App) -> None:
        """The new session and its messages each cause an event."""
        events = heard(app)
        managed(app, wire("user", "hi"))
        assert isinstance(events[0], SessionCreated)
        assert any(isinstance(e, MessagesAppended) and e.message_nos == (1,) for e in events)
