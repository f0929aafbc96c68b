"""The messages that a provider's own compaction leaves."""

from __future__ import annotations

from typing import Any

from scoring.messages import Media, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.opencode.native import is_encrypted, messages_of_window, unread_in_window


def window(*contents: dict[str, Any], role: str = "assistant") -> list[dict[str, Any]]:
    """Return a window with one message of these parts."""
    return [{"role": role, "content": list(contents)}]


class TestAWindow:
    """The messages in a compaction's row."""

    def test_has_the_parts_that_are_sent(self) -> None:  # X12
        """An encrypted summary counts as a thought does, one with a text as that text."""
        found: list[dict[str, Any]] = [
            {"type": "reasoning", "text": "", "encrypted": "x" * 9},
            {"type": "compaction", "text": "Seven beds."},
            {"type": "tool-call", "id": "c", "name": "read", "input": {"path": "beds.txt"}},
        ]
        [(name, message)] = messages_of_window(window(*found), "m")
        assert (name, message.role) == ("m", "assistant")
        call = ToolCall("c", "read", '{"path":"beds.txt"}')
        assert message.parts == (Reasoning("", 9), Text("Seven beds."), call)
        assert not is_encrypted(window(*found))
        assert is_encrypted(window({"type": "compaction", "encrypted": "x"}))

    def test_has_results_with_their_files(self) -> None:
        """A result is a text, blocks, or any value; files are media, in the form of older versions too."""
        picture = {"type": "file", "uri": "data:image/png;base64,AAAA", "mime": "image/png"}
        blocks = {"type": "content", "value": [{"type": "text", "text": "seven"}, picture]}
        failed = {"type": "error", "value": {"message": "no"}}
        given = [
            {"type": "tool-result", "id": name, "name": "read", "result": result}
            for name, result in [("a", blocks), ("b", failed)]
        ]
        [(_, message)] = messages_of_window(window(*given, role="tool"), "m")
        first, second = message.results
        assert (first.text, len(first.media), first.is_error) == ("seven", 1, False)
        assert second == ToolResult("b", '{"message":"no"}', "read", True)
        new = {
            "type": "media",
            "media": {"source": {"type": "base64", "mediaType": "image/png", "data": "AAAA"}},
        }
        old = {"type": "media", "mediaType": "image/png", "data": "AAAA"}
        [(_, message)] = messages_of_window(window(new, old, role="user"), "m")
        assert message.parts[0] == message.parts[1] == first.media[0]
        assert isinstance(message.parts[0], Media)

    def test_names_what_is_not_read(self) -> None:
        """Unknown roles and parts are reported, and a summary that is missing."""
        rows = [*window({"type": "novelty"}, {"type": "compaction"}), *window(role="critic")]
        assert list(unread_in_window(rows)) == [
            "message of role critic", "part novelty", "part compaction without content",
        ]  # fmt: skip
