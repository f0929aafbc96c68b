"""OpenCode's parts as messages."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import FileReference, Media, Text
from webapp.agents.opencode.items import messages_of, model_of, unknown_in, unread, usage_of
from webapp.agents.records import Entry


def tool(call_id: str, **state: Any) -> dict[str, Any]:
    """Return a tool part."""
    return {"type": "tool", "callID": call_id, "tool": "bash", "state": {"input": {}, **state}}


class TestARow:
    """The sent parts of a row."""

    def test_is_cut_at_each_call_of_the_model(self) -> None:
        """A step and a text after a result begin a new message."""
        parts: list[dict[str, Any]] = [
            {"type": "step-start"}, {"type": "text", "text": "a"}, tool("1", status="completed", output="x"),
            tool("2", status="running"), {"type": "step-finish"}, {"type": "step-start"},
            {"type": "reasoning", "text": "r"}, tool("3", status="completed", output="y"),
            {"type": "text", "text": "b"},
        ]  # fmt: skip
        said = list(messages_of({"id": "m", "role": "assistant"}, parts))
        assert [name for name, _ in said] == ["m", "m:results", "m:2", "m:2:results", "m:3"]
        assert [len(m.calls) for _, m in said] == [2, 0, 1, 0, 0]

    def test_of_the_user_may_be_a_reminder(self) -> None:
        """A row with only synthetic text is a reminder; files are media or references."""
        parts: list[dict[str, Any]] = [
            {"type": "text", "text": "a", "synthetic": True},
            {"type": "file", "url": "data:image/png;base64,AAAA", "mime": "image/png"},
            {"type": "file", "url": "file:///x/y.pdf", "filename": "y.pdf", "mime": "application/pdf"},
        ]
        ((_, message),) = messages_of({"id": "m", "role": "user"}, parts)
        assert Entry(message, None).own_words is None
        assert message.parts[0] == Text("a")
        assert isinstance(message.parts[1], Media)
        assert message.parts[2] == FileReference("y.pdf", "", "application/pdf")

    @pytest.mark.parametrize(
        ("url", "mime"),
        [
            ("data:text/plain;base64,aGk=", "text/plain"),
            ("file:///x/y.txt", "text/plain"),
            ("file:///x", "application/x-directory"),
        ],
    )
    def test_has_the_text_of_an_attached_file_once(self, url: str, mime: str) -> None:
        """OpenCode sends a file or a folder as a text beside it, not as a file, wherever it is."""
        pasted = {"type": "file", "url": url, "mime": mime}
        ((_, message),) = messages_of({"id": "m", "role": "user"}, [pasted, {"type": "text", "text": "hi"}])
        assert message.parts == (Text("hi"),)

    @pytest.mark.parametrize(
        ("name", "part", "is_sent"),
        [
            ("APIError", {"type": "text", "text": "x"}, False),
            ("MessageAbortedError", {"type": "text", "text": "x"}, True),
            ("MessageAbortedError", {"type": "reasoning", "text": "x"}, False),
        ],
    )
    def test_that_failed_is_not_sent(self, name: str, part: dict[str, Any], is_sent: bool) -> None:
        """An answer that ended in an error is left out, unless the user stopped it after it said something."""
        row = {"id": "m", "role": "assistant", "error": {"name": name}}
        assert bool(list(messages_of(row, [part]))) == is_sent
        assert list(unread(row, [part])) == ([] if is_sent else [f"answer that ended with {name}"])

    def test_has_the_prompt_of_a_sub_agent_once(self) -> None:
        """It is in the call that follows; the message that asks for it only says that there is one."""
        asked = {"type": "subtask", "prompt": "Count the trees.", "agent": "general"}
        ((_, message),) = messages_of({"id": "m", "role": "user"}, [asked])
        assert message.text == "The following tool was executed by the user"
        assert Entry(message, None).own_words is None

    def test_has_the_output_of_a_stopped_tool(self) -> None:
        """The text that it had written is sent instead of the error, as any output."""
        metadata = {"interrupted": True, "output": "half"}
        stopped = tool("1", status="error", error="Tool execution aborted", metadata=metadata)
        _, (_, results) = messages_of({"id": "m", "role": "assistant"}, [stopped])
        assert (results.results[0].text, results.results[0].is_error) == ("half", False)

    def test_has_documents_in_results(self) -> None:
        """A PDF that a tool read is not an image."""
        pdf = {"mime": "application/pdf", "url": "data:application/pdf;base64,JVBERi0="}
        read = tool("1", status="completed", output="x", attachments=[pdf])
        _, (_, results) = messages_of({"id": "m", "role": "assistant"}, [read])
        assert [m.kind for m in results.results[0].media] == ["document"]

    def test_names_its_model_in_both_formats(self) -> None:
        """The model is beside the role or in an object."""
        assert model_of({"modelID": "a"}) == "a"
        assert model_of({"model": {"modelID": "b"}}) == "b"
        assert model_of({}) is None

    def test_names_a_host_that_has_windows_of_its_own(self) -> None:  # X10
        """Copilot's windows are not the maker's, in either format; the maker itself is left out."""
        here = {"providerID": "github-copilot", "modelID": "gpt-5.5"}
        assert model_of(here) == model_of({"model": here}) == "github-copilot/gpt-5.5"
        assert model_of({"providerID": "openai", "modelID": "gpt-5.5"}) == "gpt-5.5"

    def test_without_input_has_no_usage(self) -> None:
        """Empty and invalid counts are no usage."""
        assert usage_of({"tokens": {"input": 0, "output": 5}}) is None
        assert usage_of({"tokens": "x"}) is None

    @pytest.mark.parametrize(
        ("tokens", "answer"),
        [
            ({"output": 120, "reasoning": 70, "total": 1_190}, 190),  # as current versions write it
            ({"output": 190, "reasoning": 70, "total": 1_190}, 190),
            ({"output": 190, "reasoning": 70}, 190),
            ({"output": 30, "reasoning": 70}, 100),
            ({"output": 190}, 190),
        ],
    )
    def test_counts_reasoning_once_in_every_version(self, tokens: dict[str, int], answer: int) -> None:  # X11
        """Older versions include reasoning in the output, too."""
        usage = usage_of({"tokens": {"input": 900, "cache": {"read": 100}, **tokens}})
        assert usage is not None
        assert (usage.input_tokens, usage.answer_tokens) == (1_000, answer)

    def test_names_unknown_parts(self) -> None:
        """This includes parts without a type."""
        assert list(unknown_in([{"type": "patch"}, {"type": "hologram"}, {}])) == [
            "part hologram",
            "part without type",
        ]
