"""Gemini contents: what each part says, how turns are written, how changes go back."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.errors import MalformedMessage
from scoring.formats import decode, encode, validate
from scoring.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, message
from tests.scoring.formats.lists import PNG


def read(role: str, *parts: Any) -> Message:
    """The one message of a list of one."""
    return decode([{"role": role, "parts": list(parts)}], "gemini").messages[0]


def call(name: str, **fields: Any) -> dict[str, Any]:
    """A part that calls."""
    return {"functionCall": {"name": name, "args": {}, **fields}}


def response(name: str, body: Any, **fields: Any) -> dict[str, Any]:
    """A part that answers."""
    return {"functionResponse": {"name": name, "response": body, **fields}}


class TestReading:
    """Parts read from contents."""

    @pytest.mark.parametrize(
        ("part", "parts"),
        [
            ({"text": "hi"}, (Text("hi"),)),
            ({"text": ""}, ()),
            ({}, ()),
            ({"text": "hm", "thought": True}, (Reasoning("hm"),)),
            ({"text": "so", "thoughtSignature": "abc"}, (Text("so"), Reasoning("", 3))),
            ({"text": "", "thought_signature": "abc"}, (Reasoning("", 3),)),
            (call("f", id="c", args={"a": 1}), (ToolCall("c", "f", '{"a": 1}'),)),
            ({"function_call": {"name": "f", "id": "c"}}, (ToolCall("c", "f", "{}"),)),
            (call("f", id="c") | {"thought": True}, (ToolCall("c", "f", "{}"),)),
            ({"videoMetadata": {"startOffset": "3s"}}, ()),
            ({"somethingNew": {"words": "seen"}}, (Text("seen"),)),
            (
                {"audioTranscription": {"text": "hi", "words": [{"word": "hi", "startOffset": "0s"}]}},
                (Text("hi"),),
            ),
            (
                {"toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {"urls": ["u"]}}},
                (ToolCall("t", "URL_CONTEXT", '{"urls": ["u"]}'),),
            ),
            (
                {"tool_response": {"id": "t", "tool_type": "URL_CONTEXT", "response": {"output": "page"}}},
                (ToolResult("t", "page", "URL_CONTEXT"),),
            ),
        ],
    )
    def test_gives_the_parts(self, part: dict[str, Any], parts: tuple[Part, ...]) -> None:
        """Text, thoughts, signatures and calls, those of the provider's tools too, in both spellings."""
        assert read("model", part).parts == parts

    def test_has_an_image_that_the_model_thought_of(self) -> None:
        """A thought is text or an image, and an image has its cost."""
        drawn = {"thought": True, "inlineData": {"mimeType": "image/png", "data": PNG}}
        assert [medium.kind for medium in read("model", drawn).media] == ["image"]

    def test_ties_the_provider_s_tools_to_their_answers(self) -> None:
        """A shortened answer keeps its shape, and the call stays as it is."""
        parts = [
            {"toolCall": {"id": "t", "toolType": "FILE_SEARCH", "args": {}}, "thoughtSignature": "s"},
            {"toolResponse": {"id": "t", "toolType": "FILE_SEARCH", "response": {"found": ["a"]}}},
            {"text": "so"},
        ]
        items = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": parts}]
        said = decode(items, "gemini").messages
        assert validate(items, "gemini", ready=False) == []
        written = encode([said[1].with_result_text("t", "[cut]")], "gemini")[0]["parts"]
        assert written[0] is parts[0]
        answer = {"id": "t", "toolType": "FILE_SEARCH", "response": {"output": "[cut]"}}
        assert written[1] == {"toolResponse": answer}

    @pytest.mark.parametrize(
        ("body", "text", "failed"),
        [
            ({"output": "r"}, "r", False),
            ({"result": "r"}, "r", False),
            ({"error": "no"}, "no", True),
            ({"temperature": 20}, '{"temperature": 20}', False),
            ({}, "", False),
            (None, "", False),
        ],
    )
    def test_reads_responses(self, body: Any, text: str, failed: bool) -> None:
        """A response with one known text field gives that text, any other its JSON."""
        answered = read("user", response("f", body, id="c"))
        assert (answered.role, answered.results) == ("tool", (ToolResult("c", text, "f", failed),))

    def test_ties_calls_by_name_and_order_where_there_are_no_ids(self) -> None:
        """The k-th response of a name belongs to the k-th call of it in the round."""
        items = [
            {"role": "model", "parts": [call("f"), call("g"), call("f")]},
            {"role": "function", "parts": [response("f", {}), response("f", {}), response("g", {})]},
            {"role": "model", "parts": [call("f")]},
        ]
        called, answered, again = decode(items, "gemini").messages
        first, other, second = (c.id for c in called.calls)
        assert len({first, other, second}) == 3
        assert [r.call_id for r in answered.results] == [first, second, other]
        assert again.calls[0].id == first

    def test_ties_calls_that_were_streamed_in_pieces(self) -> None:
        """The calls of one round in two contents are numbered on."""
        items = [
            {"role": "model", "parts": [call("f")]},
            {"role": "model", "parts": [call("f")]},
            {"role": "user", "parts": [response("f", {"output": "1"}), response("f", {"output": "2"})]},
        ]
        one, two, answered = decode(items, "gemini").messages
        assert [r.call_id for r in answered.results] == [one.calls[0].id, two.calls[0].id]
        assert encode([one, two, answered], "gemini") == items

    def test_reads_code_the_provider_ran(self) -> None:
        """Code and its outcome are in one model content, tied to each other."""
        ran = read(
            "model",
            {"executableCode": {"language": "PYTHON", "code": "1/0"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        )
        assert (ran.role, ran.calls[0].arguments) == ("assistant", "1/0")
        assert ran.results[0].is_error
        assert ran.results[0].call_id == ran.calls[0].id

    def test_measures_media(self) -> None:
        """Inline bytes are measured, files are named; in responses too."""
        inline = {"inlineData": {"mimeType": "image/png", "data": PNG}}
        remote = {"file_data": {"mime_type": "video/mp4", "file_uri": "https://example.org/v"}}
        shown, film = read("user", inline, remote).media
        assert (shown.kind, shown.width, shown.height) == ("image", 2, 3)
        assert (film.kind, film.mime) == ("video", "video/mp4")
        assert read("user", response("f", {}, parts=[inline])).results[0].media == (shown,)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ({"role": "user", "parts": "x"}, "expected parts to be a list"),
            ({"role": "user", "parts": [5]}, "expected a part to be an object"),
            ({"role": "user", "parts": [{"text": 5}]}, "expected a part's text to be a string"),
            ({"role": "model", "parts": [{"functionCall": "f"}]}, "expected functionCall to be an object"),
            ({"role": "boss", "parts": []}, "expected role to be one of"),
        ],
    )
    def test_refuses_what_it_cannot_read(self, content: Any, said: str) -> None:
        """The error names what was expected and what was found."""
        with pytest.raises(MalformedMessage, match=said):
            decode([content], "gemini")

    def test_lets_a_body_be_short(self) -> None:
        """The API accepts a string, a single content or a single part, and so do we."""
        for contents in ("hi", {"parts": [{"text": "hi"}]}, [{"parts": {"text": "hi"}}]):
            assert decode({"contents": contents}).messages == (message("user", "hi"),)


