"""Pages of messages, with scores and fates of the plan that would be made now; and single messages in full."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

import orjson

from scoring.messages import Message, part_from_dict, part_to_dict
from webapp.bodies import MessagesQuery
from webapp.errors import Invalid, refuse_unknown
from webapp.services.planning.answers import LogEntry, MessageFull, Page
from webapp.services.planning.answers import Message as MessageAnswer
from webapp.services.planning.message_rows import message_answer, out_answer, pending_answer, without_parts
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.planning.shown_plans import ShownPlans
from webapp.services.session.environment import Environment
from webapp.services.session.replacements import with_replacement
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import message_with_id
from webapp.store.context import PRUNED
from webapp.store.log import MessageRow
from webapp.store.operations import RemovalReason

FATES = ("kept", "protected", "changes", "goes", "shortened", "out", "errors", "in", "pinned")
# Those that the log knows without a plan.
OF_THE_LOG = ("out", "errors", "in")
NEWEST = MessagesQuery()


class Messages:
    """Reading messages."""

    def __init__(self, environment: Environment, planning: Planning, shown_plans: ShownPlans) -> None:
        self._environment, self._store = environment, environment.store
        self._planning, self._shown_plans = planning, shown_plans

    def page(self, session_id: str, asked: MessagesQuery = NEWEST) -> Page:
        """Return a page of messages, by default of the newest.

        If the requested plan is stale, `plan_id` is null in the answer and the fates are those of the plan that would
        be made now.

        Raises:
            NotFound: there is no such session.
            Invalid: an unknown fate or cursor.
        """
        _check(asked)
        with self._planning.reading(session_id) as session:
            shown = self._shown_plans.recall_or_none(asked.plan_id, session) if asked.plan_id else None
            planned = shown or self._current_plan(session)
            return self._page(session, planned, asked, plan_id=shown.id if shown is not None else None)

    def at_once(self, session_id: str, asked: MessagesQuery = NEWEST) -> Page:
        """Return the same page without waiting for a plan, unless its order or filter needs one.

        If no plan is ready, scores and fates are missing (`pending`).

        Raises:
            NotFound: there is no such session.
            Invalid: an unknown fate or cursor.
        """
        _check(asked)
        with self._store.read():
            session = Session.load(self._environment, session_id)
            if not _needs_plan(asked) and not self._planning.is_ready(session):
                return self._page(session, None, asked)
        return self.page(session_id, asked)

    def _page(
        self, session: Session, planned: SessionPlan | None, asked: MessagesQuery, plan_id: str | None = None
    ) -> Page:
        """Return a page with the fates of a plan; without one a page of the fields that the log alone gives."""
        wanted = self._matching(session, planned, asked)
        nos, cursor = self._ordered(session, planned, wanted, asked)
        rows = self._pending_rows(session, nos) if planned is None else self.rows(session.key, planned, nos)
        if asked.brief or asked.without_parts:
            rows = [without_parts(row, brief=asked.brief) for row in rows]
        return Page(
            messages=rows,
            total=session.row.next_no - 1 if wanted is None else len(wanted),
            next=cursor,
            version=session.version,
            plan_id=plan_id,
            pending=planned is None,
            counts=self._counts(session, planned),
            tools=[] if planned is None else _tools(planned),
        )

    def _pending_rows(self, session: Session, nos: Sequence[int]) -> list[MessageAnswer]:
        """Return messages without scores and fates, in the order of `nos`."""
        found, removals = self._found(session.key, nos)
        scale = session.pruned.scale
        items = self._store.contexts.at(session.key, PRUNED, [row.first_seq for row in found.values()])
        texts = {item.ref: item.replacement for item in items.values()}
        return [
            pending_answer(found[no], scale, texts.get(no), removals.get(no)) for no in nos if no in found
        ]

    def rows(self, session: int, planned: SessionPlan, nos: Sequence[int]) -> list[MessageAnswer]:
        """Return messages, in the order of `nos`."""
        found, removals = self._found(session, nos)
        return [message_answer(found[no], planned, removals.get(no)) for no in nos if no in found]

    def out(self, session: Session, nos: Sequence[int]) -> list[MessageAnswer]:
        """Return messages that are not in the context, in the order of `nos`."""
        found, removals = self._found(session.key, nos)
        scale = session.pruned.scale
        return [out_answer(found[no], scale, removals.get(no)) for no in nos if no in found]

    def _found(
        self, session: int, nos: Sequence[int]
    ) -> tuple[dict[int, MessageRow], dict[int, RemovalReason]]:
        """Return messages by number, and how those that are out left the context."""
        found = self._store.log.messages(session, nos)
        gone = [(m.out_operation, m.no) for m in found.values() if m.out_operation is not None]
        return found, self._store.operations.removal_reasons(session, gone)

    def by_number(self, session_id: str, nos: Sequence[int], *, at_once: bool = False) -> list[MessageAnswer]:
        """Return these messages, with the fates of the plan that would be made now.

        With `at_once` they are returned without scores and fates if no plan is ready, so that new messages are shown
        before a plan includes them.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            if at_once and self._planning.is_ready(session):
                return self.rows(session.key, self._current_plan(session), nos)
            if at_once:
                return self._pending_rows(session, nos)
        with self._planning.reading(session_id) as session:
            return self.rows(session.key, self._current_plan(session), nos)

    def one(self, session_id: str, mid: str) -> MessageFull:
        """Return one message with all its parts.

        Raises:
            NotFound: there is no such session or message.
        """
        with self._planning.reading(session_id) as session:
            message = message_with_id(self._store, session.key, mid)
            planned = self._current_plan(session)
            [out] = self.rows(session.key, planned, [message.no])
            entries = self._store.log.entries_of(session.key, message)
        parts = [part for entry in entries for part in orjson.loads(entry.parts)]
        whole = Message(message.role, tuple(map(part_from_dict, parts)))
        replacement = planned.view.replacements.get(message.no) if out.shortened else None
        shown = with_replacement(whole, replacement).parts if replacement else None
        return MessageFull(
            **vars(out),
            parts=parts,
            sent_parts=None if shown is None else [part_to_dict(part) for part in shown],
            entries=[LogEntry(seq=e.seq, id=e.id.hex(), source_id=e.source_id) for e in entries],
        )

    def _current_plan(self, session: Session) -> SessionPlan:
        """Return the plan that would be made now, exactly: a list has the fates that the open plan has."""
        return self._planning.make(session, exactly=True)

    # -- which messages

    def _matching(
        self, session: Session, planned: SessionPlan | None, asked: MessagesQuery
    ) -> list[int] | None:
        """Return the numbers that meet the conditions, ascending; None for all. A filter by fate needs the plan."""
        sets: list[set[int]] = []
        log, fate = self._store.log, asked.fate
        if asked.q and asked.q.strip():
            sets.append(set(self._store.words.in_session(session.key, asked.q)))
        if planned is not None and fate is not None and (fated := _with_fate(planned, fate)) is not None:
            sets.append(fated)
        if asked.tool is not None:
            sets.append(set(log.of_tool(session.key, asked.tool)))
        if asked.role is not None or fate in OF_THE_LOG:
            out = {"out": True, "in": False}.get(fate or "")
            found = log.numbers(
                session.key, newest_first=False, role=asked.role, out=out, error=fate == "errors"
            )
            sets.append(set(found))
        if asked.first is not None or asked.last is not None:
            end = session.row.next_no - 1
            some = range(asked.first or 1, (end if asked.last is None else min(end, asked.last)) + 1)
            return sorted(set.intersection(*sets).intersection(some)) if sets else list(some)
        return sorted(set.intersection(*sets)) if sets else None

    def _ordered(
        self, session: Session, planned: SessionPlan | None, wanted: list[int] | None, asked: MessagesQuery
    ) -> tuple[list[int], str | None]:
        """Return the numbers of this page, and the cursor of the next."""
        if asked.sort is None or asked.sort in ("newest", "oldest"):
            return self._in_log_order(session, wanted, asked)
        ranked = self._ranked(session, planned, wanted, asked.sort)
        start = asked.offset if asked.offset is not None else _cursor(asked) or 0
        end = start + asked.limit
        return ranked[start:end], str(end) if end < len(ranked) else None

    def _in_log_order(
        self, session: Session, wanted: list[int] | None, asked: MessagesQuery
    ) -> tuple[list[int], str | None]:
        """Return a page of numbers, and the cursor of the next."""
        every: Sequence[int] = range(1, session.row.next_no) if wanted is None else wanted
        start, end = 0, len(every)
        cursor, newest_first, limit = _cursor(asked), asked.sort != "oldest", asked.limit
        if asked.offset is not None:
            start, end = (0, end - asked.offset) if newest_first else (asked.offset, end)
        elif cursor is not None and newest_first:
            end = bisect_left(every, cursor)
        elif cursor is not None:
            start = bisect_right(every, cursor)
        if newest_first:
            nos = list(every[max(0, end - limit - 1) : max(0, end)])[::-1]
        else:
            nos = list(every[start : start + limit + 1])
        return nos[:limit], str(nos[limit - 1]) if len(nos) > limit else None

    def _ranked(
        self, session: Session, planned: SessionPlan | None, wanted: list[int] | None, sort: str
    ) -> list[int]:
        """Return all numbers, highest first.

        A message in the context has the tokens that are sent, one out of it those of the log, and no score: by score
        it comes last.
        """
        if planned is None or sort == "tokens":
            tokens = {no: tokens for no, tokens, *_ in self._store.log.growth(session.key)}
            tokens |= self._store.contexts.replaced_tokens(session.key, PRUNED)
            nos = list(tokens) if wanted is None else wanted
            return sorted(nos, key=lambda no: (-tokens.get(no, 0), no))
        nos = list(range(1, session.row.next_no)) if wanted is None else wanted
        index, plan = planned.view.index, planned.plan

        def rank(no: int) -> tuple[float, int]:
            i = index.get(no)
            return (-plan.scores[i], no) if i is not None else (1.0, no)

        return sorted(nos, key=rank)

    def _counts(self, session: Session, planned: SessionPlan | None) -> dict[str, int]:
        if planned is None:
            return {"all": session.row.next_no - 1, "errors": self._store.log.count_errors(session.key)}
        plan = planned.plan
        match planned.view.memo.get("counts"):
            case [known, dict(counts)] if known is plan:
                return counts
        fates = Counter(plan.fate(i) for i in plan.kept)
        counts = {
            "all": session.row.next_no - 1,
            "kept": fates["kept"],
            "protected": fates["protected"],
            "goes": len(plan.removed),
            "shortened": len(plan.shortened),
            "out": session.row.next_no - 1 - planned.size,
            "errors": self._store.log.count_errors(session.key),
        }
        planned.view.memo["counts"] = plan, counts
        return counts


