"""Sessions: create, list, change and delete them, and their sizes over time."""

from __future__ import annotations

import builtins
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict, Unpack

from scoring.budget import usable_tokens
from scoring.formats import FORMATS
from scoring.messages import Message, Text
from scoring.models import CURRENCY, CallTokens, Spent, context_cost, spent
from scoring.settings import Settings
from scoring.tokens import estimate_tool_tokens
from scoring.tokens.calibration import split
from webapp.agents.records import Entry
from webapp.errors import Conflict, Invalid, NotFound
from webapp.events import SessionCreated, SessionDeleted, SessionUpdated
from webapp.services.catalog.answers import (
    Cause,
    Copy,
    Cost,
    Parent,
    Point,
    SessionSize,
    SubAgentCost,
    Timeline,
    TimelineChange,
)
from webapp.services.catalog.answers import Sessions as Page
from webapp.services.catalog.growth import MessageLifetime, Step, label_of, regions_at, steps_at, to_name
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.message_lists import OWN_PROMPT
from webapp.services.session.answers import Session as SessionAnswer
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import REGIONS, session_answer, shown_title
from webapp.services.session.histories import Histories
from webapp.services.session.measuring import region_of
from webapp.services.session.operation_answers import tokens_around
from webapp.services.session.proxy import is_proxied
from webapp.services.session.session import Observed, Session, Totals
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.context import AGENT, PRUNED
from webapp.store.copies import CopyRow
from webapp.store.log import MessageRow
from webapp.store.operations import OperationRow
from webapp.store.sessions import SessionRow
from webapp.store.usage import Sample

log = logging.getLogger(__name__)

SORTS: Mapping[str, Callable[[SessionAnswer], Any]] = {
    "activity": lambda s: s.last_activity or "",
    "title": lambda s: (s.title or "").lower(),
    "tokens": lambda s: (s.agent or s.pruned).tokens,
    "utilization": lambda s: (s.agent or s.pruned).utilization,
    "created": lambda s: s.created_at or "",
    "prunes": lambda s: s.prunes,
    "messages": lambda s: s.messages,
    "verdict": lambda s: (s.verdict.urgency, s.last_activity or ""),
}


class SessionChanges(TypedDict, total=False):
    """The fields of a session that can be changed; a field that is left out stays."""

    title: str | None
    model: str | None
    automatic: bool | None
    window: int | None
    settings: Mapping[str, Any] | None
    proxy_prunes: bool | None
    kept: bool | None


class ListConditions(TypedDict, total=False):
    """The conditions and the order of a list of sessions."""

    state: str | None
    source: str | None
    q: str | None
    sort: str | None


class CallsMade(NamedTuple):
    """The number of a session's calls with and without reported usage, and what the former cost; None if unknown."""

    calls: int
    unreported: int
    paid: Spent | None


