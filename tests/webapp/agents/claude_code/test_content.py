"""Content blocks and attachments of Claude Code."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import Media, Reasoning, Text, ToolCall, ToolResult
from tests.webapp.agents.samples import fed, of
from webapp.agents.claude_code.content import (
    Content,
    attachment_parts,
    is_users_own,
    own_words,
    unread_attachment,
)
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.records import Entry


class TestContent:
    """Blocks as parts."""

    def test_may_be_plain_text(self) -> None:
        """A string is one text, and an empty one gives no part."""
        assert Content("u", "hello").parts == [Text("hello")]
        assert Content("u", "").parts == []

    def test_has_a_part_for_each_block(self) -> None:
        """Each known block gives one part, in order; calls without an id get one made of the row's."""
        blocks: list[Any] = [
            {"type": "text", "text": "a"},
            {"type": "thinking", "thinking": "b", "signature": "cc"},
            {"type": "redacted_thinking", "data": "ddd"},
            {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
            {
                "type": "tool_result", "tool_use_id": "t", "is_error": True,
                "content": [{"type": "text", "text": "x"}, {"type": "tool_reference", "tool_name": "y"}],
            },
            {"type": "document", "source": {"type": "url", "url": "https://example.invalid/a.pdf"}},
        ]  # fmt: skip
        parts = Content("u", blocks).parts
        assert parts[:3] == [Text("a"), Reasoning("b", 2), Reasoning("", 3)]
        found = (Media("definition", digest="y"),)
        assert parts[3:5] == [
            ToolCall("u:3", "Bash", '{"command":"ls"}'),
            ToolResult("t", "x\ny", "", True, found),
        ]
        assert isinstance(parts[5], Media)
        assert parts[5].kind == "document"

    def test_names_unknown_blocks_of_a_result(self) -> None:  # X11
        """Their words count as they are; a file in one counts as a file, not by the letters of its bytes."""
        hologram = {
            "type": "hologram",
            "source": {"type": "base64", "media_type": "model/glb", "data": "QUJD" * 999},
        }
        blocks = [{"type": "text", "text": "a"}, {"type": "riddle", "words": "b"}, hologram]
        content = Content("u", [{"type": "tool_result", "tool_use_id": "t", "content": blocks}])
        assert content.unknown == ["block riddle in a result", "block hologram in a result"]
        (result,) = content.parts
        assert isinstance(result, ToolResult)
        assert result.text == "a\nb"
        assert [(medium.kind, medium.size_bytes) for medium in result.media] == [("document", 2_997)]

    def test_has_the_text_of_a_document_of_text(self) -> None:
        """A document of plain text or of blocks is sent as text, in a result as well."""
        plain = {"type": "document", "title": "a.txt", "source": {"type": "text", "data": "alpha"}}
        blocks = {
            "type": "document",
            "source": {"type": "content", "content": [{"type": "text", "text": "beta"}]},
        }
        result = {"type": "tool_result", "tool_use_id": "t", "content": [plain, blocks]}
        assert Content("u", [plain, blocks, result]).parts == [
            Text("a.txt\nalpha"),
            Text("beta"),
            ToolResult("t", "a.txt\nalpha\nbeta"),
        ]

    def test_names_unknown_blocks(self) -> None:
        """Unknown blocks are named, and a marker of the client is ignored."""
        content = Content("u", [{"type": "riddle"}, 5, {"type": "fallback"}, "plain"])
        assert content.unknown == ["block riddle", "block without type"]
        assert content.parts == [Text("plain")]

    def test_of_a_server_tool_has_its_words_and_files(self) -> None:
        """Results of tools that the provider runs are read as in a request: a fetched PDF is no text."""
        pdf = {"type": "base64", "media_type": "application/pdf", "data": "QUJD" * 999}
        page = {
            "type": "web_fetch_result",
            "url": "https://a",
            "content": {"type": "document", "source": pdf},
        }
        (result,) = Content(
            "u", [{"type": "web_fetch_tool_result", "tool_use_id": "s", "content": page}]
        ).parts
        assert isinstance(result, ToolResult)
        assert result.text == "https://a"
        assert [(medium.kind, medium.size_bytes) for medium in result.media] == [("document", 2_997)]


class TestAttachments:
    """The parts of an attachment that are sent."""

    @pytest.mark.parametrize(
        ("attachment", "text"),
        [
            ({"type": "hook_success", "hookEvent": "SessionStart", "content": "hi", "stdout": "x"}, "hi"),
            ({"type": "hook_success", "hookEvent": "PostToolUse", "content": "hi"}, None),
            (
                {"type": "nested_memory", "content": {"path": "CLAUDE.md", "content": "be kind"}},
                "be kind\nCLAUDE.md",
            ),
            ({"type": "deferred_tools_delta", "addedLines": ["a", "b"], "addedNames": ["a", "b"]}, "a\nb"),
            (
                {"type": "file", "filename": "f", "content": {"type": "text", "file": {"content": "body"}}},
                "body\nf",
            ),
            ({"type": "command_permissions", "allowedTools": ["x"]}, None),
            ({"type": "auto_mode"}, None),
            ({"type": "unheard_of", "content": "x"}, None),
        ],
    )
    def test_are_texts_for_the_types_that_are_sent(
        self, attachment: dict[str, Any], text: str | None
    ) -> None:
        """A type that is not sent or not known gives no part."""
        assert attachment_parts({"attachment": attachment}) == ([Text(text)] if text else [])

    @pytest.mark.parametrize("kind", ["environment", "skill_listing", "hook_success", "command_permissions"])
    def test_are_the_rendered_ones_if_the_row_has_them(self, kind: str) -> None:
        """Newer versions write down what they send, whatever the type; nothing about such a row is unknown."""
        sent = [{"content": "<system-reminder>\nbe kind\n</system-reminder>"}, {"content": []}]
        row = {"attachment": {"type": kind, "content": "x"}, "rendered": sent, "renderedRole": "system"}
        assert attachment_parts(row) == [Text("<system-reminder>\nbe kind\n</system-reminder>")]
        assert unread_attachment(row) is None
        assert attachment_parts(row | {"rendered": []}) == []

    @pytest.mark.parametrize("kind", [None, 3, ["file"], {"name": "file"}])
    def test_without_a_readable_type_is_named(self, kind: Any) -> None:
        """It counts as an unknown one."""
        row = {"attachment": {"type": kind, "content": "x"}}
        assert attachment_parts(row) == []
        assert unread_attachment(row) == "attachment without type"

    @pytest.mark.parametrize("kind", ["prompt_snapshot", "session_context"])
    def test_of_the_client_itself_are_not_sent(self, kind: str) -> None:
        """Types for the client's own use are known."""
        row = {"attachment": {"type": kind, "systemPrompt": ["x"]}}
        assert attachment_parts(row) == []
        assert unread_attachment(row) is None

    def test_with_a_picture_have_it_as_media(self) -> None:
        """A picture that the user named is sent as one, with no text of its own in the row."""
        file = {"base64": "iVBORw0KGgo=", "type": "image/png"}
        named = {"type": "file", "filename": "a.png", "content": {"type": "image", "file": file}}
        text, media = attachment_parts({"attachment": named, "renderedRole": "user"})
        assert text == Text("a.png")
        assert isinstance(media, Media)
        assert (media.kind, media.mime) == ("image", "image/png")

    def test_that_record_what_was_done_are_not_sent(self) -> None:
        """Records of the client, which newer versions write as attachments, give no part and are known."""
        row = {"attachment": {"type": "thinking_drop", "blockHashes": ["a"]}}
        assert attachment_parts(row) == []
        assert unread_attachment(row) is None

    def test_of_a_queued_prompt_are_the_users_own_words(self) -> None:
        """A prompt typed meanwhile is the user's; a task's report in the same shape is not."""
        typed = {"type": "queued_command", "prompt": "wait", "commandMode": "prompt"}
        assert attachment_parts({"attachment": typed}) == [Text("wait")]
        wrapped = [{"content": "<system-reminder>\nThe user sent: wait\n</system-reminder>"}]
        assert attachment_parts({"attachment": typed, "rendered": wrapped}) == [Text("wait")]
        assert is_users_own(typed)
        assert not is_users_own(typed | {"commandMode": "task-notification"})


class TestOwnWords:
    """A person's own words in a user row."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("  fix it ", "fix it"),
            ("<div> is broken", "<div> is broken"),
            ("<command-name>/review</command-name><command-args>the beds</command-args>", "/review the beds"),
            ("<command-name>/clear</command-name><command-args>x</command-args>", None),
            ("<local-command-stdout>x</local-command-stdout>", None),
            ("[Request interrupted by user]", None),
            ("<fork-boilerplate>\nYou are a worker.\n</fork-boilerplate>\n\nYour directive: weed", "weed"),
            ("<fork-boilerplate>\nYou are a worker.\n</fork-boilerplate>", None),
            ([{"type": "text", "text": "<ide_opened_file>x"}, {"type": "text", "text": "go on"}], "go on"),
            ([{"type": "tool_result"}], None),
            (None, None),
        ],
    )
    def test_exclude_texts_of_the_client(self, content: Any, words: str | None) -> None:
        """Commands without arguments, outputs and notices are texts of the client."""
        assert own_words(content) == words


def test_a_display_of_a_command_is_no_message() -> None:
    """The display of `/context` is not sent, but the output of other commands is."""
    drawn = "<local-command-stdout>\x1b[?2026h \x1b[1mContext Usage\x1b[22m ⛁ ⛁"
    rows: list[dict[str, Any]] = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": drawn}},
        {
            "type": "user", "uuid": "u2", "parentUuid": "u1",
            "message": {"role": "user", "content": "<local-command-stdout>Set model to opus"},
        },
        {"type": "user", "uuid": "u3", "parentUuid": "u2", "message": {"role": "user", "content": "hi"}},
    ]  # fmt: skip
    assert [e.message.text for e in of(Entry, fed(Decoder(), rows))] == [
        "<local-command-stdout>Set model to opus",
        "hi",
    ]
