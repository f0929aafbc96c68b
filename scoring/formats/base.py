"""The contract of a wire format, and the message list in a form that every format can take.

A format is a module with five functions: recognise a list, read an object, write turns as new objects, write a change
back into an object, and find the problems of a list. Nothing here knows any one format.

`turns_of` brings messages of any origin into the order every provider accepts: the results of a call come right
after the message that made it, consecutive assistant messages are merged, ids are unique and of simple characters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

from scoring.formats.media import Source, sources_in
from scoring.formats.numbering import bare_id
from scoring.formats.reading import Place
from scoring.formats.tool_names import allowed_name
from scoring.messages import Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from scoring.tokens import DEFINITION

TOOL_NAMES = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what OpenAI and Anthropic allow
MAX_ID_LENGTH = 40  # OpenAI's limit for a tool_call_id, the shortest of all


@dataclass(frozen=True, slots=True)
class Decoded:
    """The messages of one list. `envelope` holds the other fields of a request body, {} for a bare list."""

    messages: tuple[Message, ...]
    format: str
    envelope: dict[str, Any]


def _with_blocks_or_paragraphs(prompt: Any, texts: Sequence[str]) -> Any:
    if isinstance(prompt, list):
        return [*prompt, *({"type": "text", "text": t} for t in texts)]
    return "\n\n".join([prompt, *texts] if prompt else texts)


def _as_user_message(value: Any) -> Any:
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class Joining(NamedTuple):
    """`fits` returns whether two neighbours are of one speaker and can be one; `together` makes one of several."""

    fits: Callable[[Any, Any], bool]
    together: Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format."""

    name: str
    key: str
    """The field of a request body that holds the list."""
    recognise: Callable[[Any], float]
    """Return the certainty, 0…1, that a list or body is in this format."""
    read: Callable[[Place, Any], Message]
    write: Callable[[Sequence[Message], Mapping[str, Source]], list[Any]]
    """Return new objects for messages."""
    patch: Callable[[Any, Message], Any]
    """Return a changed copy of an object, with the content of the message."""
    problems: Callable[[Sequence[Any], Sequence[Message], bool], list[str]]
    """Return why providers would refuse a list, given its messages and whether it is about to be sent."""
    system: tuple[str, ...] = ()
    """The spellings of the field with the prompt, the usual one first; none if the prompt is in the list."""
    with_system: Callable[[Any, Sequence[str]], Any] = _with_blocks_or_paragraphs
    """Return such a prompt with texts added, in its own shape."""
    listed: Callable[[Any], Any] = _as_user_message
    """Return as a list what a body may have instead of one."""
    begins_with_user: bool = False
    """The first message has to be the user's."""
    results: Literal["after_round", "after_message", "anywhere"] = "after_round"
    """The place of a call's results: right after the run of assistant messages with the call (`after_round`), right
    after its own message, or anywhere later."""
    provider_calls: tuple[str, ...] = ()
    """The beginnings of the ids of calls that the provider runs itself, so that they need no result."""
    joining: Joining | None = None
    """The joining of neighbours of one speaker, where speakers have to take turns."""
    needs_next: Callable[[Any], bool] | None = None
    """Return whether the provider refuses an object without the one that followed it."""
    shaped: Callable[[Any, Any], Any] | None = None
    """Return a new object in the shape of another one, where a format has several."""
    flat_texts: bool = False
    """A message with only a text may be `{"role": …, "content": …}`."""
    keeps_reasoning: bool = False
    """New objects can hold reasoning."""
    has_bound_thoughts: Callable[[Any], bool] | None = None
    """Return whether an object has thoughts that hold only for the history before it."""
    matched: Callable[[Any, Any, bool], Any] | None = None
    """Return a result object, new or not, with the type that the object of its call requires."""
    could_be: Callable[[Sequence[Any]], bool] | None = None
    """Return whether a list that nothing recognises can be in this format, whose objects are of ever more kinds."""
    tool_names: re.Pattern[str] | None = TOOL_NAMES
    """The pattern of allowed names of tools; None allows any."""
    models: tuple[str, ...] = ()
    """The beginnings of the names of the provider's own models."""
    models_elsewhere: tuple[str, ...] = ()
    """The beginnings of those models' names whose lists are as often in another format."""


def turns_of(messages: Sequence[Message], kept_ids: frozenset[str], target: Format) -> list[Message]:
    """Return new messages to write in the target format.

    There is one message for each run of a speaker, with results after their calls, ids and tool names that the target
    allows, and no reasoning unless the target keeps it. `kept_ids` are used by unchanged objects and must not be
    renamed.
    """
    turns = _unique_ids(_merged(_pieces(messages, target.keeps_reasoning)), kept_ids)
    return _merged(_results_behind_calls([_allowed(turn, target.tool_names) for turn in turns]))


