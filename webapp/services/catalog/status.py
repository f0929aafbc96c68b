"""The status view of a session (S7): triggers as bars, the last summary, the tokens available, one line of all."""

from __future__ import annotations

from scoring.budget import Bar, available, bars, status_line, summary_due
from scoring.settings import STRATEGIES, Settings
from webapp.services.catalog.answers import Due, LastSummary, Stats, Trigger
from webapp.services.catalog.answers import Status as StatusAnswer
from webapp.services.catalog.sessions import Sessions
from webapp.services.pruning.background import BackgroundSummaries, fill_of
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.times import iso
from webapp.store.summaries import SummaryRow


class Status:
    """The use case of reading how full a session is, and when it will be summarised."""

    def __init__(self, environment: Environment, background: BackgroundSummaries, sessions: Sessions) -> None:
        self._environment, self._store = environment, environment.store
        self._background, self._sessions = background, sessions

    def stats(self, session_id: str) -> Stats:
        """Return the sizes of a session together with its status view.

        Raises:
            NotFound: there is no such session.
        """
        return Stats(**vars(self._sessions.stats(session_id)), **vars(self.of(session_id)))

    def of(self, session_id: str) -> StatusAnswer:
        """Return the status view of a session.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            rules = session.settings
            fill = fill_of(session)
            rows = self._store.summaries.active(session.key)
            now_due = summary_due(fill, rules)
        tools = (session.row.envelope or {}).get("tools")
        return StatusAnswer(
            triggers=[_trigger(bar) for bar in bars(fill, rules)],
            due=Due(cause=now_due.cause, reason=now_due.reason),
            running=self._background.running(session_id),
            auto_summarize=rules.auto_summarize,
            made=_made(rules, session.automatic),
            last_summary=_last_summary(max(rows, key=lambda one: one.at, default=None)),
            tool_tokens=fill.tools - fill.unseen,
            tool_count=len(tools) if isinstance(tools, list) else None,
            unseen_tokens=fill.unseen,
            available=available(fill, rules),
            line=status_line(fill),
            show_line=rules.status_line,
        )

    def line(self, session_id: str) -> str | None:
        """Return the status line for an appended turn, if the settings ask for it."""
        session = Session.load(self._environment, session_id)
        if not session.settings.status_line:
            return None
        with self._store.read():
            fill = fill_of(session)
        return status_line(fill)


def _made(settings: Settings, automatic: bool) -> str:
    """Return in words when a summary is made."""
    at_target = automatic and STRATEGIES[settings.strategy].makes_summaries
    if settings.auto_summarize:
        return "when either is full, or above the target" if at_target else "when either is full"
    return "above the target" if at_target else "on request"


def _trigger(bar: Bar) -> Trigger:
    return Trigger(name=bar.name, value=bar.value, limit=bar.limit, percent=bar.percent, text=str(bar))


def _last_summary(row: SummaryRow | None) -> LastSummary | None:
    if row is None:
        return None
    words = f"{row.messages:,} messages -> {row.tokens:,} tokens"
    return LastSummary(id=row.n, messages=row.messages, tokens=row.tokens, at=iso(row.at) or "", text=words)