class TestWriting:
    """New contents written as Gemini's."""

    def test_alternates(self) -> None:
        """Neighbouring contents of one role are merged, and all responses are in one."""
        messages = [
            message("user", "a"),
            message("user", "b"),
            Message("assistant", (ToolCall("1", "f", '{"x": 1}'), ToolCall("2", "g", "plain"))),
            Message("tool", (ToolResult("2", "no", is_error=True),)),
            Message("tool", (ToolResult("1", "yes"),)),
            message("user", "c"),
        ]
        assert encode(messages, "gemini") == [
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
            {
                "role": "model",
                "parts": [call("f", id="1", args={"x": 1}), call("g", id="2", args={"input": "plain"})],
            },
            {
                "role": "user",
                "parts": [
                    response("f", {"output": "yes"}, id="1"),
                    response("g", {"error": "no"}, id="2"),
                    {"text": "c"},
                ],
            },
        ]

    def test_carries_media_over(self) -> None:
        """Bytes and addresses of other formats become inlineData and fileData, inside responses too."""
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        link = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
        items = [
            {"role": "user", "content": [image, link]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [image]}]},
        ]
        written = encode(decode(items).messages, "gemini")
        inline = {"inlineData": {"mimeType": "image/png", "data": PNG}}
        assert written[0]["parts"][0] == inline
        assert written[0]["parts"][1]["fileData"]["fileUri"] == "https://example.org/a.png"
        assert written[2]["parts"][0]["functionResponse"]["parts"] == [inline]

    def test_keeps_an_error_whose_image_has_no_place(self) -> None:
        """The words for the image stand with the error's."""
        failed = ToolResult("1", "boom", "f", True, (Media("image"),))
        made = encode(
            [message("assistant", "", ToolCall("1", "f", "{}")), message("tool", "", failed)], "gemini"
        )
        assert made[-1]["parts"][0]["functionResponse"]["response"]["error"].startswith("boom\n[image")

    def test_joins_new_contents_to_kept_neighbours(self) -> None:
        """A summary before a kept user content is merged with it, without changing the original."""
        item = {"role": "user", "parts": [{"text": "hi"}]}
        written = encode([message("user", "[summary]"), *decode([item]).messages], "gemini")
        assert written == [{"role": "user", "parts": [{"text": "[summary]"}, {"text": "hi"}]}]
        assert item == {"role": "user", "parts": [{"text": "hi"}]}


