"""Cards: the short form of a message in a list."""

from __future__ import annotations

from scoring.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from webapp.services.session.cards import PREVIEW_CHARS, Card, card_of, read_card


def card(message: Message, **names: str) -> Card:
    """Return the card of a message."""
    return read_card(card_of(message, names))


class TestCard:
    """The fields of a card."""

    def test_shows_the_beginning_of_the_text(self) -> None:
        """Long texts are cut."""
        text = str(card(Message("user", (Text("x" * 5_000),)))["text"])
        assert len(text) == PREVIEW_CHARS
        assert text.endswith("…")

    def test_shows_the_main_argument_of_calls(self) -> None:
        """A call shows its most informative argument, or all of its input."""
        message = Message("assistant", (
            ToolCall("1", "Read", '{"limit": 5, "file_path": "a.py"}'),
            ToolCall("2", "shell", '{"command": ["ls", "-l"]}'),
            ToolCall("3", "patch", "*** Begin Patch"), ToolCall("4", "odd", '{"broken'),
        ))  # fmt: skip
        assert [c["summary"] for c in card(message)["calls"]] == [
            "a.py",
            "ls -l",
            "*** Begin Patch",
            '{"broken',
        ]

    def test_names_the_tool_of_a_result(self) -> None:
        """The name comes from the result itself, or from the call it answers."""
        message = Message("tool", (ToolResult("c1", "out"),))
        assert card(message, c1="Bash")["tool"] == "Bash"
        assert "tool" not in card(message)
        assert card(message)["text"] == "out"

    def test_shows_reasoning_without_other_text(self) -> None:
        """The card also counts media."""
        assert card(Message("assistant", (Reasoning("hm"),)))["text"] == "hm"
        assert card(Message("user", (Media("image"), Media("image"))))["media"] == 2

    def test_survives_half_surrogates(self) -> None:
        """Half surrogates cannot be stored, so they are replaced."""
        assert "\ud800" not in str(card(Message("user", (Text("a\ud800b"),)))["text"])
