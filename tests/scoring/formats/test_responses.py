"""OpenAI responses: what each item says, how turns are written, how changes go back, what the API refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from scoring.errors import MalformedMessage
from scoring.formats import decode, encode, repair, validate
from scoring.messages import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, message, units_of
from tests.scoring.formats.lists import PNG, conversations
from tests.shared import shared_files

PARAMS: TypeAdapter[Any] = TypeAdapter(ResponseInputParam)
USER = {"role": "user", "content": "hi"}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """An item of a type."""
    return {"type": kind, **fields}


def read(value: Any) -> Message:
    """The one message of a list of one."""
    return decode([value], "responses").messages[0]


def call(call_id: str = "c") -> dict[str, Any]:
    """A call of a function."""
    return item("function_call", call_id=call_id, name="f", arguments="{}")


OUTPUTS = {
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "tool_search_call": "tool_search_output",
}


def output(call_id: str = "c", text: Any = "r") -> dict[str, Any]:
    """Return the item of a function's result."""
    return item("function_call_output", call_id=call_id, output=text)


def problems(*items: Any, ready: bool = True) -> str:
    """Return what is wrong with a list that begins with the user."""
    return "\n".join(validate([USER, *items], "responses", ready=ready))


class TestReading:
    """Parts read from items."""

    @pytest.mark.parametrize(
        ("value", "role", "parts"),
        [
            (USER, "user", (Text("hi"),)),
            (item("message", role="developer", content="x"), "system", (Text("x"),)),
            (
                item(
                    "message",
                    role="assistant",
                    id="m",
                    content=[{"type": "output_text", "text": "x", "annotations": []}],
                ),
                "assistant",
                (Text("x"),),
            ),
            (
                item(
                    "reasoning",
                    id="rs",
                    summary=[{"type": "summary_text", "text": "hm"}],
                    encrypted_content="abcd",
                ),
                "assistant",
                (Reasoning("hm", 4),),
            ),
            (item("reasoning", summary=[], content=None), "assistant", (Reasoning(""),)),
            (item("compaction", encrypted_content="abc"), "assistant", (Reasoning("", 3),)),
            (call(), "assistant", (ToolCall("c", "f", "{}"),)),
            (
                item("custom_tool_call", call_id="c", name="patch", input="*** x"),
                "assistant",
                (ToolCall("c", "patch", "*** x"),),
            ),
            (
                item("local_shell_call", id="l", call_id="c", action={"type": "exec", "command": ["ls"]}),
                "assistant",
                (ToolCall("c", "local_shell", '{"type": "exec", "command": ["ls"]}'),),
            ),
            (output(), "tool", (ToolResult("c", "r"),)),
            (output(text=[{"type": "input_text", "text": "a"}]), "tool", (ToolResult("c", "a"),)),
            (item("custom_tool_call_output", call_id="c", output="r"), "tool", (ToolResult("c", "r"),)),
            (
                item(
                    "shell_call_output",
                    call_id="c",
                    output=[{"stdout": "out", "stderr": "err", "outcome": {"type": "exit"}}],
                ),
                "tool",
                (ToolResult("c", "out\nerr"),),
            ),
            (
                item("apply_patch_call_output", call_id="c", status="failed"),
                "tool",
                (ToolResult("c", "", is_error=True),),
            ),
            (item("item_reference", id="x"), "assistant", (Reasoning(""),)),  # it can be to reasoning
            ({"id": "x"}, "assistant", (Reasoning(""),)),
            (item("new_kind", words="seen"), "assistant", (Text("seen"),)),
        ],
    )
    def test_gives_role_and_parts(self, value: Any, role: Role, parts: tuple[Part, ...]) -> None:
        """Every item is one message."""
        assert (read(value).role, read(value).parts) == (role, parts)

    @pytest.mark.parametrize(
        ("value", "text", "failed"),
        [
            (
                item("web_search_call", id="w", status="completed", action={"type": "search", "query": "q"}),
                "",
                False,
            ),
            (
                item("file_search_call", id="w", queries=["q"], results=[{"filename": "a", "text": "b"}]),
                "a\nb",
                False,
            ),
            (item("mcp_call", id="w", name="t", arguments="{}", output="r"), "r", False),
            (item("mcp_call", id="w", name="t", arguments="{}", error="no", output=None), "no", True),
            (
                item("code_interpreter_call", id="w", code="1", outputs=[{"type": "logs", "logs": "l"}]),
                "l",
                False,
            ),
        ],
    )
    def test_pairs_what_the_provider_ran_within_the_item(self, value: Any, text: str, failed: bool) -> None:
        """The call and result of a built-in tool are one item, so neither is an orphan."""
        call, result = read(value).parts
        assert isinstance(call, ToolCall)
        assert isinstance(result, ToolResult)
        assert (call.id, result.call_id, result.text, result.is_error) == ("w", "w", text, failed)

    def test_measures_images(self) -> None:
        """Images in messages, outputs, screenshots and generated images are measured."""
        url = f"data:image/png;base64,{PNG}"
        places = [
            item("message", role="user", content=[{"type": "input_image", "image_url": url}]),
            output(text=[{"type": "input_image", "image_url": url}]),
            item(
                "computer_call_output", call_id="c", output={"type": "computer_screenshot", "image_url": url}
            ),
            item("image_generation_call", id="c", status="completed", result=PNG),
        ]
        assert len({read(p).media[0].digest for p in places}) == 1
        assert [(m.width, m.height) for p in places for m in read(p).media] == [(2, 3)] * 4

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (item("message", role="boss", content="x"), "expected role"),
            (item("message", role="user", content=5), "expected content"),
            (item("reasoning", summary="x"), "expected summary to be a list"),
            (output(text=5), "expected an output to be a string, a list or an object, got a number"),
            ({"type": 5}, "expected an item's type to be a string"),
            (item("function_call", call_id=[], name=5), "a string"),
        ],
    )
    def test_refuses_what_it_cannot_read(self, value: Any, said: str) -> None:
        """The error names what was expected and what was found."""
        with pytest.raises(MalformedMessage, match=said):
            read(value)


