"""Tests of what the Anthropic API refuses, a rule at a time."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.formats import validate
from scoring.formats.table import is_run_by_provider

USER = {"role": "user", "content": "hi"}


def uses(*ids: str, before: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """An assistant message that calls."""
    calls = ({"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids)
    return {"role": "assistant", "content": [*before, *calls]}


def results(*ids: str, text: str = "") -> dict[str, Any]:
    """A user message that answers, with words behind."""
    said = [{"type": "text", "text": text}] if text else []
    return {
        "role": "user",
        "content": [*({"type": "tool_result", "tool_use_id": i, "content": "r"} for i in ids), *said],
    }


def thinking(signature: str | None = "s") -> dict[str, Any]:
    """A thinking block."""
    return {"type": "thinking", "thinking": "hm", **({"signature": signature} if signature else {})}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": list(blocks)}


TEXT = {"type": "text", "text": "so"}


@pytest.mark.parametrize(
    "items",
    [
        [USER, uses("a", "b"), results("b", "a")],
        [USER, assistant(thinking()), uses("a"), results("a")],
        [USER, uses("a"), results("a", text="and?")],
        [USER, uses("a", "b"), results("a"), results("b")],
        [USER, uses("a"), uses("b"), results("a", "b")],
        [USER, USER, assistant(TEXT), USER],
        [USER, uses("a", before=(thinking(),)), results("a")],
        [USER, uses("a", before=(thinking(),)), results("a"), uses("b"), results("b")],
        [{"role": "system", "content": "s"}, USER],
        [USER, {"role": "assistant", "content": ""}],
        [
            USER,
            {
                "role": "assistant",
                "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "w", "input": {}}],
            },
        ],
    ],
)
def test_what_the_api_accepts(items: list[Any]) -> None:
    """Parallel and split results, consecutive messages of one role, thinking in its tool loop, an empty last answer."""
    assert validate(items, "anthropic") == []


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([USER, uses("a"), USER], 'message 1: call "a" has no result directly after it'),
        ([USER, uses("a", "b"), results("a")], 'call "b" has no result'),
        ([USER, results("a")], 'message 1: result for "a" without its call directly before'),
        ([USER, uses("a"), results("a", "a")], 'call "a" has a second result'),
        (
            [USER, uses("a"), results("a"), assistant(TEXT), results("a")],
            'message 4: result for "a" without its call',
        ),
        ([USER, uses("a"), USER, results("a")], "message 3: a tool_result comes after other content"),
        (
            [USER, uses("a"), results("a"), uses("a"), results("a")],
            'message 3: call id "a" was used in message 1',
        ),
        ([assistant(TEXT), USER], "message 0: the list begins with role assistant"),
        ([uses("a"), results("a")], "no user message"),
        ([USER, {"role": "user", "content": ""}], "message 1: a text block is empty"),
        ([USER, {"role": "user", "content": []}], "message 1: content is empty"),
        ([USER, assistant(), USER], "message 1: content is empty"),
        ([USER, assistant({"type": "text", "text": " \n"}), USER], "a text block is empty"),
        ([USER, assistant(thinking())], "the final block of an assistant turn is thinking"),
        ([USER, assistant(thinking(None), TEXT)], "a thinking block has no signature"),
        (
            [USER, {"role": "user", "content": [thinking(), TEXT]}],
            "a block of type thinking is in a message of role user",
        ),
        (
            [USER, assistant({"type": "image", "source": {}})],
            "a block of type image is in a message of role assistant",
        ),
        ([USER, assistant({"type": "text", "text": "so "})], "ends in white space"),
        ([USER, uses("a:b"), results("a:b")], "characters other than"),
        (
            [USER, assistant({"type": "tool_use", "id": "a", "name": "f", "input": "x"}), results("a")],
            "input is not an object",
        ),
        (
            [USER, uses("a"), results("a"), uses("b", before=(thinking(),)), results("b")],
            "message 1: the current tool loop has lost its first thinking block",
        ),
    ],
)
def test_what_the_api_refuses(items: list[Any], said: str) -> None:  # X6
    """The problem has the place and what was expected."""
    assert said in "\n".join(validate(items, "anthropic"))


def test_thinking_of_earlier_loops_is_not_asked_for() -> None:
    """Messages of a finished tool loop may have lost their thinking."""
    items = [
        USER,
        uses("a"),
        results("a"),
        assistant(TEXT),
        USER,
        uses("b", before=(thinking(),)),
        results("b"),
    ]
    assert validate(items, "anthropic") == []


def test_malformed_blocks_are_problems_and_no_errors() -> None:
    """Unreadable blocks are reported, and the check goes on."""
    odd = {"role": ["x"], "content": [{"type": {}, "text": []}, 3]}
    assert any("message 1: expected role" in p for p in validate([USER, odd], "anthropic"))


def test_server_calls_are_known_by_their_ids() -> None:
    """Searches and connector calls are answered by the provider itself."""
    assert is_run_by_provider("srvtoolu_01")
    assert is_run_by_provider("mcptoolu_01")
    assert not is_run_by_provider("toolu_01")
