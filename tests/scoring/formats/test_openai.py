"""OpenAI chat: what each shape of message says, how turns are written, and what the API refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from scoring.errors import MalformedMessage
from scoring.formats import decode, encode, validate
from scoring.messages import (
    FileReference,
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    message,
)
from tests.scoring.formats.lists import PNG, conversations

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
SPOKEN = {
    "role": "assistant",
    "content": None,
    "audio": {"id": "a", "data": "AAAA", "expires_at": 1, "transcript": "On Monday."},
}
PARAMS: TypeAdapter[list[Any]] = TypeAdapter(list[ChatCompletionMessageParam])


def read(item: dict[str, Any]) -> Message:
    """The one message of a list of one."""
    return decode([item], "openai").messages[0]


def problems(*items: Any) -> str:
    """Return what is wrong with a list that begins with a user message."""
    return "\n".join(validate([{"role": "user", "content": "hi"}, *items], "openai"))


class TestReading:
    """Parts read from messages."""

    @pytest.mark.parametrize(
        ("item", "parts"),
        [
            ({"role": "user", "content": "hi"}, (Text("hi"),)),
            ({"role": "user", "content": ""}, ()),
            ({"role": "user", "content": None}, ()),
            ({"role": "user"}, ()),
            ({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}, (Text("a"), Text("b"))),
            (
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                (ToolCall("c1", "f", '{"a": 1}'),),
            ),
            (
                {"role": "assistant", "content": "x", "tool_calls": [CALL]},
                (Text("x"), ToolCall("c1", "f", '{"a": 1}')),
            ),
            (
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "p q"}}],
                },
                (ToolCall("c", "g", "p q"),),
            ),
            (
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "function": {"name": "g", "arguments": {"a": 1}}}],
                },
                (ToolCall("c", "g", '{"a": 1}'),),
            ),
            ({"role": "assistant", "content": None, "refusal": "no"}, (Text("no"),)),
            ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, (Text("no"),)),
            ({"role": "assistant", "content": "a", "reasoning_content": "hm"}, (Reasoning("hm"), Text("a"))),
            ({"role": "tool", "tool_call_id": "c1", "content": "r"}, (ToolResult("c1", "r"),)),
            ({"role": "tool", "tool_call_id": "c1", "content": None}, (ToolResult("c1", ""),)),
            (
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                },
                (ToolResult("c1", "a\nb"),),
            ),
        ],
    )
    def test_gives_the_parts(self, item: dict[str, Any], parts: tuple[Part, ...]) -> None:
        """Content as string, list or null, calls of both kinds, refusals and reasoning."""
        assert read(item).parts == parts

    def test_ties_calls_without_ids_by_name_and_order(self) -> None:
        """Calls of custom tools as well."""
        asked = [{"type": "custom", "custom": {"name": "f", "input": text}} for text in "ab"]
        listed = [{"role": "assistant", "tool_calls": asked}]
        listed += [{"role": "tool", "name": "f", "content": text} for text in "cd"]
        made, *answers = decode(listed, "openai").messages
        assert [r.call_id for one in answers for r in one.results] == [c.id for c in made.calls]
        assert len({call.id for call in made.calls}) == 2

    def test_ties_the_older_function_messages_by_name(self) -> None:
        """A function_call and its function message have one made-up id."""
        called, answered = decode(
            [
                {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "r"},
            ],
            "openai",
        ).messages
        assert called.calls[0].id == answered.results[0].call_id
        assert answered.role == "tool"

    def test_measures_images_and_sound(self) -> None:
        """A data URL is decoded and measured, a URL is only named."""
        content = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        ]
        shown, named, sound, file = read({"role": "user", "content": content}).media
        assert (shown.mime, shown.width, shown.height) == ("image/png", 2, 3)
        assert (named.kind, named.size_bytes, bool(named.digest)) == ("image", 0, True)
        assert (sound.kind, sound.mime, sound.size_bytes) == ("audio", "audio/wav", 3)
        assert (file.kind, file.mime) == ("document", "application/pdf")

    @pytest.mark.parametrize(
        ("item", "said"),
        [
            ({"content": "x"}, "expected role to be one of .*, got null"),
            ({"role": ["user"], "content": "x"}, "got a list"),
            ({"role": "user", "content": 5}, "expected content to be a string, .* got a number"),
            ({"role": "user", "content": [5]}, "expected a content block to be an object, got a number"),
            ({"role": "user", "content": [{"type": "text", "text": {}}]}, "got an object"),
            (
                {"role": "assistant", "tool_calls": "c"},
                'expected tool_calls to be a list, got the string "c"',
            ),
            ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "function to be an object, got null"),
            (
                {"role": "tool", "tool_call_id": 7, "content": ""},
                "expected tool_call_id to be a string, got a number",
            ),
        ],
    )
    def test_refuses_what_it_cannot_read(self, item: dict[str, Any], said: str) -> None:
        """The error names what was expected and what was found."""
        with pytest.raises(MalformedMessage, match=said):
            read(item)

    def test_refuses_arguments_that_contain_themselves(self) -> None:
        """A cyclic value cannot be JSON."""
        circle: dict[str, Any] = {}
        circle["x"] = circle
        with pytest.raises(MalformedMessage, match="expected arguments to be JSON"):
            read(
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": circle}}],
                }
            )


class TestASpokenAnswer:
    """An answer in `audio`."""

    def test_says_its_transcript(self) -> None:
        """A client sends the answer back as its id alone."""
        assert read(SPOKEN) == Message("assistant", (Text("On Monday."), Media("audio")))
        assert read({**SPOKEN, "audio": {"id": "a"}}) == Message("assistant", (Media("audio"),))

    def test_becomes_a_text_when_it_is_cut(self) -> None:
        """Otherwise it stays as it is: only its id is sent on."""
        said = decode([SPOKEN], "openai").messages[0]
        assert encode([said], "openai") == [SPOKEN]
        cut = replace(said, parts=(Text("On"),))
        assert encode([cut], "openai") == [{"role": "assistant", "content": "On"}]
        called = replace(said, parts=(*said.parts, ToolCall("c", "f", "{}")))
        assert encode([called], "openai")[0]["audio"] == SPOKEN["audio"]
        assert encode([called], "openai")[0]["content"] is None


class TestWriting:
    """New messages written as OpenAI's."""

    def test_gives_a_message_for_each_result(self) -> None:
        """Parallel results become separate messages after the call."""
        turn = Message("assistant", (Text("x"), ToolCall("a", "f", "{}"), ToolCall("b", "f", "")))
        written = encode([turn, Message("tool", (ToolResult("b", "2"), ToolResult("a", "1")))], "openai")
        assert [m.get("tool_call_id") for m in written] == [None, "a", "b"]
        assert written[0]["tool_calls"][1]["function"] == {"name": "f", "arguments": "{}"}

    def test_writes_a_file_reference_as_text(self) -> None:  # C4
        """The text block has opening and closing markers."""
        part = FileReference("a/b.txt", "id9", "text/plain", 40, "a list of names")
        assert encode([Message("user", (part,))], "openai")[0]["content"] == (
            "[FILE: a/b.txt]\nid: id9\ntype: text/plain\ntokens: 40\na list of names\n[/FILE]"
        )

    def test_carries_images_over_from_other_formats(self) -> None:
        """The bytes come from the object in which the message was read."""
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        item = {
            "role": "user",
            "content": [{"type": "image", "source": source}, {"type": "text", "text": "see"}],
        }
        written = encode(decode([item]).messages, "openai")
        assert written[0]["content"] == [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "text", "text": "see"},
        ]

    def test_names_images_that_have_no_place(self) -> None:
        """An image inside a result, or without bytes, becomes a note in brackets."""
        result = ToolResult("c", "shot", media=(Media("image", "image/png", "d", 9, 2, 3),))
        messages = [Message("assistant", (ToolCall("c", "f", "{}"),)), Message("tool", (result,))]
        assert encode(messages, "openai")[1]["content"] == "shot\n[image: image/png 2x3]"

    @given(conversations())
    def test_passes_the_types_of_the_sdk(self, messages: list[Message]) -> None:  # X6
        """The SDK's own types accept what is written."""
        PARAMS.validate_python(encode(messages, "openai"), strict=False)


