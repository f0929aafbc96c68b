"""Groups of messages that a provider accepts only together; an edit drops or keeps each group as a whole.

Messages that name the same call belong together, whoever runs the call: the client, the provider (web search, code
execution, MCP) or a program of the provider. An answer that the provider paused can have the call in one message and
the result in a later one. In Responses, everything that a reasoning item led to needs that item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webapp.services.proxied.keys import answer_kind

# The fields by which a block or an item names a call, from the request types of both providers. `id` is the call's own
# name, and that of an item to which others refer: an approval of MCP, a reference, the output of a local shell.
_NAMES = ("id", "call_id", "tool_use_id", "tool_call_id", "approval_request_id")
# The fields of `caller`, in a call that a program of the provider made.
_CALLERS = ("tool_id", "caller_id")
_REASONING, _REFERENCE, _PROGRAM = "reasoning", "item_reference", "program"


def groups_of(items: Sequence[Any], names: Sequence[Sequence[str]]) -> Iterator[set[int]]:
    """Yield groups of indexes; `names` are those of each message. An index can be in several groups or in none."""
    named: dict[str, set[int]] = {}
    for i, item in enumerate(items):
        for name in names[i]:
            named.setdefault(name, set()).add(i)
        if _is_unnamed_call(item) and i + 1 < len(items) and _role(items[i + 1]) == "function":
            yield {i, i + 1}
    yield from named.values()
    yield from _reasoned(items)


def calls_of(item: Any) -> list[str]:
    """Return the ids of the calls in a message of any format that the client has to answer."""
    if not isinstance(item, dict):
        return []
    if isinstance(item.get("call_id"), str) and answer_kind(item) not in (None, _PROGRAM):
        return [item["call_id"]]
    named = [one.get("id") for one in objects_in(item, "tool_calls")]
    used = [b.get("id") for b in objects_in(item, "content") if b.get("type") == "tool_use"]
    return [str(name) for name in (*named, *used)]


def results_of(item: Any) -> list[str]:
    """Return the ids of the calls whose results are in a message of any format."""
    if not isinstance(item, dict):
        return []
    if isinstance(item.get("call_id"), str) and answer_kind(item) is None:
        return [item["call_id"]]
    if item.get("role") == "tool":
        return [str(item.get("tool_call_id"))]
    return [str(b.get("tool_use_id")) for b in objects_in(item, "content") if b.get("type") == "tool_result"]


def names_in(item: Any) -> list[str]:
    """Return the names of all calls that a message makes, answers or depends on."""
    if not isinstance(item, dict):
        return []
    names: list[str] = []
    own = (item,) if "type" in item or item.get("role") == "tool" else ()
    for one in (*own, *objects_in(item, "content"), *objects_in(item, "tool_calls")):
        caller = one.get("caller")
        found = [one.get(name) for name in _NAMES]
        found += [caller.get(name) for name in _CALLERS] if isinstance(caller, dict) else []
        names += [name for name in found if isinstance(name, str) and name]
    return names


def _reasoned(items: Sequence[Any]) -> Iterator[set[int]]:
    """Yield the groups of Responses that reasoning begins, each up to the next reasoning or message of the user.

    The calls of one answer can have their outputs between them, so an output does not end a group. A message after
    an output does: it is from a later answer. A reference can be to reasoning, so it begins a group too.
    """
    group: set[int] = set()
    answered = False
    for i, item in enumerate(items):
        kind = answer_kind(item)
        if kind == _REASONING or (kind == _REFERENCE and not group):
            yield group
            group, answered = {i}, False
        elif _is_output(item):
            answered = True
        elif kind is None or (kind == "assistant" and answered):
            yield group
            group = set()
        elif group:
            group.add(i)
    yield group


def _is_unnamed_call(item: Any) -> bool:
    """Return whether a message calls in the deprecated way of chat completions: the next one is the result."""
    return isinstance(item, dict) and bool(item.get("function_call"))


def _is_output(item: Any) -> bool:
    return isinstance(item, dict) and str(item.get("type")).endswith("_output")


def _role(item: Any) -> Any:
    return item.get("role") if isinstance(item, dict) else None


def objects_in(item: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list of a message; none if the field is no list."""
    found = item.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
