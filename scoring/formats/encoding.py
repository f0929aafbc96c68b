"""Encodes messages as a list: an unchanged message as the object it came from, any other as a new or patched one."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from scoring.errors import MalformedMessage
from scoring.formats.base import Format, gathered_sources, turns_of, written_parts
from scoring.formats.checks import opening_place
from scoring.formats.numbering import same_part
from scoring.formats.reading import Place
from scoring.formats.repairs import opening
from scoring.formats.system_prompts import place_system
from scoring.formats.table import FORMATS, format_named
from scoring.messages import Message, Text, Wire


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
    target = format_named(format)
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


def _open_with_user(out: list[Any], target: Format) -> None:
    """Begin a newly built list with a user message if the format requires it; its text says what is missing."""
    if not target.begins_with_user:
        return
    place = opening_place(target.read(Place(n), item) for n, item in enumerate(out))
    if place is not None:
        out[place:place] = target.write([opening()], {})


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


def is_empty(message: Message, format: str = "") -> bool:
    """Return whether a message has nothing that a list in `format` can hold, "" for any format that keeps thoughts."""
    target = FORMATS.get(format)
    return not written_parts(message, target is None or target.keeps_reasoning or _is_own(message, target))


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


def matches_wire(message: Message) -> bool:
    """Return whether reading the wire object of a message again gives an equal message."""
    if message.wire is None or message.wire.format not in FORMATS:
        return False
    try:
        now = FORMATS[message.wire.format].read(Place(0), message.wire.value)
    except MalformedMessage:
        return False
    return now.role == message.role and _same_parts(now, message)
