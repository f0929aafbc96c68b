"""Helpers for decoders to read untrusted data safely.

A decoder never indexes or converts unchecked: it asks a `Place` for a value of a type, and the place raises
`MalformedMessage` with its index, the expected value and the actual one. Nested data is walked without recursion,
so that a hundred thousand levels take memory but do not fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, cast

from scoring.errors import MalformedMessage, shown
from scoring.formats.tool_names import original_name
from scoring.messages import Role, Wire, parsed_json

# Names of roles in wire formats -> the four roles (B3).
ROLE_NAMES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}

# The deepest nesting of JSON that is read: enough for any real tool schema, far below the limit of recursive readers.
DEPTH_LIMIT = 200

# The type of a message's object for isinstance; for a dict it only compares the type.
OBJECT = (dict, Mapping)

# Fields whose strings are addresses or ciphers, not text of the conversation.
OPAQUE_FIELDS = frozenset({
    "type", "id", "call_id", "tool_use_id", "status", "signature", "data", "encrypted_content", "encrypted_index",
    "encrypted_stdout", "cache_control", "media_type", "mime_type", "mimeType", "fingerprint", "result_id",
})  # fmt: skip


def json_type(value: Any) -> str:
    """Return the JSON type of a value in words, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return f"the string {shown(value)}"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return f"a {type(value).__name__}"


class Place:
    """A place in a list that is being read; raises `MalformedMessage` for every unexpected value.

    The message that is read keeps `wire`, its object and format; None if it is read only to be compared.
    """

    __slots__ = ("index", "wire")

    def __init__(self, index: int, wire: Wire | None = None) -> None:
        self.index, self.wire = index, wire

    def fail(self, expected: str, got: Any) -> NoReturn:
        """Raise MalformedMessage with the expected value and the actual one."""
        raise MalformedMessage(self.index, f"expected {expected}, got {json_type(got)}")

    def object(self, value: Any, what: str) -> Mapping[str, Any]:
        """Return the value as an object."""
        if type(value) is not dict and not isinstance(value, OBJECT):
            self.fail(f"{what} to be an object", value)
        return cast(Mapping[str, Any], value)

    def items(self, value: Any, what: str) -> list[Any]:
        """Return the value as a list; null is an empty one."""
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.fail(f"{what} to be a list", value)
        return cast(list[Any], value)

    def text(self, value: Any, what: str) -> str:
        """Return the value as a string; null is an empty one."""
        if value is None:
            return ""
        if not isinstance(value, str):
            self.fail(f"{what} to be a string", value)
        return value

    def tool_name(self, value: Any, what: str) -> str:
        """Return the value as a tool's name, without the escapes that a format's rules required."""
        return "" if value is None else original_name(self.text(value, what))

    def role(self, value: Any) -> Role:
        """Return the value as one of the four roles."""
        role = ROLE_NAMES.get(value) if isinstance(value, str) else None
        if role is None:
            self.fail("role to be one of " + ", ".join(sorted(ROLE_NAMES)), value)
        return role

    def json(self, value: Any, what: str) -> str:
        """Return the value as JSON text; a string is taken as JSON text already."""
        if isinstance(value, str):
            return value
        try:
            return json_text(value)
        except ValueError:
            self.fail(f"{what} to be JSON", value)


def first_tool(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first of the tool definitions in a request body, {} without any."""
    tools = body.get("tools")
    return tools[0] if isinstance(tools, list) and tools and isinstance(tools[0], Mapping) else {}


def surest(certainties: Iterable[float], most: float) -> float:
    """Return the highest of the certainties; stop reading at the first that equals `most`."""
    best = 0.0
    for certainty in certainties:
        if certainty > best:
            best = certainty
            if best >= most:
                break
    return best


def json_text(value: Any) -> str:
    """Return compact JSON of a value of any depth, non-ASCII unescaped.

    Raises:
        ValueError: the value contains itself.
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError):
        return "".join(_json_pieces(value))


# The types of nearly all containers first: to ask whether one is a `Mapping` takes several times as long.
_CONTAINERS = (list, dict, tuple, Mapping)


def _json_pieces(root: Any) -> Iterator[str]:
    """Yield the pieces of JSON text of a value that is too deep (or has unusual keys) for the json module."""
    todo: list[tuple[str, Any]] = [("value", root)]
    open_ids: set[int] = set()
    while todo:
        what, value = todo.pop()
        if what == "text":
            yield value
        elif what == "close":
            open_ids.discard(value)
        elif isinstance(value, _CONTAINERS):
            if id(value) in open_ids:
                raise ValueError("a value that contains itself has no JSON")
            open_ids.add(id(value))
            is_object = not isinstance(value, list | tuple)
            inside: Iterable[Any] = value if isinstance(value, list | tuple) else value.items()
            steps: list[tuple[str, Any]] = [("text", "{" if is_object else "[")]
            for n, inner in enumerate(inside):
                if n:
                    steps.append(("text", ", "))
                if is_object:
                    steps.append(("text", json.dumps(str(inner[0]), ensure_ascii=False) + ": "))
                steps.append(("value", inner[1] if is_object else inner))
            steps += [("text", "}" if is_object else "]"), ("close", id(value))]
            todo.extend(reversed(steps))
        else:
            yield json.dumps(value, ensure_ascii=False, default=str)


def string(value: Any) -> str:
    """Return the value if it is a string, else "": for fields whose other values can be ignored."""
    return value if isinstance(value, str) else ""


def call_input(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call as the object that APIs require; free text becomes its `input`."""
    if not arguments.strip():
        return {}
    found = parsed_json(arguments)
    return found if isinstance(found, dict) else {"input": arguments}


def words_in(root: Any) -> str:
    """Return the strings in a value of unknown shape, one per line, without keys, ids and ciphers (B4)."""
    out: list[str] = []
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            if value:
                out.append(value)
        elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                value = [v for k, v in value.items() if k not in OPAQUE_FIELDS]
            todo.extend(reversed(value))
    return "\n".join(out)