class Sessions:
    """The use cases around a session as a whole."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def create(
        self,
        *,
        id: str | None = None,
        title: str | None = None,
        model: str | None = None,
        system: Any = None,
        tools: builtins.list[Any] | None = None,
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
        if format is not None and format not in FORMATS:
            raise Invalid(
                f"bad value for format; expected one of {', '.join(FORMATS)}, got {format}", "format"
            )
        overrides = dict(settings or {})
        combined = Settings.from_dict(overrides, base=self._environment.settings())
        if source == "api":  # imported sessions exist already, however small their window
            usable_tokens(self._environment.model(model), combined)
        session_id, now = id or f"s-{secrets.token_hex(6)}", self._environment.clock()
        with self._store.write():
            row = self._store.sessions.create(
                id=session_id, title=title, source=source, kind="managed", model=model, created_at=now,
                last_activity_at=now, settings=overrides, envelope={"tools": tools} if tools else None,
                wire_format=format,
            )  # fmt: skip
            if tools or system:
                self._begin(Session.of(self._environment, row), system, tools or [])
        self._environment.bus.publish(SessionCreated(session_id))
        return self.get(session_id)

    def _begin(self, session: Session, system: Any, tools: builtins.list[Any]) -> None:
        """Append the system prompt as the first message, and count the tool definitions as a region."""
        batch = AppendBatch(session)
        if tools:
            session.pruned.count("tools", estimate_tool_tokens(tools, session.counter), 0)
        if system:
            prompt = Message("system", (Text(system_words(system)),))
            batch.add([Entry(prompt, OWN_PROMPT)]).close_all()
        batch.write()

    def list(
        self,
        state: str | None = None,
        source: str | None = None,
        q: str | None = None,
        sort: str | None = None,
    ) -> builtins.list[SessionAnswer]:
        """Return the sessions that meet the conditions, latest activity first or by `sort` (`-` reverses it).

        Raises:
            Invalid: there is no such order.
        """
        with self._store.read():
            found = self._answers([row for row in self._store.sessions.all() if not silent(row)])
        if state:
            found = [s for s in found if s.state == state]
        if source:
            found = [s for s in found if s.source == source]
        if q:
            words = q.lower().split()
            found = [s for s in found if _mentions(s, words)]
        name, down = (sort or "activity").lstrip("-"), not (sort or "").startswith("-")
        if name not in SORTS:
            raise Invalid(f"bad value for sort; expected one of {', '.join(SORTS)}, got {sort}", "sort")
        return sorted(found, key=SORTS[name], reverse=down if name != "title" else not down)

    def page(
        self, *, limit: int | None = None, after: str | None = None, **conditions: Unpack[ListConditions]
    ) -> Page:
        """Return at most `limit` sessions of `list`, those behind the session `after`; without `limit` all behind it.

        In order of activity and without conditions, only the sessions of the page are computed.

        Raises:
            Invalid: there is no such order, or `after` is not in the list.
        """
        if limit is not None and not conditions:
            with self._store.read():
                last = self._store.sessions.find(after) if after is not None else None
                if after is None or last is not None:
                    rows, total = self._store.sessions.page(last, limit + 1)
                    return _paged(self._answers(rows), limit, total)
        found = self.list(**conditions)
        start = 0
        if after is not None:
            start = next((n for n, one in enumerate(found, 1) if one.id == after), 0)
            if not start:
                raise Invalid(f"no session {after} in this list; read it from its first page", "after")
        return _paged(found[start:], limit, len(found))

    def _answers(self, rows: Sequence[SessionRow]) -> builtins.list[SessionAnswer]:
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

    def patch(self, session_id: str, **changes: Unpack[SessionChanges]) -> SessionAnswer:
        """Change title, model, window, automatic pruning or overrides; null values in `settings` remove an override.

        Raises:
            InvalidSettings: an override is unknown or out of range, or nothing of the window would be usable; nothing
                is changed.
            Conflict: the proxy cannot prune the session.
        """
        with self._environment.lock(session_id), self._store.write():
            session = Session.load(self._environment, session_id)
            before, row = session.usable_shown, session.row
            if "title" in changes:
                row.title = changes["title"]
            if "model" in changes and changes["model"] != row.model:
                row.model, row.window = changes["model"], None
                session.state.model_changed()
            if "window" in changes:
                session.state.own_window = changes["window"] or 0
            if "automatic" in changes:
                row.automatic = None if changes["automatic"] is None else int(changes["automatic"])
            if "settings" in changes:
                merged = {**row.settings, **changes["settings"]} if changes["settings"] is not None else {}
                row.settings = {k: v for k, v in merged.items() if v is not None or k == "cap_tokens"}
                Settings.from_dict(row.settings, base=self._environment.settings())
            if "kept" in changes:
                session.state.kept = bool(changes["kept"])
            if "proxy_prunes" in changes:
                _switch(session, prunes=bool(changes["proxy_prunes"]))
            if before:
                session.require_usable()
            session.save()
        self._environment.bus.publish(SessionUpdated(session_id))
        return self.get(session_id)

    def delete(self, session_id: str) -> builtins.list[str]:
        """Delete a session, its log and its sub-agents; a followed one leaves a marker. Return the deleted ids.

        Raises:
            NotFound: there is no such session.
        """
        *below, top = reversed(with_all_below(self._store, session_id))
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
            main = shown.agent or shown.pruned
            copied = self._store.copies.find(session_id)
            return SessionSize(
                session=shown,
                items=main.messages,
                tokens=main.tokens,
                limit=shown.limit,
                utilizationPercent=100 * main.tokens / shown.limit if shown.limit else 0.0,
                needsPruning=main.tokens > shown.target_tokens,
                regions=main.regions,
                cost=self._cost(session, main.tokens),
                parent=self._parent(shown.parent_id),
                copy_of=self._copy(copied) if copied is not None else None,
                copies=[self._copy(copy) for copy in self._store.copies.of(session_id)],
                as_of=iso(self._environment.clock()) or "",
            )

    def _parent(self, parent_id: str | None) -> Parent | None:
        """Return a sub-agent's parent session; None if that is empty or missing."""
        row = self._store.sessions.find(parent_id) if parent_id is not None else None
        if row is None or row.deleted_at is not None or silent(row):
            return None
        return Parent(id=row.id, title=shown_title(row))

    def _copy(self, copy: CopyRow) -> Copy:
        """Return a copy with the title of its origin and the size of its first call."""
        origin, own = self._store.sessions.find(copy.origin_id), self._store.sessions.find(copy.session_id)
        there = origin is not None and origin.deleted_at is None
        return Copy(
            session_id=copy.session_id,
            title=copy.title,
            origin_id=copy.origin_id,
            origin_title=shown_title(origin) if origin is not None and there else None,
            at=iso(copy.at) or "",
            tokens_before=copy.tokens_before,
            tokens_promised=copy.tokens_promised,
            tokens_first_call=self._store.usage.first_input(own.key) if own is not None else None,
        )

    def _cost(self, session: Session, tokens: int) -> Cost | None:
        """Return the price of a call with this context, new and cached, and of all calls; None if it is unknown."""
        model = self._environment.model(session.row.model)
        cost = context_cost(tokens, model)
        if cost is None:
            return None
        made = self._spent(session.row)
        return Cost(
            per_call=cost.fresh,
            per_call_cached=cost.cached,
            at_least=cost.at_least,
            free=model.free,
            calls=made.calls,
            unreported=made.unreported,
            spent=made.paid.amount if made.paid else None,
            spent_at_least=made.paid is not None and made.paid.at_least,
            sub_agents=self._sub_agents(session.id),
            currency=CURRENCY,
        )

    def _sub_agents(self, session_id: str) -> SubAgentCost | None:
        below = with_all_below(self._store, session_id)[1:]
        each = [self._spent(self._store.sessions.get(one)) for one in below]
        calls, known = sum(one.calls for one in each), [one.paid for one in each if one.paid is not None]
        if not calls:
            return None
        return SubAgentCost(
            sessions=len(below),
            calls=calls,
            unreported=sum(one.unreported for one in each),
            spent=round(sum(paid.amount for paid in known), 6) if known else None,
            spent_at_least=len(known) < len(each) or any(paid.at_least for paid in known),
        )

    def _spent(self, row: SessionRow) -> CallsMade:
        """Return the calls of a session, and what they cost."""
        reported = self._store.usage.calls(row.key)
        calls = [
            (
                CallTokens(
                    c.input_tokens, c.output_tokens, c.cached_tokens, c.cache_write_tokens, c.cache_write_hour_tokens,
                    c.answer_tokens, c.service_tier,
                ),
                self._environment.model(c.model or row.model),
            )
            for c in reported
        ]  # fmt: skip
        paid = spent(calls)
        answers = row.state.get("answers", 0) - row.state.get("awaiting", False)
        unreported = max(0, answers - sum(not c.is_inference for c in reported))
        # A report that says too little is billed as it is.
        too_little = row.state.get("set_aside") and not row.state.get("summed")
        free = self._environment.model(row.model).free
        if paid is not None and not free and (unreported or too_little):
            paid = replace(paid, at_least=True)
        return CallsMade(len(calls), unreported, paid)

    def timeline(self, session_id: str, points: int = 600) -> Timeline:
        """Return the chart: gauges over messages, and the operations on the context."""
        with self._store.read():
            session = Session.load(self._environment, session_id)
            samples = _up_to_date(
                session, self._store.usage.samples(session.key, session.row.next_sample, points)
            )
            operations = self._store.operations.all(session.key)
            numbers = [sample.no for sample in samples]
            grown = self._grown(session, operations)
            steps = steps_at(grown, numbers)
            messages = self._store.log.messages(
                session.key, [one.no for one in steps if one] + to_name(steps)
            )
        limits = session.limits
        shown = [o for o in operations if o.kind in CHARTED]
        before = [session.unseen_before(sample.n) for sample in samples]
        sizes = [
            (sample.view_tokens if sample.agent_tokens is None else sample.agent_tokens) + unseen
            for sample, unseen in zip(samples, before, strict=True)
        ]
        parts = [
            split(session.calibration, estimates, size)
            for estimates, size in zip(regions_at(grown, numbers), sizes, strict=True)
        ]
        regions = [name for name in REGIONS if any(part.get(name) for part in parts)]
        return Timeline(
            points=[
                Point(
                    at=iso(s.at),
                    number=s.no,
                    pruned=s.view_tokens + unseen,
                    agent=None if s.agent_tokens is None else s.agent_tokens + unseen,
                    regions=[part.get(name, 0) for name in regions],
                    cause=_cause(step, messages, session),
                )
                for s, unseen, part, step in zip(samples, before, parts, steps, strict=True)
            ],
            regions=regions,
            changes=[_change(o) for o in reversed(shown)]
            + [_undo_change(o, _newest(samples, o.undone_at)) for o in shown if o.undone_at is not None],
            limit=limits.limit,
            target=limits.target_tokens,
        )

    def _grown(self, session: Session, operations: Iterable[OperationRow]) -> Sequence[MessageLifetime]:
        """Return the messages of the log, with the place at which each left the main context."""
        by_agent_only = session.agent is not None
        left = {
            o.n: o.facts.number
            for o in operations
            if o.undone_at is None and (o.actor == "agent" or not by_agent_only)
        }
        return [
            MessageLifetime(no, tokens, region_of(role, kind), None if out is None else left.get(out))
            for no, tokens, role, kind, out in self._store.log.growth(session.key)
        ]


