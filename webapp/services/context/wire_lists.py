"""The messages of a context as a list in a wire format, valid there.

A message that arrived in the format goes out as the same object, unless it would be invalid: a server may answer with
objects that it would not accept, such as an empty list of calls or content that is null. Such a message is written
again from its parts, with a note. A list that cannot be made valid is refused.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from scoring.errors import InvalidList
from scoring.formats import encode, is_empty, validate
from scoring.messages import Message, Reasoning, Text
from scoring.summary import Summary
from webapp.services.context.pruned_view import ViewItem
from webapp.store.sessions import SessionRow

_NUMBER = re.compile(r"^message \d+: ")
# A message is checked between two of these: alone it would begin and end the list.
_ASKED = Message("user", (Text("?"),))


class WireList(NamedTuple):
    """A message list in a wire format, the other fields of its body, and notes on messages changed or left out."""

    messages: list[Any]
    envelope: dict[str, Any]
    notes: list[str]


def wire_list(
    messages: Sequence[Message], items: Sequence[ViewItem], row: SessionRow, format: str
) -> WireList:
    """Return the messages of a session's context in a wire format; `items` are those of its pruned view.

    Raises:
        InvalidList: the list cannot be made valid for the format.
    """
    return _Encoding(messages, items, row, format).encoded()


class _Encoding:
    """The encoding of one context."""

    def __init__(
        self, messages: Sequence[Message], items: Sequence[ViewItem], row: SessionRow, format: str
    ) -> None:
        self._messages, self._items, self._row, self._format = messages, items, row, format
        # The place in the pruned view of each wire object's message.
        self._places = {id(s.message.wire): n for n, s in enumerate(items) if s.message.wire is not None}

    def encoded(self) -> WireList:
        """Return the list. Raises InvalidList if it cannot be made valid."""
        listed = None if self._envelope() else self._as_they_came()
        if listed is None:
            listed, envelope = self._written(self._messages)
            faults = self._faults(listed)
        else:
            envelope = {}
            faults = self._faults(listed, self._messages if self._are_as_read() else None)
        notes: list[str] = []
        # If a fault of the list as a whole is left, every message that would be invalid by itself is rewritten.
        for wrong in (set(faults), None):
            if faults:
                rewritten, notes = self._rewritten(wrong)
                listed, envelope = self._written(rewritten)
                faults = self._faults(listed)
        if faults:
            raise InvalidList(validate(listed, self._format, ready=False))
        return WireList(listed, envelope, [*self._left_out(), *notes])

    def _envelope(self) -> dict[str, Any]:
        """Return the other fields of the body that the session's list came in, if the output has the same format."""
        return dict(self._row.envelope or {}) if self._row.wire_format in (None, "", self._format) else {}

    def _written(self, messages: Sequence[Message]) -> tuple[list[Any], dict[str, Any]]:
        """Return messages in the format, and the envelope, which takes the system messages unless the list was bare."""
        envelope = self._envelope()
        is_bare = self._row.wire_format in (None, self._format) and not envelope
        stay = is_bare and self._format == "openai"
        return encode(messages, self._format, None if stay else envelope), envelope

    def _faults(self, listed: Sequence[Any], known: Sequence[Message] | None = None) -> list[str]:
        """Return the problems of a list that is not about to be sent, without the numbers of its messages."""
        return [_NUMBER.sub("", one) for one in validate(listed, self._format, ready=False, decoded=known)]

    def _as_they_came(self) -> list[Any] | None:
        """Return the objects as they arrived, or None unless every message is unchanged and arrived in this format."""
        untouched = {id(s.message) for s in self._items if s.untouched}
        out: list[Any] = []
        for message in self._messages:
            wire = message.wire
            if id(message) not in untouched or wire is None or wire.format != self._format:
                return None
            out.append(wire.value)
        return out

    def _are_as_read(self) -> bool:
        """Return True if every message equals its wire object, so that `validate` need not decode the objects."""
        known = {id(s.item.message) for s in self._items if s.as_read and not isinstance(s.item, Summary)}
        return all(id(message) in known for message in self._messages)

    def _rewritten(self, faults: Container[str] | None) -> tuple[list[Message], list[str]]:
        """Return the messages, with those that have one of the `faults` rewritten, and a note for each of these.

        Without `faults` any fault counts that a message has if it is sent alone.
        """
        out, notes = list(self._messages), list[str]()
        for n, message in enumerate(self._messages):
            if message.wire is None or message.wire.format != self._format:
                continue
            plain = message.to_rewrite()
            around = [_ASKED] if faults is not None and 0 < n < len(out) - 1 else []
            own, new = (
                self._faults(encode([*around, one, *around], self._format)) for one in (message, plain)
            )
            wrong = [one for one in own if one not in new and (faults is None or one in faults)]
            if wrong and len(new) <= len(own):
                out[n] = plain
                place = self._places.get(id(message.wire), n)
                done = "left out" if is_empty(plain) else "rewritten"
                notes.append(f"message {place}: invalid in {self._format} ({wrong[0]}); {done}")
        return out, notes

    def _left_out(self) -> list[str]:
        """Return a note for each message of another format that has no content; thoughts are always left out."""
        return [
            f"message {self._places[id(m.wire)]}: empty; left out"
            for m in self._messages
            if m.wire is not None and m.wire.format != self._format and id(m.wire) in self._places
            if is_empty(m) and not any(isinstance(p, Reasoning) for p in m.parts)
        ]
