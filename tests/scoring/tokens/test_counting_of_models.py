"""Counting as a certain model counts."""

from __future__ import annotations

from scoring.formats import decode
from scoring.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, message
from scoring.models import family_of
from scoring.tokens.counting import (
    DEFINITION,
    ENCRYPTED,
    MESSAGE_OVERHEAD,
    ModelCounter,
    estimate_message_tokens,
    media_tokens,
)
from scoring.tokens.families import CLAUDE, GPT, OTHER, PAGE


class Words:
    """A counter that counts words."""

    def count(self, text: str) -> int:
        """One token a word."""
        return len(text.split())


def cost(message: Message, counter: ModelCounter) -> int:
    """The tokens of a message."""
    return estimate_message_tokens(message, counter)


PLAIN = ModelCounter(Words(), OTHER)
CLAUDES = ModelCounter(Words(), CLAUDE)


class TestACounterOfAModel:
    """A tokenizer, a factor, a family."""

    def test_counts_the_tokenizers_tokens_times_the_factor(self) -> None:  # P8
        """The text, and what stands around it."""
        double = ModelCounter(Words(), OTHER, 2.0)
        assert double.count("one two three") == 6
        assert cost(message("user", "one two"), double) == 2 * (MESSAGE_OVERHEAD + 2)

    def test_adds_what_its_family_adds(self) -> None:  # P8
        """Claude's calls and arguments take more than GPT's."""
        call = Message("assistant", (ToolCall("", "read", '{"path": "a.py", "from": 1}'),))
        more = cost(call, CLAUDES) - cost(call, ModelCounter(Words(), GPT))
        assert more == CLAUDE.calls - GPT.calls + 2 * CLAUDE.argument
        assert cost(message("user", "a"), CLAUDES) == MESSAGE_OVERHEAD + 1

    def test_counts_ids_where_the_family_is_shown_them(self) -> None:  # P8
        """GPT is; Claude's calls and results take nothing for theirs."""
        for part, same in (
            (ToolCall("a b c", "read", "{}"), ToolCall("", "read", "{}")),
            (ToolResult("a b c", "done"), ToolResult("", "done")),
        ):
            longer, shorter = Message("assistant", (part,)), Message("assistant", (same,))
            assert cost(longer, CLAUDES) == cost(shorter, CLAUDES)
            assert cost(longer, PLAIN) == cost(shorter, PLAIN) + 3

    def test_bears_arguments_that_are_no_json(self) -> None:
        """They count as one; so do arguments that are nested deeper than Python reads."""
        broken = Message("assistant", (ToolCall("1", "patch", "*** Begin"),))
        number = Message("assistant", (ToolCall("1", "patch", "17 18"),))
        deep = Message("assistant", (ToolCall("1", "patch", "[" * 5_000 + " " + "]" * 5_000),))
        assert cost(broken, CLAUDES) == cost(number, CLAUDES) == cost(deep, CLAUDES)

    def test_counts_images_by_their_size(self) -> None:  # P8
        """It counts by its size where that is known, else by the family's flat cost."""
        small = Message("tool", (ToolResult("1", "", media=(Media("image", width=280, height=280),)),))
        none = Message("tool", (ToolResult("1", ""),))
        assert cost(small, CLAUDES) - cost(none, CLAUDES) == 100
        assert cost(message("user", "", Media("image")), CLAUDES) == MESSAGE_OVERHEAD + CLAUDE.image_unknown

    def test_counts_documents_by_their_pages(self) -> None:  # P8
        """A document of unknown length has a flat cost; without a known model, each page has one."""
        book = message("user", "", Media("document", pages=20))
        assert cost(book, CLAUDES) == MESSAGE_OVERHEAD + 20 * CLAUDE.page
        assert cost(book, ModelCounter(Words(), family_of("gemini-3-pro"))) == MESSAGE_OVERHEAD + 20 * 560
        assert media_tokens(Media("document", pages=20)) == 20 * PAGE
        unknown = message("user", "", Media("document"))
        assert cost(unknown, CLAUDES) == MESSAGE_OVERHEAD + media_tokens(Media("document"))

    def test_counts_images_by_the_detail_they_are_sent_with(self) -> None:  # P8
        """The blocks of OpenAI's formats name it."""
        counter = ModelCounter(Words(), family_of("gpt-4o"))
        block = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
        [low] = decode([{"role": "user", "content": [block]}], "openai").messages
        assert cost(low, counter) == MESSAGE_OVERHEAD + 85
        assert cost(message("user", "", Media("image")), counter) == MESSAGE_OVERHEAD + 765

    def test_counts_a_tool_definition_that_a_result_brings_in(self) -> None:
        """Only its name is in the transcript."""
        found = Message("tool", (ToolResult("1", "", media=(Media(DEFINITION, digest="WebSearch"),)),))
        none = Message("tool", (ToolResult("1", ""),))
        assert cost(found, CLAUDES) - cost(none, CLAUDES) == CLAUDE.definition

    def test_counts_an_encrypted_part_of_a_result_by_its_length(self) -> None:  # P8
        """Its text is not in the transcript: 9 bytes for 16 characters, and 4 bytes per token."""
        hidden = Message("tool", (ToolResult("1", "", media=(Media(ENCRYPTED, size_bytes=6_400),)),))
        none = Message("tool", (ToolResult("1", ""),))
        assert cost(hidden, CLAUDES) - cost(none, CLAUDES) == 900
        assert estimate_message_tokens(hidden) - estimate_message_tokens(none) == 900

    def test_counts_reasoning_by_the_longer_of_text_and_copy(self) -> None:  # P8
        """A summary does not hide how long the thought was, and a copy of a readable text is not counted again."""
        readable = message("assistant", "", Reasoning("word " * 900, opaque_chars=2_000))
        assert cost(readable, CLAUDES) == MESSAGE_OVERHEAD + 900
        stripped = message("assistant", "", Reasoning("", opaque_chars=300 + 5_400))
        assert cost(stripped, CLAUDES) == MESSAGE_OVERHEAD + 1_000

    def test_leaves_plain_text_alone(self) -> None:
        """A family with nothing to add counts as the tokenizer does."""
        assert cost(Message("user", (Text("a b c"),)), PLAIN) == MESSAGE_OVERHEAD + 3
