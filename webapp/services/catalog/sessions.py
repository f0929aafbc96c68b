"""Sessions: list, change and delete them, and read their sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scoring.errors import shown
from scoring.settings import Settings
from webapp.agents.reading.rows import is_blank
from webapp.bodies import SessionChange, SessionsQuery
from webapp.errors import Conflict, Invalid, NotFound, refuse_unknown
from webapp.events import SessionDeleted, SessionUpdated
from webapp.services.catalog.answers import Copy, Parent, Sessions, SessionSize
from webapp.services.catalog.costs import session_cost
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.labels import shown_title
from webapp.services.session.proxy_state import is_proxied
from webapp.services.session.session import Observed, Session, Totals
from webapp.services.session.session_answers import session_answer
from webapp.services.session.sub_agents import with_sub_agents
from webapp.services.session.times import iso
from webapp.store.context import AGENT, PRUNED
from webapp.store.copies import CopyRow
from webapp.store.sessions import SessionRow

log = logging.getLogger(__name__)

SORTS: Mapping[str, Callable[[SessionAnswer], Any]] = {
    "activity": lambda s: s.last_activity or "",
    "title": lambda s: (s.title or "").lower(),
    "tokens": lambda s: s.main.tokens,
    "utilization": lambda s: s.main.utilization,
    "created": lambda s: s.created_at or "",
    "prunes": lambda s: s.prunes,
    "messages": lambda s: s.messages,
    "verdict": lambda s: (s.verdict.urgency, s.last_activity or ""),
}


SessionAnswers = list[SessionAnswer]
SessionIds = list[str]
EVERY = SessionsQuery()


class SessionService:
    """The use cases around a session as a whole."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def list(self, asked: SessionsQuery = EVERY) -> SessionAnswers:
        """Return all sessions that meet the conditions, latest activity first or by `sort` (`-` reverses it).

        Raises:
            Invalid: there is no such order.
        """
        sort = asked.sort or "activity"
        name, down = sort.lstrip("-"), not sort.startswith("-")
        refuse_unknown("sort", name, SORTS)
        with self._store.read():
            found = self._answers([row for row in self._store.sessions.all() if not is_hidden(row)])
        if asked.state:
            found = [s for s in found if s.state == asked.state]
        if asked.source:
            found = [s for s in found if s.source == asked.source]
        if asked.q:
            words = asked.q.lower().split()
            found = [s for s in found if _matches(s, words)]
        return sorted(found, key=SORTS[name], reverse=down if name != "title" else not down)

    def page(self, asked: SessionsQuery = EVERY) -> Sessions:
        """Return at most `limit` sessions of `list`, those behind the session `after`; without `limit` all behind it.

        In order of activity and without conditions, only the sessions of the page are computed.

        Raises:
            Invalid: there is no such order, or `after` is not in the list.
        """
        limit, after = asked.limit, asked.after
        if limit is not None and not (asked.state or asked.source or asked.q or asked.sort):
            with self._store.read():
                last = self._store.sessions.find(after) if after is not None else None
                if after is None or last is not None:
                    rows, total = self._store.sessions.page(last, limit + 1)
                    return _paged(self._answers(rows), limit, total)
        found = self.list(asked)
        start = 0
        if after is not None:
            start = next((n for n, one in enumerate(found, 1) if one.id == after), 0)
            if not start:
                raise Invalid(f"no session {after} in this list; read it from its first page", "after")
        return _paged(found[start:], limit, len(found))

    def _answers(self, rows: Sequence[SessionRow]) -> SessionAnswers:
        """Return sessions of the list, loaded together."""
        totals = self._store.contexts.totals_of([row.key for row in rows])
        observed: Observed = {}
        return [self._shown(row, totals[row.key], observed) for row in rows]

    def _shown(self, row: SessionRow, totals: Totals, observed: Observed) -> SessionAnswer:
        """Return a session of the list; one that cannot be computed has a note instead, so that the others show."""
        try:
            return session_answer(Session(self._environment, row, totals, observed))
        except Exception:
            log.exception("session %s cannot be shown", row.id)
        fault = "its row in the store is damaged; run `coppice verify`"
        blank = replace(row, settings={}, state={}, notes=[], damaged=(fault,))
        return session_answer(Session(self._environment, blank, {AGENT: {}, PRUNED: {}}))

    def get(self, session_id: str) -> SessionAnswer:
        """Return one session.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            return session_answer(Session.load(self._environment, session_id))

    def patch(self, session_id: str, change: SessionChange) -> SessionAnswer:
        """Change title, model, window, automatic pruning, overrides, `kept` or `proxy_prunes`: what was sent.

        Null values in `settings` remove an override; null for the window removes the one that was set here.

        Raises:
            InvalidSettings: an override is unknown or out of range, or nothing of the window would be usable; nothing
                is changed.
            Invalid: nothing of the title can be seen.
            Conflict: the proxy cannot prune the session.
        """
        with Session.to_change(self._environment, session_id) as session:
            before, row, sent = session.usable_shown, session.row, change.model_fields_set
            if "title" in sent:
                if change.title is not None and is_blank(change.title):
                    wanted = "expected at least 1 character that can be seen"
                    raise Invalid(f"{wanted}, got {shown(change.title)}", "title")
                row.title = change.title
            if "model" in sent and change.model != row.model:
                session.change_model(change.model)
            if "window" in sent:
                session.state.own_window = change.window or 0
                session.state.own_window_at = self._environment.clock()
            if "automatic" in sent:
                row.automatic = None if change.automatic is None else int(change.automatic)
            if "settings" in sent:
                merged = {**row.settings, **change.settings} if change.settings is not None else {}
                row.settings = {k: v for k, v in merged.items() if v is not None or k == "cap_tokens"}
                Settings.from_dict(row.settings, base=self._environment.settings())
            if "kept" in sent:
                session.state.kept = bool(change.kept)
            if "proxy_prunes" in sent:
                _set_proxy_prunes(session, prunes=bool(change.proxy_prunes))
            if before:
                session.require_usable()
            session.save()
        self._environment.bus.publish(SessionUpdated(session_id))
        return self.get(session_id)

    def delete(self, session_id: str) -> SessionIds:
        """Delete a session, its log and its sub-agents; a followed one leaves a marker. Return the deleted ids.

        Raises:
            NotFound: there is no such session.
        """
        *below, top = reversed(with_sub_agents(self._store, session_id))
        deleted = []
        for one in below:
            with suppress(NotFound):  # another process deleted it
                self._delete(one)
                deleted.append(one)
        self._delete(top)
        return [*deleted, top]

    def _delete(self, session_id: str) -> None:
        with self._environment.lock(session_id):
            with self._store.write(session_id):
                row = self._store.sessions.get(session_id)
                self._store.sessions.remove(row, self._environment.clock() if row.followed else None)
            self._histories.forget(row.key)
        self._environment.bus.publish(SessionDeleted(session_id))

    def stats(self, session_id: str) -> SessionSize:
        """Return the sizes of a session (B11) with its regions and the time they were measured."""
        with self._store.read():
            session = Session.load(self._environment, session_id)
            shown = session_answer(session)
            main = shown.main
            copied = self._store.copies.find(session_id)
            return SessionSize(
                session=shown,
                items=main.messages,
                tokens=main.tokens,
                limit=shown.limit,
                utilizationPercent=100 * main.tokens / shown.limit if shown.limit else 0.0,
                needsPruning=main.tokens > shown.target_tokens,
                regions=main.regions,
                cost=session_cost(session),
                parent=self._parent(shown.parent_id),
                copy_of=self._copy(copied) if copied is not None else None,
                copies=[self._copy(copy) for copy in self._store.copies.of(session_id)],
                as_of=iso(self._environment.clock()) or "",
            )

    def _parent(self, parent_id: str | None) -> Parent | None:
        """Return a sub-agent's parent session; None if that is empty or missing."""
        row = self._store.sessions.live(parent_id) if parent_id is not None else None
        if row is None or is_hidden(row):
            return None
        return Parent(id=row.id, title=shown_title(row))

    def _copy(self, copy: CopyRow) -> Copy:
        """Return a copy with the title of its origin and the size of its first call."""
        origin, own = self._store.sessions.live(copy.origin_id), self._store.sessions.find(copy.session_id)
        return Copy(
            session_id=copy.session_id,
            title=copy.title,
            origin_id=copy.origin_id,
            origin_title=shown_title(origin) if origin is not None else None,
            at=iso(copy.at) or "",
            tokens_before=copy.tokens_before,
            tokens_promised=copy.tokens_promised,
            tokens_first_call=self._store.usage.first_input(own.key) if own is not None else None,
        )