class TestWriting:
    """New items written as OpenAI's."""

    def test_gives_an_item_for_each_call_and_result(self) -> None:
        """Text, calls and outputs are separate items in order."""
        messages = [
            Message("assistant", (Text("x"), ToolCall("a", "f", "{}"), ToolCall("b", "g", ""))),
            Message("tool", (ToolResult("a", "1"), ToolResult("b", "2"))),
        ]
        assert [i["type"] for i in encode(messages, "responses")] == [
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
        ]

    def test_carries_images_and_files_over(self) -> None:
        """Bytes become data URLs, in outputs too."""
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        pdf = {
            "type": "document",
            "title": "a.pdf",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
        }
        items = [
            {"role": "user", "content": [image, pdf]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [image]}]},
        ]
        written = encode(decode(items).messages, "responses")
        shown = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
        assert written[0]["content"][0] == shown
        assert written[0]["content"][1]["filename"] == "a.pdf"
        assert written[2]["output"] == [shown]

    def test_carries_the_address_of_a_document_over(self) -> None:
        """A document that another format names by its URL is not replaced by a placeholder."""
        part = {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}}
        written = encode(decode([{"role": "user", "parts": [part]}]).messages, "responses")
        assert written[0]["content"] == [{"type": "input_file", "file_url": "https://example.org/a.pdf"}]
        PARAMS.validate_python(written)

    @given(conversations())
    def test_passes_the_types_of_the_sdk(self, messages: list[Message]) -> None:  # X6
        """The SDK's own types accept what is written."""
        PARAMS.validate_python(encode(messages, "responses"))


