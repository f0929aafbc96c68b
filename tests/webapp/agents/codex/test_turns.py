"""The user's words in Codex's history, and the turns that a rollback removes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.agents.samples import facts, fed, of, said
from webapp.agents.codex.decoder import Decoder
from webapp.agents.codex.turns import SUMMARY_START, Turns, is_injected, turns_of
from webapp.agents.records import Entry, Meta, Rewind

ENVIRONMENT = "<environment_context>\n<cwd>/q</cwd>\n</environment_context>"
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def message(role: str, *contents: str | dict[str, Any], kinds: list[str] | None = None) -> dict[str, Any]:
    """Return a message, with the kinds of its content blocks if they are given."""
    blocks = [{"type": "input_text", "text": c} if isinstance(c, str) else c for c in contents]
    passed_on = {} if kinds is None else {"content_item_kinds": kinds}
    return {
        "type": "message",
        "role": role,
        "content": blocks,
        "internal_chat_message_metadata_passthrough": passed_on,
    }


class TestTheUsersWords:
    """The words of the user among what Codex writes in the user's role."""

    @pytest.mark.parametrize(
        "text",
        [
            ENVIRONMENT,
            "# AGENTS.md instructions for /p",
            '<codex_internal_context source="goal">\nGo on.\n</codex_internal_context>',
            "<goal_context>\nGo on.\n</goal_context>",
            '<hook_prompt hook_run_id="h1">Run the tests.</hook_prompt>',
            "<extension_context>x</extension_context>",
            "<external_editor>x</external_editor>",
            "<application_context>x</application_context>",
            "<subagents>x</subagents>",
            "<recommended_plugins>x</recommended_plugins>",
            "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
            f"{SUMMARY_START} and left notes.",
            "<user_action>\n<action>review</action>\n<results>None.</results>\n</user_action>",
        ],
    )
    @pytest.mark.parametrize(
        "kinds", [None, [], ["unknown"], [""], ["hooks.additional_context", "user.text"]]
    )
    def test_are_told_by_tags_where_kinds_say_nothing(
        self, text: str, kinds: list[str] | None
    ) -> None:  # X12
        """Older versions name no kinds; a list of another length than the content says nothing either."""
        item = message("user", text, kinds=kinds)
        assert is_injected(item)
        assert turns_of(item).words is None
        spoken = message("user", "List the beds.", kinds=kinds)
        assert not is_injected(spoken)
        assert turns_of(spoken).words == "List the beds."

    @pytest.mark.parametrize(
        ("kind", "injected"),
        [
            ("user.text", False),
            ("user.goal", False),
            ("images.preparation_error", False),
            ("images.unsupported", False),
            ("audio.unsupported", False),
            ("hooks.additional_context", True),
            ("agents_md.instructions", True),
            ("skills.selected_skill_instructions", True),
        ],
    )
    def test_are_told_by_kinds(self, kind: str, injected: bool) -> None:  # X12
        """The kind decides, whatever the text looks like."""
        for text in ("Look here.", "<memory-leak.log> please analyse this file"):
            item = message("user", text, kinds=[kind])
            assert is_injected(item) == injected
            assert turns_of(item).words == (None if injected else text)

    def test_that_begin_with_a_tag_are_the_title(self) -> None:  # X12
        """A prompt that is marked as the user's is not taken for a notice of Codex."""
        text = "<memory-leak.log> please analyse this file"
        row = {"type": "response_item", "payload": message("user", text, kinds=["user.text"])}
        records = fed(Decoder(), [row])
        assert said(records) == [("user", text)]
        assert facts(records, Meta, "title") == [text]

    def test_follow_the_context_of_an_editor(self) -> None:
        """The user's words come after its heading; other messages have none."""
        text = "# Context from my IDE setup:\nx\n## My request for Codex:\nfix it"
        assert turns_of(message("user", text)).words == "fix it"
        assert turns_of(message("user", ENVIRONMENT, text)).words == "fix it"
        assert turns_of(message("assistant", "x")).words is None
        assert turns_of({"type": "agent_message", "content": [{"text": "x"}]}).words is None


