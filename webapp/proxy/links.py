"""The links of a request's messages as they are sent, by which `scoring.messages.units` keeps them together.

Messages that name the same call belong together, whoever runs the call: the client, the provider (web search, code
execution, MCP) or a program of the provider. An answer that the provider paused can have the call in one message and
the result in a later one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.messages import Links, ties_in
from webapp.services.proxied.call_ids import calls_of, objects_in, results_of
from webapp.services.proxied.keys import answer_kind, is_reference

_REASONING = "reasoning"
_APPROVAL, _APPROVED = "mcp_approval_request", "mcp_approval_response"
_SEARCH = "tool_search"


def links_in(item: Any) -> Links:
    """Return the links of a message of any format."""
    if not isinstance(item, dict):
        return Links("user")
    kind, calls, results = answer_kind(item), calls_of(item), results_of(item)
    for block in objects_in(item, "content"):  # calls that the provider runs
        of = str(block.get("type"))
        if of != "tool_use" and of.endswith("tool_use"):
            calls.append(str(block.get("id")))
        elif of != "tool_result" and of.endswith("_tool_result"):
            results.append(str(block.get("tool_use_id")))
    # Chat completions once had one call in a message, without an id: the next message of the function is its result.
    if isinstance(item.get("function_call"), dict):
        calls.append(f"function {item['function_call'].get('name')}")
    if item.get("role") == "function":
        results.append(f"function {item.get('name')}")
    if not calls and not results:
        _add_provider_links(item, calls, results)
    role = "assistant" if kind is not None else "tool" if results else "user"
    is_reasoning = kind == _REASONING or is_reference(item)  # it can be to reasoning
    return Links(role, tuple(calls), tuple(results), is_reasoning, ties_in(item))


def _add_provider_links(item: Mapping[str, Any], calls: list[str], results: list[str]) -> None:
    """Add the call or the result in an item of Responses that the provider answers or asks for."""
    kind = str(item.get("type"))
    if kind == _APPROVED:
        results.append(str(item.get("approval_request_id")))
    elif kind == f"{_SEARCH}_output":
        results.append(_SEARCH)  # without an id it is that of the call before
    elif kind == f"{_SEARCH}_call":
        calls.append(_SEARCH)
    elif kind == _APPROVAL or kind.endswith("_call"):
        calls.append(str(item.get("id")))  # the result of a call is in it