class TestPatching:
    """Changed parts written back into the original objects."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (output(text="long"), output(text="x")),
            (
                output(
                    text=[{"type": "input_text", "text": "long", "a": 1}, {"type": "input_text", "text": "b"}]
                ),
                output(text=[{"type": "input_text", "text": "x", "a": 1}]),
            ),
            (
                item(
                    "shell_call_output",
                    call_id="c",
                    output=[{"stdout": "long", "stderr": "e", "outcome": {"type": "timeout"}}],
                ),
                item(
                    "shell_call_output",
                    call_id="c",
                    output=[{"stdout": "x", "stderr": "", "outcome": {"type": "timeout"}}],
                ),
            ),
            (
                item("local_shell_call_output", id="c", output="long", status="completed"),
                item("local_shell_call_output", id="c", output="x", status="completed"),
            ),
            (
                item("mcp_call", id="c", name="t", arguments="{}", output="long"),
                item("mcp_call", id="c", name="t", arguments="{}", output="x"),
            ),
            (
                item("code_interpreter_call", id="c", code="1", outputs=[{"type": "logs", "logs": "long"}]),
                item("code_interpreter_call", id="c", code="1", outputs=[{"type": "logs", "logs": "x"}]),
            ),
            (
                item("file_search_call", id="c", queries=["q"], results=[{"text": "long", "filename": "f"}]),
                item("file_search_call", id="c", queries=["q"], results=[{"text": "x"}]),
            ),
        ],
    )
    def test_replaces_just_the_text(self, value: Any, expected: Any) -> None:
        """Each kind of output keeps its structure."""
        assert encode([read(value).with_result_text("c", "x")], "responses") == [expected]

    def test_cuts_a_message(self) -> None:
        """The changed block is a copy, the other the same object."""
        image = {"type": "input_image", "image_url": "https://example.org/a.png"}
        decoded = read(item("message", role="user", content=[{"type": "input_text", "text": "long"}, image]))
        cut = Message("user", (Text("lo"), decoded.parts[1]), wire=decoded.wire)
        content = encode([cut], "responses")[0]["content"]
        assert content == [{"type": "input_text", "text": "lo"}, image]
        assert content[1] is image
        plain = Message("user", (Text("ho"),), wire=read(USER).wire)
        assert encode([plain], "responses") == [{"role": "user", "content": "ho"}]

    def test_changes_arguments(self) -> None:
        """A call keeps its own id and status."""
        decoded = read({**call(), "id": "fc_1"})
        changed = Message("assistant", (ToolCall("c", "f", '{"a": 1}'),), wire=decoded.wire)
        assert encode([changed], "responses") == [{**call(), "id": "fc_1", "arguments": '{"a": 1}'}]


CALLS = [
    item("custom_tool_call", id="ctc_1", call_id="c", name="f", input="x"),
    item("shell_call", id="sh_1", call_id="c", status="completed", action={"commands": ["ls"]}),
    item("apply_patch_call", id="ap_1", call_id="c", status="completed",
         operation={"type": "delete_file", "path": "x"}),
    item("computer_call", id="cu_1", call_id="c", status="completed", action={"type": "screenshot"},
         pending_safety_checks=[]),
    item("local_shell_call", id="ls_1", call_id="c", status="completed",
         action={"type": "exec", "command": ["ls"], "env": {}}),
    item("tool_search_call", id="ts_1", call_id="c", execution="client", status="completed", arguments={}),
]  # fmt: skip


class TestASearchOfTools:
    """A search that the provider runs has no call id."""

    ITEMS = (
        USER,
        item("tool_search_call", id="ts_1", call_id=None, execution="server", arguments={"query": "q"}),
        item("tool_search_output", id="to_1", call_id=None, execution="server", tools=[]),
        item("tool_search_call", id="ts_2", call_id=None, execution="server", arguments={"query": "r"}),
        item("tool_search_output", id="to_2", call_id=None, execution="server", tools=[]),
        call(),
        output(),
    )

    def test_is_tied_by_order(self) -> None:  # X6, P4
        """It is one unit, and nothing is repaired."""
        items = list(self.ITEMS)
        decoded = decode(items, "responses").messages
        assert validate(items, "responses") == []
        repaired, notes = repair(decoded)
        assert (encode(repaired, "responses"), notes) == (items, [])
        assert next(unit for unit in units_of(decoded) if 1 in unit)[:2] == (1, 2)


class TestAnApproval:
    """The question whether a tool of a server may run."""

    ASKED = item("mcp_approval_request", id="mcpr_1", arguments='{"a": 1}', name="f", server_label="s")
    ANSWERED = item("mcp_approval_response", approval_request_id="mcpr_1", approve=False, reason="no")

    def test_is_a_call_and_its_answer_the_user_s(self) -> None:  # P4
        """Both are one unit, and other providers see what was asked and decided."""
        items = [USER, self.ASKED, self.ANSWERED]
        asked, answered = decode(items, "responses").messages[1:]
        assert asked.calls == (ToolCall("mcpr_1", "f", '{"a": 1}'),)
        assert (answered.role, answered.results) == ("tool", (ToolResult("mcpr_1", "denied: no"),))
        assert validate(items, "responses") == []
        assert units_of(decode(items, "responses").messages)[1:] == [(1, 2)]
        assert encode([answered.with_result_text("mcpr_1", "x")], "responses")[0]["reason"] == "x"

    def test_that_was_not_answered_is_denied(self) -> None:  # X6
        """The API's own types accept the answer that the repair adds."""
        listed = encode(repair(decode([USER, self.ASKED, USER], "responses").messages)[0], "responses")
        assert (listed[2]["type"], listed[2]["approve"]) == ("mcp_approval_response", False)
        assert validate(listed, "responses") == []
        PARAMS.validate_python(listed)


