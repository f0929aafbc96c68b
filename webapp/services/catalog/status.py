"""The status view of a session (S7): triggers as bars, the last summary, the tokens available, one line of all."""

from __future__ import annotations

from scoring.budget import Bar, available, bars, status_line, summary_due
from scoring.counted import counted
from scoring.settings import STRATEGIES, Settings
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.catalog.answers import AgentSummary, Due, LastSummary, Stats, Status, Trigger
from webapp.services.catalog.sessions import SessionService
from webapp.services.pruning.background import BackgroundSummaries, sizes_of
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.times import iso
from webapp.services.summaries.summarising import NOTHING_NEW
from webapp.store.summaries import SummaryRow


class StatusService:
    """The use case of reading how full a session is, and when it will be summarised."""

    def __init__(
        self, environment: Environment, background: BackgroundSummaries, sessions: SessionService
    ) -> None:
        self._environment, self._store = environment, environment.store
        self._background, self._sessions = background, sessions

    def stats(self, session_id: str) -> Stats:
        """Return the sizes of a session together with its status view.

        Raises:
            NotFound: there is no such session.
        """
        return Stats(**vars(self._sessions.stats(session_id)), **vars(self.of(session_id)))

    def of(self, session_id: str) -> Status:
        """Return the status view of a session.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            rules = session.settings
            sizes = sizes_of(session)
            rows = self._store.summaries.active(session.key)
            agents = self._agent_summary(session, max((one.until_no for one in rows), default=0))
            now_due = summary_due(sizes, rules)
        _, system = session.pruned.totals.get("system", (0, 0))
        spoken = session.pruned.messages - system - len(rows)
        tools = (session.row.envelope or {}).get("tools")
        return Status(
            triggers=[_trigger(bar) for bar in bars(sizes, rules)],
            due=Due(cause=now_due.cause, reason=now_due.reason),
            running=self._background.running(session_id),
            nothing_to_summarise="" if spoken > rules.min_recent_messages else NOTHING_NEW,
            auto_summarize=rules.auto_summarize,
            made=_made(rules, session.automatic),
            last_summary=_last_summary(session, max(rows, key=lambda one: one.at, default=None)),
            agent_summary=agents,
            tool_tokens=sizes.tools - sizes.unseen,
            tool_count=len(tools) if isinstance(tools, list) else None,
            unseen_tokens=sizes.unseen,
            available=available(sizes, rules),
            line=status_line(sizes),
            show_line=rules.status_line,
        )

    def _agent_summary(self, session: Session, covered: int) -> AgentSummary | None:
        """Return the agent's newest summary in the context, behind the message up to which our own summaries go."""
        log = self._store.log
        nos = log.numbers(session.key, newest_first=True, out=False, kind=COMPACTION_SUMMARY)
        row = log.message(session.key, nos[0]) if nos and nos[0] > covered else None
        if row is None:
            return None
        return AgentSummary(number=row.no, tokens=session.pruned.scale.part(row.tokens), at=iso(row.at))

    def line(self, session_id: str) -> str | None:
        """Return the status line for an appended turn, if the settings ask for it."""
        session = Session.load(self._environment, session_id)
        if not session.settings.status_line:
            return None
        with self._store.read():
            sizes = sizes_of(session)
        return status_line(sizes)


def _made(settings: Settings, automatic: bool) -> str:
    """Return in words when a summary is made."""
    at_target = automatic and STRATEGIES[settings.strategy].makes_summaries
    if settings.auto_summarize:
        return "when either is full, or above the target" if at_target else "when either is full"
    return "above the target" if at_target else "on request"


def _trigger(bar: Bar) -> Trigger:
    return Trigger(name=bar.name, value=bar.value, limit=bar.limit, percent=bar.percent, text=str(bar))


def _last_summary(session: Session, row: SummaryRow | None) -> LastSummary | None:
    if row is None:
        return None
    tokens = session.pruned.scale.part(row.tokens)
    words = f"{counted(row.messages, 'message')} -> {counted(tokens, 'token')}"
    return LastSummary(id=row.n, messages=row.messages, tokens=tokens, at=iso(row.at) or "", text=words)