class TestPatching:
    """Changed parts written back into the original objects."""

    def test_keeps_blocks_that_did_not_change(self) -> None:
        """Only the changed text block is a copy; the image block is the same object."""
        image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
        item = {"role": "user", "content": [{"type": "text", "text": "long", "x": 1}, image], "name": "ann"}
        decoded = read(item)
        cut = Message("user", (Text("lo"), *decoded.parts[1:]), "ann", decoded.wire)
        written = encode([cut], "openai")[0]
        assert written == {
            "role": "user",
            "content": [{"type": "text", "text": "lo", "x": 1}, image],
            "name": "ann",
        }
        assert written["content"][1] is image

    @pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
    def test_empties_thoughts_that_were_removed(self, name: str) -> None:
        """Both names of providers are known."""
        decoded = read({"role": "assistant", "content": "a", name: "hm"})
        plain = Message("assistant", (Text("a"),), wire=decoded.wire)
        assert encode([plain], "openai") == [{"role": "assistant", "content": "a", name: ""}]

    def test_strips_an_image(self) -> None:
        """A removed part has no block."""
        image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
        decoded = read({"role": "user", "content": [{"type": "text", "text": "a"}, image]})
        bare = Message("user", decoded.parts[:1], wire=decoded.wire)
        assert encode([bare], "openai")[0]["content"] == [{"type": "text", "text": "a"}]

    def test_replaces_the_words_of_a_list_result(self) -> None:
        """The first text block gets the new text and keeps its fields; further text blocks go."""
        blocks = [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}]
        decoded = read({"role": "tool", "tool_call_id": "c", "content": blocks})
        written = encode([decoded.with_result_text("c", "[cleared]")], "openai")[0]
        assert written == {
            "role": "tool",
            "tool_call_id": "c",
            "content": [{"type": "text", "text": "[cleared]", "x": 1}],
        }

    def test_changes_arguments_and_drops_calls(self) -> None:
        """A changed call keeps its other fields; without calls the field is removed."""
        other = {**CALL, "id": "c2"}
        decoded = read({"role": "assistant", "content": "x", "tool_calls": [CALL, other]})
        changed = Message("assistant", (Text("x"), ToolCall("c1", "f", "{}")), wire=decoded.wire)
        written = encode([changed], "openai")[0]
        assert written["tool_calls"] == [{**CALL, "function": {"name": "f", "arguments": "{}"}}]
        assert (
            "tool_calls" not in encode([Message("assistant", (Text("x"),), wire=decoded.wire)], "openai")[0]
        )

    def test_finds_an_image_whose_detail_was_not_stored(self) -> None:
        """Messages that were stored before the detail was read have none; each keeps its own image."""
        images = [
            {"type": "image_url", "image_url": {"url": f"https://example.org/{name}.png", "detail": "low"}}
            for name in "ab"
        ]
        now = read({"role": "user", "content": images})
        second = replace(now, parts=(replace(now.media[1], detail=""),))
        assert [image.detail for image in now.media] == ["low", "low"]
        assert encode([second], "openai") == [{"role": "user", "content": images[1:]}]

    def test_keeps_the_detail_of_an_image_in_another_format(self) -> None:
        """The model is billed for it as before."""
        block = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"}
        [item] = decode([{"type": "message", "role": "user", "content": [block]}], "responses").messages
        [sent] = encode([item], "openai")
        assert sent["content"][0]["image_url"]["detail"] == "low"


