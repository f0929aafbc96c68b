"""Groups of messages: for any script, a provider gets a whole group or nothing of it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import decode
from scoring.messages import Units, units_of
from tests.webapp.proxy.conftest import Way
from tests.webapp.proxy.edit_files import script
from tests.webapp.proxy.edits import ANTHROPIC, CHAT, DROP, RESPONSES, sent, user
from webapp.proxy.links import links_in
from webapp.services.proxied.keys import Protocol


def said(*blocks: Any) -> Any:
    """Return a message of the model with these blocks."""
    return {"role": "assistant", "content": [{"type": "text", "text": "So."}, *blocks]}


def used(kind: str, name: str, **more: Any) -> Any:
    """Return a block that calls a tool."""
    return {"type": kind, "id": name, "name": "a_tool", "input": {}, **more}


def got(kind: str, name: str) -> Any:
    """Return a block with the result of a call."""
    return {"type": kind, "tool_use_id": name, "content": [{"type": "text", "text": "found"}]}


def item(kind: str, **more: Any) -> Any:
    """Return an item of Responses."""
    return {"type": kind, **more}


def asked(text: str) -> Any:
    """Return a message of the user in Responses."""
    return item("message", role="user", content=text)


def reasoning(name: str) -> Any:
    """Return reasoning that only the provider can read."""
    return item("reasoning", id=name, summary=[], encrypted_content="x")


def called(name: str, **more: Any) -> Any:
    """Return a call of a function."""
    return item("function_call", id=f"fc_{name}", call_id=name, name="f", arguments="{}", **more)


def output(name: str, **more: Any) -> Any:
    """Return the output of a function."""
    return item("function_call_output", call_id=name, output="out", **more)


def answered(name: str) -> Any:
    """Return a message of the model in Responses."""
    content = [{"type": "output_text", "text": "Done.", "annotations": []}]
    return item("message", id=name, role="assistant", content=content)


def paused(call: str, result: str) -> list[Any]:
    """Return an answer paused after its call; the result is in the next answer."""
    return [said(used(call, "srv_1")), said(got(result, "srv_1"))]


PROGRAM = {"type": "code_execution_20260120", "tool_id": "srv_1"}
IN_PROGRAM = {"type": "program", "caller_id": "p1"}

# Messages between two questions of the user that belong together.
TOGETHER: dict[str, tuple[Protocol, list[Any]]] = {
    "web search": (ANTHROPIC, paused("server_tool_use", "web_search_tool_result")),
    "web fetch": (ANTHROPIC, paused("server_tool_use", "web_fetch_tool_result")),
    "code execution": (ANTHROPIC, paused("server_tool_use", "code_execution_tool_result")),
    "shell of code execution": (ANTHROPIC, paused("server_tool_use", "bash_code_execution_tool_result")),
    "tool search": (ANTHROPIC, paused("server_tool_use", "tool_search_tool_result")),
    "MCP": (ANTHROPIC, paused("mcp_tool_use", "mcp_tool_result")),
    "a search beside a tool of the client": (
        ANTHROPIC,
        [
            said(used("server_tool_use", "srv_1"), used("tool_use", "1")),
            {"role": "user", "content": [got("tool_result", "1")]},
            said(got("web_search_tool_result", "srv_1")),
        ],
    ),
    "tools that a program calls": (
        ANTHROPIC,
        [
            said(used("server_tool_use", "srv_1"), used("tool_use", "1", caller=PROGRAM)),
            {"role": "user", "content": [got("tool_result", "1")]},
            said(used("tool_use", "2", caller=PROGRAM)),
            {"role": "user", "content": [got("tool_result", "2")]},
            said(got("code_execution_tool_result", "srv_1")),
        ],
    ),
    "reasoning before several calls": (
        RESPONSES, [reasoning("r1"), called("1"), called("2"), output("1"), output("2")],
    ),
    "outputs between the calls": (
        RESPONSES, [reasoning("r1"), called("1"), output("1"), called("2"), output("2")],
    ),
    "reasoning before words and a call": (
        RESPONSES, [reasoning("r1"), answered("m1"), called("1"), output("1")],
    ),
    "a search of the provider": (
        RESPONSES, [reasoning("r1"), item("web_search_call", id="ws_1", status="completed"), answered("m1")],
    ),
    "a search in files": (
        RESPONSES, [reasoning("r1"), item("file_search_call", id="fs_1", queries=["x"]), answered("m1")],
    ),
    "an approval of MCP": (
        RESPONSES,
        [
            item("mcp_approval_request", id="a1", name="f", arguments="{}", server_label="s"),
            item("mcp_approval_response", approval_request_id="a1", approve=True),
            item("mcp_call", id="c1", approval_request_id="a1", name="f", arguments="{}", output="x"),
        ],
    ),
    "a computer": (
        RESPONSES,
        [
            reasoning("r1"),
            item("computer_call", id="cu_1", call_id="1", action={"type": "screenshot"}),
            item("computer_call_output", call_id="1", output={"type": "computer_screenshot"}),
        ],
    ),
    "a patch": (
        RESPONSES,
        [
            item("apply_patch_call", id="p1", call_id="1", operation={"type": "delete_file", "path": "a"}),
            item("apply_patch_call_output", call_id="1", status="completed"),
        ],
    ),
    "a local shell": (
        RESPONSES,
        [
            item("local_shell_call", id="l1", call_id="1", action={"type": "exec", "command": ["ls"]}),
            item("local_shell_call_output", id="1", output="a.txt"),
        ],
    ),
    "local shells behind reasoning, answered as functions": (
        RESPONSES,
        [
            reasoning("r1"),
            item("local_shell_call", id="l1", call_id="1", action={"type": "exec", "command": ["ls"]}),
            item("local_shell_call", id="l2", call_id="2", action={"type": "exec", "command": ["pwd"]}),
            output("1"),
            output("2"),
        ],
    ),
    "a program of the provider": (
        RESPONSES,
        [
            item("program", id="pr_1", call_id="p1", code="f()"),
            called("1", caller=IN_PROGRAM),
            output("1", caller=IN_PROGRAM),
            item("program_output", id="po_1", call_id="p1", result="x"),
        ],
    ),
    "a search of tools by the client": (
        RESPONSES,
        [
            item("tool_search_call", id="ts_1", call_id="1", execution="client", arguments={}),
            item("tool_search_output", id="to_1", call_id="1", execution="client", tools=[]),
        ],
    ),
    "agents of the provider": (
        RESPONSES,
        [
            item("multi_agent_call", id="ma_1", call_id="1", action="spawn_agent", arguments="{}"),
            item("multi_agent_call_output", id="mo_1", call_id="1", action="spawn_agent", output=[]),
        ],
    ),
    "references to stored items": (
        RESPONSES, [item("item_reference", id="rs_1"), item("item_reference", id="msg_1")],
    ),
    "a call of chat without an id": (
        CHAT,
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "x"},
        ],
    ),
    "several calls of chat": (
        CHAT,
        [
            {"role": "assistant", "tool_calls": [{"id": n, "type": "function", "function": {}} for n in "12"]},
            {"role": "tool", "tool_call_id": "1", "content": "x"},
            {"role": "tool", "tool_call_id": "2", "content": "y"},
        ],
    ),
}  # fmt: skip

# Messages that only their order ties: if one is missing, the next one may take its place.
BY_ORDER: dict[str, tuple[Protocol, list[Any]]] = {
    "a search of tools by the provider": (
        RESPONSES,
        [
            item("tool_search_call", id="ts_1", call_id=None, execution="server", arguments={}),
            item("tool_search_output", id="to_1", call_id=None, execution="server", tools=[]),
        ],
    ),
}

# Messages between groups.
BETWEEN: dict[Protocol, list[list[Any]]] = {
    ANTHROPIC: [[], [user("and")], [said()]],
    CHAT: [[], [user("and")], [{"role": "assistant", "content": "So."}]],
    RESPONSES: [[], [asked("and")], [answered("m9")], [reasoning("r9")]],
}


class TestAGroup:
    """Messages that belong together."""

    @pytest.mark.parametrize("name", TOGETHER | BY_ORDER)
    def test_is_dropped_completely_or_not_at_all(self, name: str) -> None:  # X13, P4
        """A script that names some messages of a group drops none; one that names all drops all."""
        protocol, group = (TOGETHER | BY_ORDER)[name]
        begin, end = (asked("a"), asked("b")) if protocol is RESPONSES else (user("a"), user("b"))
        messages = [begin, *group, end]
        places = range(1, len(group) + 1)
        parts = [chosen for size in range(1, len(group)) for chosen in combinations(places, size)]
        assert [
            part for part in parts if sent(messages, dict.fromkeys(part, DROP), protocol) != messages
        ] == []
        assert sent(messages, dict.fromkeys(places, DROP), protocol) == [begin, end]

    @given(st.lists(st.sampled_from(sorted(TOGETHER)), max_size=4), st.data())
    def test_equals_a_unit_of_the_planner(self, names: list[str], data: st.DataObject) -> None:  # P4, X13
        """Proxy and planner divide any list alike, even with missing messages."""
        wire_format = TOGETHER[names[0]][0] if names else CHAT
        lists = [TOGETHER[name][1] for name in names if TOGETHER[name][0] is wire_format]
        every = [
            one for group in lists for one in (*group, *data.draw(st.sampled_from(BETWEEN[wire_format])))
        ]
        messages = [one for one in every if data.draw(st.integers(0, 7))]
        ours = Units()
        ours.extend(map(links_in, messages))
        assert [tuple(ours.of(head)) for head in ours.heads()] == units_of(
            decode(messages, wire_format.format).messages
        )

    def test_ends_at_the_next_reasoning(self) -> None:  # X13
        """Two answers with their own reasoning can be dropped separately."""
        first, second = (
            [reasoning("r1"), called("1"), output("1")],
            [reasoning("r2"), called("2"), output("2")],
        )
        messages = [asked("a"), *first, *second, answered("m1")]
        assert sent(messages, dict.fromkeys((1, 2, 3), DROP), RESPONSES) == [
            asked("a"),
            *second,
            answered("m1"),
        ]
        assert sent(messages, dict.fromkeys((4, 5, 6), DROP), RESPONSES) == [
            asked("a"),
            *first,
            answered("m1"),
        ]

    def test_excludes_text_after_the_outputs(self) -> None:  # X13
        """Such text is from the next answer."""
        group = [reasoning("r1"), called("1"), output("1")]
        messages = [asked("a"), *group, answered("m1"), asked("b")]
        assert sent(messages, {4: DROP}, RESPONSES) == [asked("a"), *group, asked("b")]

    def test_may_lack_a_result(self) -> None:  # X13
        """A paused answer has a call without a result, and other messages can be edited."""
        messages = [user("a"), user("b"), said(used("server_tool_use", "srv_1"))]
        assert sent(messages, {1: DROP}) == [messages[0], messages[2]]


class TestAStrictProvider:
    """A provider that refuses what OpenAI and Anthropic refuse."""

    def test_accepts_parallel_calls_after_reasoning(self, way: Way) -> None:  # X13
        """A script that names the reasoning and one of two calls removes none of them."""
        way.provider.clear()
        ask = asked("RUN(cat a.txt) and RUN(cat b.txt)")
        tools = [{"type": "function", "name": "bash", "parameters": {}}]
        request = {"model": "gpt-5", "store": False, "tools": tools}
        address = f"{way.openai}/responses"
        made = httpx.post(address, json={**request, "input": [ask]}, timeout=60).json()["output"]
        assert [one["type"] for one in made] == ["reasoning", "function_call", "function_call"]
        outputs = [output(one["call_id"]) for one in made[1:]]
        messages = [asked("An earlier question."), ask, *made, *outputs, asked("Go on.")]
        script("parallel", messages, 0, 2, 3, 5)
        headers = {"x-coppice-session": "parallel"}
        second = httpx.post(address, json={**request, "input": messages}, headers=headers, timeout=60)
        assert (second.status_code, way.provider.refused) == (200, [])
        assert way.provider.requests[-1][2]["input"] == messages[1:]

    def test_accepts_a_paused_search(self, way: Way) -> None:  # X13
        """A script that names only the result never separates it from its call."""
        way.provider.clear()
        search = paused("server_tool_use", "web_search_tool_result")
        messages = [user("a"), user("b"), *search, user("c")]
        script("paused", messages, 1, 3)
        answer = httpx.post(
            f"{way.anthropic}/v1/messages", json={"model": "claude-opus-4-7", "max_tokens": 9, "messages": messages},
            headers={"x-coppice-session": "paused"}, timeout=60,
        )  # fmt: skip
        assert (answer.status_code, way.provider.refused) == (200, [])
        assert way.provider.requests[-1][2]["messages"] == [messages[0], *messages[2:]]
