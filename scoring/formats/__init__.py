"""Wire formats: recognise, decode, encode and validate message lists.

Decoding and encoding in the same format gives back the very objects that came in. A message whose parts were changed
gets a copy of its object with only that change. A list for another format is built from parts and from the media
in the original objects. Content that the target cannot hold is left out (docs/formats.md has the list).
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from scoring.errors import MalformedMessage, UnknownFormat, json_string, shown
from scoring.formats import openai
from scoring.formats.base import Decoded, Format, gathered_sources, turns_of, written_parts
from scoring.formats.blocks import said_and_shown
from scoring.formats.checks import opening_place, readable
from scoring.formats.contents import parts_in
from scoring.formats.media import DETAILS, Source, media_of, source_of
from scoring.formats.numbering import note_calls, numbered, same_part
from scoring.formats.reading import DEPTH_LIMIT, ROLE_NAMES, Place, call_input, json_text, json_type
from scoring.formats.repairs import OPENING, OPENING_TOKENS, opening, repair
from scoring.formats.system_prompts import SYSTEM_KEYS, place_system, system_text
from scoring.formats.table import FORMATS, must_begin_with_user, native_format
from scoring.formats.thoughts import has_bound_thoughts, is_bound_to_history, without_bound_thoughts
from scoring.messages import Message, Role, Text, Wire

# A list that is recognised with at least this certainty can only be in that format.
SURE = 0.8
_SHAPES = (
    "'role' and 'content' (OpenAI, Anthropic), 'role' and 'parts' (Gemini), 'type' and 'data' (LangChain), "
    "or an item of OpenAI Responses"
)
LIKELY = 0.4  # enough for a message that the list's own format does not recognise at all


def recognise(value: Any) -> Format:
    """Return the most certain format of a message list or request body; OpenAI chat if several are equal.

    Raises:
        UnknownFormat: no format recognises it.
    """
    return _surest(value, _certainties(value))


def _surest(value: Any, certainties: Mapping[str, float]) -> Format:
    best = max(certainties, key=certainties.__getitem__, default="")
    if not certainties.get(best):
        raise UnknownFormat(_unrecognised(value))
    return FORMATS[best]


def _certainties(value: Any) -> dict[str, float]:
    """Return the certainty of each format, 0…1, for a list or body; {} for any other value."""
    if not isinstance(value, list | tuple | Mapping):
        return {}
    seen = value if isinstance(value, Mapping) else _distinct(value)
    return {name: format.recognise(seen) for name, format in FORMATS.items()}


def is_sure(value: Any, format: str) -> bool:
    """Return True if a list can only be in this format: a list of flat texts is the same in three formats."""
    return FORMATS[format].recognise(value) >= SURE


def could_be(value: Any, format: str) -> bool:
    """Return True if a list that no format recognises can be in this format."""
    possible = FORMATS[format].could_be if format in FORMATS else None
    return possible is not None and isinstance(value, list | tuple) and possible(value)


def with_wire_format(message: Message, format: str) -> Message:
    """Return the message with its wire object marked as one of `format`, if both formats write a flat text alike."""
    wire = message.wire
    if wire is None or wire.format == format or not (_writes_flat(wire.format) and _writes_flat(format)):
        return message
    value = wire.value
    flat = type(value) is dict and len(value) == 2 and type(value.get("content")) is str
    if not flat or value.get("role") not in ("user", "assistant"):
        return message
    return replace(message, wire=Wire(format, value))


def _writes_flat(format: str) -> bool:
    return format in FORMATS and FORMATS[format].flat_texts


def _distinct(items: Sequence[Any]) -> list[Any]:
    """Return the items, but only one for each role of those that have just a role and a text."""
    flat: dict[str, Any] = {}
    others = []
    for item in items:
        if type(item) is dict and len(item) == 2 and type(item.get("content")) is str:
            role = item.get("role")
            if type(role) is str:
                flat[role] = item
                continue
        others.append(item)
    return [*flat.values(), *others]


def _unrecognised(value: Any) -> str:
    """Return the error message for a value that no format recognises."""
    if isinstance(value, list) and value:
        return f"message 0 {_unrecognised_message(value[0])}"
    if isinstance(value, Mapping) and isinstance(value.get("role"), str):
        return f"the message {_unrecognised_message(value)}"
    return f"the list is {_kind(value)}; expected a list of messages, or a request body with one"


def _unrecognised_message(value: Any) -> str:
    role = value.get("role") if isinstance(value, Mapping) else None
    if isinstance(role, str) and role not in ROLE_NAMES:
        return f"has the role {shown(role)}; expected one of {', '.join(ROLE_NAMES)}"
    return f"is {_kind(value)}; expected {_SHAPES}"


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object with the fields " + (", ".join(sorted(map(str, value))[:8]) or "(none)")
    return json_type(value)


def decode(value: Any, format: str | None = None) -> Decoded:
    """Return the messages of a list or request body, each with its original object in `wire`.

    A message that can only be in a different format from the list's is read in that format.

    Raises:
        UnknownFormat: the format is not given and not recognised, or no such format exists.
        MalformedMessage: a message of the list cannot be read; the error has its index and what was expected.
    """
    opened = _opened(value, format)
    name, read = opened.format.name, opened.format.read
    if opened.mixed:
        said = [opened.read(n, item) for n, item in enumerate(opened.items)]
    else:
        said, place = [], Place(0)
        for place.index, item in enumerate(opened.items):
            place.wire = Wire(name, item)
            said.append(read(place, item))
    return Decoded(tuple(numbered(said)), name, opened.envelope)


def flat_texts(items: list[Any], format: str | None = None) -> list[tuple[Role, str]] | None:
    """Return (role, text) for each item of a list in OpenAI's format with flat texts only; None for any other list.

    It is faster than `decode`, which gives the same roles and texts, because it makes no messages.

    Raises:
        UnknownFormat: as `decode`.
    """
    said: list[tuple[Role, str]] = []
    for item in items:
        text = openai.flat_text(item)
        if text is None:
            return None
        said.append(text)
    opened = _opened(items, format)
    return None if opened.mixed or opened.format.name != openai.FORMAT.name else said


def decode_readable(value: Any, format: str | None = None) -> tuple[Decoded, list[MalformedMessage]]:
    """Decode like `decode`, but leave out messages that cannot be read, and return their faults as well.

    Raises:
        UnknownFormat: as `decode`.
        MalformedMessage: the value contains no list of messages.
    """
    opened = _opened(value, format)
    read: list[Message] = []
    faults: list[MalformedMessage] = []
    for n, item in enumerate(opened.items):
        try:
            read.append(opened.read(n, item))
        except MalformedMessage as fault:
            faults.append(fault)
    return Decoded(tuple(numbered(read)), opened.format.name, opened.envelope), faults


class _Opened(NamedTuple):
    """A list with its format and the other fields of its body; `mixed` if it has messages of another format."""

    format: Format
    envelope: dict[str, Any]
    items: Sequence[Any]
    mixed: bool

    def read(self, n: int, item: Any) -> Message:
        """Return one message of the list, in its own format where the list is mixed."""
        chosen = self.format
        if self.mixed and not is_sure([item], chosen.name):
            certainties = _certainties([item])
            best = max(certainties, key=certainties.__getitem__)
            unknown = not chosen.flat_texts and not certainties[chosen.name]
            if certainties[best] >= (LIKELY if unknown else SURE):
                chosen = FORMATS[best]
        return chosen.read(Place(n, Wire(chosen.name, item)), item)


def _opened(value: Any, format: str | None) -> _Opened:
    certainties = _certainties(value)
    chosen = _surest(value, certainties) if format is None else _format(format)
    envelope: dict[str, Any] = {}
    if isinstance(value, Mapping):
        if chosen.key not in value:
            raise UnknownFormat(
                f"the body is {_kind(value)}, without {json_string(chosen.key)}; expected it to be the list"
            )
        envelope = {k: v for k, v in value.items() if k != chosen.key}
        value = value[chosen.key]
    value = chosen.listed(value)
    if not isinstance(value, list | tuple):
        raise MalformedMessage(0, f"expected a list of messages, got {json_type(value)}")
    foreign = any(one >= SURE for name, one in certainties.items() if name != chosen.name)
    mixed = not envelope and (foreign or not certainties.get(chosen.name))
    return _Opened(chosen, envelope, value, mixed)


def encode(
    messages: Sequence[Message],
    format: str,
    envelope: MutableMapping[str, Any] | None = None,
    like: Any = None,
) -> list[Any]:
    """Return the messages as a list in `format`; unchanged messages of that format are the same objects.

    New objects have the shape of `like`, an object of the list they belong to; by default of the first unchanged one.

    With an `envelope` (the other fields of the list's body), system messages of other formats move to the format's own
    place for them: the envelope is changed in place. Without one they stay in the list.

    Raises:
        UnknownFormat: no such format exists.
    """
    target = _format(format)
    messages = _with_system_placed(messages, target, envelope)
    own = [m for m in messages if _is_own(m, target)]
    kept_ids = frozenset(_ids(own))
    like = own[0].wire.value if like is None and own and own[0].wire is not None else like
    calls = {call.id: m.wire.value for m in own if m.wire is not None for call in m.calls}
    out: list[Any] = []
    is_built = False  # the last object of `out` was built here
    for is_own, group in groupby(messages, lambda m: _is_own(m, target)):
        run = list(group)
        if is_own:
            items = [_kept(message, target) for message in run]
        else:
            items = target.write(turns_of(run, kept_ids, target), gathered_sources(run))
            if target.matched is not None:
                items = [_matched(item, calls, target) for item in items]
            if target.shaped is not None and like is not None:
                items = [target.shaped(item, like) for item in items]
        if not items:
            continue
        if out and (is_built or not is_own) and target.joining and target.joining.fits(out[-1], items[0]):
            out[-1], items = target.joining.together((out[-1], items[0])), items[1:]
        out += items
        is_built = not is_own
    if messages and not _is_own(messages[0], target):
        _open_with_user(out, target)
    return out


def _matched(item: Any, calls: Mapping[str, Any], target: Format) -> Any:
    """Return a new object, with the type that its call requires if it is a result of one of these."""
    results = target.read(Place(0), item).results
    found = next((calls[r.call_id] for r in results if r.call_id in calls), None)
    return item if found is None or target.matched is None else target.matched(item, found, True)


def is_empty(message: Message, format: str = "") -> bool:
    """Return whether a message has nothing that a list in `format` can hold, "" for any format that keeps thoughts."""
    target = FORMATS.get(format)
    return not written_parts(message, target is None or target.keeps_reasoning or _is_own(message, target))


def validate(
    messages: Sequence[Any],
    format: str,
    *,
    ready: bool = True,
    decoded: Sequence[Message] | None = None,
) -> list[str]:
    """Return the problems of a list by the documented rules of its format; empty if it is valid (X6).

    `messages` are Messages, which are encoded first, or wire objects. With `ready` false the list is
    not about to be sent: its last message may be the assistant's, and calls at its very end may still be open.
    `decoded` has the message of each wire object, so that they are not read again; `matches_wire` must hold for each.

    Raises:
        UnknownFormat: no such format exists.
    """
    target = _format(format)
    if messages and all(isinstance(m, Message) for m in messages):
        messages = encode(messages, format, {})
    items = list(messages)
    read, problems = readable(items, target.read, decoded)
    return problems + target.problems(items, read, ready)


def matches_wire(message: Message) -> bool:
    """Return whether reading the wire object of a message again gives an equal message."""
    if message.wire is None or message.wire.format not in FORMATS:
        return False
    try:
        now = FORMATS[message.wire.format].read(Place(0), message.wire.value)
    except MalformedMessage:
        return False
    return now.role == message.role and _same_parts(now, message)


def _open_with_user(out: list[Any], target: Format) -> None:
    """Begin a newly built list with a user message if the format requires it; its text says what is missing."""
    if not target.begins_with_user:
        return
    place = opening_place(target.read(Place(n), item) for n, item in enumerate(out))
    if place is not None:
        out[place:place] = target.write([opening()], {})


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise UnknownFormat(f"there is no format {shown(name)}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _is_own(message: Message, target: Format) -> bool:
    return message.wire is not None and message.wire.format == target.name


def _ids(messages: Any) -> list[str]:
    out = [c.id for m in messages for c in m.calls]
    return out + [r.call_id for m in messages for r in m.results]


def _kept(message: Message, target: Format) -> Any:
    """Return the original object, or a copy with the current content of the message."""
    value = message.wire.value if message.wire is not None else None
    then = target.read(Place(0), value)
    return value if _same_parts(then, message) else target.patch(value, message)


def _same_parts(a: Message, b: Message) -> bool:
    """Return whether both have the same parts; `a` was read by itself, so that its made-up ids may differ."""
    return len(a.parts) == len(b.parts) and all(
        same_part(one, other) for one, other in zip(a.parts, b.parts, strict=True)
    )


def _with_system_placed(
    messages: Sequence[Message], target: Format, envelope: MutableMapping[str, Any] | None
) -> Sequence[Message]:
    """Return the messages without the system texts that moved into the envelope, and with those moved out of it."""
    if envelope is None:
        return messages
    if target.system:
        moving = [m for m in messages if m.role == "system" and not _is_own(m, target)]
        place_system(envelope, target, [m.text for m in moving if m.text])
        gone = {id(m) for m in moving}
        return [m for m in messages if id(m) not in gone]
    return [*(Message("system", (Text(t),)) for t in place_system(envelope, target, [])), *messages]


__all__ = [
    "DEPTH_LIMIT",
    "DETAILS",
    "FORMATS",
    "OPENING",
    "OPENING_TOKENS",
    "SYSTEM_KEYS",
    "Decoded",
    "Source",
    "call_input",
    "could_be",
    "decode",
    "decode_readable",
    "encode",
    "flat_texts",
    "gathered_sources",
    "has_bound_thoughts",
    "is_bound_to_history",
    "is_empty",
    "is_sure",
    "json_text",
    "matches_wire",
    "media_of",
    "must_begin_with_user",
    "native_format",
    "note_calls",
    "numbered",
    "opening",
    "parts_in",
    "recognise",
    "repair",
    "said_and_shown",
    "source_of",
    "system_text",
    "turns_of",
    "validate",
    "with_wire_format",
    "without_bound_thoughts",
]