def _check(asked: MessagesQuery) -> None:
    """Raise Invalid if no page can match."""
    if asked.fate is not None:
        refuse_unknown("fate", asked.fate, FATES)
    if asked.after and (not asked.after.isdecimal() or len(asked.after) > 12):
        shown = asked.after[:40]
        raise Invalid(f"bad value for after; expected the `next` of a page, got {shown}", "after")


def _cursor(asked: MessagesQuery) -> int | None:
    """Return `after` as a number, None at the beginning."""
    return int(asked.after) if asked.after else None


def _needs_plan(asked: MessagesQuery) -> bool:
    """Return whether filter or order depends on a plan."""
    by_plan = asked.fate is not None and asked.fate not in OF_THE_LOG
    return by_plan or bool(asked.plan_id) or asked.sort == "score"


def _tools(planned: SessionPlan) -> list[str]:
    match planned.view.memo.get("tools"):
        case list(known):
            return known
    counts = Counter(
        name for one in planned.view.history.features if one.calls for name in one.names[0] if name
    )
    tools = [name for name, _ in counts.most_common()]
    planned.view.memo["tools"] = tools
    return tools


def _with_fate(planned: SessionPlan, fate: str) -> set[int] | None:
    """Return the numbers of the messages with a fate in a plan; None for a fate that no plan gives."""
    plan, nos = planned.plan, planned.view.nos
    if fate == "changes":
        return {nos[i] for i in (*plan.removed, *plan.shortened)}
    if fate in ("kept", "protected", "goes", "shortened"):
        chosen = {"goes": plan.removed, "shortened": plan.shortened}.get(fate, plan.kept)
        return {nos[i] for i in chosen if plan.fate(i) == fate}
    return {nos[i] for i in planned.view.history.pinned} if fate == "pinned" else None
