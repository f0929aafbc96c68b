"""The tokens of messages."""

from __future__ import annotations

import pytest

from scoring.messages import FileReference, Media, Message, Reasoning, Text, ToolCall, ToolResult, message
from scoring.tokens.counting import (
    FOUR_CHARACTERS,
    MEDIA_TOKENS,
    MESSAGE_OVERHEAD,
    OTHER_MEDIA_TOKENS,
    estimate_message_tokens,
    estimate_tokens,
    estimate_tool_tokens,
)
from tests.scoring.builders import calls, user

ENGLISH = (
    "The gauge shows how full the window is, and the list below it shows which messages would go first. "
    "Every message has a score; hold the pointer over it to see where it comes from. Nothing is lost when you "
    "prune: what leaves the context stays in the log, and one click brings it back to where it was before. "
    "Pinned messages are never touched, and neither are the instructions at the top of each session you run."
)


SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": "where it lies"}}}


class Words:
    """A counter that counts words."""

    def count(self, text: str) -> int:
        """One token a word."""
        return len(text.split())


class TestTexts:
    """Plain text."""

    def test_that_is_empty_costs_nothing(self) -> None:  # P8
        """Empty text 0 tokens."""
        assert estimate_tokens("") == 0

    def test_of_four_hundred_characters_costs_about_a_hundred(self) -> None:  # P8
        """400 characters of English 80...120."""
        assert len(ENGLISH) >= 400
        for text in (ENGLISH, "The quick brown fox jumps over the lazy dog. " * 9, "word " * 80, "a" * 400):
            assert 80 <= estimate_tokens(text[:400]) <= 120

    def test_is_counted_by_whoever_has_a_tokenizer(self) -> None:  # S11
        """The counter that is handed in decides."""
        assert estimate_tokens("one two three", Words()) == 3


class TestMessages:
    """Everything that is sent counts."""

    def test_cost_their_content_and_an_overhead(self) -> None:  # P8
        """An empty message is not free; a name costs too."""
        assert estimate_message_tokens(message("user")) == MESSAGE_OVERHEAD
        assert estimate_message_tokens(user("a b"), Words()) == MESSAGE_OVERHEAD + 2
        assert estimate_message_tokens(Message("user", (), "ann"), Words()) == MESSAGE_OVERHEAD + 1

    def test_cost_a_flat_amount_an_item_of_media(self) -> None:  # P8
        """Two media items add exactly twice the flat cost, wherever they stand."""
        image = Media("image", size_bytes=9_000_000, width=4_000, height=3_000)
        plain = estimate_message_tokens(user())
        two = Message("user", (*user().parts, image, image))
        assert estimate_message_tokens(two) == plain + 2 * MEDIA_TOKENS["image"]
        inside = Message("tool", (ToolResult("1", "", media=(image, Media("hologram"))),))
        without = Message("tool", (ToolResult("1", ""),))
        added = estimate_message_tokens(inside) - estimate_message_tokens(without)
        assert added == MEDIA_TOKENS["image"] + OTHER_MEDIA_TOKENS

    @pytest.mark.parametrize(
        ("less", "more"),
        [
            (message("assistant", "a"), message("assistant", "a", Reasoning("I think so"))),
            (message("assistant", "a"), message("assistant", "a", Reasoning("", opaque_chars=800))),
            (calls("1"), Message("assistant", (ToolCall("1", "read", '{"path": "a.py", "to": 20}'),))),
            (calls("1"), Message("assistant", (ToolCall("1", "read_many_files", '{"path": "a.py"}'),))),
            (calls("1"), calls("call_1234567890abcdef")),
            (calls("1"), calls("1", "2")),
            (
                message("tool", "", ToolResult("1", "a")),
                message("tool", "", ToolResult("1", "a", name="read")),
            ),
            (message("tool", "a"), message("tool", "", ToolResult("1", "a"))),
            (message("user"), message("user", "", FileReference("src/a.py", summary="holds the parser"))),
        ],
    )
    def test_cost_more_with_each_thing_they_carry(self, less: Message, more: Message) -> None:  # P8
        """Reasoning, arguments, names, ids, result metadata and file references add tokens."""
        assert estimate_message_tokens(more) > estimate_message_tokens(less)

    def test_count_characters_and_not_bytes(self) -> None:  # P8
        """A text in two-byte letters of as many characters costs as much at four characters per token."""
        both = (estimate_message_tokens(user(t), FOUR_CHARACTERS) for t in ("abcdefgh", "абвгдежз"))
        assert list(both) == [2, 2]

    def test_count_a_file_as_the_block_that_stands_for_it(self) -> None:  # C4
        """The size of the file does not matter, because every format writes the block."""
        file = FileReference("a.py", "id", "text/x-python", 77_000, "holds the parser")
        spelled = "[FILE: a.py]\nid: id\ntype: text/x-python\ntokens: 77000\nholds the parser\n[/FILE]"
        assert file.block == spelled
        assert estimate_message_tokens(Message("user", (file,))) == MESSAGE_OVERHEAD + estimate_tokens(
            spelled
        )

    def test_cost_their_characters_alone_in_blueprint(self) -> None:  # B6
        """Four characters per token, rounded up for each text, nothing around it."""
        assert estimate_message_tokens(user("x" * 9), FOUR_CHARACTERS) == 3
        assert estimate_message_tokens(Message("user", (Text(""),)), FOUR_CHARACTERS) == 0


class TestTools:
    """Tool definitions."""

    def test_cost_the_same_in_every_format(self) -> None:  # P8
        """Name, description and schema count, wherever the format keeps them."""
        named = {"name": "read", "description": "Reads a file"}
        in_formats: list[dict[str, object]] = [
            {"type": "function", "function": {**named, "parameters": SCHEMA}},
            {"type": "function", **named, "parameters": SCHEMA},
            {**named, "input_schema": SCHEMA},
            {"functionDeclarations": [{**named, "parameters": SCHEMA}]},
        ]
        assert len({estimate_tool_tokens([tool]) for tool in in_formats}) == 1
        bare = estimate_tool_tokens([{"name": "read"}])
        assert bare < estimate_tool_tokens([named]) < estimate_tool_tokens(in_formats[:1])

    def test_count_within_a_namespace(self) -> None:  # P8
        """A namespace lists tools, and each of them counts; so does the grammar of a tool for free text."""
        tool = {"type": "function", "name": "read", "description": "d", "parameters": SCHEMA}
        bare = {"type": "namespace", "name": "files", "description": "Files."}
        whole = estimate_tool_tokens([{**bare, "tools": [tool]}])
        assert whole == estimate_tool_tokens([bare]) + estimate_tool_tokens([tool])
        free = {"type": "custom", "name": "patch"}
        grammar = {"type": "grammar", "syntax": "lark", "definition": "start: word " * 50}
        assert estimate_tool_tokens([{**free, "format": grammar}]) > estimate_tool_tokens([free]) + 50
        assert estimate_tool_tokens([{"type": "custom", "custom": {**free, "format": grammar}}]) > 50

    def test_add_up(self) -> None:  # P8
        """Twice the same tool costs twice, none costs nothing, nonsense does not crash."""
        tool = {"name": "read", "input_schema": SCHEMA}
        assert estimate_tool_tokens([tool, tool]) == 2 * estimate_tool_tokens([tool])
        assert estimate_tool_tokens([]) == 0
        assert estimate_tool_tokens([{"function": None, "name": 3, "parameters": float("inf")}]) > 0
