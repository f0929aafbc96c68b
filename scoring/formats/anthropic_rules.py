"""The rules of the Anthropic API, each a function that returns problems.

The rules come from the messages reference and from the API's error texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scoring.errors import json_string
from scoring.formats.checks import adjacent_pairs, begins_with_user, has_user_message
from scoring.formats.reading import string
from scoring.messages import Message

_THINKING = ("thinking", "redacted_thinking")
# The beginnings of the ids of calls that the provider runs itself: searches, connectors.
PROVIDER_CALLS = ("srvtoolu_", "mcptoolu_")
_ID = re.compile(r"[A-Za-z0-9_-]+")
# Type of block -> the role that may contain it; other types are not checked.
_SPEAKERS = {
    "tool_use": "assistant",
    "server_tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
}


def problems_of(items: Sequence[Any], messages: Sequence[Message], ready: bool) -> list[str]:
    """Return the problems of a list of wire messages that was read as `messages`."""
    problems = adjacent_pairs(messages, merged=True, ready=ready, provider_calls=PROVIDER_CALLS)
    problems += begins_with_user(messages, frozenset({"system"}))
    problems += has_user_message(messages)
    for n, item in enumerate(items):
        if isinstance(item, Mapping):
            last = n == len(items) - 1
            problems += [f"message {n}: {p}" for p in _message(item, last)]
    problems += _thinking_goes_on(items, messages)
    problems += _results_first(items)
    problems += _unique_ids(messages)
    problems += _thinking_stays(items, messages)
    if ready:
        problems += _prefill(items)
    return problems


def blocks_of(item: Any) -> list[Mapping[str, Any]]:
    """Return the blocks of a wire message; a string counts as one text block."""
    content = item.get("content") if isinstance(item, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []


def _message(item: Mapping[str, Any], last: bool) -> Iterator[str]:
    blocks, role = blocks_of(item), item.get("role")
    if not blocks and not (last and role == "assistant"):
        yield "content is empty; expected at least one block"
    for block in blocks:
        kind = string(block.get("type"))
        if kind == "text" and not string(block.get("text")).strip() and not (last and role == "assistant"):
            yield "a text block is empty; expected text that is more than white space"
        if kind in _SPEAKERS and role != _SPEAKERS[kind]:
            yield f"a block of type {kind} is in a message of role {role}; expected {_SPEAKERS[kind]}"
        if kind == "tool_use" and not isinstance(block.get("input"), Mapping):
            yield "a tool_use block's input is not an object"
        if kind in ("tool_use", "tool_result") and not _ID.fullmatch(
            string(block.get("id", block.get("tool_use_id")))
        ):
            yield "a call id has characters other than letters, digits, _ and -"
        if kind == "thinking" and not block.get("signature"):
            yield "a thinking block has no signature; expected it as the API gave it"


def _thinking_goes_on(items: Sequence[Any], messages: Sequence[Message]) -> Iterator[str]:
    """Yield problems with assistant turns, of one message or several in a row, that end in thinking."""
    for n, message in enumerate(messages):
        ends = n + 1 == len(messages) or messages[n + 1].role != "assistant"
        blocks = blocks_of(items[n])
        if message.role == "assistant" and ends and blocks and blocks[-1].get("type") in _THINKING:
            yield f"message {n}: the final block of an assistant turn is thinking; expected text or a call after it"


def _results_first(items: Sequence[Any]) -> Iterator[str]:
    """Yield problems with user turns whose tool results come after other content."""
    speaker, spoken = "", False
    for n, item in enumerate(items):
        role = string(item.get("role")) if isinstance(item, Mapping) else ""
        if role != speaker:
            speaker, spoken = role, False
        for block in blocks_of(item) if role == "user" else ():
            if block.get("type") != "tool_result":
                spoken = True
            elif spoken:
                yield f"message {n}: a tool_result comes after other content; expected all results first"


def _unique_ids(messages: Sequence[Message]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for n, message in enumerate(messages):
        for call in message.calls:
            if call.id in seen and seen[call.id] != n:
                used = f"call id {json_string(call.id)} was used in message {seen[call.id]}"
                yield f"message {n}: {used}; ids must be unique"
            seen[call.id] = n


def _thinking_stays(items: Sequence[Any], messages: Sequence[Message]) -> Iterator[str]:
    """Yield problems with a running tool loop that thinks and has lost its first thinking block."""
    start = max((n for n, m in enumerate(messages) if m.role == "user" and not m.results), default=-1) + 1
    loop = [(n, blocks_of(items[n])) for n in range(start, len(items)) if messages[n].role == "assistant"]
    thinks = any(b.get("type") in _THINKING for _, blocks in loop for b in blocks)
    if thinks and loop[0][1] and loop[0][1][0].get("type") not in _THINKING:
        yield f"message {loop[0][0]}: the current tool loop has lost its first thinking block"


def _prefill(items: Sequence[Any]) -> Iterator[str]:
    blocks = blocks_of(items[-1]) if items and isinstance(items[-1], Mapping) else []
    if blocks and items[-1].get("role") == "assistant" and blocks[-1].get("type") == "text":
        text = string(blocks[-1].get("text"))
        if text != text.rstrip():
            yield f"message {len(items) - 1}: the final assistant message ends in white space"
