"""The context as the model is sent it: the pruned view, in a wire format, valid for that format.

What arrived in the same format goes out as the very same objects. What is broken (a call without its result) is
repaired on the way out and reported; the log is not touched. A list that cannot be made valid is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from scoring.errors import InvalidList, UnknownFormat
from scoring.formats import FORMATS, encode, repair, validate
from scoring.formats.repairs import OPENING
from scoring.messages import Message, Text, Wire
from webapp.services.clock import iso
from webapp.services.desk import Desk
from webapp.services.gauges import session_json
from webapp.services.plain import json_value
from webapp.store.context import PRUNED
from webapp.store.log import EntryRow
from webapp.store.sessions import SessionRow

# The wire format that a followed agent speaks.
SPOKEN = {"claude-code": "anthropic", "codex": "responses", "gemini-cli": "gemini"}
BATCH = 500


class Context:
    """The use case of asking for the context."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._store = desk, desk.store

    def get(self, session_id: str, format: str | None = None) -> dict[str, Any]:
        """The message list for the next call, with its size and what it may use.

        Raises:
            NotFound: there is no such session.
            UnknownFormat: there is no such wire format.
            InvalidList: the list cannot be made valid for the format.
        """
        with self._store.read():
            row = self._store.sessions.get(session_id)
            session = session_json(self._desk, row, self._store.contexts.totals(row.key))
            name = format or row.wire_format or SPOKEN.get(row.source, "openai")
            if name not in FORMATS:
                raise UnknownFormat(f"the format name {name!r}; expected one of {', '.join(FORMATS)}")
            messages = list(self.messages(row))
        repaired, notes = repair(messages)
        repaired = _with_user(repaired, notes)
        envelope = dict(row.envelope or {}) if name == row.wire_format or not row.wire_format else {}
        bare = row.wire_format == name and not envelope
        listed = encode(repaired, name, None if bare and name == "openai" else envelope)
        problems = validate(listed, name, ready=False)
        if problems:
            raise InvalidList(problems)
        tokens, limit = session["pruned"]["tokens"], session["limit"]
        over = None
        if tokens > limit:
            over = {"tokens": tokens, "limit": limit,
                    "message": f"the context takes {tokens:,} tokens, the model accepts {limit:,}"}  # fmt: skip
        return {
            "messages": listed,
            "format": name,
            "key": FORMATS[name].key,
            "envelope": envelope,
            "tokens": tokens,
            "certainty": session["pruned"]["certainty"],
            "budget": {"window": session["window"], "limit": limit, "target_tokens": session["target_tokens"],
                       "output_reserve": session["output_reserve"]},
            "over_budget": over,
            "notes": notes,
            "version": row.version,
            "as_of": iso(self._desk.clock()),
        }  # fmt: skip

    def messages(self, row: SessionRow) -> Iterator[Message]:
        """The messages of the pruned view in order, with their wire objects and with what stands for them."""
        items = self._store.contexts.items(row.key, PRUNED)
        for start in range(0, len(items), BATCH):
            some = items[start : start + BATCH]
            found = self._store.log.rows_of(row.key, [item.ref for item in some])
            for item in some:
                message = message_of(found[item.ref])
                if item.stand_in is not None:
                    for call_id, text in orjson.loads(item.stand_in)["results"].items():
                        message = message.with_result_text(call_id, text)
                yield message


def _with_user(messages: list[Message], notes: list[str]) -> list[Message]:
    """Every provider wants a user to have said something; a context may have lost all that a user said."""
    if not messages or any(m.role == "user" for m in messages):
        return messages
    at = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    notes.append("no user message is in the context; one that says so stands at its beginning")
    return [*messages[:at], Message("user", (Text(OPENING),)), *messages[at:]]


def message_of(entries: Sequence[EntryRow]) -> Message:
    """The message that entries form. A single one keeps its wire object; rows of transcripts lend their media."""
    said = [entry.message for entry in entries]
    first = said[0]
    parts = tuple(part for message in said for part in message.parts)
    wire = None
    if len(entries) == 1 and entries[0].format and entries[0].raw is not None:
        wire = Wire(entries[0].format, json_value(entries[0].raw))
    message = Message(first.role, parts, first.name if wire is not None else "", wire)
    if wire is None and message.media:
        return Message(first.role, parts, "", Wire("transcript", list(_raw_values(entries))))
    return message


def _raw_values(entries: Iterable[EntryRow]) -> Iterator[Any]:
    for entry in entries:
        if entry.raw:
            try:
                yield json_value(entry.raw)
            except ValueError:
                continue
