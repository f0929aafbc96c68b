"""SessionState: the running values of a session, kept from append to append so that an append never reads the log.

Every part is bounded in size. Stored as JSON in `sessions.state`, in the transaction that appends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache
from typing import Any

from scoring.formats import is_bound_to_history, note_calls
from scoring.history import Features, TaskCounts
from scoring.messages import Message
from scoring.tokens import RUNS, Calibration, Run, TokenCounter, calibration, is_sum, unseen_of_sums
from webapp.agents import AGENTS
from webapp.agents.records import Entry
from webapp.agents.unwritten import Unwritten
from webapp.services.session.proxy_state import ProxyState
from webapp.services.session.stored_messages import read_features
from webapp.store.sessions import SessionRow

TRAIL_POINTS = 24
TURNS_KEPT = 6
ENDS_KEPT = 16
GROUPS_KEPT = 6
CHANGES_KEPT = 32
_PLAIN = (int, float, str, bool)
_COPIED = (list, dict)
# The names of fields in earlier versions, with those of today.
EARLIER_NAMES = {"told_window": "compaction_window", "told_at": "compaction_tokens"}


@dataclass(slots=True)
class SessionState:
    """The running facts of one session."""

    calibration: Calibration = field(default_factory=Calibration)
    trail: list[int] = field(default_factory=list)
    """The tokens of the main context after every `stride`-th message, thinned out as it fills."""
    stride: int = 1
    skipped: int = 0
    """Messages since the last point of the trail."""
    turn_tokens: list[int] = field(default_factory=list)
    """The tokens of the main context at the last starts of a turn, less what operations took out of it since."""
    ends: dict[str, list[int]] = field(default_factory=dict)
    """Source id of one of the last messages -> the estimate after it, and `answered` then."""
    answered: int = 0
    """The estimate of all that the assistant wrote."""
    unsure: int = 0
    """The estimate of reasoning and media, of a managed session only."""
    groups: dict[str, int] = field(default_factory=dict)
    """One of the last API calls -> the estimate before it."""
    absorbing: bool = False
    """Assistant messages still belong to the call reported last."""
    fired: bool = False
    """Automatic pruning has acted on this crossing of the target."""
    backed_off: int = 0
    """Automatic pruning does not try again below these tokens."""
    relieved: int = 0
    """The emergency path does not try again below these tokens."""
    last_role: str = ""
    tools_open: bool = False
    unwritten: Unwritten = field(default_factory=Unwritten)
    facts: TaskCounts = field(default_factory=TaskCounts)
    """The counts from which the task type is recognised."""
    stored: int = 0
    """Bytes of content in the log."""
    redacted: dict[str, int] = field(default_factory=dict)
    """Kind of credential -> how many were replaced."""
    own_window: int = 0
    """The window set by the user, at the time `own_window_at` in ms; 0 for none."""
    own_window_at: int = 0
    compaction_window: int = 0
    """The window that a compaction of the agent at `compaction_tokens` implies; 0 for none."""
    compaction_tokens: int = 0
    compaction_at: int = 0
    """The time of that compaction in ms."""
    largest: int = 0
    """The largest call with the present model, in tokens, and its time `largest_at` in ms."""
    largest_at: int = 0
    set_aside: int = 0
    """Usage reports that cannot be true; `aside_input` and `aside_call` belong to the last of them."""
    aside_input: int = 0
    aside_call: str = ""
    called_at: int = 0
    """The time of the last call in ms."""
    changes: dict[str, int] = field(default_factory=dict)
    """Operation done or undone since the last call -> the first message it changed; "" for other and older changes."""
    first_known: int = 0
    """The first sample with a known size; earlier ones lack `first_unseen` tokens."""
    first_unseen: int = 0
    opening: str = ""
    """The beginning of the first message."""
    agent_version: str = ""
    """The version of the agent that began the session."""
    inherits: bool = False
    """The context begins with messages of the parent session, which count as tokens outside the transcript."""
    inherited: int = 0
    """The last message of the parent session's that is among the session's own, 0 for none."""
    sampled: int = 0
    """The last message on the chart."""
    cached_for_hour: bool = False
    """The cache keeps for an hour what the last call wrote to it."""
    cleared_call: str = ""
    """The call whose report showed the last clearing, which operation `cleared_by` records."""
    cleared_by: int = 0
    answers: int = 0
    """The calls that the messages show, whether or not their usage is reported."""
    awaiting: bool = False
    """The usage of the last call may still be reported."""
    run: list[int] = field(default_factory=lambda: [0, 0, 0])
    """The calls since the last report, and the tokens sent in all of them and in the last one, by estimate."""
    runs: list[int] = field(default_factory=list)
    """The `run` of each of the last reports, followed by the tokens reported."""
    summed: bool = False
    """The program reports sums of runs."""
    above: bool = False
    """The main context was above its target after the last change."""
    proxy: ProxyState = field(default_factory=ProxyState)
    edited: bool = False
    """The agent's own process sent the last call with our edits."""
    owner: str = ""
    """The user of a session that was pushed; "" for one of this machine."""
    host: str = ""
    """The machine that pushes the session; "" for this one."""
    kept: bool = False
    """No limit on age and size deletes the session."""
    undos: int = 0
    """The number of undos, and of operations that their agent took back."""
    counted_as: str = ""
    """The model whose tokens the messages are counted in, if the session's was changed since; "" for the session's."""
    open_calls: dict[str, str] = field(default_factory=dict)
    """The calls that wait for their results, in a managed session."""
    is_thinking: bool = False
    """The running tool loop of a managed session has thoughts that hold only for the history before them."""
    thoughts_end: int = 0
    """The last message whose thoughts may belong to the context before its last change."""

    def set_report_aside(self, call: str, tokens: int) -> None:
        """Count a usage report that cannot be true; each call once."""
        self.set_aside += call != self.aside_call
        self.aside_call, self.aside_input = call, tokens

    def accept_report(self, call: str) -> None:
        """Take back that a report of a call was set aside: a later one of the same call is true."""
        if call == self.aside_call:
            self.set_aside -= 1
            self.aside_call = ""

    def note_version(self, version: str) -> None:
        """Note the version of the agent that writes."""
        self.agent_version = self.agent_version or version
        self.unwritten.version(version)

    def model_changed(self) -> None:
        """Forget the window that the previous model ran with, from any source, and what its cache holds."""
        self.own_window = self.compaction_window = self.compaction_tokens = self.largest = 0
        self.runs, self.summed = [], False
        self.note_change(1)

    @property
    def changed_from(self) -> int:
        """Return the first message of the next call that differs from what the last one sent; 0 if it only grows."""
        return min(self.changes.values(), default=0)

    def note_change(self, number: int, by: str = "") -> None:
        """Note that the context differs from message `number` on from what the last call sent.

        `by` is the operation that was done or undone, "" for another cause.
        """
        self.changes[by] = min(number, self.changes.get(by, number))
        if len(self.changes) > CHANGES_KEPT:
            self.note_change(self.changes.pop(next(filter(None, self.changes))))

    def note_undo(self, operation: int, number: int | None) -> None:
        """Note the undo of an operation, which changed the context from message `number` on; None for no message.

        What the last call sent is back if that call came before the operation.
        """
        if self.changes.pop(str(operation), None) is None and number is not None:
            self.note_change(number, str(operation))

    def count_as(self, model: str, prior: float) -> None:
        """Keep counting tokens as for `model`; one of them is expected to be `prior` tokens of the present model.

        The sizes in the trail are those of the present model, too. Nothing changes once usage is known.
        """
        if self.calibration.known:
            return
        times, self.counted_as = prior / self.calibration.prior, model
        self.calibration = calibration.counted_for(self.calibration, prior)
        self.trail = [round(times * tokens) for tokens in self.trail]
        self.turn_tokens = [round(times * tokens) for tokens in self.turn_tokens]

    def count_call(self, estimate: int) -> None:
        """Count a call with a context of `estimate` tokens, whose usage may still be reported."""
        calls, sent, _ = self.run
        self.run = [calls + 1, sent + estimate, estimate]
        self.answers, self.awaiting = self.answers + 1, True

    def detect_sum(self, reported: int, sample: int) -> bool:
        """Return whether a report is the sum of several calls, which says nothing about the size of the last one.

        The first time everything that such reports taught is forgotten.
        """
        calls, sent, last = self.run
        run, self.run = Run(calls, sent, last, reported), [0, 0, 0]
        if not run.calls:
            return False
        width = len(run)
        self.runs = [*self.runs, *run][-width * RUNS :]
        runs = [Run(*self.runs[n : n + width]) for n in range(0, len(self.runs), width)]
        unseen = unseen_of_sums(runs)
        if unseen is not None and not self.summed:
            self.add_unseen(unseen - self.calibration.unseen, sample)
            started = Calibration(unseen=unseen)
            self.calibration, self.largest = calibration.counted_for(started, self.calibration.prior), 0
            self.answers -= sum(one.calls - 1 for one in runs[:-1])
        self.summed = unseen is not None or (self.summed and is_sum(run, self.calibration.unseen))
        if not self.summed or run.calls == 1:
            return False
        self.answers -= run.calls - 1
        return True

    def add_unseen(self, unseen: int, sample: int) -> None:
        """Add the tokens outside the transcript, known now, to the sizes before the first reported call.

        A later report of the same call can add more.
        """
        self.first_known, self.first_unseen = self.first_known or sample, self.first_unseen + unseen
        self.trail = [tokens + unseen for tokens in self.trail]
        self.turn_tokens = [tokens + unseen for tokens in self.turn_tokens]

    def note_calls(self, message: Message) -> None:
        """Note the calls of a message that wait for their results, and those that it answers."""
        if message.role == "assistant" and self.last_role != "assistant":
            self.open_calls = {}
        note_calls(message, self.open_calls)

    def note_thoughts(self, message: Message) -> None:
        """Note whether the tool loop that runs after a message has thoughts.

        The user's next message after an answer ends it; one right after results is sent with them.
        """
        if message.role == "user" and not message.results:
            self.is_thinking = self.is_thinking and self.last_role != "assistant"
        elif is_bound_to_history(message):
            self.is_thinking = True

    def add_unwritten(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Add what the agent sends without writing it; it stays in the context until a usage report says otherwise."""
        before = self.unwritten.call
        self.unwritten.take(entry, counter, factor)
        came = self.unwritten.asked
        if came > 0 and self.unwritten.call != before and entry.usage is None:
            if not self.calibration.known:
                self.unwritten.unreported += came
            self.calibration = calibration.after_unreported_call(self.calibration, came)

    def expect(self, tokens: int) -> None:
        """Expect this many tokens outside messages in the next call."""
        self.calibration = calibration.expecting(self.calibration, tokens)

    def after_compaction(self) -> None:
        """Remove what was sent without being written: it leaves with the rest of the context."""
        self.calibration = calibration.after_compaction(self.calibration)
        if not self.calibration.known:
            unseen = max(0, self.calibration.unseen - self.unwritten.unreported)
            self.calibration = replace(self.calibration, unseen=unseen)
        self.unwritten.compacted()

    def count(self, features: Features, before: str | None) -> None:
        """Count a message for the task type; `before` are its features if it was counted with fewer parts."""
        if before is not None:
            self.facts.add(next(iter(read_features([before]))), -1)
        self.facts.add(features)

    def remember_gauge(self, tokens: int, *, grown: bool = False) -> None:
        """Add a point to the trail; with `grown`, replace the last one, because its message has grown."""
        if grown:
            if not self.skipped and self.trail:
                self.trail[-1] = tokens
            return
        self.skipped += 1
        if self.skipped < self.stride:
            return
        self.skipped = 0
        self.trail.append(tokens)
        if len(self.trail) >= 2 * TRAIL_POINTS:
            self.trail = self.trail[1::2]
            self.stride *= 2

    def remember_turn(self, tokens: int) -> None:
        """Note the size of the context where a turn starts; a fall that no operation explains starts the list again."""
        if self.turn_tokens and tokens < self.turn_tokens[-1]:
            self.turn_tokens = []
        self.turn_tokens = [*self.turn_tokens, tokens][-TURNS_KEPT:]

    def shift_turns(self, tokens: int) -> None:
        """Add what an operation added to the context, below 0 what it freed: no turn did that."""
        self.turn_tokens = [start + tokens for start in self.turn_tokens]

    def growth_per_turn(self, tokens: int) -> int | None:
        """Return the tokens that a turn added, over the last turns; None before the second one, and after a fall."""
        starts = self.turn_tokens
        if len(starts) < 2 or tokens < starts[0]:
            return None
        return round((tokens - starts[0]) / len(starts))

    def remember_end(self, source_id: str | None, estimate: int) -> None:
        """Note the estimates after an entry."""
        if source_id is not None:
            self.ends[source_id] = [estimate, self.answered]
            while len(self.ends) > ENDS_KEPT:
                del self.ends[next(iter(self.ends))]

    def group_before(self, group: str, estimate: int) -> int:
        """Return the estimate before the first entry of a group; `estimate` if this is the first."""
        before = self.groups.setdefault(group, estimate)
        while len(self.groups) > GROUPS_KEPT:
            del self.groups[next(iter(self.groups))]
        return before

    def add_to_estimates(self, estimate: int) -> None:
        """Add to the estimates before and after the last entries: the last calls are sent with another context."""
        if estimate:
            self.groups = {name: max(0, size + estimate) for name, size in self.groups.items()}
            self.ends = {name: [max(0, size + estimate), *more] for name, (size, *more) in self.ends.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON-ready data, independent of this value."""
        out = {name: _copied(getattr(self, name)) for name in self.__slots__}
        for name in ("calibration", "unwritten", "facts", "proxy"):
            out[name] = out[name].to_dict()
        return out

    @classmethod
    def readable(cls, data: dict[str, Any], source: str) -> tuple[SessionState, bool]:
        """Return the stored state and whether it is damaged; a damaged one is replaced by a new one."""
        try:
            found = cls.from_dict(data, source)
        except (TypeError, ValueError, KeyError, AttributeError):
            return cls.from_dict({}, source), True
        return (found, False) if _is_like(found, _new_state(source)) else (cls.from_dict({}, source), True)

    @classmethod
    def from_dict(cls, data: dict[str, Any], source: str = "") -> SessionState:
        """Return the state that `to_dict` wrote, of a session of that source; unknown keys are ignored."""
        known = {
            name: _copied(value)
            for key, value in data.items()
            if (name := EARLIER_NAMES.get(key, key)) in _names()
        }
        known["calibration"] = Calibration.from_dict(known.get("calibration"))
        unwritten = AGENTS[source].unwritten if source in AGENTS else Unwritten
        known["unwritten"] = unwritten.from_dict(known.get("unwritten"))
        known["facts"] = TaskCounts.from_dict(known.get("facts"))
        known["proxy"] = ProxyState.from_dict(known.get("proxy"))
        return cls(**known)


def origin_of(row: SessionRow) -> dict[str, str]:
    """Return the part of a session's state that says whose it is, for its sub-agents; empty on its own machine."""
    return {name: str(row.state[name]) for name in ("owner", "host") if row.state.get(name)}


def may_append(row: SessionRow | None, user: str) -> bool:
    """Return whether what a user sends may be appended to a session: only to their own; "" (no user) to every one."""
    if not user or row is None or row.deleted_at is not None:  # what is sent to a deleted session is dropped
        return True
    return origin_of(row).get("owner") == user


def _copied(value: Any) -> Any:
    """Return a value, a list or dictionary as a copy: a saved state is compared with later ones."""
    return value.copy() if isinstance(value, _COPIED) else value


@cache
def _names() -> frozenset[str]:
    """Return the names of the parts of a state; a tuple of so many would be searched for each one."""
    return frozenset(SessionState.__slots__)


@cache
def _new_state(source: str) -> SessionState:
    """Return a new state of a session of that source, to compare others with."""
    return SessionState.from_dict({}, source)


def _is_like(value: Any, sound: Any) -> bool:
    """Return whether a value that was read has the expected types, including its nested fields."""
    if is_dataclass(sound):
        for name in sound.__dataclass_fields__:
            one, like = getattr(value, name), getattr(sound, name)
            # Most fields, at every load of a session, are plain and as expected.
            if not (type(one) is type(like) and type(like) in _PLAIN) and not _is_like(one, like):
                return False
        return True
    if isinstance(sound, int | float) and not isinstance(sound, bool):
        return isinstance(value, int | float)
    if isinstance(value, list | tuple) and isinstance(sound, list):
        return all(isinstance(one, int | float) for one in value)
    return sound is None or isinstance(value, type(sound))
