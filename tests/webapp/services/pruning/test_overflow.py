"""The emergency cut of a session."""

from __future__ import annotations

import pytest

from tests.webapp.building import context_numbers, conversation, followed, heard, managed, user, wire
from webapp.app import App
from webapp.bodies import ModelRow, SessionChange
from webapp.errors import Conflict
from webapp.events import ContextPruned, ContextSummarized
from webapp.services.session.session import Session


class TestOverflow:
    """The emergency cut, as after an overflow that the provider reports."""

    def test_drops_the_oldest_turns(self, app: App) -> None:  # P6
        """Half of the messages go, and a note replaces them in the context."""
        followed(app, *conversation(6), user("end"))
        made = app.overflow.relieve("s")
        assert made.emergency.dropped == 12
        assert made.emergency.note == "Emergency compression dropped 12 oldest messages"
        assert context_numbers(app, "s")[1:] == list(range(13, 26))
        text = str(app.context.get("s", "openai").messages[0])
        assert "Emergency compression dropped 12 oldest messages" in text
        assert list(app.verify()) == []

    def test_announces_the_summary_of_what_it_drops(self, app: App) -> None:  # P6, B14
        """Its event, its history and the event of the summary have the same counts."""
        followed(app, *conversation(6), user("end"))
        events = heard(app)
        made = app.overflow.relieve("s")
        pruned = next(e for e in events if isinstance(e, ContextPruned))
        summarised = next(e for e in events if isinstance(e, ContextSummarized))
        assert (pruned.removed, pruned.summarised, summarised.summarized, summarised.kept) == (12, 12, 12, 13)
        assert (made.operation.summarised, made.operation.summary) == (12, 1)
        assert made.message.startswith("12 messages summarised in ")

    @pytest.mark.parametrize(
        "compacted",
        [
            {"role": "assistant", "content": [{"type": "compaction", "content": "What was done."}]},
            {"type": "compaction", "id": "c", "encrypted_content": "gAAA" * 50},
        ],
        ids=["Anthropic", "OpenAI"],
    )
    def test_keeps_what_the_provider_compacted(self, app: App, compacted: dict[str, object]) -> None:
        """It stands for all that came before, also where nothing else shows the format of the list."""
        turn = [wire("user", "go on"), wire("assistant", "done " * 50)]
        session = managed(app, wire("user", "begin"), compacted, *turn * 7)
        app.overflow.relieve(session)
        listed = app.context.get(session).messages
        assert 3 not in context_numbers(app, session)
        assert "[Summary" in listed[listed.index(compacted) + 1]["content"]

    def test_fits_the_usable_tokens(self, app: App) -> None:  # S5, C5
        """Cut messages are shorter in the context, and complete in the log."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, *[wire("user", f"word{n} " * 3_000) for n in range(6)], model="small")
        made = app.overflow.relieve(session)
        usable = Session.load(app.environment, session).usable_estimate
        built = app.context.get(session)
        assert built.over_budget is None
        assert made.emergency.cut_protected
        assert app.store.sessions.get(session).next_no == 7
        assert built.tokens <= usable + 1
        assert list(app.verify()) == []

    def test_fits_beside_an_earlier_summary(self, app: App) -> None:  # S5, C5
        """A stored summary is kept whole or dropped, so nothing counts on a shorter one."""
        session = managed(app, *[wire("user", f"word{n} " * 300) for n in range(60)])
        app.sessions.patch(session, SessionChange(window=8_000))
        app.overflow.relieve(session)
        app.sessions.patch(session, SessionChange(window=6_000))
        made = app.overflow.relieve(session).operation
        assert made.tokens_after <= made.max_tokens
        assert app.context.get(session).over_budget is None
        with pytest.raises(Conflict, match="the context fits; there is nothing to take out"):
            app.overflow.relieve(session, reported=False)
        assert list(app.verify()) == []

    def test_notes_the_size_that_it_cut_to(self, app: App) -> None:  # S5, X11
        """It is one of the whole context in the tokens of the model, as of any other prune."""
        app.models.put("small", ModelRow(window=16_000))
        tools = [{"name": f"tool{n}", "description": "does things " * 40} for n in range(20)]
        session = managed(app, model="small", tools=tools)
        for n in range(8):
            turn = [wire("user", f"word{n} " * 800), wire("assistant", "done")]
            app.ingest.append_messages(session, turn, usage={"prompt_tokens": 1_500 * (n + 2)})
        made = app.overflow.relieve(session, reported=False).operation
        usable = Session.load(app.environment, session).usable_shown
        assert made.tokens_after <= made.max_tokens <= usable < made.tokens_before

    def test_is_one_operation_that_can_be_undone(self, app: App) -> None:  # X2
        """Undo restores the context before."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, *[wire("user", f"word{n} " * 3_000) for n in range(6)], model="small")
        before = app.context.get(session).messages, app.sessions.get(session).pruned.tokens
        n = app.overflow.relieve(session).operation.n
        app.operations.undo(session, n)
        after = app.context.get(session).messages, app.sessions.get(session).pruned.tokens
        assert after == before
        assert list(app.verify()) == []

    def test_is_announced_as_an_emergency(self, app: App) -> None:  # B14
        """The event has the ids of the dropped messages."""
        followed(app, *conversation(6), user("end"))
        events = heard(app)
        app.overflow.relieve("s")
        event = next(e for e in events if isinstance(e, ContextPruned))
        assert (event.reason, event.removed, len(event.removed_ids)) == ("emergency", 12, 12)

    def test_refuses_a_system_prompt_that_is_too_large(self, app: App) -> None:  # C5
        """The error has the numbers, and nothing changes."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, wire("system", "word " * 9_000), wire("user", "hi"), model="small")
        with pytest.raises(Conflict, match=r"the system prompt alone takes [\d,]+ tokens"):
            app.overflow.relieve(session)
        assert context_numbers(app, session) == [1, 2]

    def test_refuses_it_with_the_numbers_of_its_bar(self, app: App) -> None:  # C5, X11
        """After real usage both are in the tokens of the model."""
        session = managed(app, wire("system", "word " * 6_000), model="gpt-5")
        for n in range(8):
            turn = [wire("user", f"word{n} " * 400), wire("assistant", "done")]
            app.ingest.append_messages(session, turn, usage={"prompt_tokens": 10_000 + 900 * n})
        app.sessions.patch(session, SessionChange(window=12_000))
        shown = {one.name: one.tokens for one in app.sessions.get(session).pruned.regions}
        row = app.messages.by_number(session, [1])[0]
        assert row.tokens == shown["system"]
        with pytest.raises(Conflict, match=f"the system prompt alone takes {row.tokens:,} tokens"):
            app.overflow.relieve(session)

    def test_refuses_a_context_without_anything_to_drop(self, app: App) -> None:
        """A single message that fits is left as it is; so is every context that fits and that no provider refused."""
        followed(app, user("hi"))
        with pytest.raises(
            Conflict, match="the context fits and has a single turn; there is nothing to take out"
        ):
            app.overflow.relieve("s")
        with pytest.raises(Conflict, match="the context fits; there is nothing to take out"):
            app.overflow.relieve("s", reported=False)

    def test_refuses_tool_definitions_that_are_too_large(self, app: App) -> None:  # C5, S6
        """The error has the numbers, because dropping messages would not help."""
        app.models.put("small", ModelRow(window=8_192))
        tools = [{"name": f"tool{n}", "input_schema": {"description": "word " * 400}} for n in range(10)]
        session = managed(app, wire("user", "hi"), wire("user", "ho"), model="small", tools=tools)
        alone = r"the system prompt and the tool definitions alone take 4,\d{3} tokens, \d+ more than the 3,277 usable"
        with pytest.raises(Conflict, match=alone):
            app.overflow.relieve(session)
        assert context_numbers(app, session) == [1, 2]

    def test_refuses_to_empty_the_context(self, app: App) -> None:  # P6, C2
        """If not even the newest message fits after a cut, the context stays and the error has the numbers."""
        app.models.put("small", ModelRow(window=4_555))
        session = managed(app, wire("user", "word " * 300), wire("user", "word " * 300), model="small")
        with pytest.raises(Conflict, match="not even the newest message fits in the 4 tokens"):
            app.overflow.relieve(session)
        assert context_numbers(app, session) == [1, 2]

    def test_prefers_the_newest_message_to_a_summary(self, app: App) -> None:  # P6
        """If the system prompt leaves little room, the newest message gets it."""
        app.models.put("small", ModelRow(window=32_768))
        prompt = wire("system", "use src/parser.py " * 4_350)
        rest = [wire("user", f"{n} " + "use src/parser.py " * 40) for n in range(8)]
        session = managed(app, prompt, *rest, model="small")
        app.overflow.relieve(session)
        assert {1, 9} <= set(context_numbers(app, session))
        assert app.context.get(session).over_budget is None

    def test_keeps_older_messages_if_the_newest_unit_cannot_fit(self, app: App) -> None:  # X6, S5
        """The newest message belongs to a call that is too large, so older messages stay."""
        app.models.put("small", ModelRow(window=8_192))
        call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "word " * 9_000}}
        result = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
        words = {"type": "text", "text": "Delete nothing, please."}
        session = managed(
            app,
            {"role": "user", "content": [{"type": "text", "text": "start"}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result, words]},
            model="small",
        )
        app.overflow.relieve(session)
        assert 1 in context_numbers(app, session)
        assert app.context.get(session).over_budget is None
        assert list(app.verify()) == []

    def test_refuses_a_window_without_usable_tokens(self, app: App) -> None:  # C5
        """The error says what takes the whole window."""
        session = managed(app, wire("user", "hi"), wire("user", "ho"), model="gpt-4")
        app.settings.put({"response_reserve": 16_000})
        with pytest.raises(
            Conflict, match="nothing of the window of 8,192 tokens is usable beside the answer"
        ):
            app.overflow.relieve(session)

    def test_subtracts_tool_definitions_from_the_usable_tokens(self, app: App) -> None:  # S6, C5
        """Tool definitions reduce the tokens available to messages."""
        app.models.put("small", ModelRow(window=16_000))
        tools = [{"name": f"tool{n}", "input_schema": {"description": "word " * 400}} for n in range(10)]
        said = [wire("user", f"word{n} " * 3_000) for n in range(4)]
        session = managed(app, *said, model="small", tools=tools)
        app.overflow.relieve(session)
        loaded = Session.load(app.environment, session)
        assert loaded.pruned.estimate <= loaded.usable_estimate
        assert app.context.get(session).over_budget is None
