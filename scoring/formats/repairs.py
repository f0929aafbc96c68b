"""Repairs that a list needs before it can be sent: each call answered once, each result after its call.

A call without a result gets a placeholder instead of being removed: the record of the agent's actions stays complete,
and the model's own words stay unchanged. Input and log are not changed; each repair is reported in a sentence.

A round is a run of assistant messages and the results directly after it. The row of a format in the table says where
it wants results: in some, every assistant message is a round of its own, in others results may come anywhere later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scoring.errors import json_string
from scoring.formats.base import Format
from scoring.formats.checks import opening_place
from scoring.formats.reading import Place
from scoring.formats.table import FORMATS, is_run_by_provider, must_begin_with_user
from scoring.messages import Message, Part, Text, ToolCall, ToolResult, Wire

OPENING = "[the conversation before this point is not part of the context]"
# The largest size of the message with this text, with any token counter.
OPENING_TOKENS = 40
NO_RESULT = "[no result was recorded for this call]"


def opening() -> Message:
    """Return the user message for the front of a list that begins with the assistant, if the provider requires one."""
    return Message("user", (Text(OPENING),))


def repair(messages: Sequence[Message], model: str | None = None) -> tuple[list[Message], list[str]]:
    """Return the messages with every call paired, and a note for each repair; `model` is the one they are sent to.

    Messages without repairs are the same objects. Of several results for one call the first is kept.
    """
    paired, notes = _Repair(messages).result()
    opened = _opened(paired, model, notes)
    return _taking_turns(opened, notes), notes


def _format_of(message: Message) -> Format | None:
    return FORMATS.get(message.wire.format) if message.wire is not None else None


def _object_of(message: Message) -> Any:
    return message.wire.value if message.wire is not None else None


def _place_of_results(message: Message) -> str:
    """Return where the message's format wants the results of a call."""
    format = _format_of(message)
    return format.results if format is not None else "after_round"


def _opened(messages: list[Message], model: str | None, notes: list[str]) -> list[Message]:
    """Return the messages, with a user message in front if their format or their model requires it."""
    place = opening_place(messages)
    if place is None:
        return messages
    format = _format_of(messages[place])
    if not must_begin_with_user(format.name if format is not None else "", model):
        return messages
    notes.append(
        f"message {place}: the list began with role {messages[place].role}; a user message was put before it"
    )
    return [*messages[:place], opening(), *messages[place:]]


def _taking_turns(messages: list[Message], notes: list[str]) -> list[Message]:
    """Return the messages with neighbours of one speaker joined where speakers have to take turns."""
    runs: list[list[Message]] = []
    for n, message in enumerate(messages):
        if runs and _same_speaker(runs[-1][-1], message):
            runs[-1].append(message)
            notes.append(f"message {n}: the same speaker as the message before; joined into one content")
        else:
            runs.append([message])
    return [_joined(run) for run in runs]


def _same_speaker(before: Message, message: Message) -> bool:
    """Return whether two neighbours have to be one object of their format."""
    format = _format_of(message)
    if format is None or format.joining is None or format is not _format_of(before):
        return False
    same_side = (before.role == "assistant") == (message.role == "assistant")
    return same_side and format.joining.fits(_object_of(before), _object_of(message))


def _joined(run: Sequence[Message]) -> Message:
    """Return a run of one speaker as one message, joined in one step: one by one would copy the parts each time."""
    first = run[0]
    if len(run) == 1 or (format := _format_of(first)) is None or format.joining is None:
        return first
    role = first.role if all(m.role == first.role for m in run) else "user"
    said = tuple(part for m in run for part in m.parts)
    joined = format.joining.together([_object_of(m) for m in run])
    return Message(role, said, first.name, Wire(format.name, joined))


