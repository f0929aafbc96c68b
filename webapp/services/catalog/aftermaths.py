"""The aftermath (X25): repetitions by agents after each event in which they lost context, counted in the background.

The log of a session is read off the thread that appends, and only while one of its windows is open or there are few
baseline windows. Complete windows are stored once, so that the overview sums rows and reads no log. A prune of
a followed session counts only if the agent's calls were sent pruned by the end of its window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scoring.learning import STEPS
from webapp.events import (
    ContextPruned,
    ContextSummarized,
    Event,
    MessagesAppended,
    OperationUndone,
    SessionUpdated,
)
from webapp.services.catalog.aftermath_walk import EventPlace, StoredRows, counted_rows, places_of
from webapp.services.catalog.answers import Aftermaths, EventAftermath, EventCount, WindowMeans
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.session_worker import SessionWorker
from webapp.store.aftermaths import BASELINE, AftermathRow, KindTotals

# A session is counted at most so often, and the thread rests so many times the processor time that it took.
INTERVAL_SECONDS, REST = 30.0, 9.0
# With fewer baseline windows, a session is counted again as it grows.
FEW_WINDOWS = 3
_CHANGES = (MessagesAppended, ContextPruned, ContextSummarized, OperationUndone)


class SessionAftermaths(NamedTuple):
    """The aftermath of a session's events by kind and operation, and the means of its baseline windows."""

    events: Mapping[tuple[str, int], EventAftermath]
    baseline: WindowMeans | None


class AftermathService:
    """Counts sessions in the background, and answers from the stored rows."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store
        self._worker = SessionWorker("aftermaths", self.count, interval_seconds=INTERVAL_SECONDS, rest=REST)

    def start(self) -> None:
        """Count sessions as they change from now on, and those that were never counted."""
        self._environment.bus.subscribe(self._on_event)
        self._worker.put(*self._store.aftermaths.uncounted())

    def close(self) -> None:
        """Stop counting."""
        self._worker.close()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, _CHANGES):
            self._worker.put(event.session_id)

    # -- counting

    def count(self, session_id: str) -> bool:
        """Count a session again if that can change anything; return whether it did.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            copy = self._store.copies.find(session.id)
            if not session.row.operations and copy is None:
                return False
            known = {(row.event, row.operation): row for row in self._store.aftermaths.of(session.key)}
            places = places_of(session, self._store.operations.all(session.key), copy, known)
        if not _is_due(places, known):
            return False
        return self._write(session, places, counted_rows(self._environment, session, places, copy))

    def _write(self, session: Session, places: Sequence[EventPlace], rows: Sequence[AftermathRow]) -> bool:
        """Write the rows that changed and remove those of events that did not take place after all.

        Another thread may have counted a longer log meanwhile: what is complete stays.
        """
        there = {(place.event, place.operation) for place in places} | {(BASELINE, 0)}
        with self._store.write(session.id):
            if self._store.sessions.version(session.key) is None:
                return False  # deleted meanwhile
            known = {(row.event, row.operation): row for row in self._store.aftermaths.of(session.key)}
            changed = [row for row in rows if _is_news(row, known.get((row.event, row.operation)))]
            gone = [row for name, row in known.items() if name not in there]
            self._store.aftermaths.remove(session.key, gone)
            self._store.aftermaths.put(session.key, changed)
        if changed or gone:
            self._environment.bus.publish(SessionUpdated(session.id))
        return bool(changed or gone)

    # -- answers

    def of(self, session: Session) -> SessionAftermaths:
        """Return the stored counts of a session, inside the caller's `read()`."""
        rows = self._store.aftermaths.of(session.key)
        events = {(row.event, row.operation): _answer(row) for row in rows if row.event != BASELINE}
        baseline = next((row for row in rows if row.event == BASELINE and row.windows), None)
        return SessionAftermaths(events, None if baseline is None else _means(baseline))

    def totals(self) -> Aftermaths | None:
        """Return the means over the complete windows of all sessions; None before the first."""
        kinds = self._store.aftermaths.totals()
        if not kinds:
            return None
        events = Counter[str]()
        for kind in kinds:
            events[kind.event] += kind.windows
        compared = [kind for kind in kinds if kind.compared]
        return Aftermaths(
            kinds=[EventCount(kind=name, events=count) for name, count in events.items()],
            calls=STEPS,
            events=_after(kinds),
            compared=_after(compared) if compared else None,
            elsewhere=_alike(compared) if compared else None,
        )


def _is_news(row: AftermathRow, known: AftermathRow | None) -> bool:
    """Return whether a row replaces a stored one: never a complete one, nor one of more steps."""
    return known is None or (row != known and not known.complete and row.steps >= known.steps)


def _is_due(places: Sequence[EventPlace], known: StoredRows) -> bool:
    """Return whether an event is not counted to its end, or there are few baseline windows."""
    if not places:
        return (BASELINE, 0) not in known  # once, so that it is not looked at after each start
    baseline = known.get((BASELINE, 0))
    if baseline is None or baseline.windows < FEW_WINDOWS:
        return True
    return not all((row := known.get((one.event, one.operation))) and row.complete for one in places)


def _answer(row: AftermathRow) -> EventAftermath:
    return EventAftermath(
        seen=row.windows > 0,
        files=row.files,
        commands=row.commands,
        errors=row.errors,
        said=row.said,
        tokens=row.tokens if row.worked else None,
        calls=row.steps,
        complete=row.complete,
    )


def _means(row: AftermathRow) -> WindowMeans:
    sums = row.files, row.commands, row.errors, row.said, row.tokens, row.worked
    return _window_means(row.windows, [sums])


def _after(kinds: Sequence[KindTotals]) -> WindowMeans:
    """Return the means of the windows after events."""
    sums = [(one.files, one.commands, one.errors, one.said, one.tokens, one.worked) for one in kinds]
    return _window_means(sum(one.windows for one in kinds), sums)


def _alike(kinds: Sequence[KindTotals]) -> WindowMeans:
    """Return the means expected of windows as long as those after events, in the same sessions."""
    sums = [
        (one.like_files, one.like_commands, one.like_errors, one.like_said, one.like_tokens, one.like_worked)
        for one in kinds
    ]
    return _window_means(sum(one.windows for one in kinds), sums)


def _window_means(windows: int, sums: Iterable[Iterable[float]]) -> WindowMeans:
    """Return the means of so many windows; the sums end with the tokens, and the windows that have any."""
    *each, tokens, worked = (sum(values) for values in zip(*sums, strict=True))
    files, commands, errors, said = (round(value / windows, 2) for value in each)
    return WindowMeans(
        windows=windows,
        files=files,
        commands=commands,
        errors=errors,
        said=said,
        tokens=round(tokens / worked) if worked else None,
    )
