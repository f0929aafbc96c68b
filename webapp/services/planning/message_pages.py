"""Pages of messages, with scores and fates of the plan that would be made now; and single messages in full."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson

from scoring.messages import Message, part_from_dict, part_to_dict
from webapp.errors import Invalid, NotFound
from webapp.services.planning.answers import LogEntry, MessageFull, Page
from webapp.services.planning.answers import Message as MessageAnswer
from webapp.services.planning.message_rows import message_answer, pending_answer
from webapp.services.planning.planning import Planning, SessionPlan
from webapp.services.session.environment import Environment
from webapp.services.session.replacements import with_replacement
from webapp.services.session.session import Session
from webapp.store.log import MessageRow, parse_message_id
from webapp.store.operations import Left

FATES = ("kept", "protected", "goes", "shortened", "out", "errors", "in", "pinned")
SORTS = ("newest", "oldest", "score", "tokens")
_OF_THE_LOG = frozenset({"after", "limit", "role", "q", "sort"})  # arguments that need no plan


class Messages:
    """Reading messages."""

    def __init__(self, environment: Environment, planning: Planning) -> None:
        self._environment, self._store, self._planning = environment, environment.store, planning

    def page(
        self,
        session_id: str,
        after: str | None = None,
        limit: int = 100,
        role: str | None = None,
        fate: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        plan_id: str | None = None,
    ) -> Page:
        """Return a page of messages. `after` is the `next` of the page before; `plan_id` takes fates from a shown plan.

        Where that plan is stale, `plan_id` is null in the answer and the fates are those of the plan that would be
        made now.

        Raises:
            NotFound: there is no such session.
            Invalid: an unknown order, fate or cursor.
        """
        sort = sort or "newest"
        if sort not in SORTS:
            raise Invalid(f"bad value for sort; expected one of {', '.join(SORTS)}, got {sort}", "sort")
        if fate is not None and fate not in FATES:
            raise Invalid(f"bad value for fate; expected one of {', '.join(FATES)}, got {fate}", "fate")
        with self._store.read():
            session = Session.load(self._environment, session_id)
            shown = self._planning.holding(plan_id, session) if plan_id else None
            planned = shown or self._planning.make(session)
            wanted = self._matching(session, planned, role, fate, q)
            total = self._count(session, wanted)
            nos, cursor = self._ordered(session, planned, wanted, sort, after, max(1, min(limit, 1000)))
            rows = self.rows(session.key, planned, nos)
        return Page(
            messages=rows,
            total=total,
            next=cursor,
            version=session.version,
            plan_id=shown.id if shown is not None else None,
            pending=False,
            counts=self._counts(session, planned),
        )

    def at_once(self, session_id: str, **by: Any) -> Page:
        """Return the same page without waiting for a plan: if none is ready, scores and fates are missing (`pending`).
        An order or filter that needs a plan waits for it.

        Raises:
            NotFound, Invalid: as `page` does.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            planned = by.get("fate") or by.get("plan_id") or by.get("sort") not in (None, "newest", "oldest")
            if not planned and not self._planning.is_ready(session):
                return self._pending(session, **{name: by[name] for name in _OF_THE_LOG & by.keys()})
        return self.page(session_id, **by)

    def _pending(
        self,
        session: Session,
        after: str | None = None,
        limit: int = 100,
        role: str | None = None,
        q: str | None = None,
        sort: str | None = None,
    ) -> Page:
        """Return a page of what the log alone gives."""
        wanted = self._matching(session, None, role, None, q)
        nos, cursor = self._in_log_order(
            session, wanted, sort != "oldest", _cursor(after), max(1, min(limit, 1000))
        )
        found, left = self._found(session.key, nos)
        scale = session.pruned.scale
        errors = self._store.log.count(session.key, error=True)
        return Page(
            messages=[pending_answer(found[no], scale, left.get(no)) for no in nos if no in found],
            total=self._count(session, wanted),
            next=cursor,
            version=session.version,
            plan_id=None,
            pending=True,
            counts={"all": session.row.next_no - 1, "errors": errors},
        )

    def rows(self, session: int, planned: SessionPlan | None, nos: Sequence[int]) -> list[MessageAnswer]:
        """Return messages, in the order of `nos`."""
        found, left = self._found(session, nos)
        return [message_answer(found[no], planned, left.get(no)) for no in nos if no in found]

    def _found(self, session: int, nos: Sequence[int]) -> tuple[dict[int, MessageRow], dict[int, Left]]:
        """Return messages by number, and how those that are out left the context."""
        found = self._store.log.messages(session, nos)
        gone = [(m.out_operation, m.no) for m in found.values() if m.out_operation is not None]
        return found, self._store.operations.left(session, gone)

    def by_number(self, session_id: str, nos: Sequence[int]) -> list[MessageAnswer]:
        """Return these messages, with the fates of the plan that would be made now.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            return self.rows(session.key, self._planning.make(session), nos)

    def one(self, session_id: str, mid: str) -> MessageFull:
        """Return one message with all its parts.

        Raises:
            NotFound: there is no such session or message.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            message = self.find(session, mid)
            planned = self._planning.make(session)
            [out] = self.rows(session.key, planned, [message.no])
            entries = self._store.log.entries_of(session.key, message)
        parts = [part for entry in entries for part in orjson.loads(entry.parts)]
        whole = Message(message.role, tuple(map(part_from_dict, parts)))
        replacement = planned.view.replacements.get(message.no) if out.shortened else None
        shown = with_replacement(whole, replacement).parts if replacement else None
        return MessageFull(
            **vars(out),
            parts=parts,
            stands=None if shown is None else [part_to_dict(part) for part in shown],
            entries=[LogEntry(seq=e.seq, id=e.id.hex(), source_id=e.source_id) for e in entries],
        )

    def find(self, session: Session, mid: str) -> MessageRow:
        """Return the message with this id.

        Raises:
            NotFound: the id is unknown.
        """
        no = parse_message_id(mid)
        found = self._store.log.message(session.key, no) if no is not None else None
        if found is None or found.mid != mid:
            raise NotFound("message", mid)
        return found

    # -- which messages

    def _matching(
        self, session: Session, planned: SessionPlan | None, role: str | None, fate: str | None, q: str | None
    ) -> list[int] | None:
        """Return the numbers that meet the conditions, ascending; None for all. A fate needs the plan that gives it."""
        sets: list[set[int]] = []
        if q and q.strip():
            sets.append(set(self._store.words.in_session(session.key, q)))
        if planned is None:
            pass
        elif fate in ("kept", "protected", "goes", "shortened"):
            plan, nos = planned.plan, planned.view.nos
            chosen = plan.removed if fate == "goes" else plan.shortened if fate == "shortened" else plan.kept
            sets.append({nos[i] for i in chosen if plan.fate(i) == fate})
        elif fate == "in":
            sets.append(set(planned.view.nos))
        elif fate == "pinned":
            sets.append({planned.view.nos[i] for i in planned.view.history.pinned})
        if role is not None or fate in ("out", "errors"):
            out = True if fate == "out" else None
            found = self._store.log.numbers(
                session.key, newest_first=False, role=role, out=out, error=fate == "errors"
            )
            sets.append(set(found))
        return sorted(set.intersection(*sets)) if sets else None

    def _count(self, session: Session, wanted: list[int] | None) -> int:
        return session.row.next_no - 1 if wanted is None else len(wanted)

    def _ordered(
        self,
        session: Session,
        planned: SessionPlan,
        wanted: list[int] | None,
        sort: str,
        after: str | None,
        limit: int,
    ) -> tuple[list[int], str | None]:
        """Return the numbers of this page, and the cursor of the next."""
        if sort in ("newest", "oldest"):
            return self._in_log_order(session, wanted, sort == "newest", _cursor(after), limit)
        ranked = self._ranked(session, planned, wanted, sort)
        start = _cursor(after) or 0
        cursor = str(start + limit) if start + limit < len(ranked) else None
        return ranked[start : start + limit], cursor

    def _in_log_order(
        self, session: Session, wanted: list[int] | None, newest: bool, beyond: int | None, limit: int
    ) -> tuple[list[int], str | None]:
        """Return a page of numbers, and the cursor of the next."""
        nos = self._from_cursor(session, wanted, newest, beyond, limit)
        return nos[:limit], str(nos[limit - 1]) if len(nos) > limit else None

    def _from_cursor(
        self, session: Session, wanted: list[int] | None, newest: bool, beyond: int | None, limit: int
    ) -> list[int]:
        """Return one number more than a page, which tells whether there is a next."""
        if wanted is None:
            last = session.row.next_no - 1
            if newest:
                start = last if beyond is None else min(last, beyond - 1)
                return list(range(start, max(0, start - limit - 1), -1))
            start = 1 if beyond is None else beyond + 1
            return list(range(start, min(last, start + limit) + 1))
        if newest:
            end = len(wanted) if beyond is None else bisect_left(wanted, beyond)
            return wanted[max(0, end - limit - 1) : end][::-1]
        start = 0 if beyond is None else bisect_right(wanted, beyond)
        return wanted[start : start + limit + 1]

    def _ranked(
        self, session: Session, planned: SessionPlan, wanted: list[int] | None, sort: str
    ) -> list[int]:
        """Return all numbers, highest first; messages out of the context have no score and come last."""
        if sort == "tokens":
            tokens = {no: t for no, t, _, _ in self._store.log.all_tokens(session.key)}
            nos = list(tokens) if wanted is None else wanted
            return sorted(nos, key=lambda no: (-tokens.get(no, 0), no))
        nos = list(range(1, session.row.next_no)) if wanted is None else wanted
        index, plan = planned.view.index, planned.plan

        def rank(no: int) -> tuple[float, int]:
            i = index.get(no)
            return (-plan.scores[i], no) if i is not None else (1.0, no)

        return sorted(nos, key=rank)

    def _counts(self, session: Session, planned: SessionPlan) -> dict[str, int]:
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
            "errors": self._store.log.count(session.key, error=True),
        }
        planned.view.memo["counts"] = plan, counts
        return counts


def _cursor(after: str | None) -> int | None:
    if after is None or after == "":
        return None
    if not after.isdecimal() or len(after) > 12:
        raise Invalid(f"bad value for after; expected the `next` of a page, got {after[:40]}", "after")
    return int(after)