class TestItemsOfTheirOwn:
    """Items that are neither messages nor calls."""

    def test_reads_an_output_that_answers_no_call(self) -> None:  # X6
        """A tool of the client may say something by itself: it stays, and can be changed."""
        items = [USER, item("function_call_output", name="goal", output="go on"), call(), output()]
        decoded = decode(items, "responses").messages
        assert (decoded[1].role, decoded[1].name, decoded[1].text) == ("user", "reminder", "go on")
        assert validate(items, "responses") == []
        assert repair(decoded)[1] == []
        cut = replace(decoded[1], parts=(Text("[cut]"),))
        assert encode([cut], "responses") == [{**items[1], "output": "[cut]"}]

    def test_keeps_a_change_of_the_settings(self) -> None:
        """It holds for all later answers, so that it is protected, and has no words."""
        changed = read(item("configuration_update", reasoning={"effort": "none"}))
        assert (changed.role, changed.parts) == ("system", ())

    def test_reads_what_was_drawn(self) -> None:
        """The prompt of a generated image says what it shows; its action does not."""
        drawn = item("image_generation_call", id="i", action="generate", revised_prompt="a cat", result=PNG)
        assert read(drawn).calls == (ToolCall("i", "image_generation", "a cat"),)

    def test_reads_images_anywhere(self) -> None:  # B4
        """In the outputs of code and in messages between agents; base64 is no text."""
        url = f"data:image/png;base64,{PNG}"
        ran = item("code_interpreter_call", id="c", code="1", outputs=[{"type": "image", "url": url}])
        said = item("agent_message", author="a", recipient="b",
                    content=[{"type": "input_image", "image_url": url}])  # fmt: skip
        for one in map(read, (ran, said)):
            assert [medium.kind for medium in one.media] == ["image"]
            assert PNG not in one.text


class TestAProgramOfTheProvider:
    """A program calls tools while it runs; the provider adds its output."""

    CALLER = item("program", caller_id="p")
    ITEMS = (
        USER,
        item("program", id="pr_1", call_id="p", code="tools.f()", fingerprint="f"),
        {**call(), "caller": CALLER},
        {**output(), "caller": CALLER},
        item("program_output", id="po_1", call_id="p", result="42", status="completed"),
        USER,
    )

    def test_keeps_its_output(self) -> None:  # X6
        """It is no result without a call, and a program that still runs gets none."""
        for items in (list(self.ITEMS), list(self.ITEMS[:4])):
            assert validate(items, "responses") == []
            repaired, notes = repair(decode(items, "responses").messages)
            assert encode(repaired, "responses") == items
            assert notes == []

    def test_can_be_shortened(self) -> None:
        """Its code and its result are texts; the other fields stay."""
        for n, name in ((1, "code"), (4, "result")):
            old = self.ITEMS[n]
            cut = replace(read(old), parts=(Text("[cut]"),))
            assert encode([cut], "responses") == [{**old, name: "[cut]"}]

    def test_is_one_unit_with_its_output(self) -> None:  # P4
        """They are dropped together."""
        assert (1, 2, 3, 4) in units_of(decode(list(self.ITEMS), "responses").messages)


