"""The rules of the Gemini API, each a function that returns problems.

The rules come from the API's own error texts: the order of speakers, the responses to calls, and the calls that have to
keep their signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scoring.errors import shown
from scoring.formats.checks import adjacent_pairs, begins_with_user, has_user_message
from scoring.messages import Message


def either(part: Mapping[str, Any], camel: str, snake: str) -> Any:
    """Return a field in either of the two spellings that the API accepts."""
    value = part.get(camel)
    return part.get(snake) if value is None else value


def problems_of(items: Sequence[Any], messages: Sequence[Message], ready: bool) -> list[str]:
    """Return the problems of a list of contents that was read as `messages`."""
    problems = adjacent_pairs(messages, merged=False, ready=ready)
    problems += begins_with_user(messages)
    problems += has_user_message(messages)
    for n, item in enumerate(items):
        if isinstance(item, Mapping):
            problems += [f"message {n}: {p}" for p in _content(item)]
    problems += _turns(messages, ready)
    problems += _signatures(items, messages)
    if ready and messages and messages[-1].role == "assistant":
        problems.append(
            f"message {len(items) - 1}: the list ends with the model; expected the user or a response"
        )
    return problems


def _content(item: Mapping[str, Any]) -> Iterator[str]:
    role, parts = item.get("role") or "user", item.get("parts")
    if role not in ("user", "model", "function"):
        yield f"role {shown(role)}; expected user or model (a system prompt belongs into systemInstruction)"
    if not parts:
        yield "parts is empty; expected at least one"
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and part.get("text") == "" and len(part) == 1:
            yield "a part's text is empty"
        elif part == {}:
            yield "a part is empty; expected text, a call, a response or data"
        if (
            isinstance(part, Mapping)
            and role != "model"
            and either(part, "functionCall", "function_call") is not None
        ):
            yield f"a functionCall is in a content of role {role}; expected model"


def _turns(messages: Sequence[Message], ready: bool) -> Iterator[str]:
    """Yield problems with the order: user and model take turns, and all responses to one turn are in one content."""
    for n in range(1, len(messages)):
        before, now = messages[n - 1], messages[n]
        if now.role == before.role == "assistant":
            yield f"message {n}: the model speaks twice in a row; expected the user or a response between"
        elif now.role != "assistant" and now.results and before.results and before.role != "assistant":
            yield f"message {n}: responses to one turn are in two contents; expected one"
        elif ready and "assistant" not in (now.role, before.role):
            yield f"message {n}: the user speaks twice in a row; expected one content, or the model between"


def _signatures(items: Sequence[Any], messages: Sequence[Message]) -> Iterator[str]:
    """Yield steps of the current turn whose first call is unsigned, if any of the turn's calls is signed."""
    start = max((n for n, m in enumerate(messages) if m.role == "user" and not m.results), default=-1) + 1
    firsts = {n: c[0] for n in range(start, len(items)) if (c := _calls(items[n]))}
    signed = [n for n, part in firsts.items() if either(part, "thoughtSignature", "thought_signature")]
    for n in firsts:
        if signed and n not in signed:
            yield f"message {n}: a functionCall of the current turn has lost its thoughtSignature"


def _calls(item: Any) -> list[Mapping[str, Any]]:
    parts = item.get("parts") if isinstance(item, Mapping) else None
    found = parts if isinstance(parts, list) else []
    return [
        p for p in found if isinstance(p, Mapping) and either(p, "functionCall", "function_call") is not None
    ]
