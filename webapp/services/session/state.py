"""What a session carries from append to append, so that an append never looks back: all of it bounded in size.

Kept as JSON in `sessions.state`; written in the transaction that appends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from scoring.history import Facts, Features
from scoring.tokens import Calibration, TokenCounter, calibration
from webapp.agents.claude_code.unwritten import Unwritten
from webapp.agents.records import Entry
from webapp.services.session.stored_messages import read_features
from webapp.store import Store
from webapp.store.sessions import SessionRow

TRAIL_POINTS = 24
TURNS_KEPT = 6
ENDS_KEPT = 16
GROUPS_KEPT = 6


@dataclass(slots=True)
class SessionState:
    """The running facts of one session; `facts` is what its task type is recognised by.

    `trail` holds main-gauge tokens, every `stride`-th message's, thinned out as it fills. `turn_tokens` are the
    gauge at the last starts of a turn. `ends` maps the source ids of the last messages to the estimate behind them,
    `groups` the last API calls to the estimate before them.
    `absorbing` says that assistant messages still belong to the call reported last. `fired` says that automatic
    pruning has acted on this crossing of the target; `backed_off` is the size below which it does not try again,
    `relieved` that below which the emergency path does not.
    """

    calibration: Calibration = field(default_factory=Calibration)
    trail: list[int] = field(default_factory=list)
    stride: int = 1
    skipped: int = 0
    turn_tokens: list[int] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    absorbing: bool = False
    fired: bool = False
    backed_off: int = 0
    relieved: int = 0
    last_role: str = ""
    tools_open: bool = False
    unwritten: Unwritten = field(default_factory=Unwritten)
    facts: Facts = field(default_factory=Facts)

    def begin(self, begun: Calibration | None) -> None:
        """Before the session's first reported call: what other sessions have taught."""
        if begun is not None and not self.calibration.known:
            unseen = begun.unseen + self.unwritten.unreported
            self.calibration = replace(begun, compacted=self.calibration.compacted, unseen=unseen)

    def take(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Follows what the agent adds unwritten; where a call reports no usage, what came with it stays."""
        before = self.unwritten.call
        self.unwritten.take(entry, counter, factor)
        came = self.unwritten.asked
        if came > 0 and self.unwritten.call != before and entry.usage is None:
            if not self.calibration.known:
                self.unwritten.unreported += came
            self.calibration = calibration.slipped(self.calibration, came)

    def expect(self, tokens: int) -> None:
        """So many tokens that are in no message come with the next call."""
        self.calibration = calibration.expecting(self.calibration, tokens)

    def compacted(self) -> None:
        """What came unwritten leaves with the rest of the context."""
        self.calibration = calibration.after_compaction(self.calibration)
        if not self.calibration.known:
            unseen = max(0, self.calibration.unseen - self.unwritten.unreported)
            self.calibration = replace(self.calibration, unseen=unseen)
        self.unwritten.compacted()

    def count(self, features: Features, before: str | None) -> None:
        """Counts a message for the task type; `before` is how it stood before it got more parts, as it was stored."""
        if before is not None:
            self.facts.add(next(iter(read_features([before]))), -1)
        self.facts.add(features)

    def remember_gauge(self, tokens: int) -> None:
        """Adds a point to the trail."""
        self.skipped += 1
        if self.skipped < self.stride:
            return
        self.skipped = 0
        self.trail.append(tokens)
        if len(self.trail) >= 2 * TRAIL_POINTS:
            self.trail = self.trail[1::2]
            self.stride *= 2

    def remember_turn(self, tokens: int) -> None:
        """Notes the gauge where a turn starts; a fall (a prune, a compaction) begins anew."""
        if self.turn_tokens and tokens < self.turn_tokens[-1]:
            self.turn_tokens = []
        self.turn_tokens = [*self.turn_tokens, tokens][-TURNS_KEPT:]

    def remember_end(self, source_id: str | None, estimate: int) -> None:
        """Notes the estimate behind an entry."""
        if source_id is not None:
            self.ends[source_id] = estimate
            while len(self.ends) > ENDS_KEPT:
                del self.ends[next(iter(self.ends))]

    def group_before(self, group: str, estimate: int) -> int:
        """The estimate before the first entry of a group; `estimate` where this is the first."""
        before = self.groups.setdefault(group, estimate)
        while len(self.groups) > GROUPS_KEPT:
            del self.groups[next(iter(self.groups))]
        return before

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        out = {name: getattr(self, name) for name in self.__slots__}
        out["calibration"], out["unwritten"] = self.calibration.to_dict(), self.unwritten.to_dict()
        out["facts"] = self.facts.to_dict()
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SessionState:
        """What `to_dict` wrote."""
        known = {k: v for k, v in data.items() if k in cls.__slots__}
        known["calibration"] = Calibration.from_dict(known.get("calibration"))
        known["unwritten"] = Unwritten.from_dict(known.get("unwritten"))
        known["facts"] = Facts.from_dict(known.get("facts"))
        return cls(**known)


def save_progress(store: Store, row: SessionRow) -> None:
    """Writes the columns of a session that an append or an operation moves."""
    store.sessions.update(
        row.key,
        version=row.version, next_seq=row.next_seq, next_no=row.next_no, next_operation=row.next_operation,
        next_sample=row.next_sample, last_entry_id=row.last_entry_id, tail_hash=row.tail_hash, turns=row.turns,
        last_activity_at=row.last_activity_at, state=row.state, window=row.window, prunes=row.prunes,
        operations=row.operations,
    )  # fmt: skip
