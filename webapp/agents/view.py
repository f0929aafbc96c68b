"""The pruned view of a session as an agent writes it into a new transcript, to resume from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoring.formats import FORMATS, gathered_sources, turns_of
from scoring.messages import Message
from webapp.agents.reading.rows import dumps, parse

# A user message before a view that would begin with the model, because providers refuse such a call.
PRUNED_NOTE = "[Earlier messages of this conversation were pruned.]"


@dataclass(frozen=True, slots=True)
class ViewRow:
    """An entry of the log as it arrived: its id in the transcript, its message, its bytes, its time in ISO 8601."""

    id: str
    message: Message
    raw: bytes | None
    at: str | None

    @property
    def value(self) -> dict[str, Any] | None:
        """Return the JSON object that arrived, read as the decoders read it, or None."""
        value = parse(self.raw) if self.raw else None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """A message of the view. `results` replace outputs, by call id; `replacement` replaces the whole content."""

    rows: list[ViewRow]
    results: Mapping[str, str] = field(default_factory=dict)
    replacement: Message | None = None

    @property
    def message(self) -> Message:
        """Return the message as it is in the view."""
        return self.replacement or self.rows[-1].message

    @property
    def messages(self) -> list[Message]:
        """Return the messages of its rows as they are in the view."""
        return [self.replacement] if self.replacement is not None else [row.message for row in self.rows]

    def replaced(self, wire_format: str) -> list[Any]:
        """Return the replacement of the whole message, as objects of a wire format."""
        messages = [self.replacement] if self.replacement is not None else []
        return FORMATS[wire_format].write(
            turns_of(messages, frozenset(), FORMATS[wire_format]), gathered_sources(messages)
        )


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """A summary of the view, with the tokens that it replaced."""

    number: int
    text: str
    replaced_tokens: int
    at: str | None


MessageOrSummary = ViewMessage | ViewSummary


@dataclass(frozen=True, slots=True)
class View:
    """The content of a pruned view, in order, and the facts a transcript begins with.

    `session_id` is the id of the session of the view. `now` is in ISO 8601. `file` is the transcript that the session
    was read from, if it is on this machine. `drops_thinking` is True if thoughts are left out, because something before
    them was removed.
    """

    cwd: str
    now: str
    items: Iterable[MessageOrSummary]
    session_id: str = ""
    title: str = ""
    file: Path | None = None
    drops_thinking: bool = False

    def with_results(self) -> Iterator[tuple[MessageOrSummary, list[ViewMessage]]]:
        """Yield each item, an answer of the model with the results that follow it."""
        item: MessageOrSummary | None = None
        results: list[ViewMessage] = []
        for one in self.items:
            if isinstance(one, ViewMessage) and one.message.role == "tool" and _is_answer(item):
                results.append(one)
                continue
            if item is not None:
                yield item, results
            item, results = one, []
        if item is not None:
            yield item, results


def _is_answer(one: MessageOrSummary | None) -> bool:
    return isinstance(one, ViewMessage) and one.message.role == "assistant"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A new transcript: the id of the session in it, its file name, and its lines."""

    session_id: str
    name: str
    lines: Iterator[bytes]


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the lines of a transcript of JSON rows."""
    return (dumps(row).encode() + b"\n" for row in rows)
