"""One pass over the log of a session that counts the aftermath of its events, and its baseline windows.

A session that continues a pruned copy begins with the event `resume`: its origin's log is read first, and the messages
copied into it are in no window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from scoring.learning import STEPS, Aftermath, AftermathCounter
from scoring.messages import Message
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import whole
from webapp.store import Store
from webapp.store.aftermaths import BASELINE, AftermathRow
from webapp.store.copies import CopyRow
from webapp.store.log import MessageRow
from webapp.store.operations import OperationRow
from webapp.store.sessions import SessionRow

RESUME: Final = "resume"
BY_AGENT, BY_US = ("compaction", "clearing"), ("prune", "summary")
BATCH = 500  # messages that are read at a time

StoredRows = Mapping[tuple[str, int], AftermathRow]


class EventPlace(NamedTuple):
    """An event in a log: its kind, its operation, and the number of the last message before it.

    Messages behind it with the time `renewed_at` are the new context of a compaction. `seen` is False if the agent's
    calls do not show the event.
    """

    event: str
    operation: int
    number: int
    renewed_at: int | None = None
    undone_at: int | None = None
    seen: bool = True

    @property
    def name(self) -> str:
        """Return the name of the event in a counter."""
        return f"{self.event} {self.operation}"


class Logged(NamedTuple):
    """A message of the log, with its row."""

    row: MessageRow
    message: Message


def places_of(
    session: Session, operations: Iterable[OperationRow], copy: CopyRow | None, stored_rows: StoredRows
) -> list[EventPlace]:
    """Return the events of a session in the order of its log.

    A prune of ours is seen by the agent if the last call was sent pruned; once stored, that stays.
    """
    reached = session.agent is None
    found = [EventPlace(RESUME, 0, 0)] if copy is not None else []
    for one in sorted(operations, key=lambda operation: operation.n):
        if one.kind not in (*BY_AGENT, *BY_US) or not one.facts.number:  # nothing stood before it
            continue
        stored = stored_rows.get((one.kind, one.n))
        seen = bool(stored.windows) if stored is not None and stored.complete else reached
        renewed_at = one.at if one.kind == "compaction" else None
        seen = seen or one.kind in BY_AGENT
        found.append(EventPlace(one.kind, one.n, one.facts.number, renewed_at, one.undone_at, seen))
    return sorted(found, key=lambda place: (place.number, place.operation))


def counted_rows(
    environment: Environment, session: Session, places: Sequence[EventPlace], copy: CopyRow | None
) -> list[AftermathRow]:
    """Return the rows of a session's events that steps followed, and last that of its baseline windows."""
    store, counter = environment.store, AftermathCounter(session.row.cwd or "")
    if copy is not None and (origin := store.sessions.find(copy.origin_id)) is not None:
        before = Session.of(environment, origin)
        theirs = places_of(before, store.operations.all(origin.key), None, {})
        given = (one for one in logged(store, origin) if one.row.at is None or one.row.at <= copy.at)
        follow(counter, given, [place._replace(event=f"origin {place.event}") for place in theirs])
    passed = follow(counter, logged(store, session.row), places, None if copy is None else copy.at)
    found = counter.aftermaths
    rows = [_row(place, found[place.name]) for place in places if place.name in found]
    rows += [
        AftermathRow(place.event, place.operation, complete=True)
        for place in places
        if not place.seen and counter.steps > passed.get(place.name, counter.steps) + STEPS
    ]
    sums = counter.baseline
    return [*rows, AftermathRow(
        event=BASELINE, operation=0, windows=sums.windows, steps=sums.windows * STEPS, files=sums.files,
        commands=sums.commands, errors=sums.errors, said=sums.said, worked=sums.worked, tokens=sums.tokens,
    )]  # fmt: skip


def logged(store: Store, session: SessionRow) -> Iterator[Logged]:
    """Yield the messages of a log in order, without the summaries of compactions."""
    for start in range(1, session.next_no, BATCH):
        with store.read():
            nos = range(start, min(start + BATCH, session.next_no))
            rows = store.log.messages(session.key, nos)
            entries = store.log.rows_of(session.key, nos)
        for no in sorted(rows):
            if rows[no].kind != COMPACTION_SUMMARY and (own := entries[no]):
                message = whole(rows[no].role, own)
                yield Logged(rows[no], Message(message.role, message.parts, own[0].name))


def follow(
    counter: AftermathCounter,
    messages: Iterable[Logged],
    places: Sequence[EventPlace],
    given_at: int | None = None,
) -> dict[str, int]:
    """Take messages and events in order; return the steps before each event that the agent did not see.

    Messages until `given_at` were given to the session.
    """
    waiting, passed = list(places), dict[str, int]()
    begun: EventPlace | None = None
    for row, message in messages:
        if given_at is not None and (row.at is None or row.at <= given_at):
            counter.add_given(message)
            continue
        if begun is not None and _is_behind(row, begun.undone_at):
            counter.end(begun.name)
        while waiting and waiting[0].number < row.no and row.at != (waiting[0].renewed_at or -1):
            place = waiting.pop(0)
            if place.seen:
                counter.begin(place.name)
                begun = place
            else:
                passed[place.name] = counter.steps
        if waiting and waiting[0].number < row.no:
            counter.add_given(message)  # copied by the compaction
        else:
            counter.add(message, row.tokens)
    if begun is not None and begun.undone_at is not None:
        counter.end(begun.name)
    return passed


def _is_behind(row: MessageRow, undone_at: int | None) -> bool:
    return undone_at is not None and row.at is not None and row.at >= undone_at


def _row(place: EventPlace, found: Aftermath) -> AftermathRow:
    return AftermathRow(
        event=place.event, operation=place.operation, windows=1, steps=found.steps, files=found.files,
        commands=found.commands, errors=found.errors, said=found.said, worked=int(found.tokens is not None),
        tokens=found.tokens or 0, complete=found.complete,
    )  # fmt: skip