class TestPatching:
    """Changed parts written back into the original objects."""

    def test_keeps_signatures(self) -> None:
        """A changed call or text keeps its signature."""
        decoded = read(
            "model", {"text": "long", "thoughtSignature": "abc"}, {**call("f"), "thoughtSignature": "d"}
        )
        parts = (
            Text("lo"),
            decoded.parts[1],
            ToolCall(decoded.calls[0].id, "f", '{"a": 1}'),
            decoded.parts[3],
        )
        assert encode([Message("assistant", parts, wire=decoded.wire)], "gemini")[0]["parts"] == [
            {"text": "lo", "thoughtSignature": "abc"},
            {**call("f", args={"a": 1}), "thoughtSignature": "d"},
        ]

    def test_replaces_the_text_of_a_response(self) -> None:
        """The text field gets the new text; a structured response is replaced by its text."""
        decoded = read("user", response("f", {"result": "long"}), response("g", {"a": 1, "b": 2}))
        first, second = (r.call_id for r in decoded.results)
        changed = decoded.with_result_text(first, "x").with_result_text(second, "y")
        assert encode([changed], "gemini")[0]["parts"] == [
            response("f", {"result": "x"}),
            response("g", {"output": "y"}),
        ]

    def test_reads_what_an_sdk_dumps(self) -> None:
        """Google's SDK writes every field of a part, most of them as null."""
        null = {"text": None, "functionCall": None, "function_call": None, "code_execution_result": None}
        answer = {"name": "f", "parts": None, "response": {"output": "long"}}
        decoded = read("user", {**null, "function_response": answer})
        [part] = encode([decoded.with_result_text(decoded.results[0].call_id, "x")], "gemini")[0]["parts"]
        assert part == {**null, "function_response": {**answer, "response": {"output": "x"}}}
        assert validate([{"role": "user", "parts": [{**null, "text": "hi"}]}], "gemini") == []

    def test_replaces_the_output_of_code(self) -> None:
        """The outcome field of a code result stays."""
        decoded = read("model", {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "long"}})
        changed = decoded.with_result_text(decoded.results[0].call_id, "x")
        assert encode([changed], "gemini")[0]["parts"] == [
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "x"}}
        ]
