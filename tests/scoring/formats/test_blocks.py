"""Content as string, null or blocks."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.errors import MalformedMessage
from scoring.formats.blocks import block_parts, content_parts, joined_text, result_content, rewrite_text
from scoring.formats.reading import Place
from scoring.messages import Media, Part, Reasoning, Text, ToolCall, ToolResult

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, []),
        ("", []),
        ("a", [Text("a")]),
        ([], []),
        (["a", ""], [Text("a")]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": ""}], [Text("a")]),
        ([{"text": "a"}], [Text("a")]),
        ([{"type": "refusal", "refusal": "no"}], [Text("no")]),
        ([{"type": "thinking", "thinking": "hm", "signature": "ab"}], [Reasoning("hm", 2)]),
        ([{"type": "brand_new", "says": {"deep": ["a"]}}], [Text("a")]),
        ([{"type": "brand_new"}], []),
    ],
)
def test_content_gives_parts(content: Any, parts: list[Part]) -> None:
    """Every shape of content gives its parts; blocks of unknown type give their text."""
    assert content_parts(Place(0), content) == parts


@pytest.mark.parametrize("content", [5, {}, [5], [[]], [{"type": []}], [{"type": "text", "text": []}]])
def test_malformed_content_is_refused(content: Any) -> None:
    """Values of wrong types are not read as text."""
    with pytest.raises(MalformedMessage):
        content_parts(Place(0), content)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("a", "x"),
        ({"type": "text", "text": "a", "k": 1}, {"type": "text", "text": "x", "k": 1}),
        ({"type": "refusal", "refusal": "a"}, {"type": "refusal", "refusal": "x"}),
        (
            {"type": "brand_new", "says": "a", "cache_control": {}},
            {"type": "text", "text": "x", "cache_control": {}},
        ),
    ],
)
def test_a_block_is_rewritten_in_its_own_field(block: Any, expected: Any) -> None:
    """The text is in the field of the block's type; a block of unknown type becomes a text block."""
    assert rewrite_text(block, Text("x")) == expected


def test_media_blocks_are_never_rewritten() -> None:
    """A media block stays the same object."""
    assert rewrite_text(IMAGE, Media("image")) is IMAGE


def test_texts_are_joined_by_lines() -> None:
    """Only text parts are joined."""
    assert joined_text([Text("a"), ToolCall("c", "f", "{}"), Text("b")]) == "a\nb"


class TestResultContent:
    """A result's content with its text in it."""

    def test_keeps_its_shape(self) -> None:
        """A string stays a string; a list stays a list whose media are the same objects."""
        (image,) = block_parts(IMAGE)
        assert isinstance(image, Media)
        result = ToolResult("c", "x", media=(image,))
        assert result_content("long", result, lambda p: None) == "x"
        content = result_content([{"type": "text", "text": "long"}, IMAGE], result, lambda p: None)
        assert content == [{"type": "text", "text": "x"}, IMAGE]
        assert content[1] is IMAGE

    def test_leaves_the_words_alone_when_only_media_go(self) -> None:
        """If an image is removed, the text blocks stay as they were."""
        texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        content = result_content([*texts, IMAGE], ToolResult("c", "a\nb"), lambda p: None)
        assert content == texts
