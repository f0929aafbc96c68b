"""Changes of single messages by hand, each with its unit; they are operations, which can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scoring.counted import counted
from scoring.messages import Units, waiting
from webapp.errors import Conflict
from webapp.events import ContextRestored, Event, SessionUpdated
from webapp.services.session.answers import Applied
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.operation import ContextChange, pruned_event
from webapp.services.session.operation_answers import operation_answer
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.services.session.stored_messages import message_with_id, read_features
from webapp.store.log import MessageRow
from webapp.store.operations import Detail, Facts, OperationKind

Unit = Sequence[MessageRow]
# The kind of an operation, and what was done in words.
Done = tuple[OperationKind, str]
# The largest distance in the log between the messages of a unit.
UNIT_REACH = 256


class ChangesByHand:
    """The use cases of changing single messages, in the context or out of it."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def pin(self, session_id: str, mid: str) -> Applied:
        """Pin a message with its unit: no prune takes it.

        Raises:
            Conflict: it is pinned.
        """
        return self._apply(session_id, mid, _pin)

    def unpin(self, session_id: str, mid: str) -> Applied:
        """Remove the pin of a message and its unit.

        Raises:
            Conflict: it is not pinned.
        """
        return self._apply(session_id, mid, _unpin)

    def drop_first(self, session_id: str, mid: str) -> Applied:
        """Flag a message with its unit as the first to go, or remove the flag."""
        return self._apply(session_id, mid, _drop_first)

    def drop(self, session_id: str, mid: str) -> Applied:
        """Take a message with its unit out of the context.

        Raises:
            Conflict: it is out already, is pinned, waits for a result, or can never be dropped (a system message or the
                last unit).
        """
        return self._apply(session_id, mid, self._drop)

    def restore(self, session_id: str, mid: str) -> Applied:
        """Put a message with its unit back, at its place in the log.

        Raises:
            Conflict: it is in the context.
        """
        return self._apply(session_id, mid, _restore)

    def _apply(self, session_id: str, mid: str, act: Callable[[ContextChange, Unit], Done]) -> Applied:
        with Session.to_change(self._environment, session_id) as session:
            message = message_with_id(self._store, session.key, mid)
            unit = self._unit(session.key, message)
            change = ContextChange(session)
            kind, done = act(change, unit)
            touched = {i.no for i in change.items}
            operation = change.record(kind, "user", f"{done} by hand", len(touched), Facts())
            self._histories.drop(session.key)
        events: list[Event] = [SessionUpdated(session_id)]
        ids = tuple(m.mid for m in unit if m.no in touched)
        if kind == "restore":
            events.insert(0, ContextRestored(session_id, None, ids))
        elif kind == "drop":
            events.insert(0, pruned_event(session, operation, ids))
        self._environment.bus.publish(*events)
        return Applied(
            operation=operation_answer(operation),
            session=session_answer(session),
            event=None,
            message=f"{counted(len(touched), 'message')} {done}",
        )

    def _unit(self, session: int, message: MessageRow) -> Unit:
        """Return the unit of a message, in the context or not: itself and what calls and results tie to it."""
        near = self._store.log.messages(
            session, range(max(1, message.no - UNIT_REACH), message.no + UNIT_REACH)
        )
        rows = [near[no] for no in sorted(near)]
        units = Units()
        for features in read_features([row.features for row in rows]):
            units.append(features)
        position = next(i for i, row in enumerate(rows) if row.no == message.no)
        return [rows[i] for i in units.of(position)]

    def _drop(self, change: ContextChange, unit: Unit) -> Done:
        in_view = [m for m in unit if m.out_operation is None]
        if not in_view:
            raise Conflict("it is out of the context already")
        if any(m.role == "system" for m in unit):
            raise Conflict("a system message is never dropped")
        if any(m.pinned for m in unit):
            raise Conflict("a pinned message is never dropped: unpin it first")
        last = self._histories.of(change.session).nos[-1:]
        if any(m.no in last for m in unit):
            raise Conflict("the last message is never dropped")
        if waiting(read_features([m.features for m in unit])):
            raise Conflict("it waits for the result of a call, which would then arrive without its call")
        detail = Detail(fate="goes", reason="dropped by hand", cause="dropped")
        change.take_out(in_view, {m.no: detail for m in in_view})
        return "drop", "dropped"


def _restore(change: ContextChange, unit: Unit) -> Done:
    out = [m for m in unit if m.out_operation is not None]
    if not out:
        raise Conflict("it is in the context already")
    change.put_in(out, {})
    return "restore", "restored"


def _pin(change: ContextChange, unit: Unit) -> Done:
    change.flag(_with_pin(unit, 0, "it is pinned already"), "pinned")
    change.flag([m.no for m in unit if m.drop_first], "not_drop_first")
    return "pin", "pinned"


def _unpin(change: ContextChange, unit: Unit) -> Done:
    change.flag(_with_pin(unit, 1, "it is not pinned"), "unpinned")
    return "unpin", "unpinned"


def _with_pin(unit: Iterable[MessageRow], pinned: int, otherwise: str) -> list[int]:
    """Return the numbers of the messages whose `pinned` has this value, 0 or 1.

    Raises:
        Conflict: there are none; `otherwise` says so.
    """
    found = [m.no for m in unit if m.pinned == pinned]
    if not found:
        raise Conflict(otherwise)
    return found


def _drop_first(change: ContextChange, unit: Unit) -> Done:
    if all(m.drop_first for m in unit):
        change.flag([m.no for m in unit], "not_drop_first")
        return "unmark", "no longer marked to drop first"
    change.flag([m.no for m in unit if m.pinned], "unpinned")
    change.flag([m.no for m in unit if not m.drop_first], "drop_first")
    return "drop_first", "marked to drop first"
