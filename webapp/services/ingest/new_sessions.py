"""Creates the sessions that a program asks for, with the system prompt and the tools that it sends with every call."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from scoring.budget import usable_tokens
from scoring.formats import FORMATS, system_text
from scoring.messages import Message, Text
from scoring.settings import Settings
from scoring.tokens import estimate_tool_tokens
from webapp.agents.reading.rows import is_blank
from webapp.agents.records import Entry
from webapp.errors import refuse_unknown
from webapp.events import MessagesAppended, SessionCreated
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.message_lists import OWN_PROMPT
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer

SystemPrompt = str | list[dict[str, Any]]


class NewSessions:
    """Creates managed sessions."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def create(
        self,
        *,
        id: str | None = None,
        title: str | None = None,
        model: str | None = None,
        system: SystemPrompt | None = None,
        tools: list[Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        source: str = "api",
        format: str | None = None,
    ) -> SessionAnswer:
        """Create a managed session. `system` and `tools` are what its program sends with every call.

        Raises:
            Conflict: the id exists.
            InvalidSettings: an override is unknown or out of range, or nothing of the model's window is usable.
            Invalid: there is no such wire format.
        """
        if format is not None:
            refuse_unknown("format", format, FORMATS)
        overrides = dict(settings or {})
        combined = Settings.from_dict(overrides, base=self._environment.settings())
        if source == "api":  # imported sessions exist already, however small their window
            usable_tokens(self._environment.model(model), combined)
        title = None if title is None or is_blank(title) else title
        session_id, now = id or f"s-{secrets.token_hex(6)}", self._environment.clock()
        with self._store.write():
            row = self._store.sessions.create(
                id=session_id, title=title, source=source, kind="managed", model=model, created_at=now,
                last_activity_at=now, settings=overrides, envelope={"tools": tools} if tools else None,
                wire_format=format,
            )  # fmt: skip
            if tools or system:
                self._begin(Session.of(self._environment, row), system, tools or [])
        prompt = [MessagesAppended(session_id, (1,), 1)] if system else []
        self._environment.bus.publish(SessionCreated(session_id), *prompt)
        with self._store.read():
            return session_answer(Session.load(self._environment, session_id))

    def _begin(self, session: Session, system: SystemPrompt | None, tools: list[Any]) -> None:
        """Append the system prompt as the first message, and count the tool definitions as a region."""
        batch = AppendBatch(session)
        if tools:
            session.pruned.count("tools", estimate_tool_tokens(tools, session.counter), 0)
        if system:
            prompt = Message("system", (Text(system_text({"system": system})),))
            batch.add([Entry(prompt, OWN_PROMPT)]).close_all()
        batch.write()