class TestATurn:
    """The items that begin a turn of Codex, and those written for the turn after them."""

    @pytest.mark.parametrize(
        "item",
        [
            message("user", "Go."),
            message("user", PICTURE),
            message("user", f"{SUMMARY_START} and left notes."),
            message("user", "<user_action>\n<action>review</action>\n</user_action>"),
            message("user", ENVIRONMENT, "Go.", kinds=["environments.environment_context", "user.text"]),
            {"type": "agent_message", "content": [{"type": "input_text", "text": "hi"}]},
            message("assistant", '{"author":"/a","recipient":"/b","content":"go","trigger_turn":true}'),
        ],
    )
    def test_begins_with_a_request(self, item: dict[str, Any]) -> None:  # X12
        """A request may be a picture alone, a summary, or come from another agent."""
        assert (turns_of(item).begins, turns_of(item).prepares) == (True, False)

    @pytest.mark.parametrize(
        "item",
        [
            message("user", ENVIRONMENT),
            message("user", "<skill>\n<name>x</name>\n</skill>"),
            message("user", ENVIRONMENT, "Go."),
            message("developer", "<model_switch>\nnew\n</model_switch>"),
            message("developer", "Be brief.", "<permissions instructions>no</permissions instructions>"),
        ],
    )
    def test_is_prepared_by_changes_of_context(self, item: dict[str, Any]) -> None:  # X12
        """One tagged block is enough where kinds do not name words of the user."""
        assert (turns_of(item).begins, turns_of(item).prepares) == (False, True)

    @pytest.mark.parametrize(
        "item",
        [
            message("developer", "Be brief."),
            message("assistant", "Done."),
            message("assistant", '{"author":"/a","content":"go"}'),
            message("assistant", "{broken"),
            {"type": "function_call_output", "call_id": "c", "output": "x"},
            {"type": "reasoning", "summary": []},
        ],
    )
    def test_has_no_edge_at_other_items(self, item: dict[str, Any]) -> None:
        """Answers, outputs and instructions of the user's own belong to the turn that they are in."""
        assert turns_of(item) == Turns()


FIRST = [message("user", "First task"), message("assistant", "First done")]


def left_after(turns: int, *items: dict[str, Any]) -> list[str]:
    """Return the texts of the context after a rollback."""
    rows: list[dict[str, Any]] = [
        item if "payload" in item else {"type": "response_item", "payload": item} for item in items
    ]
    event = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}}
    records = fed(Decoder(), [*rows, event])
    texts = {e.source_id: e.message.text for e in of(Entry, records)}
    rewinds = of(Rewind, records)
    return [texts[i] for i in (rewinds[-1].live if rewinds else texts)]


class TestARollback:
    """A rollback as Codex makes it."""

    def test_counts_a_picture_as_a_request(self) -> None:  # X12
        """A turn without text is a turn."""
        assert left_after(1, *FIRST, message("user", PICTURE), message("assistant", "Seen.")) == [
            "First task",
            "First done",
        ]

    def test_counts_a_message_of_another_agent(self) -> None:  # X12
        """It begins a turn, as an item or in a row of its own."""
        about = {"author": "/w", "recipient": "/", "content": "hi", "trigger_turn": True}
        for said_by in (
            {"type": "agent_message", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "inter_agent_communication", "payload": about},
        ):
            assert left_after(1, *FIRST, said_by, message("assistant", "Hi.")) == ["First task", "First done"]

    def test_counts_no_notice_of_codex(self) -> None:  # X12
        """A goal or a hook continues the turn of the user's request before it."""
        goal = message("user", "<goal_context>\nGo on.\n</goal_context>")
        hook = message("user", '<hook_prompt hook_run_id="h1">Test.</hook_prompt>')
        more = [hook, message("assistant", "Tested."), goal, message("assistant", "Went on.")]
        assert left_after(1, goal, *FIRST, *more) == [goal["content"][0]["text"]]

    def test_counts_a_summary(self) -> None:  # X12
        """After a compaction the summary is a turn, in the new history as in an older compaction."""
        new = [message("user", "u1"), message("user", "u2"), message("user", f"{SUMMARY_START}.")]
        after = [message("user", "u3"), message("assistant", "a3")]
        compacted = {"type": "compacted", "payload": {"message": "s", "replacement_history": new}}
        assert left_after(2, message("user", "u1"), message("user", "u2"), compacted, *after) == ["u1", "u2"]
        older = {"type": "compacted", "payload": {"message": "s"}}
        assert left_after(2, message("user", "u1"), message("assistant", "a1"), older, *after) == ["u1"]

    @pytest.mark.parametrize(
        "updates",
        [
            [message("developer", "<model_switch>\nnew\n</model_switch>"), message("user", ENVIRONMENT)],
            [message("user", "<skill>x</skill>", kinds=["skills.selected_skill_instructions"])],
        ],
    )
    def test_removes_what_was_written_for_the_turn(self, updates: list[dict[str, Any]]) -> None:  # X12
        """Changes of context directly before the request leave with it."""
        second = [*updates, message("user", "Second task"), message("assistant", "Second done")]
        assert left_after(1, *FIRST, *second) == ["First task", "First done"]
        assert left_after(1, *FIRST, message("developer", "Be brief."), *second)[2:] == ["Be brief."]

    def test_keeps_what_precedes_the_first_turn(self) -> None:  # X12
        """Without turns, or with fewer than asked for, the instructions at the beginning stay."""
        start = message("user", ENVIRONMENT)
        assert left_after(9, start, *FIRST) == [ENVIRONMENT]
        assert left_after(1, start) == [ENVIRONMENT]
        assert left_after(0, start, *FIRST) == [ENVIRONMENT, "First task", "First done"]
