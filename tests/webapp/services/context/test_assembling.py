"""The context as it is sent to the model."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from scoring.formats import FORMATS, validate
from tests.shared import shared_data
from tests.webapp.building import call, conversation, followed, managed, mid, result, said, user, wire
from webapp.app import App
from webapp.bodies import ModelRow, PlanBody, PruneBody
from webapp.errors import Invalid
from webapp.services.context import assembling, wire_lists


def thoughtful(n: int) -> list[dict[str, Any]]:
    """Return a turn of Claude with a signed thought."""
    thought = {"type": "thinking", "thinking": "hm", "signature": f"{n}" * 40}
    blocks = [thought, {"type": "text", "text": f"answer {n}"}]
    return [wire("user", f"question {n}"), {"role": "assistant", "content": blocks}]


def thinking(app: App, session: str) -> list[str]:
    """Return the first characters of the signatures in the context."""
    blocks = (b for m in app.context.get(session).messages for b in m["content"] if isinstance(b, dict))
    return [block["signature"][0] for block in blocks if block["type"] == "thinking"]


class TestThoughts:
    """Newer Claude models refuse a thought after any other history than its own."""

    def test_from_before_a_change_are_left_out(self, app: App) -> None:  # X6
        """Those that the model has later stay until the next change, and all else stays as it was."""
        listed = [*thoughtful(1), *thoughtful(2), wire("user", "next")]
        session = managed(app, *listed)
        assert app.context.get(session).messages == listed
        app.by_hand.drop(session, mid(app, session, 2))
        bare = {"role": "assistant", "content": listed[3]["content"][1:]}
        assert app.context.get(session).messages == [listed[0], listed[2], bare, listed[4]]
        app.ingest.append_messages(session, [thoughtful(3)[1], *thoughtful(4)])
        assert thinking(app, session) == ["4"]
        app.operations.undo(session)
        assert thinking(app, session) == []
        app.ingest.append_messages(session, thoughtful(5))
        assert thinking(app, session) == ["5"]

    def test_outlive_a_change_of_flags(self, app: App) -> None:  # X6
        """A pin changes nothing that the model gets."""
        session = managed(app, *thoughtful(1), *thoughtful(2))
        app.by_hand.pin(session, mid(app, session, 1))
        assert thinking(app, session) == ["1", "2"]

    def test_of_the_next_answer_stay_if_no_call_runs(self, app: App) -> None:  # X6
        """After an answer the next call is made with the changed context."""
        session = managed(app, *thoughtful(1), *thoughtful(2))
        app.by_hand.drop(session, mid(app, session, 2))
        app.ingest.append_messages(session, thoughtful(3))
        assert thinking(app, session) == ["3"]

    def test_alone_in_a_message_leave_nothing_of_it(self, app: App) -> None:  # X6
        """The list has no message without content."""
        alone = {"role": "assistant", "content": thoughtful(2)[1]["content"][:1]}
        session = managed(app, *thoughtful(1), wire("user", "go"), alone, *thoughtful(3))
        app.by_hand.drop(session, mid(app, session, 2))
        assert all(message["content"] for message in app.context.get(session).messages)


class TestContext:
    """The assembled context in any wire format."""

    def test_returns_the_appended_messages_unchanged(self, app: App) -> None:
        """Unknown fields stay, and only dropped messages are missing."""
        messages = [{**wire("user", "a"), "extra": 1}, wire("assistant", "b"), wire("user", "c")]
        session = managed(app, *messages)
        assert app.context.get(session).messages == messages
        app.by_hand.drop(session, mid(app, session, 2))
        assert app.context.get(session).messages == [messages[0], messages[2]]

    @pytest.mark.parametrize("model", ["claude-sonnet-4-6", "gemini-2.5-pro"])
    def test_begins_with_the_user_where_the_model_asks(self, app: App, model: str) -> None:  # X6
        """LangChain sends a list to the provider in the order that it has."""
        turn = [{"type": "human", "content": "go"}, {"type": "ai", "content": "done"}]
        session = managed(app, *turn * 3, model=model)
        app.by_hand.drop(session, mid(app, session, 1))
        assert [m["type"] for m in app.context.get(session).messages[:2]] == ["human", "ai"]

    def test_is_validated_without_decoding_unchanged_objects(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X6
        """Only objects in another format are decoded again."""
        session = managed(app, wire("user", "a"), wire("assistant", "b"), wire("user", "c"))
        said: list[Any] = []

        def spy(listed: list[Any], name: str, **rest: Any) -> list[str]:
            said.append(rest["decoded"])
            return validate(listed, name, **rest)

        monkeypatch.setattr("webapp.services.context.wire_lists.validate", spy)
        app.context.get(session)
        app.context.get(session, "gemini")
        assert [m.text for m in said[0]] == ["a", "b", "c"]
        assert said[1] is None

    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_is_valid_for_every_format(self, app: App, name: str) -> None:  # X6
        """The context is valid after any prune."""
        followed(app, *conversation(10), user("end"))
        app.prunes.apply("s", PruneBody(max_tokens=600))
        made = app.context.get("s", name)
        assert made.format == name
        assert validate(made.messages, name, ready=False) == []

    @pytest.mark.parametrize(
        ("strange", "sent"),
        [
            ({"content": "b", "tool_calls": []}, {"role": "assistant", "content": "b"}),
            ({"content": None, "tool_calls": []}, None),
            ({"content": None}, None),
            ({"content": []}, None),
        ],
    )
    def test_rewrites_messages_that_no_provider_accepts(
        self, app: App, strange: Any, sent: Any
    ) -> None:  # X6
        """Invalid answers of some servers are rewritten, empty messages left out, and others unchanged."""
        first = {**wire("user", "a"), "extra": 1}
        session = managed(app, first, {"role": "assistant", **strange}, wire("user", "c"))
        made = app.context.get(session)
        assert made.messages == [one for one in (first, sent, wire("user", "c")) if one is not None]
        assert validate(made.messages, "openai") == []
        assert re.match(r"message 1: invalid in openai \((tool_calls|content) is ", made.notes[0])

    def test_rewrites_no_other_message(self, app: App) -> None:  # X6
        """Thoughts of a running tool loop and cache markers stay, wherever the invalid message is."""
        odd = {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": ""}]}
        loop: list[Any] = []
        for n in (1, 2):
            thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
            asked = {"type": "tool_use", "id": f"c{n}", "name": "f", "input": {}}
            answer = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "out"}
            loop += [
                {"role": "assistant", "content": [thought, asked]},
                {"role": "user", "content": [{**answer, "cache_control": {"type": "ephemeral"}}]},
            ]
        listed = [wire("user", "a"), odd, wire("user", "b"), *loop]
        made = app.context.get(managed(app, *listed, id="x", format="anthropic"), "anthropic")
        assert made.messages == [listed[0], wire("assistant", "x"), *listed[2:]]
        assert [note.partition(" (")[0] for note in made.notes] == ["message 1: invalid in anthropic"]

    def test_rewrites_a_message_with_its_images(self, app: App) -> None:  # X6
        """An image in an invalid message is sent with its bytes."""
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cGljdHVyZQ=="}}
        session = managed(app, {"role": "user", "content": [image], "tool_calls": []}, wire("user", "c"))
        made = app.context.get(session, "openai")
        assert "rewritten" in made.notes[0]
        assert made.messages[0] == {"role": "user", "content": [image]}

    @pytest.mark.parametrize("content", [None, [], ""])
    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
    def test_says_which_empty_message_is_left_out(self, app: App, content: Any, name: str) -> None:  # X6
        """It is named by its place in the caller's list; no opening line is made up because it came first."""
        empty, task = {"role": "user", "content": content, "extra": 1}, wire("user", "task")
        answer = wire("assistant", "a")
        made = app.context.get(managed(app, empty, task, answer, empty, id="x", format="openai"), name)
        places = [note.partition(":")[0] for note in made.notes if note.endswith("left out")]
        accepted = content == "" and name == "openai"
        assert places == ([] if accepted else ["message 0", "message 3"])
        assert len(made.messages) == (4 if accepted else 2)

    def test_counts_places_without_the_opening_line(self, app: App) -> None:  # X6
        """A line put before the list does not move the places of the caller's messages."""
        session = managed(
            app, wire("assistant", "a"), wire("user", ""), wire("user", "b"), id="x", format="anthropic"
        )
        made = app.context.get(session, "anthropic")
        assert [note.partition(":")[0] for note in made.notes[1:]] == ["message 1"]

    def test_leaves_out_messages_without_blocks(self, app: App) -> None:  # X6
        """Anthropic accepts no empty list of blocks from either side."""
        empty = [{"role": "assistant", "content": []}, {"role": "user", "content": []}]
        blocks = {
            "role": "user",
            "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
        }
        session = managed(app, blocks, *empty, wire("assistant", "b"), wire("user", "c"))
        made = app.context.get(session, "anthropic").messages
        assert [m["role"] for m in made] == ["user", "assistant", "user"]

    def test_repairs_calls_without_results(self, app: App) -> None:  # P4
        """The repair is noted, and the log stays unchanged."""
        followed(app, user("go"), call("c1"), user("never mind"), result("zzz", "orphan"), user("end"))
        made = app.context.get("s", "openai")
        assert made.notes
        assert validate(made.messages, "openai") == []
        assert app.sessions.get("s").messages == 5

    def test_puts_the_system_prompt_in_the_body(self, app: App) -> None:
        """Anthropic's format has the prompt outside the list of messages."""
        session = managed(app, {"role": "user", "content": "hi"}, system="be brief", id="x")
        made = app.context.get(session, "anthropic")
        assert [m["role"] for m in made.messages] == ["user"]
        assert made.envelope == {"system": "be brief"}

    def test_reports_a_context_over_the_limit(self, app: App) -> None:  # B7
        """The answer has the tokens and the limit."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, wire("system", "word " * 9_000), wire("user", "hi"), model="small")
        made = app.context.get(session)
        assert made.over_budget.tokens == made.tokens > made.over_budget.limit == 8_192
        assert "the model accepts 8,192" in made.over_budget.message

    def test_cuts_a_newest_message_that_exceeds_the_budget(self, app: App) -> None:  # C5, C2
        """The cut is marked, and the log keeps the whole message."""
        app.models.put("small", ModelRow(window=8_192))
        session = managed(app, wire("user", "word " * 9_000), model="small")
        made = app.context.get(session)
        assert made.newest_cut
        assert made.over_budget is None
        assert made.tokens <= made.budget.usable
        assert "characters left out" in made.messages[0]["content"]
        assert b"".join(app.exporting.export(session)[2])

    def test_of_the_same_state_is_identical(self, app: App) -> None:  # P9, C1
        """Two reads of a summarised session with a memory are equal to the byte."""
        followed(app, *conversation(12), user("please change the parser"))
        app.memory.add("memory", "the parser lives in src/parser.py")
        app.summarising.summarise("s")
        first, second = (app.context.get("s", "anthropic") for _ in range(2))
        assert orjson.dumps(first.messages) == orjson.dumps(second.messages)
        assert (first.version, first.envelope) == (second.version, second.envelope)

    def test_has_the_time_of_its_version(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:  # P9
        """An operation while the list is encoded is no part of it."""
        followed(app, *conversation(12))
        before, encoded = app.context.get("s"), wire_lists.wire_list

        def later(*of: Any) -> Any:
            app.by_hand.pin("s", mid(app, "s", 2))
            return encoded(*of)

        monkeypatch.setattr(assembling, "wire_list", later)
        after = app.context.get("s")
        assert (after.version, after.as_of) == (before.version, before.as_of)

    def test_leaves_out_the_oldest_messages_over_the_budget(self, app: App) -> None:  # C5
        """The answer names the messages left out; the pruned view does not change."""
        app.models.put("small", ModelRow(window=8_192))
        talk = [wire("user" if n % 2 == 0 else "assistant", f"word{n} " * 80) for n in range(40)]
        session = managed(app, *talk, model="small")
        made = app.context.get(session)
        assert made.left_out
        assert made.over_budget is None
        assert made.tokens <= made.budget.usable
        assert made.messages[-1] == talk[-1]
        assert len(app.store.contexts.items(app.store.sessions.get(session).key, 1)) == 40

    def test_leaves_out_messages_by_the_keywords_of_the_task_type(self, app: App) -> None:  # B18
        """Stored keyword ratings that are stale are computed again, as for a plan."""
        app.models.put("small", ModelRow(window=8_192))
        app.settings.put({"strategy": "score", "user_words_tokens": 0})
        talk = [wire("user" if n % 2 == 0 else "assistant", f"word{n} " * 80) for n in range(40)]
        talk[3] = wire("assistant", "marmalade " + "word3 " * 80)
        session = managed(app, *talk, model="small")
        assert talk[3] not in app.context.get(session).messages
        words = [{"name": "fruit", "share": 1.0, "words": ["marmalade"]}]
        heavy = {"recency": 10.0, "role": 0.0, "keywords": 90.0, "length": 0.0, "relevance": 0.0}
        app.settings.put({"task_types": {"chat": {"keywords": words, "weights": heavy}}})
        assert talk[3] in app.context.get(session).messages

    def test_has_a_message_of_the_user_even_if_none_is_left(self, app: App) -> None:  # X6
        """Every provider requires one."""
        followed(app, said("only me"))
        made = app.context.get("s", "openai")
        assert made.messages[0]["role"] == "user"
        assert made.notes

    def test_refuses_an_unknown_format(self, app: App) -> None:
        """The error names the unknown format."""
        followed(app, user("hi"))
        with pytest.raises(Invalid, match="morse"):
            app.context.get("s", "morse")


class TestRealSessions:
    """Contexts of the shared real sessions."""

    def test_are_valid_in_every_format(self, app: App) -> None:  # X6
        """They are valid before and after a prune."""
        root = shared_data("transcripts")
        files = [
            *root.glob("claude-code/projects/*/*.jsonl"),
            *root.glob("codex/**/*.jsonl"),
            *root.glob("openai-chat/*.json"),
        ]
        for file in files:
            if file.stat().st_size == 0:
                continue
            for imported in app.importing.import_file(str(file), file.read_bytes()):
                session = imported.session_id
                assert faults(app, session) == {}
                tokens = app.sessions.get(session).pruned.tokens
                if app.prunes.plan(session, PlanBody(max_tokens=tokens // 2)).removed_count:
                    app.prunes.apply(session, PruneBody(max_tokens=tokens // 2))
                    assert faults(app, session) == {}
        assert list(app.verify()) == []


def faults(app: App, session: str) -> dict[str, list[str]]:
    """Return the faults of a session's context in each format that has any."""
    found = {
        name: validate(app.context.get(session, name).messages, name, ready=False) for name in sorted(FORMATS)
    }
    return {name: list(of_format) for name, of_format in found.items() if of_format}