def _allowed(turn: Message, names: re.Pattern[str] | None) -> Message:
    """Return the turn with tool names that match the pattern; a result without a name stays without.

    Definitions of tools that it only names are left out: the provider inserted them, and no format has their text.
    """

    def named(part: Part) -> Part:
        if isinstance(part, ToolResult) and part.media:
            part = replace(part, media=tuple(one for one in part.media if one.kind != DEFINITION))
        if isinstance(part, ToolCall) or (isinstance(part, ToolResult) and part.name):
            return replace(part, name=allowed_name(part.name, names))
        return part

    own = (part for part in turn.parts if not (isinstance(part, Media) and part.kind == DEFINITION))
    return replace(turn, parts=tuple(map(named, own)))


def gathered_sources(messages: Sequence[Message]) -> dict[str, Source]:
    """Return the sources of all media in these messages, found in the objects they came from."""
    found: dict[str, Source] = {}
    for message in messages:
        if message.wire is not None and message.media:
            found.update(sources_in(message.wire.value))
    return found


def _pieces(messages: Sequence[Message], reasoning: bool) -> list[Message]:
    """Return the messages split where the speaker changes; results come before the other parts of their message."""
    out: list[tuple[Role, str, list[Part]]] = []
    for message in messages:
        parts = written_parts(message, reasoning)
        if message.role != "assistant":
            parts.sort(key=lambda p: not isinstance(p, ToolResult))
        own: Role = "user" if message.role == "tool" else message.role
        for n, part in enumerate(parts):
            role: Role = "tool" if isinstance(part, ToolResult) else own
            if isinstance(part, ToolCall):
                role = "assistant"
            if n and out[-1][0] == role:
                out[-1][2].append(part)
            else:
                out.append((role, message.name if role == message.role else "", [part]))
    return [Message(role, tuple(parts), name) for role, name, parts in out]


def written_parts(message: Message, reasoning: bool) -> list[Part]:
    """Return the parts that a new message gets: those that are not blank, with or without the reasoning."""
    parts = [p for p in message.parts if reasoning or not isinstance(p, Reasoning)]
    return [p for p in parts if not (isinstance(p, Text | Reasoning) and not p.text.strip())]


def _merged(turns: Sequence[Message]) -> list[Message]:
    """Return the messages with neighbours of the assistant, and neighbours with results, merged."""
    runs: list[list[Message]] = []
    for turn in turns:
        if runs and runs[-1][0].role == turn.role and turn.role in ("assistant", "tool"):
            runs[-1].append(turn)
        else:
            runs.append([turn])
    return [
        run[0]
        if len(run) == 1
        else replace(run[0], parts=tuple(chain.from_iterable(one.parts for one in run)))
        for run in runs
    ]


def _unique_ids(turns: Sequence[Message], kept_ids: frozenset[str]) -> list[Message]:
    """Return the messages with simple, unique call ids; a result gets the id of its latest open call."""
    used = set(kept_ids)
    open_calls: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    out: list[Message] = []

    def fresh(part: ToolCall) -> ToolCall:
        new = part.id if part.id in kept_ids else _unused(_plain_id(bare_id(part.id) or part.name), used)
        used.add(new)
        open_calls.setdefault(part.id, []).append(new)
        names[new] = part.name
        return replace(part, id=new)

    def bound(part: ToolResult) -> ToolResult:
        if waiting := open_calls.get(part.call_id):
            new = waiting.pop()
        else:
            new = part.call_id if part.call_id in kept_ids else _plain_id(bare_id(part.call_id))
        return replace(part, call_id=new, name=part.name or names.get(new, ""))

    for turn in turns:
        parts = (
            fresh(p) if isinstance(p, ToolCall) else bound(p) if isinstance(p, ToolResult) else p
            for p in turn.parts
        )
        out.append(replace(turn, parts=tuple(parts)))
    return out


def _plain_id(call_id: str) -> str:
    """Return an id of letters, digits, _ and -, at most 40 of them; removed characters are replaced by a digest."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", call_id) or "call"
    if len(plain) <= MAX_ID_LENGTH:
        return plain
    digest = hashlib.blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{plain[:23]}_{digest}"


def _unused(wanted: str, used: set[str]) -> str:
    if wanted not in used:
        return wanted
    n = 2
    while f"{wanted[:33]}-{n}" in used:
        n += 1
    return f"{wanted[:33]}-{n}"


def _results_behind_calls(turns: Sequence[Message]) -> list[Message]:
    """Return the messages with each result moved directly after its call's message, in the order of the calls."""
    callers = {call.id: n for n, turn in enumerate(turns) for call in turn.calls}
    moved: dict[str, ToolResult] = {}
    rest: list[list[Part]] = []
    for n, turn in enumerate(turns):
        stays: list[Part] = []
        for part in turn.parts:
            if (
                isinstance(part, ToolResult)
                and callers.get(part.call_id, n) < n
                and part.call_id not in moved
            ):
                moved[part.call_id] = part
            else:
                stays.append(part)
        rest.append(stays)
    out: list[Message] = []
    for turn, stays in zip(turns, rest, strict=True):
        if stays:
            out.append(replace(turn, parts=tuple(stays)))
        answers = tuple(moved[call.id] for call in turn.calls if call.id in moved)
        if answers:
            out.append(Message("tool", answers))
    return out
