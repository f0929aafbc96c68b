"""Decodes message lists: each message keeps the object that it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scoring.errors import MalformedMessage, UnknownFormat, json_string
from scoring.formats import openai
from scoring.formats.base import Decoded, Format
from scoring.formats.numbering import numbered
from scoring.formats.reading import Place, json_type
from scoring.formats.recognition import SURE, certainties_of, is_sure, kind_in_words, surest_format
from scoring.formats.table import FORMATS, format_named
from scoring.messages import Message, Role, Wire

LIKELY = 0.4  # enough for a message that the list's own format does not recognise at all


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
            certainties = certainties_of([item])
            best = max(certainties, key=certainties.__getitem__)
            unknown = not chosen.flat_texts and not certainties[chosen.name]
            if certainties[best] >= (LIKELY if unknown else SURE):
                chosen = FORMATS[best]
        return chosen.read(Place(n, Wire(chosen.name, item)), item)


def _opened(value: Any, format: str | None) -> _Opened:
    certainties = certainties_of(value)
    chosen = surest_format(value, certainties) if format is None else format_named(format)
    envelope: dict[str, Any] = {}
    if isinstance(value, Mapping):
        if chosen.key not in value:
            raise UnknownFormat(
                f"the body is {kind_in_words(value)}, without {json_string(chosen.key)}; expected it to be the list"
            )
        envelope = {k: v for k, v in value.items() if k != chosen.key}
        value = value[chosen.key]
    value = chosen.listed(value)
    if not isinstance(value, list | tuple):
        raise MalformedMessage(0, f"expected a list of messages, got {json_type(value)}")
    foreign = any(one >= SURE for name, one in certainties.items() if name != chosen.name)
    mixed = not envelope and (foreign or not certainties.get(chosen.name))
    return _Opened(chosen, envelope, value, mixed)
