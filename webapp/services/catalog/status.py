"""The status view of a session (SPEC S7): triggers as bars, the last summary, what is available, one line of all."""

from __future__ import annotations

from typing import Any

from scoring.budget import Bar, LastSummary, available, bars, status_line
from scoring.settings import ContextSettings, Settings
from webapp.services.pruning.automatic import SUMMARISE
from webapp.services.pruning.background import Background, fill_of
from webapp.services.session.environment import Environment
from webapp.services.session.times import iso


class Status:
    """The use case of asking how a session stands."""

    def __init__(self, environment: Environment, background: Background) -> None:
        self._environment, self._store, self._background = environment, environment.store, background

    def of(self, session_id: str) -> dict[str, Any]:
        """The figures of the status view.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            row = self._store.sessions.get(session_id)
            settings = self._environment.settings_of(row)
            rules = ContextSettings.of(settings)
            fill = fill_of(self._environment, row)
            rows = self._store.summaries.standing(row.key)
            due = self._background.due(row)
        last = max(rows, key=lambda one: one.at, default=None)
        said = LastSummary(last.messages, last.tokens, iso(last.at) or "") if last is not None else None
        tools = (row.envelope or {}).get("tools") if row.envelope else None
        return {
            "triggers": [_bar(bar) for bar in bars(fill, rules)],
            "due": {"cause": due.cause, "reason": due.reason},
            "running": self._background.running(session_id),
            "auto_summarize": rules.auto_summarize,
            "made": _made(settings, self._environment.automatic(row)),
            "last_summary": None
            if said is None or last is None
            else {
                "id": last.n,
                "messages": said.messages,
                "tokens": said.tokens,
                "at": said.at,
                "text": str(said),
            },
            "tool_tokens": fill.tools,
            "tool_count": len(tools) if isinstance(tools, list) else None,
            "available": available(fill, rules),
            "line": status_line(fill.messages, fill.tools, fill.limit),
            "show_line": rules.status_line,
        }

    def line(self, session_id: str) -> dict[str, str]:
        """`{"line": …}` for an appended turn where the settings ask for it, {} otherwise."""
        row = self._store.sessions.get(session_id)
        if not ContextSettings.of(self._environment.settings_of(row)).status_line:
            return {}
        with self._store.read():
            fill = fill_of(self._environment, row)
        return {"line": status_line(fill.messages, fill.tools, fill.limit)}


def _made(settings: Settings, automatic: bool) -> str:
    """When a summary is made, in words."""
    at_target = automatic and settings.strategy == SUMMARISE
    if settings.auto_summarize:
        return "when either is full, or above the target" if at_target else "when either is full"
    return "above the target" if at_target else "on request"


def _bar(bar: Bar) -> dict[str, Any]:
    return {
        "name": bar.name,
        "value": bar.value,
        "limit": bar.limit,
        "percent": None if bar.done else bar.percent,
        "text": str(bar),
    }
