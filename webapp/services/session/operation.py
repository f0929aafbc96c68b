"""Operations: the one way to change a context so that the change can be undone.

A prune, a drop, a pin, a summary, an emergency and the agent's own compaction all collect their changes in a
`ContextChange`, which keeps items, flags and totals in step and records them as one operation, with the regions of the
context before and after it. Undo reads nothing but the items. Everything happens inside the caller's transaction. A
message whose outputs were replaced takes the tokens of its replacement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from scoring.budget import utilization
from scoring.tokens.calibration import split
from webapp.events import ContextPruned
from webapp.services.session.measuring import region_of
from webapp.services.session.replacements import sent_tokens
from webapp.services.session.session import Session, SessionContext
from webapp.store.context import MESSAGE, PRUNED, REGIONS_BESIDE
from webapp.store.log import MessageRow
from webapp.store.operations import Actor, Detail, Facts, ItemRow, OperationKind, OperationRow
from webapp.store.summaries import SummaryRow
from webapp.store.usage import Sample

SUMMARY_IN, SUMMARY_OUT = "summary_in", "summary_out"  # the number of such an item is a summary's
# The kinds of change of which the model sees something.
SENT_OTHERWISE = ("out", "in", "shortened")


class Flag(NamedTuple):
    """A change of a flag: the `column` of the message, its `value` afterwards, and the change that takes it back."""

    column: str
    value: int
    opposite: str


FLAGS = {
    "pinned": Flag("pinned", 1, "unpinned"),
    "unpinned": Flag("pinned", 0, "pinned"),
    "drop_first": Flag("drop_first", 1, "not_drop_first"),
    "not_drop_first": Flag("drop_first", 0, "drop_first"),
}


def reason_of(actor: Actor) -> str:
    """Return the reason of an operation that has no other: `manual` for a person, else the actor."""
    return "manual" if actor == "user" else actor


def pruned_event(
    session: Session,
    operation: OperationRow,
    removed_ids: Sequence[str],
    *,
    shortened: int = 0,
    summarised: int = 0,
) -> ContextPruned:
    """Return the event of a prune or drop that was just recorded."""
    after = operation.tokens_after
    return ContextPruned(
        session_id=session.id, n=operation.n, reason=reason_of(operation.actor),
        original=operation.tokens_before, final=after, removed=len(removed_ids),
        removed_ids=tuple(removed_ids), utilization=utilization(after, session.limits.limit),
        shortened=shortened, summarised=summarised, kind=operation.kind,
        estimated=session.pruned.scale.of_parts == "estimated",
    )  # fmt: skip


class ContextChange:
    """A change of one session's pruned view, collected step by step and recorded as one operation."""

    def __init__(self, session: Session, now: int | None = None) -> None:
        self.session, self._store = session, session.environment.store
        self.now = session.environment.clock() if now is None else now
        self.before, self._main_before = session.pruned.tokens, session.main.tokens
        self._calibration = session.calibration
        self._estimates = {context.view: context.estimates for context in session.contexts}
        self.items: list[ItemRow] = []

    # -- messages

    def take_out(
        self,
        messages: Sequence[MessageRow],
        details: Mapping[int, Detail],
        operation: int | None = None,
    ) -> None:
        """Take messages out of the view, in the name of `operation`, which is this one by default."""
        key = self.session.key
        items = self._store.contexts.at(key, PRUNED, [m.first_seq for m in messages])
        there = [m for m in messages if m.first_seq in items]
        self._store.contexts.remove(key, PRUNED, (m.first_seq for m in there))
        blamed = self.session.row.next_operation if operation is None else operation
        self._store.log.set_flag(key, (m.no for m in there), "out_operation", blamed)
        for message in there:
            before = items[message.first_seq].replacement
            self._count(message, -sent_tokens(message, before), -1)
            self.items.append(ItemRow(message.no, "out", before, details.get(message.no)))

    def put_in(self, messages: Sequence[MessageRow], replacements: Mapping[int, str | None]) -> None:
        """Put messages back at their place in the log, each with its replacement text if it has one."""
        key = self.session.key
        there = self._store.contexts.at(key, PRUNED, [m.first_seq for m in messages])
        missing = [m for m in messages if m.first_seq not in there]
        self._store.contexts.add(key, PRUNED, ((m.first_seq, m.no) for m in missing))
        texts = [(m.first_seq, replacements[m.no]) for m in missing if replacements.get(m.no) is not None]
        self._store.contexts.set_replacements(key, PRUNED, texts)
        self._store.log.set_flag(key, (m.no for m in missing), "out_operation", None)
        for message in missing:
            self._count(message, sent_tokens(message, replacements.get(message.no)), 1)
            blamed = str(message.out_operation) if message.out_operation is not None else None
            self.items.append(ItemRow(message.no, "in", blamed, None))

    def replace(
        self,
        messages: Sequence[MessageRow],
        texts: Mapping[int, str | None],
        details: Mapping[int, Detail],
    ) -> None:
        """Replace the tool results of messages by texts; None restores the original."""
        for message, before in replace_in(self.session, self.session.pruned, messages, texts):
            self.items.append(ItemRow(message.no, "shortened", before, details.get(message.no)))

    def note_cleared(self, messages: Sequence[MessageRow], texts: Mapping[int, str], detail: Detail) -> None:
        """Replace the outputs that the agent replaced, in each context where they are still whole."""
        for context in self.session.contexts:
            replace_in(self.session, context, messages, texts, lambda before: before is None)
        self.items += [ItemRow(message.no, "shortened", None, detail) for message in messages]

    def keep_only(self, staying: set[int], detail: Detail) -> int:
        """Leave in every context what the agent kept, by number; return how many messages left the pruned view.

        Messages that the agent has again come back, except into the pruned view those that we or a person took out.
        """
        key, gone = self.session.key, list[int]()
        for context in self.session.contexts:  # the pruned view comes last
            items = [i for i in self._store.contexts.items(key, context.view) if i.kind == MESSAGE]
            leaving = [item for item in items if item.ref not in staying]
            self._store.contexts.remove(key, context.view, (item.position for item in leaving))
            self._bring_back(context, staying - {item.ref for item in items})
            context.totals = counted_totals(self.session, context)
            gone = [item.ref for item in leaving]
        self._store.log.set_flag(key, gone, "out_operation", self.session.row.next_operation)
        self.items += [ItemRow(no, "out", None, detail) for no in gone]
        return len(gone)

    def _bring_back(self, context: SessionContext, nos: Iterable[int]) -> None:
        key, log = self.session.key, self._store.log
        missing = log.messages(key, sorted(nos))
        if context.view == PRUNED:
            missing = {no: m for no, m in missing.items() if not log.removed_by_us(key, m)}
            log.set_flag(key, missing, "out_operation", None)
        self._store.contexts.add(key, context.view, ((m.first_seq, no) for no, m in missing.items()))

    def flag(self, nos: Iterable[int], change: str) -> None:
        """Set or clear a flag of messages: `pinned`, `unpinned`, `drop_first` or `not_drop_first`."""
        flag = FLAGS[change]
        wanted = list(nos)
        self._store.log.set_flag(self.session.key, wanted, flag.column, flag.value)
        self.items += [ItemRow(no, change, None, None) for no in wanted]

    # -- summaries

    def summaries_in(self, summaries: Sequence[SummaryRow]) -> None:
        """Put summaries into the view."""
        self._store.summaries.put_in(self.session.key, summaries)
        self._count_summaries(summaries, 1)

    def summaries_out(self, summaries: Sequence[SummaryRow]) -> None:
        """Take summaries out of the view; their rows stay."""
        self._store.summaries.take_out(self.session.key, [s.n for s in summaries])
        self._count_summaries(summaries, -1)

    def _count_summaries(self, summaries: Sequence[SummaryRow], sign: int) -> None:
        if not summaries:
            return
        self.session.pruned.count("summary", sign * sum(s.tokens for s in summaries), sign * len(summaries))
        change = SUMMARY_IN if sign > 0 else SUMMARY_OUT
        self.items += [ItemRow(s.n, change, None, None) for s in summaries]

    def _count(self, message: MessageRow, tokens: int, messages: int) -> None:
        self.session.pruned.count(region_of(message.role, message.kind), tokens, messages)

    def first_changed(self, start: int = 0) -> int | None:
        """Return the first message that the model gets otherwise by the items from `start` on; None for no message."""
        return min((item.no for item in self.items[start:] if item.change in SENT_OTHERWISE), default=None)

    # -- writing

    def record(
        self,
        kind: OperationKind,
        actor: Actor,
        reason: str,
        messages: int,
        facts: Facts,
        number: int | None = None,
    ) -> OperationRow:
        """Write the collected changes as one operation after message `number`, by default the last, and the session."""
        row = self.session.row
        counts = Counter(item.change for item in self.items)
        operation = OperationRow(
            n=row.next_operation,
            kind=kind,
            actor=actor,
            reason=reason,
            at=self.now,
            seq=row.next_seq,
            tokens_before=self.before,
            tokens_after=self.session.pruned.tokens,
            messages=messages,
            facts=replace(
                self._with_regions(facts, actor),
                number=row.next_no - 1 if number is None else number,
                sample=row.next_sample if number is None else None,
                removed=counts["out"],
                shortened=counts["shortened"],
            ),
        )
        self._store.operations.add(row.key, operation, self.items)
        if (first := self.first_changed()) is not None:
            self.session.state.note_change(first, str(operation.n))
        row.next_operation += 1
        row.operations += 1
        row.prunes += kind == "prune"
        self.session.state.above = self.session.is_above_target
        self.save(by_agent=actor == "agent")
        return operation

    def _with_regions(self, facts: Facts, actor: Actor) -> Facts:
        """Return the facts with the regions before and after: of the agent's context if it acted, else of the view."""
        context = self.session.main if actor == "agent" else self.session.pruned
        before = self.before if facts.agent_before is None else facts.agent_before
        after = context.tokens if facts.agent_after is None else facts.agent_after
        return replace(
            facts,
            regions_before=split(self._calibration, self._estimates[context.view], before),
            regions_after=split(self.session.calibration, context.estimates, after),
            certainty=context.scale.of_parts,
            estimates=context.estimates,
        )

    def save(self, *, by_agent: bool = False) -> None:
        """Write the session with a new version, and a point of the chart if its size has changed."""
        session, row = self.session, self.session.row
        if session.unpruned is not None and not by_agent:
            # The next call can be that of the last entries; one that still has the older edits is not measured.
            before = sum(self._estimates[session.main.view].values())
            session.state.add_to_estimates(session.main.estimate - before)
        session.touch()
        if self.first_changed() is not None:
            # The answer to a call that runs meanwhile belongs to the context before the change, too.
            is_asked = not session.is_between_calls and session.state.last_role != "assistant"
            session.state.thoughts_end = row.next_no - 1 + is_asked
        session.state.shift_turns(session.main.tokens - self._main_before)
        tokens = session.pruned.tokens
        if tokens != self.before:
            lacking = 0 if session.own_calibration_only else session.unseen_before(row.next_sample)
            agent = session.agent.tokens - lacking if session.agent is not None else None
            sample = Sample(row.next_sample, self.now, row.next_no - 1, agent, tokens - lacking)
            self._store.usage.add_samples(row.key, [sample])
            row.next_sample += 1
            session.state.sampled = 0
            if agent is None:
                session.state.remember_gauge(tokens - lacking)
        session.save()


