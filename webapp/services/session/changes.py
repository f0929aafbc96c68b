"""One change of a session's pruned view, as an operation that can be taken back.

A `Change` collects what happens to messages, keeps items, flags and totals in step, and writes the operation with
the reasons of the day. Everything happens inside the caller's transaction. What a message costs in the view is the
tokens of what stands for it, where something does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from webapp.services.session.gauges import Scale, Totals
from webapp.services.session.measuring import region_of
from webapp.services.session.replacements import cost
from webapp.services.session.state import SessionState, save_progress
from webapp.store import Store
from webapp.store.context import PRUNED
from webapp.store.log import MessageRow
from webapp.store.operations import ItemRow, OperationRow
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow
from webapp.store.usage import Sample

SUMMARY_IN, SUMMARY_OUT = "summary_in", "summary_out"  # the number of such an item is a summary's
# kind of change -> (column of the message, value afterwards)
FLAGS = {
    "pinned": ("pinned", 1),
    "unpinned": ("pinned", 0),
    "drop_first": ("drop_first", 1),
    "not_drop_first": ("drop_first", 0),
}


def reason_of(actor: str) -> str:
    """The reason of an operation that has no other: a person did it by hand, or who else did it."""
    return "manual" if actor == "user" else actor


class Change:
    """A change of one session, on top of `row` and `totals` (both are changed as it goes)."""

    def __init__(self, store: Store, row: SessionRow, totals: Totals, now: int) -> None:
        self._store, self.row, self.totals, self._now = store, row, totals, now
        self.carried = SessionState.from_dict(row.state)
        self.before = self.scale().tokens
        self.items: list[ItemRow] = []

    def scale(self) -> Scale:
        """The scale of the pruned view as it is now."""
        return Scale(self.carried, self.totals, PRUNED, self.row.followed)

    # -- what happens to messages

    def take_out(
        self,
        messages: Sequence[MessageRow],
        details: Mapping[int, dict[str, Any]],
        operation: int | None = None,
    ) -> None:
        """Takes messages out of the view; `operation` is the one that is to blame, this one by default."""
        items = self._store.contexts.at(self.row.key, PRUNED, [m.first_seq for m in messages])
        there = [m for m in messages if m.first_seq in items]
        self._store.contexts.remove(self.row.key, PRUNED, (m.first_seq for m in there))
        blamed = self.row.next_operation if operation is None else operation
        self._store.log.set_flag(self.row.key, (m.no for m in there), "out_operation", blamed)
        for message in there:
            before = items[message.first_seq].stand_in
            self._count(message, -cost(message, before), -1)
            self.items.append(ItemRow(message.no, "out", before, details.get(message.no)))

    def put_in(self, messages: Sequence[MessageRow], stand_ins: Mapping[int, str | None]) -> None:
        """Puts messages back at their place in the log, each as it stood by `stand_ins`."""
        there = self._store.contexts.at(self.row.key, PRUNED, [m.first_seq for m in messages])
        missing = [m for m in messages if m.first_seq not in there]
        self._store.contexts.add(self.row.key, PRUNED, ((m.first_seq, m.no) for m in missing))
        texts = [(m.first_seq, stand_ins.get(m.no)) for m in missing if stand_ins.get(m.no) is not None]
        self._store.contexts.set_stand_ins(self.row.key, PRUNED, texts)
        self._store.log.set_flag(self.row.key, (m.no for m in missing), "out_operation", None)
        for message in missing:
            self._count(message, cost(message, stand_ins.get(message.no)), 1)
            blamed = str(message.out_operation) if message.out_operation is not None else None
            self.items.append(ItemRow(message.no, "in", blamed, None))

    def stand(
        self,
        messages: Sequence[MessageRow],
        texts: Mapping[int, str | None],
        details: Mapping[int, dict[str, Any]],
    ) -> None:
        """Lets texts stand for the tool results of messages; None gives the original back."""
        there = self._store.contexts.at(self.row.key, PRUNED, [m.first_seq for m in messages])
        present = [m for m in messages if m.first_seq in there]
        self._store.contexts.set_stand_ins(
            self.row.key, PRUNED, [(m.first_seq, texts[m.no]) for m in present]
        )
        for message in present:
            before = there[message.first_seq].stand_in
            self._count(message, cost(message, texts[message.no]) - cost(message, before), 0)
            self.items.append(ItemRow(message.no, "shortened", before, details.get(message.no)))

    # -- what happens to summaries

    def summaries_in(self, summaries: Sequence[SummaryRow]) -> None:
        """Lets summaries stand in the view."""
        self._summaries(summaries, 1)
        self._store.summaries.put_in(self.row.key, summaries)

    def summaries_out(self, summaries: Sequence[SummaryRow]) -> None:
        """Takes summaries out of the view; their rows stay."""
        self._summaries(summaries, -1)
        self._store.summaries.take_out(self.row.key, [s.n for s in summaries])

    def _summaries(self, summaries: Sequence[SummaryRow], sign: int) -> None:
        tokens, count = self.totals[PRUNED].get("summary", (0, 0))
        tokens += sign * sum(s.tokens for s in summaries)
        self.totals[PRUNED]["summary"] = (tokens, count + sign * len(summaries))
        change = SUMMARY_IN if sign > 0 else SUMMARY_OUT
        self.items += [ItemRow(s.n, change, None, None) for s in summaries]

    def flag(self, nos: Iterable[int], change: str) -> None:
        """Pins, unpins, marks to go first or takes that mark off."""
        column, value = FLAGS[change]
        wanted = list(nos)
        self._store.log.set_flag(self.row.key, wanted, column, value)
        self.items += [ItemRow(no, change, None, None) for no in wanted]

    def _count(self, message: MessageRow, tokens: int, messages: int) -> None:
        region = region_of(message.role, message.kind)
        before = self.totals[PRUNED].get(region, (0, 0))
        self.totals[PRUNED][region] = (before[0] + tokens, before[1] + messages)

    # -- writing

    def record(
        self, kind: str, actor: str, reason: str, messages: int, plan: Mapping[str, Any]
    ) -> OperationRow:
        """Writes what happened as one operation."""
        row = self.row
        counts = Counter(item.change for item in self.items)
        facts = {"number": row.next_no - 1, "removed": counts["out"], "shortened": counts["shortened"]}
        operation = OperationRow(
            row.next_operation, kind, actor, reason, self._now, row.next_seq, self.before, self.scale().tokens,
            messages, {**plan, **facts},
        )  # fmt: skip
        self._store.operations.add(row.key, operation, self.items)
        row.next_operation += 1
        row.operations += 1
        row.prunes += kind == "prune"
        self.save()
        return operation

    def save(self) -> None:
        """Writes totals and the session's figures, and counts its version up."""
        row = self.row
        row.version += 1
        tokens = self.scale().tokens
        if tokens != self.before:
            agent = None
            if row.followed:
                agent = Scale(self.carried, self.totals, 0, True).tokens
            sample = Sample(row.next_sample, self._now, row.next_no - 1, agent, tokens)
            self._store.figures.add_samples(row.key, [sample])
            row.next_sample += 1
            if not row.followed:
                self.carried.remember_gauge(tokens)
        row.state = self.carried.to_dict()
        self._store.contexts.put_totals(row.key, PRUNED, self.totals[PRUNED])
        save_progress(self._store, row)