class _Repair:
    """A repair in two passes: the first ties results to calls, the second writes the repaired list."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.notes: list[str] = []
        self.slots: list[int] = []  # per round: the message after which its further results are placed
        self.late: defaultdict[int, list[Message]] = defaultdict(list)
        self.changed: dict[int, Message | None] = {}
        self.waiting: dict[str, list[tuple[int, int, ToolCall]]] = {}
        self.answered: set[str] = set()
        self.objects: dict[str, Any] = {}  # the object of each call

    def result(self) -> tuple[list[Message], list[str]]:
        """Return the repaired list and the notes."""
        accepts_results = False
        for n, message in enumerate(self.messages):
            if message.role == "assistant":
                if not accepts_results or self._begins_round(n):
                    self.slots.append(n)
                self.slots[-1] = n
                accepts_results = True
            self._bind(n, accepts_results)
            if message.role == "tool" and message.results:
                if accepts_results and self.changed.get(n, message) is message:
                    self.slots[-1] = n
            elif message.role != "assistant":
                accepts_results = False
        self._answer_open_calls()
        self._drop_bare_reasoning()
        return self._written(), self.notes

    def _begins_round(self, n: int) -> bool:
        before, message = self.messages[n - 1], self.messages[n]
        return before.role != "assistant" or _place_of_results(message) == "after_message"

    def _bind(self, n: int, accepts_results: bool) -> None:
        """Tie the results of one message to their calls; note those that have to be removed or moved."""
        message = self.messages[n]
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                self.objects[part.id] = _object_of(message)
                self.waiting.setdefault(part.id, []).append((len(self.slots) - 1, n, part))
            if not isinstance(part, ToolResult) or self._stays(n, part, accepts_results):
                parts.append(part)
        if parts and (matched := self._matched(message)) is not message:
            message = self.changed[n] = matched
            self.notes.append(f"message {n}: the type of a result did not fit its call; changed")
        if len(parts) != len(message.parts):
            self.changed[n] = replace(message, parts=tuple(parts)) if parts else None

    def _matched(self, message: Message) -> Message:
        """Return a result with the type that its call requires; the message itself if nothing has to change."""
        if message.role != "tool" or len(message.results) != 1:
            return message
        format = _format_of(message)
        if format is None or format.matched is None:
            return message
        call = self.objects.get(message.results[0].call_id)
        value = _object_of(message)
        made = value if call is None else format.matched(value, call, False)
        return message if made is value else format.read(Place(0, Wire(format.name, made)), made)

    def _stays(self, n: int, part: ToolResult, accepts_results: bool) -> bool:
        calls = self.waiting.get(part.call_id)
        if not calls:
            why = "a second result for" if part.call_id in self.answered else "a result without"
            self.notes.append(f"message {n}: {why} call {json_string(part.call_id)}; left out")
            return False
        home, _, call = calls.pop()
        self.answered.add(part.call_id)
        is_in_place = accepts_results and home == len(self.slots) - 1
        if is_in_place or _place_of_results(self.messages[n]) == "anywhere":
            return True
        moved = part if part.name else replace(part, name=call.name)
        self.late[home].append(Message("tool", (moved,), wire=self.messages[n].wire).to_rewrite())
        self.notes.append(
            f"message {n}: the result of call {json_string(part.call_id)} was not directly after it; moved there"
        )
        return False

    def _answer_open_calls(self) -> None:
        open_calls = [one for calls in self.waiting.values() for one in calls]
        for home, n, call in sorted(open_calls, key=lambda one: (one[1], one[0], one[2].id)):
            if not is_run_by_provider(call.id):
                self.late[home].append(Message("tool", (ToolResult(call.id, NO_RESULT, call.name),)))
                self.notes.append(
                    f"message {n}: call {json_string(call.id)} has no result; a placeholder was added"
                )

    def _drop_bare_reasoning(self) -> None:
        """Drop reasoning items whose following item is gone, where the provider refuses them."""
        follows = False
        for n in range(len(self.messages) - 1, -1, -1):
            message = self.changed.get(n, self.messages[n])
            if message is None:
                continue
            if not follows and _needs_next(message):
                self.changed[n] = None
                self.notes.append(
                    f"message {n}: a reasoning item without the item that followed it; left out"
                )
            else:
                follows = message.role == "assistant"

    def _written(self) -> list[Message]:
        rounds = {slot: home for home, slot in enumerate(self.slots)}
        out: list[Message] = []
        for n, message in enumerate(self.messages):
            now = self.changed.get(n, message)
            if now is not None:
                out.append(now)
            out += self.late.get(rounds.get(n, -1), ())
        return out


def _needs_next(message: Message) -> bool:
    format = _format_of(message)
    return format is not None and format.needs_next is not None and format.needs_next(_object_of(message))
