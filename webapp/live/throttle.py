"""Collects the messages of one session in one room and limits them to ten a second.

Later messages join or replace earlier ones, so that a flood of appends is sent as a few messages. While messages
arrive, their rows go first, and the statistics follow twice a second.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from webapp.live.notices import Notice, Payload

# The most messages in any second, for one session in one room.
RATE = 10
WINDOW_SECONDS = 1.0
SPACING_SECONDS = WINDOW_SECONDS / RATE
# Making messages takes at most this share of the time, so a very long session is updated less often.
SHARE_OF_TIME = 0.2
# Statistics of a session to which nothing but messages is added are sent at most once in this time.
STATS_SECONDS = 0.5
# Rows in one `messages:appended`; a page requests the others over HTTP.
ROWS_LIMIT = 200


@dataclass(slots=True)
class Pace:
    """The send times of one session in one room: the first message goes at once, the others at RATE a second."""

    _sent: deque[float] = field(default_factory=lambda: deque(maxlen=RATE))
    _free_at: float = 0.0

    def due_at(self, count: int) -> float:
        """Return the earliest time at which `count` messages may be sent together; more than RATE count as RATE."""
        spare = RATE - min(count, RATE)
        filled = list(self._sent)
        crowded = filled[-(spare + 1)] + WINDOW_SECONDS if len(filled) > spare else 0.0
        return max(self._free_at, crowded)

    def took(self, count: int, now: float, cost_seconds: float = 0.0) -> None:
        """Record that `count` messages were sent at `now` and took `cost_seconds` to make."""
        self._sent.extend([now] * min(count, RATE))
        self._free_at = now + max(count * SPACING_SECONDS, cost_seconds / SHARE_OF_TIME)


@dataclass(slots=True)
class Pending:
    """Messages waiting to be sent for one session in one room; later ones of a kind replace or join earlier ones.

    `first` is the revision of the oldest event among them, where a queue gives revisions.
    """

    row: bool = False
    stats: bool = False
    numbers: list[int] = field(default_factory=list)
    appended: int = 0
    events: list[tuple[str, Payload]] = field(default_factory=list)
    first: int = 0
    pace: Pace = field(default_factory=Pace)
    stats_from: float = 0.0

    def add(self, notice: Notice, revision: int = 0) -> None:
        """Add a notice. An event without a payload is queued once: its payload is read when it is sent."""
        self.first = min(self.first, revision) if self.count() else revision
        self.row |= notice.row
        self.stats |= notice.stats
        self.numbers = [*self.numbers, *notice.numbers][-ROWS_LIMIT:]
        self.appended += notice.appended
        self.events += [one for one in notice.events if one[1] or one not in self.events]

    def count(self) -> int:
        """Return the number of waiting messages."""
        return self.row + self.stats + bool(self.appended) + len(self.events)

    def is_row(self) -> bool:
        """Return whether only the session's row is waiting."""
        return self.row and self.count() == 1

    def due_at(self) -> float:
        """Return the earliest time at which something may be sent; infinite if nothing waits."""
        count = self.count()
        if count == 0:
            return float("inf")
        due = self.pace.due_at(count)
        if not self._may_wait():
            return due
        with_stats = max(due, self.stats_from)
        return with_stats if count == 1 else min(with_stats, self.pace.due_at(count - 1))

    def _may_wait(self) -> bool:
        """Return whether the waiting statistics may be delayed: nothing but messages was added."""
        return self.stats and not self.row and not self.events

    def take(self, now: float) -> Pending:
        """Remove and return what is due; keep the pace."""
        kept = self._may_wait() and max(self.stats_from, self.pace.due_at(self.count())) > now
        taken = Pending(
            self.row, self.stats and not kept, self.numbers, self.appended, self.events, self.first
        )
        if taken.stats:
            self.stats_from = now + STATS_SECONDS
        self.row, self.stats, self.numbers, self.appended, self.events = False, kept, [], 0, []
        return taken

    def put_back(self, taken: Pending) -> None:
        """Undo a `take` whose messages could not be made."""
        self.first = min(self.first, taken.first) if self.count() else taken.first
        self.row |= taken.row
        self.stats |= taken.stats
        self.numbers = [*taken.numbers, *self.numbers]
        self.appended += taken.appended
        self.events = [*taken.events, *self.events]