class TestTheTypeOfAnOutput:
    """An output has the type that its call requires, or the API finds none for the call."""

    @pytest.mark.parametrize("called", CALLS, ids=lambda one: str(one["type"]))
    def test_of_an_interrupted_call_is_that_of_the_call(self, called: dict[str, Any]) -> None:  # X6
        """The repair adds it; the API's own types accept it."""
        items = [USER, called, {"role": "user", "content": "stop"}]
        listed = encode(repair(decode(items, "responses").messages)[0], "responses")
        assert [one.get("type") for one in listed[1:3]] == [called["type"], OUTPUTS[called["type"]]]
        assert validate(listed, "responses") == []
        PARAMS.validate_python(listed)

    @pytest.mark.parametrize("called", CALLS, ids=lambda one: str(one["type"]))
    def test_is_checked_and_repaired(self, called: dict[str, Any]) -> None:  # X6
        """The API also takes a function's output for a call of the local shell, as Codex has it."""
        items = [USER, called, output(), USER]
        is_accepted = called["type"] == "local_shell_call"
        problems = validate(items, "responses")
        assert [OUTPUTS[called["type"]] in one for one in problems] == ([] if is_accepted else [True])
        repaired, notes = repair(decode(items, "responses").messages)
        assert len(notes) == len(problems)
        listed = encode(repaired, "responses")
        assert validate(listed, "responses") == []
        assert (listed[2] is items[2]) == is_accepted


class TestRules:
    """Tests of what the API refuses."""

    def test_accepts_outputs_at_any_later_place(self) -> None:
        """Outputs may come after other calls and messages."""
        assert problems(call("a"), call("b"), USER, output("b"), output("a")) == ""
        assert problems(call("a"), output("a"), call("a"), output("a")) == ""

    @pytest.mark.parametrize(
        ("items", "said"),
        [
            ([call()], 'message 1: call "c" has no result'),
            ([output()], 'message 1: result for "c" without a call before it'),
            ([output(), call()], "without a call before it"),
            ([call(), output(), output()], "has a second result"),
            ([call(), call(), output()], "has no result before it is used again"),
            ([item("reasoning", summary=[])], "message 1: a reasoning item without its following item"),
            ([item("reasoning", summary=[]), USER], "a reasoning item without its following item"),
            (
                [call(), item("reasoning", summary=[]), output()],
                "a reasoning item without its following item",
            ),
            ([item("message", role="tool", content="x")], "expected a function_call_output item"),
            ([item("message", role="user", content=[])], "content is empty"),
            (
                [item("function_call", name="f", arguments="{}"), item("function_call_output", output="")],
                "needs a call_id",
            ),
            ([{**call(), "arguments": {}}, output()], "arguments are not JSON text"),
        ],
    )
    def test_refuses(self, items: list[Any], said: str) -> None:  # X6
        """The problem has the place and what was expected."""
        assert said in problems(*items)

    def test_lets_reasoning_lead_to_a_call(self) -> None:
        """Reasoning, its call and its output are valid; so are open calls in a list that is not sent."""
        assert problems(item("reasoning", summary=[]), call(), output()) == ""
        assert problems(call(), ready=False) == ""


class TestRealItems:
    """Items from Codex's transcripts."""

    @pytest.mark.parametrize(
        "path", shared_files("**/rollout-*.jsonl", "transcripts", "codex"), ids=lambda p: p.stem[:20]
    )
    def test_come_back_as_they_are(self, path: Any) -> None:
        """Every response item of a rollout is read, comes back the same, and can be written in other formats."""
        import json

        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        items = [row["payload"] for row in rows if row.get("type") == "response_item"]
        decoded = decode(items)
        assert decoded.format == "responses"
        assert all(a is b for a, b in zip(encode(decoded.messages, "responses"), items, strict=True))
        for name in ("openai", "anthropic"):
            written = encode([*decoded.messages, message("user", "go on")], name, {})
            assert validate(written, name) == []