def _set_proxy_prunes(session: Session, *, prunes: bool) -> None:
    """Have the proxy send a session's calls pruned, or unchanged.

    Raises:
        Conflict: its calls do not go through the proxy, or are paid by a subscription.
    """
    if prunes and not is_proxied(session.row.source, session.state.proxy):
        raise Conflict("its calls do not go through `coppice proxy`, so none can be sent pruned")
    if prunes and session.state.proxy.subscription:
        raise Conflict("its key is a subscription's, whose requests are never changed")
    session.state.proxy.prunes = prunes


def _paged(found: SessionAnswers, limit: int | None, total: int) -> Sessions:
    """Return the first `limit` of the sessions found as a page; one more than that means there is a next page."""
    shown = found[:limit]
    return Sessions(sessions=shown, total=total, next=shown[-1].id if len(shown) < len(found) else None)


def is_hidden(row: SessionRow) -> bool:
    """Return whether a session is not shown: its file has no message and no broken line yet."""
    return row.followed and row.next_no == 1 and not row.malformed and not row.deleted_at


def _matches(session: SessionAnswer, words: list[str]) -> bool:
    fields = (session.title, session.model, session.cwd, session.id, session.source)
    text = " ".join(field for field in fields if field).lower()
    return all(word in text for word in words)
