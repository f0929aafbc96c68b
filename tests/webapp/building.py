"""Messages, records and sessions made in a line, for the tests of store and services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Unpack

import pytest

from scoring.messages import Message, Text, ToolCall, ToolResult
from webapp.agents.records import Entry, Usage
from webapp.app import App
from webapp.store.sessions import KnownColumns

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


def user(text: str) -> Message:
    """Return a user's message."""
    return Message("user", (Text(text),))


def said(text: str) -> Message:
    """Return an assistant's message."""
    return Message("assistant", (Text(text),))


def call(call_id: str, name: str = "Bash", arguments: str = '{"command": "ls"}') -> Message:
    """A call of a tool."""
    return Message("assistant", (ToolCall(call_id, name, arguments),))


def result(call_id: str, text: str, is_error: bool = False) -> Message:
    """Return a tool's result."""
    return Message("tool", (ToolResult(call_id, text, is_error=is_error),))


def entry(n: int, message: Message, **rest: Any) -> Entry:
    """The n-th entry of a transcript, n seconds after the start."""
    return Entry(message, f"id-{n}", at=START + timedelta(seconds=n), **rest)


def entries(*messages: Message, start: int = 0) -> list[Entry]:
    """Messages as entries of a transcript, numbered from `start`."""
    return [entry(start + n, message) for n, message in enumerate(messages)]


def conversation(turns: int, words: int = 40) -> Iterator[Message]:
    """A conversation of so many turns: a request, a call, its result, an answer."""
    for n in range(turns):
        yield user(f"request {n}: " + "please change the parser " * 2)
        yield call(f"call-{n}")
        yield result(f"call-{n}", f"line {n} of output " * words, is_error=n % 5 == 4)
        yield said(f"answer {n}, done")


def usage(input_tokens: int, output_tokens: int = 10) -> Usage:
    """Real usage of a call."""
    return Usage(input_tokens, output_tokens)


def followed(app: App, *messages: Message, session_id: str = "s", **columns: Unpack[KnownColumns]) -> str:
    """A followed session with these messages; its id."""
    app.ingest.ensure(session_id, "claude-code", **columns)
    app.ingest.append_records(session_id, entries(*messages))
    return session_id


def managed(app: App, *messages: dict[str, Any], **data: Any) -> str:
    """A managed session with these wire messages; its id."""
    session_id: str = app.new_sessions.create(**{"model": "gpt-5", **data}).id
    if messages:
        app.ingest.append_messages(session_id, list(messages))
    return session_id


def wire(role: str, text: str) -> dict[str, Any]:
    """A message in OpenAI's chat format."""
    return {"role": role, "content": text}


def context_numbers(app: App, session_id: str, view: int = 1) -> list[int]:
    """Numbers of the messages in a view, in order."""
    row = app.store.sessions.get(session_id)
    return [item.ref for item in app.store.contexts.items(row.key, view)]


def mid(app: App, session_id: str, no: int) -> str:
    """The id of a message by its number."""
    row = app.store.sessions.get(session_id)
    return str(app.store.log.message(row.key, no).mid)


def transactions(app: App, patch: pytest.MonkeyPatch) -> list[str | None]:
    """The sessions for which transactions are opened from now on; None for one that locks out all other writers."""
    opened: list[str | None] = []
    write = app.store.write

    def spy(session_id: str | None = None) -> AbstractContextManager[None]:
        opened.append(session_id)
        return write(session_id)

    patch.setattr(app.store, "write", spy)
    return opened


def heard(app: App) -> list[Any]:
    """The events that are published from now on."""
    events: list[Any] = []
    app.bus.subscribe(events.append)
    return events
