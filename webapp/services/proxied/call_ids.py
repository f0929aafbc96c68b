"""The ids of calls and their results in a request's messages, in any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.services.proxied.keys import answer_kind

# Calls that a program of the provider makes, which the client does not answer.
_PROGRAM = ("program", "program_output")
# The output of a local shell names the call by `id`.
_SHELL_OUTPUT = "local_shell_call_output"


def calls_of(item: Any) -> list[str]:
    """Return the ids of the calls in a message of any format that the client has to answer."""
    if not isinstance(item, dict):
        return []
    if isinstance(item.get("call_id"), str) and answer_kind(item) not in (None, *_PROGRAM):
        return [item["call_id"]]
    named = [one.get("id") for one in objects_in(item, "tool_calls")]
    used = [b.get("id") for b in objects_in(item, "content") if b.get("type") == "tool_use"]
    return [str(name) for name in (*named, *used)]


def results_of(item: Any) -> list[str]:
    """Return the ids of the calls whose results are in a message of any format."""
    if not isinstance(item, dict):
        return []
    name = item.get("call_id") or (item.get("id") if item.get("type") == _SHELL_OUTPUT else None)
    if isinstance(name, str) and answer_kind(item) is None:
        return [name]
    if item.get("role") == "tool":
        return [str(item.get("tool_call_id"))]
    return [str(b.get("tool_use_id")) for b in objects_in(item, "content") if b.get("type") == "tool_result"]


def objects_in(item: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list of a message; none if the field is not a list."""
    found = item.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
