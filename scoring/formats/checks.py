"""Rules that several wire formats share, each a function that returns problems in words.

A problem names the message by its index in the list and says what the provider expects there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scoring.errors import MalformedMessage, json_string
from scoring.formats.numbering import numbered
from scoring.formats.reading import Place
from scoring.messages import Message, Role


def readable(
    items: Sequence[Any], read: Callable[[Place, Any], Message], decoded: Sequence[Message] | None = None
) -> tuple[list[Message], list[str]]:
    """Return the items as messages, and a problem for each unreadable one (it becomes an empty user message).

    `decoded` has the messages if the items were read before.
    """
    if decoded is not None:
        return list(numbered(decoded)), []
    messages: list[Message] = []
    problems: list[str] = []
    for n, item in enumerate(items):
        try:
            messages.append(read(Place(n), item))
        except MalformedMessage as error:
            problems.append(str(error))
            messages.append(Message("user"))
    return list(numbered(messages)), problems


def adjacent_pairs(
    messages: Sequence[Message],
    *,
    merged: bool,
    ready: bool = True,
    provider_calls: tuple[str, ...] = (),
) -> list[str]:
    """Return the calls without exactly one result directly after them, and the results without such a call.

    `merged`: the provider reads consecutive messages of one speaker as one. Calls whose ids begin with one of
    `provider_calls` need no answer; calls at the very end may still be open unless the list is `ready`.
    """
    problems: list[str] = []
    waiting: Counter[str] = Counter()
    answered: set[str] = set()
    caller = -1
    speaker = ""
    for n, message in enumerate(messages):
        results = message.results
        now = "tool" if results and message.role != "assistant" else message.role
        if merged:
            now = "user" if now == "tool" else now
        goes_on = now == "tool" or (merged and (now == speaker or (now == "user" and speaker == "assistant")))
        if not goes_on and waiting:
            problems += _unanswered(waiting, caller, provider_calls)
            waiting, answered = Counter(), set()
        speaker = now
        for call in message.calls:
            waiting[call.id] += 1
            caller = n
            if waiting[call.id] > 1:
                problems.append(f"message {n}: call id {json_string(call.id)} is used twice in one turn")
        for result in results:
            if waiting[result.call_id] > 0:
                waiting[result.call_id] -= 1
                answered.add(result.call_id)
            elif result.call_id in answered:
                problems.append(
                    f"message {n}: call {json_string(result.call_id)} has a second result; expected one"
                )
            else:
                problems.append(
                    f"message {n}: result for {json_string(result.call_id)} without its call directly before; "
                    "expected a call"
                )
    return problems + (_unanswered(waiting, caller, provider_calls) if ready else [])


def _unanswered(waiting: Counter[str], caller: int, provider_calls: tuple[str, ...]) -> list[str]:
    return [
        f"message {caller}: call {json_string(call_id)} has no result directly after it; expected one"
        for call_id, left in waiting.items()
        if left > 0 and not call_id.startswith(provider_calls)
    ]


def free_pairs(messages: Sequence[Message], ready: bool = True) -> list[str]:
    """Return the calls without exactly one result anywhere after them, and the results without an earlier call.

    Unless the list is `ready`, calls after the last user message may still be open.
    """
    problems: list[str] = []
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for n, message in enumerate(messages):
        for call in message.calls:
            if call.id in waiting:
                problems.append(
                    f"message {waiting[call.id]}: call {json_string(call.id)} has no result before it is used again"
                )
            waiting[call.id] = n
        for result in message.results:
            if waiting.pop(result.call_id, None) is not None:
                answered.add(result.call_id)
            elif result.call_id in answered:
                problems.append(
                    f"message {n}: call {json_string(result.call_id)} has a second result; expected one"
                )
            else:
                problems.append(
                    f"message {n}: result for {json_string(result.call_id)} without a call before it"
                )
    last_asked = max((n for n, m in enumerate(messages) if m.role == "user"), default=-1)
    return problems + [
        f"message {n}: call {json_string(call_id)} has no result; expected one"
        for call_id, n in waiting.items()
        if ready or n < last_asked
    ]


def has_user_message(messages: Sequence[Message]) -> list[str]:
    """Return a problem for a list without any user message."""
    if any(m.role == "user" for m in messages):
        return []
    return ["no user message; expected at least one"]


def opening_place(messages: Iterable[Message], but: frozenset[Role] = frozenset({"system"})) -> int | None:
    """Return the place where a user message is missing: before the first message whose role is not in `but`.

    None if that one is the user's and has no results of tools, or if there is none.
    """
    first = next(((n, m) for n, m in enumerate(messages) if m.role not in but), None)
    if first is None or (first[1].role == "user" and not first[1].results):
        return None
    return first[0]


def begins_with_user(messages: Sequence[Message], but: frozenset[Role] = frozenset()) -> list[str]:
    """Return a problem if the first message, apart from the roles in `but`, has no words of the user."""
    n = opening_place(messages, but)
    if n is None:
        return []
    return [f"message {n}: the list begins with role {messages[n].role}; expected a user message"]