def _up_to_date(session: Session, samples: list[Sample]) -> list[Sample]:
    """Return the samples, the newest with the present size: usage is often reported after the message."""
    if not samples or samples[-1].no != session.row.next_no - 1:
        return samples
    *earlier, newest = samples
    unseen = session.unseen_before(newest.n)
    agent = None if session.agent is None else session.agent.tokens - unseen
    return [*earlier, newest._replace(agent_tokens=agent, view_tokens=session.pruned.tokens - unseen)]


def _cause(step: Step | None, messages: Mapping[int, MessageRow], session: Session) -> Cause | None:
    if step is None or step.no not in messages:
        return None
    label = label_of(messages[step.no], messages)
    return Cause(number=step.no, label=label, tokens=session.main.scale.part(step.tokens))


def _switch(session: Session, *, prunes: bool) -> None:
    """Have the proxy send a session's calls pruned, or unchanged.

    Raises:
        Conflict: its calls do not go through the proxy, or are paid by a subscription.
    """
    if prunes and not is_proxied(session.row.source, session.state.proxy):
        raise Conflict("its calls do not go through `coppice proxy`, so none can be sent pruned")
    if prunes and session.state.proxy.subscription:
        raise Conflict("its key is a subscription's, whose requests are never changed")
    session.state.proxy.prunes = prunes


