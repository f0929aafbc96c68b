"""Translates events into notices for pages: the rooms that get messages, and the messages.

One table has a function for each event; `docs/events.md` is generated from it. Nothing is read or sent here: a notice
requests that a session's row or statistics be sent again, and carries only data that cannot be read later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from webapp.events import (
    CacheExpired,
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    Event,
    ImportProgressed,
    MemoriesChanged,
    MessagesAppended,
    ModelsChanged,
    OperationUndone,
    ProblemReported,
    SessionCreated,
    SessionDeleted,
    SessionJudged,
    SessionUpdated,
    SettingsChanged,
    TargetCrossed,
    WebhooksChanged,
)
from webapp.live.rooms import OVERVIEW, SESSION_PREFIX

Payload = dict[str, Any]

_ACTORS = {"automatic": "automatically", "emergency": "in an emergency", "agent": "by the agent"}


@dataclass(frozen=True, slots=True)
class Notice:
    """A change of `subject` (a session's id, or "") for one room; `room` None means every room.

    `row` requests `session:updated`, `stats` requests `context:stats`. `appended` counts new messages, and `numbers`
    are the newest of them. `events` are sent unchanged; an empty payload is read when it is sent.
    """

    room: str | None
    subject: str
    row: bool = False
    stats: bool = False
    numbers: tuple[int, ...] = ()
    appended: int = 0
    events: tuple[tuple[str, Payload], ...] = ()


def notices_of(event: Event) -> tuple[Notice, ...]:
    """Return the notices of an event; none for an event that no page shows."""
    make = NOTICES.get(type(event))
    return make(event) if make else ()


def in_session(session_id: str, *events: tuple[str, Payload]) -> tuple[Notice, ...]:
    """Return the notices of a session's change: its row for the overview, statistics and `events` for its own room.

    The statistics include the row, so the session's own room does not get it separately.
    """
    own = Notice(SESSION_PREFIX + session_id, session_id, stats=True, events=events)
    return Notice(OVERVIEW, session_id, row=True), own


def _appended(event: MessagesAppended) -> tuple[Notice, ...]:
    numbers, count = event.message_nos, max(event.count, len(event.message_nos))
    overview, own = in_session(event.session_id)
    return overview, replace(own, numbers=numbers, appended=count)


def _row_changed(event: SessionCreated | SessionJudged) -> tuple[Notice, ...]:
    return (Notice(OVERVIEW, event.session_id, row=True),)


def _updated(event: SessionUpdated | CacheExpired | OperationUndone) -> tuple[Notice, ...]:
    return in_session(event.session_id)


def _deleted(event: SessionDeleted) -> tuple[Notice, ...]:
    gone = (("session:deleted", {"session_id": event.session_id}),)
    rooms = (OVERVIEW, SESSION_PREFIX + event.session_id)
    return tuple(Notice(room, event.session_id, events=gone) for room in rooms)


def _pruned(event: ContextPruned) -> tuple[Notice, ...]:
    events: list[tuple[str, Payload]] = [(event.name, event.payload())]
    if event.reason != "manual":  # after a click the page has the answer already
        toast = {"session_id": event.session_id, "message": _pruned_words(event), "prune_id": event.n}
        events.append(("toast:success", toast))
    return in_session(event.session_id, *events)


def _pruned_words(event: ContextPruned) -> str:
    """Return who pruned and the result, in the words of the history."""
    counts = (
        (event.summarised, "summarised"),
        (event.removed - event.summarised, "removed"),
        (event.shortened, "shortened"),
    )
    acts = [f"{count:,} {done}" for count, done in counts if count]
    freed = f"{'~' if event.estimated else ''}{event.original - event.final:,} tokens freed"
    return f"Pruned {_ACTORS.get(event.reason, event.reason)}: {', '.join([*acts, freed])}"


def _restored(event: ContextRestored) -> tuple[Notice, ...]:
    ids = list(event.message_ids)
    payload = {"session_id": event.session_id, "prune_id": event.n, "message_ids": ids}
    return in_session(event.session_id, ("context:restored", payload))


def _summarized(event: ContextSummarized) -> tuple[Notice, ...]:
    return in_session(event.session_id, (event.name, event.payload()))


def _change(name: str, room: str | None = None) -> Callable[[Event], tuple[Notice, ...]]:
    """Return the function for an event of no session, whose name says all."""
    return lambda _: (Notice(room, "", events=((name, {}),)),)


def _target(event: TargetCrossed) -> tuple[Notice, ...]:
    return (Notice(OVERVIEW, event.session_id, events=((event.name, event.payload()),)),)


def _problem(event: ProblemReported) -> tuple[Notice, ...]:
    kind = "toast:error" if event.failed else "toast:warning"
    toast = (kind, {"session_id": event.session_id, "message": event.message})
    room = SESSION_PREFIX + event.session_id if event.session_id else OVERVIEW
    return (Notice(room, event.session_id or "", events=(toast,)),)


def _importing(event: ImportProgressed) -> tuple[Notice, ...]:
    return (Notice(OVERVIEW, "", events=(("import:progress", asdict(event)),)),)


NOTICES: dict[type[Event], Callable[[Any], tuple[Notice, ...]]] = {
    SessionCreated: _row_changed,
    SessionJudged: _row_changed,
    SessionUpdated: _updated,
    CacheExpired: _updated,
    SessionDeleted: _deleted,
    MessagesAppended: _appended,
    ContextPruned: _pruned,
    ContextRestored: _restored,
    ContextSummarized: _summarized,
    OperationUndone: _updated,
    SettingsChanged: _change("settings:changed"),
    ModelsChanged: _change("models:changed"),
    TargetCrossed: _target,
    WebhooksChanged: _change("webhooks:changed", OVERVIEW),
    MemoriesChanged: _change("memories:changed"),
    ProblemReported: _problem,
    ImportProgressed: _importing,
}
