"""The history of operations, and undo.

Undo of operation n undoes n and every later one that is not undone, newest first. The context is then the one
before n plus everything appended since. An agent's own operation cannot be undone, and neither can those
before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.counted import counted
from scoring.tokens import Certainty
from webapp.errors import Conflict, NotFound, refuse_unknown
from webapp.events import ContextRestored, OperationUndone, SessionUpdated
from webapp.services.planning.message_rows import out_answer
from webapp.services.pruning.answers import OperationFull, OperationItem, Undone
from webapp.services.session.answers import Operation, Region
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import in_order
from webapp.services.session.histories import Histories
from webapp.services.session.operation import FLAGS, SUMMARY_IN, SUMMARY_OUT, ContextChange
from webapp.services.session.operation_answers import operation_answer
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session
from webapp.services.session.session_answers import session_answer
from webapp.store.log import MessageRow
from webapp.store.operations import KINDS, Detail, ItemRow, OperationRow, RemovalReason
from webapp.store.summaries import SummaryRow


class OperationService:
    """The use cases of operations that were made."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def list(self, session_id: str, kind: str | None = None) -> list[Operation]:
        """Return the operations of a session, newest first; only those of one `kind` if it is given.

        Raises:
            Invalid: there is no such kind.
        """
        if kind is not None:
            refuse_unknown("kind", kind, KINDS)
        with self._store.read():
            session = Session.load(self._environment, session_id)
            operations = self._store.operations.all(session.key)
        live = [o for o in operations if o.undone_at is None]
        return [operation_answer(o, live) for o in operations if kind is None or o.kind == kind]

    def one(self, session_id: str, n: int) -> OperationFull:
        """Return one operation with each message it changed, how, and why.

        Raises:
            NotFound: there is no such session or operation.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            operations = self._store.operations.all(session.key)
            found = next((o for o in operations if o.n == n), None)
            if found is None:
                raise NotFound("operation", n)
            items = self._store.operations.items(session.key, n)
            messages = self._store.log.messages(session.key, [item.no for item in items])
        live = [o for o in operations if o.undone_at is None]
        shown = [
            _item(messages[item.no], item, found.facts.weights, session.pruned.scale)
            for item in items
            if item.no in messages and item.change not in (SUMMARY_IN, SUMMARY_OUT)
        ]
        return OperationFull(
            **vars(operation_answer(found, live)),
            items=shown,
            regions_before=_regions(found.facts.regions_before, found.facts.certainty),
            regions_after=_regions(found.facts.regions_after, found.facts.certainty),
        )

    # -- undo

    def undo(self, session_id: str, n: int | None = None) -> Undone:
        """Undo operation `n` and those after it; without `n` only the newest.

        Raises:
            NotFound: there is no such operation.
            Conflict: it was undone already, or a compaction or rewind by the agent came after it.
        """
        with Session.to_change(self._environment, session_id) as session:
            live = self._store.operations.live_since(session.key, n if n is not None else 1)
            if n is None and live:
                live = live[:1]
            elif n is None:
                raise Conflict("there is nothing to undo")
            elif self._store.operations.get(session.key, n) is None:
                raise NotFound("operation", n)
            elif not live or live[-1].n != n:
                raise Conflict(f"operation {n} was undone already")
            barrier = next((o for o in live if o.actor == "agent"), None)
            if barrier is not None:
                raise Conflict(f"the agent's own {barrier.kind} (operation {barrier.n}) cannot be undone")
            change = ContextChange(session)
            for operation in live:
                self._take_back(change, operation)
            restored = self._restored(change)
            session.state.fired = True  # what somebody put back is not taken again before the next crossing
            session.state.undos += 1
            session.row.prunes -= sum(o.kind == "prune" for o in live)
            change.save()
            self._histories.drop(session.key)
        numbers = [o.n for o in live]
        self._environment.bus.publish(
            OperationUndone(session_id, tuple(numbers)),
            ContextRestored(session_id, numbers[-1], tuple(restored)),
            SessionUpdated(session_id),
        )
        return Undone(
            undone=numbers,
            restored_ids=list(restored),
            session=session_answer(session),
            message=_undone_words(
                live, len(restored), len({i.no for i in change.items if i.change == "shortened"})
            ),
        )

    def _take_back(self, change: ContextChange, operation: OperationRow) -> None:
        start, items = len(change.items), self._store.operations.items(change.session.key, operation.n)
        self._take_back_summaries(change, items)
        items = [i for i in items if i.change not in (SUMMARY_IN, SUMMARY_OUT)]
        rows = self._store.log.messages(change.session.key, [i.no for i in items])
        by_change: dict[str, list[ItemRow]] = {}
        for item in items:
            by_change.setdefault(item.change, []).append(item)
        # A message edited since then is restored in full; its old replacement text no longer applies.
        fits = {no for no, message in rows.items() if message.last_seq < operation.seq}
        for name, some in by_change.items():
            messages = [rows[i.no] for i in some]
            if name == "out":
                change.put_in(messages, {i.no: i.before for i in some if i.no in fits})
            elif name == "in":
                for item in some:
                    change.take_out([rows[item.no]], {}, int(item.before) if item.before is not None else 0)
            elif name == "shortened":
                change.replace(messages, {i.no: i.before if i.no in fits else None for i in some}, {})
            else:
                change.flag((i.no for i in some), FLAGS[name].opposite)
        change.session.state.note_undo(operation.n, change.first_changed(start))
        self._store.operations.mark_undone(change.session.key, operation.n, change.now)

    def _take_back_summaries(self, change: ContextChange, items: Sequence[ItemRow]) -> None:
        def named(name: str) -> list[SummaryRow]:
            found = (self._store.summaries.get(change.session.key, i.no) for i in items if i.change == name)
            return [summary for summary in found if summary is not None]

        change.summaries_out(named(SUMMARY_IN))
        change.summaries_in(named(SUMMARY_OUT))

    def _restored(self, change: ContextChange) -> Sequence[str]:
        """Return the ids of the messages that the undo put back into the context."""
        back = {i.no for i in change.items if i.change == "in"}
        rows = self._store.log.messages(change.session.key, sorted(back))
        return [rows[no].mid for no in sorted(rows) if rows[no].out_operation is None]


def _undone_words(operations: Sequence[OperationRow], restored: int, lengthened: int) -> str:
    """Return what was undone, with the messages that are back and the outputs that are no longer shortened."""
    kind = operations[0].kind.replace("_", " ")
    what = f"{kind} undone" if len(operations) == 1 else f"{len(operations)} operations undone"
    messages = f", {counted(restored, 'message')} back" if restored else ""
    outputs = f", {counted(lengthened, 'output')} in full again" if lengthened else ""
    return what + messages + outputs


def _regions(noted: Mapping[str, int] | None, certainty: Certainty) -> list[Region] | None:
    """Return the regions that an operation noted; None for one that was made before they were kept."""
    return None if noted is None else in_order(noted, certainty)


def _item(message: MessageRow, item: ItemRow, weights: dict[str, float], scale: Scale) -> OperationItem:
    """Return a message as an operation changed it, with its tokens before that and, if shortened, after it."""
    detail = item.detail or Detail()
    text = item.before if item.change in ("out", "shortened") else None
    shown = out_answer(message, scale, RemovalReason(detail, weights), text)
    after = scale.part(detail.tokens_after) if detail.tokens_after is not None else None
    return OperationItem(**vars(replace(shown, reason=detail.reason, tokens_after=after)), change=item.change)
