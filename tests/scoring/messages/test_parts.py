"""Messages as values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from scoring.messages import (
    FileReference,
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    message,
    message_from_dict,
    message_to_dict,
    parsed_json,
    part_from_dict,
)
from tests.scoring.builders import any_messages


class TestEquality:
    """Tests of what makes two messages the same."""

    def test_is_by_content_and_not_by_origin(self) -> None:
        """The wire object takes no part in it."""
        assert message("user", "hi") == Message("user", (Text("hi"),), wire=Wire("openai", {"x": 1}))
        assert message("user", "hi") != message("assistant", "hi")


class TestReading:
    """Tests of what a message offers."""

    def test_gives_its_parts_by_kind(self) -> None:
        """Text without reasoning; calls, results, reasoning and media in order, media of results included."""
        image = Media("image")
        one = Message(
            "assistant",
            (
                Reasoning("hm"),
                Text("a"),
                ToolCall("1", "f", "{}"),
                ToolResult("1", "b", media=(image,)),
                image,
            ),
        )
        assert one.text == "a\nb"
        assert [c.id for c in one.calls] == ["1"]
        assert [r.text for r in one.results] == ["b"]
        assert one.reasoning == (Reasoning("hm"),)
        assert one.media == (image, image)

    def test_of_nothing_is_empty(self) -> None:
        """An empty message has no parts and no text."""
        assert (message("user").parts, message("user").text) == ((), "")


class TestChanging:
    """A change makes a new message."""

    def test_of_a_result_leaves_all_else(self) -> None:
        """One result's text is replaced, the wire object travels along."""
        wire = Wire("openai", {})
        one = Message("tool", (ToolResult("1", "long"), ToolResult("2", "other")), wire=wire)
        changed = one.with_result_text("1", "cut")
        assert [r.text for r in changed.results] == ["cut", "other"]
        assert changed.wire is wire
        assert one.results[0].text == "long"


class TestJson:
    """Tests of what the log stores."""

    @given(any_messages)
    def test_brings_back_an_equal_message(self, messages: list[Message]) -> None:
        """That holds for parts of every kind."""
        for one in messages:
            assert message_from_dict(json.loads(json.dumps(message_to_dict(one)))) == one

    def test_keeps_files_names_and_media(self) -> None:
        """Fields that are rare survive as well."""
        parts = (
            FileReference("a.py", "id", "text/x", 3, "about a"),
            Media("image", "image/png", "d", 9, 3, 4),
        )
        one = Message("user", (*parts, ToolResult("1", "x", media=(Media("image"),))), name="ann")
        assert message_from_dict(message_to_dict(one)) == one

    def test_refuses_a_part_of_no_known_type(self) -> None:
        """The type names what cannot be read."""
        with pytest.raises(KeyError, match="hologram"):
            part_from_dict({"type": "hologram"})


def test_a_file_reference_is_whole() -> None:  # C4
    """Its block has markers at both ends, and between them only what is known."""
    assert FileReference("a.py").block == "[FILE: a.py]\n[/FILE]"


class TestParsedJson:
    """Tests of the arguments of a call as JSON."""

    @pytest.mark.parametrize("text", ["", "x", "3", "null", '"a"', '{"a": 1', "{} {}", "[" * 100_000])
    def test_are_none_for_anything_but_an_object_or_a_list(self, text: str) -> None:
        """Free-form text, other JSON, and JSON that is cut off or nested too deeply give None."""
        assert parsed_json(text) is None

    def test_can_have_blanks_around_them(self) -> None:
        """As JSON allows."""
        assert (parsed_json(' {"a": [1]}\n'), parsed_json("\t[1]")) == ({"a": [1]}, [1])
