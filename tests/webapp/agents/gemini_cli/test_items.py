"""Gemini CLI's records as messages."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import Text
from webapp.agents.gemini_cli.items import kind_of, messages_of, usage_of
from webapp.agents.records import Entry


class TestARecord:
    """The parts of one record."""

    @pytest.mark.parametrize(
        ("call", "text", "failed"),
        [
            (
                {"result": [{"functionResponse": {"response": {"output": "x"}}}], "status": "success"},
                "x",
                False,
            ),
            (
                {"result": [{"functionResponse": {"response": {"error": "no"}}}], "status": "error"},
                "no",
                True,
            ),
            (
                {"result": [{"functionResponse": {"response": {"a": 1}}}], "status": "success"},
                '{"a":1}',
                False,
            ),
            ({"result": None, "status": "cancelled", "resultDisplay": "stopped"}, "stopped", True),
            ({"result": "plain", "status": "success"}, "plain", False),
        ],
    )
    def test_has_the_results_of_its_calls(self, call: dict[str, Any], text: str, failed: bool) -> None:
        """The result of a call is the tool's response or its display, and failures are marked."""
        record = {"type": "gemini", "toolCalls": [{"name": "ls", **call}]}
        (_, said), (name, results) = messages_of(record, "r")
        assert (name, results.role, said.calls[0].id) == ("r:results", "tool", results.results[0].call_id)
        assert (results.text, results.results[0].is_error) == (text, failed)

    def test_without_an_answer_has_no_result_yet(self) -> None:
        """A running call has no result."""
        assert [
            n for n, _ in messages_of({"type": "gemini", "toolCalls": [{"status": "executing"}]}, "r")
        ] == ["r"]

    def test_has_media_but_no_reasoning(self) -> None:
        """Inline data is media, and parts marked as thoughts are skipped."""
        content = [
            {"text": "a", "thought": True},
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            "b",
        ]
        ((_, message),) = messages_of({"type": "user", "content": content}, "r")
        assert (len(message.media), message.parts[1]) == (1, Text("b"))

    def test_has_files_by_their_address(self) -> None:
        """A file that was uploaded is a document, whatever its type."""
        content = [{"fileData": {"mimeType": "application/pdf", "fileUri": "https://files.example/1"}}]
        ((_, message),) = messages_of({"type": "user", "content": content}, "r")
        assert message.media[0].kind == "document"

    def test_of_the_client_is_a_reminder(self) -> None:
        """The context that the client adds is not written by the user."""
        ((_, message),) = messages_of({"type": "user", "content": "<session_context>x"}, "r")
        assert Entry(message, None).own_words is None

    def test_has_a_role_by_its_kind(self) -> None:
        """Roles of older layouts and notices are known, and other kinds are not."""
        kinds = [kind_of({"type": t}) for t in ("user", "gemini", "model", "info", "oracle", 5)]
        assert kinds == ["user", "model", "model", "notice", "oracle", ""]


def test_usage_without_input_is_none() -> None:
    """Empty and broken counts are no usage."""
    assert usage_of({}) is None
    assert usage_of({"input": "x", "output": 5}) is None