def replace_in(
    session: Session,
    context: SessionContext,
    messages: Collection[MessageRow],
    texts: Mapping[int, str | None],
    where: Callable[[str | None], bool] = lambda _: True,
) -> list[tuple[MessageRow, str | None]]:
    """Replace the tool results of messages in one context, and return these messages, each with its text before.

    `texts` are by number. Only messages are replaced that are in the context with a present text that meets `where`.
    """
    contexts = session.environment.store.contexts
    items = contexts.at(session.key, context.view, [m.first_seq for m in messages])
    there = [(m, items[m.first_seq].replacement) for m in messages if m.first_seq in items]
    done = [(message, before) for message, before in there if where(before)]
    contexts.set_replacements(session.key, context.view, [(m.first_seq, texts[m.no]) for m, _ in done])
    for message, before in done:
        tokens = sent_tokens(message, texts[message.no]) - sent_tokens(message, before)
        context.count(region_of(message.role, message.kind), tokens, 0)
    return done


def counted_totals(session: Session, context: SessionContext) -> dict[str, tuple[int, int]]:
    """Return the totals of a context counted from its items, for changes too large to count one by one."""
    store, key, before = session.environment.store, session.key, context.totals
    totals = dict.fromkeys(before, (0, 0)) | {n: v for n, v in before.items() if n in REGIONS_BESIDE}
    texts = {i.ref: i.replacement for i in store.contexts.items(key, context.view) if i.kind == MESSAGE}
    for message in store.log.messages(key, list(texts)).values():
        region = region_of(message.role, message.kind)
        tokens, count = totals.get(region, (0, 0))
        totals[region] = (tokens + sent_tokens(message, texts[message.no]), count + 1)
    in_summaries = store.contexts.summary_tokens(key, context.view)
    if in_summaries:
        tokens, count = totals.get("summary", (0, 0))
        totals["summary"] = (tokens + in_summaries, count + len(store.summaries.active_numbers(key)))
    return totals
