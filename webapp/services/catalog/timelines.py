"""The chart of a session: its sizes over its messages, and the operations on its context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scoring.learning import STEPS
from scoring.tokens.calibration import split
from webapp.services.catalog.aftermath_walk import RESUME
from webapp.services.catalog.aftermaths import AftermathService, SessionAftermaths
from webapp.services.catalog.answers import Cause, Point, Timeline, TimelineChange
from webapp.services.catalog.growth import (
    GrowthMessage,
    GrowthOperation,
    Step,
    label_of,
    regions_at,
    steps_at,
    to_name,
)
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import REGIONS
from webapp.services.session.measuring import region_of
from webapp.services.session.operation_answers import tokens_around
from webapp.services.session.session import Session
from webapp.services.session.times import iso
from webapp.store.context import REGIONS_BESIDE
from webapp.store.copies import CopyRow
from webapp.store.log import MessageRow
from webapp.store.operations import BY_AGENT, OperationRow
from webapp.store.usage import Sample

CHARTED = ("prune", "summary", *BY_AGENT)


class Timelines:
    """The use case of charting a session."""

    def __init__(self, environment: Environment, aftermaths: AftermathService) -> None:
        self._environment, self._store = environment, environment.store
        self._aftermaths = aftermaths

    def of(self, session_id: str, points: int = 600) -> Timeline:
        """Return the chart: gauges over messages, and the operations on the context."""
        with self._store.read():
            session = Session.load(self._environment, session_id)
            samples = _up_to_date(
                session, self._store.usage.samples(session.key, session.row.next_sample, points)
            )
            operations = self._store.operations.all(session.key)
            after, copy = self._aftermaths.of(session), self._store.copies.find(session.id)
            grown = [
                GrowthMessage(no, tokens, region_of(role, kind))
                for no, tokens, role, kind in self._store.log.growth(session.key)
            ]
            steps = steps_at(grown, [sample.no for sample in samples])
            messages = self._store.log.messages(
                session.key, [one.no for one in steps if one] + to_name(steps)
            )
        before = [session.unseen_before(sample.n) for sample in samples]
        parts = _parts(session, samples, before, _estimates(session, samples, grown, operations))
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
            changes=_changes(samples, operations, after, copy),
            elsewhere=after.baseline,
            window_calls=STEPS,
            limit=session.limits.limit,
            target=session.limits.target_tokens,
        )


def _parts(
    session: Session, samples: Sequence[Sample], unseen: Sequence[int], estimates: Sequence[dict[str, int]]
) -> list[dict[str, int]]:
    """Return the size of the main context at each sample, divided among its regions."""
    sizes = (
        (sample.view_tokens if sample.agent_tokens is None else sample.agent_tokens) + more
        for sample, more in zip(samples, unseen, strict=True)
    )
    return [split(session.calibration, some, size) for some, size in zip(estimates, sizes, strict=True)]


def _changes(
    samples: Sequence[Sample],
    operations: Sequence[OperationRow],
    after: SessionAftermaths,
    copy: CopyRow | None,
) -> list[TimelineChange]:
    """Return the start from a copy, the operations from the oldest on, and those that were undone."""
    shown = [o for o in operations if o.kind in CHARTED]
    return [
        *([] if copy is None else [_resumed(copy, after, _newest(samples, copy.at))]),
        *(_change(o, after) for o in reversed(shown)),
        *(_undo_change(o, _newest(samples, o.undone_at)) for o in shown if o.undone_at is not None),
    ]


def _estimates(
    session: Session,
    samples: Sequence[Sample],
    messages: Sequence[GrowthMessage],
    operations: Sequence[OperationRow],
) -> list[dict[str, int]]:
    """Return the estimated tokens of the main context by region at each sample; the newest are the present ones."""
    by_agent_only = session.agent is not None
    changes = [
        GrowthOperation(o.at, o.facts.number, o.facts.sample, o.facts.estimates, o.undone_at)
        for o in reversed(operations)
        if (o.actor == "agent" or not by_agent_only)
        and o.facts.number is not None
        and o.facts.sample is not None
        and o.facts.estimates is not None
    ]
    now = session.main.estimates
    found = regions_at(samples, messages, changes, {name: now.get(name, 0) for name in REGIONS_BESIDE})
    return [*found[:-1], now] if _is_newest(session, samples) else found


def _is_newest(session: Session, samples: Sequence[Sample]) -> bool:
    """Return whether the last sample is that of the newest message."""
    return bool(samples) and samples[-1].no == session.row.next_no - 1


def _up_to_date(session: Session, samples: list[Sample]) -> list[Sample]:
    """Return the samples, the newest with the present size: usage is often reported after the message."""
    if not _is_newest(session, samples):
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


def _resumed(copy: CopyRow, after: SessionAftermaths, number: int | None) -> TimelineChange:
    """Return the event at which an agent resumed from a pruned copy, behind the last message that it was given."""
    return TimelineChange(
        at=iso(copy.at),
        number=number,
        kind=RESUME,
        before=copy.tokens_before,
        after=copy.tokens_promised,
        label="",
        aftermath=after.events.get((RESUME, 0)),
    )


def _change(operation: OperationRow, counted: SessionAftermaths) -> TimelineChange:
    before, after = tokens_around(operation)
    return TimelineChange(
        at=iso(operation.at),
        number=operation.facts.number,
        kind=operation.kind,
        before=before,
        after=after,
        label=operation.reason,
        aftermath=counted.events.get((operation.kind, operation.n)),
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
        aftermath=None,
    )