def with_all_below(store: Store, session_id: str) -> list[str]:
    """Return the session and its sub-agents at any depth, itself first, each once even if parents form a circle."""
    found, waiting = {session_id: None}, [session_id]
    while waiting:
        new = [one for one in store.sessions.children(waiting.pop()) if one not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return [*found]


def _paged(found: list[SessionAnswer], limit: int | None, total: int) -> Page:
    """Return the first `limit` of the sessions found as a page; one more than that means there is a next page."""
    shown = found if limit is None else found[:limit]
    return Page(sessions=shown, total=total, next=shown[-1].id if len(shown) < len(found) else None)


def silent(row: SessionRow) -> bool:
    """Return True for a file without any message or broken line; it is shown as a session once it has one."""
    return row.followed and row.next_no == 1 and not row.malformed and not row.deleted_at


CHARTED = ("prune", "summary", "compaction", "clearing", "rewind")


def _change(operation: OperationRow) -> TimelineChange:
    before, after = tokens_around(operation)
    return TimelineChange(
        at=iso(operation.at),
        number=operation.facts.number,
        kind=operation.kind,
        before=before,
        after=after,
        label=operation.reason,
    )


def _newest(samples: Iterable[Sample], at: int) -> int | None:
    """Return the number of the newest message at a time; None if no message says its time."""
    return max((one.no for one in samples if one.at is not None and one.at <= at), default=None)


def _undo_change(operation: OperationRow, number: int | None) -> TimelineChange:
    """Return the undo of an operation, which follows message `number`, if that is known."""
    return TimelineChange(
        at=iso(operation.undone_at),
        number=operation.facts.number if number is None else number,
        kind="undo",
        before=operation.tokens_after,
        after=operation.tokens_before,
        label=f"{operation.kind} {operation.n} undone",
    )


def _mentions(session: SessionAnswer, words: builtins.list[str]) -> bool:
    fields = (session.title, session.model, session.cwd, session.id, session.source)
    text = " ".join(field for field in fields if field).lower()
    return all(word in text for word in words)


def system_words(system: Any) -> str:
    """Return the words of a system prompt: a string, or a list of blocks with text."""
    if isinstance(system, str):
        return system
    pieces = [block.get("text", "") if isinstance(block, Mapping) else str(block) for block in system]
    return "\n".join(piece for piece in pieces if isinstance(piece, str))