class TestRules:
    """Tests of what the API refuses."""

    def test_wants_every_call_answered_next(self) -> None:
        """A call whose result is missing, late or doubled, and a result without call, are named."""
        call, result = (
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
        )
        user = {"role": "user", "content": "x"}
        assert problems(call, result) == ""
        assert 'call "c1" has no result directly after it' in problems(call, user)
        assert "without its call directly before" in problems(call, user, result)
        assert "has a second result" in problems(call, result, result)
        assert 'message 1: result for "c1" without its call' in problems(result)

    @pytest.mark.parametrize(
        ("item", "said"),
        [
            ({"role": "assistant", "content": "x", "tool_calls": []}, "tool_calls is empty"),
            ({"role": "user", "content": []}, "content is an empty list"),
            ({"role": "assistant", "content": None}, "content is null"),
            ({"role": "user", "content": None}, "content is null"),
            ({"role": "user", "content": 5}, "expected content"),
            (
                {"role": "assistant", "content": "", "tool_calls": [{**CALL, "id": None}]},
                "call without an id",
            ),
        ],
    )
    def test_wants_content(self, item: dict[str, Any], said: str) -> None:
        """Empty lists, null in place of text, and calls without id are problems."""
        assert said in problems(item)

    def test_wants_a_user(self) -> None:
        """A list without a user message is refused."""
        assert validate([{"role": "system", "content": "x"}], "openai") == [
            "no user message; expected at least one"
        ]

    def test_lets_a_function_message_have_no_content(self) -> None:
        """The older shapes are valid as the API accepts them."""
        call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
        assert "null" not in problems(call, {"role": "function", "name": "f", "content": None})

    def test_accepts_plain_text(self) -> None:
        """A plain exchange has no problems."""
        assert validate(encode([message("user", "a"), message("assistant", "b")], "openai"), "openai") == []
