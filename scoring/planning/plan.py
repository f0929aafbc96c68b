"""The plan of a prune: what would be dropped, what is kept, and why. Making a plan changes nothing.

Invariants: kept, shortened and removed together are all positions, each once and in order; units are whole; protected
messages stay; what stays costs at most `max_tokens`, unless `over_budget` has the numbers. Messages that a summary will
replace count as removed, and the largest size of that summary counts as kept. A plan is made from columns and is
columnar itself; fates and reasons are worded only when requested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, filterfalse
from typing import Literal

from scoring.errors import Fault, InvalidList, InvalidSettings, shown
from scoring.history import History, settings_for
from scoring.messages import Message
from scoring.planning.decision import Decision, decide
from scoring.planning.protection import REASONS, protect
from scoring.planning.role_order import apply_role_order, takes_turns
from scoring.planning.score import Scores, score
from scoring.planning.strategies import STRATEGIES, Shortening, Why
from scoring.planning.text_outputs import with_commands
from scoring.settings import Settings
from scoring.summary import JudgedSummary, Surroundings, built_in, is_request
from scoring.tokens import TokenCounter

Fate = Literal["kept", "protected", "goes", "shortened"]


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The excess of messages that are always kept over the budget."""

    protected_tokens: int
    max_tokens: int

    def __str__(self) -> str:
        return (
            f"what is always kept takes {self.protected_tokens:,} tokens, "
            f"{self.protected_tokens - self.max_tokens:,} more than the budget of {self.max_tokens:,}"
        )


@dataclass(frozen=True, slots=True)
class PlannedSummary:
    """A summary that will be written for the messages at `covers`, in at most `tokens`.

    Earlier summaries are merged into it. Their tokens are `absorbed`; of the numbers of a plan only `freed` counts
    them. `covered_tokens` is the size of the messages it replaces. It stands before position `place`, after the
    provider's `compaction` if one stays: the provider ignores what comes before that.
    """

    covers: tuple[int, ...]
    tokens: int
    covered_tokens: int
    absorbed: int
    place: int
    compaction: int | None

    def written(
        self, message: Callable[[int], Message], kept: Iterable[int], max_words: int, counter: TokenCounter
    ) -> JudgedSummary:
        """Return the built-in summary; `message` returns that of a position, `kept` are the positions that stay."""
        staying = [position for position in kept if message(position).role != "system"]
        around = Surroundings.of(
            self.covers, staying, lambda position: is_request(message(position)), self.compaction
        )
        return built_in(list(map(message, self.covers)), around, self.tokens, max_words, counter)


@dataclass(frozen=True, slots=True, repr=False)
class PrunePlan:
    """A planned prune. Positions are in order; columns are over all positions."""

    max_tokens: int
    strategy: str
    tokens_before: int
    tokens_after: int
    kept: tuple[int, ...]
    removed: tuple[int, ...]
    shortened: tuple[int, ...]
    over_budget: OverBudget | None
    scores: list[float]
    """A column of scores, 0...100."""
    parts: Mapping[str, Sequence[float]]
    """A column of ratings, 0...1, for each signal."""
    shortenings: Mapping[int, Shortening]
    """The shortening of each position in `shortened`."""
    summary: PlannedSummary | None
    """The summary that will be written, if any."""
    opening_tokens: int
    """The largest size of the opening line that the format requires (`scoring.formats.opening`), 0 if it needs none."""
    problems: tuple[str, ...]
    """The reasons why the list is not valid for every model; usually there are none."""
    _head: list[int]
    _stays: bytes
    _causes: Mapping[int, str]
    _why: Callable[[int], Why]

    @property
    def freed(self) -> int:
        """Return the tokens that the prune would free; a lower bound if a summary will be written."""
        return self.tokens_before - self.tokens_after + self.absorbed

    @property
    def absorbed(self) -> int:
        """Return the tokens of earlier summaries that are merged into the new one."""
        return self.summary.absorbed if self.summary is not None else 0

    def fate(self, position: int) -> Fate:
        """Return the fate of a message."""
        if not self._stays[position]:
            return "goes"
        if position in self.shortenings:
            return "shortened"
        return "protected" if self._head[position] in self._causes else "kept"

    def cause(self, position: int) -> str:
        """Return a short, stable code for the reason, to group by."""
        return self._explain(position).cause

    def reason(self, position: int) -> str:
        """Return the reason in words."""
        return self._explain(position).reason

    def check(self, history: History) -> None:
        """Check that the invariants of this module hold for this history, whatever the strategy did.

        Raises:
            InvalidList: they do not hold; this is always a bug, never caused by input.
        """
        stays, problems = self._stays, []
        heads = history.units.head
        if bytes(map(stays.__getitem__, heads)) != stays:
            torn = sorted({head for position, head in enumerate(heads) if stays[position] != stays[head]})
            problems += [f"the unit at {head} would be torn apart" for head in torn]
        if not all(stays[head] for head in self._causes):
            problems.append("a protected message would go")
        if any(not stays[p] for p in self.shortenings):
            problems.append("a message would be shortened and go")
        allowed = self.over_budget.protected_tokens if self.over_budget else self.max_tokens
        if self.tokens_after > allowed + self.absorbed:
            problems.append(f"{self.tokens_after:,} tokens would stay, {allowed:,} are allowed")
        if problems:
            raise InvalidList(problems)

    def _explain(self, position: int) -> Why:
        head = self._head[position]
        cause = self._causes.get(head)
        shortening = self.shortenings.get(position)
        short = shortening.why() if shortening is not None and shortening.why is not None else None
        if cause and short is not None and short.cause == "shortened":  # guarded, but shortened
            return Why(cause, f"{REASONS[cause]}; {short.reason}")
        if short is not None:
            return short
        return Why(cause, REASONS[cause]) if cause else self._why(head)


def plan_prune(
    history: History | Sequence[Message],
    settings: Settings,
    max_tokens: int,
    *,
    strategy: str | None = None,
    spare: Collection[int] = frozenset(),
    drop: Collection[int] = frozenset(),
    wire_format: str = "",
    model: str = "",
) -> PrunePlan:
    """Plan a prune of `history` to at most `max_tokens` (a budget for these messages alone; 0 means 0).

    Bare messages are counted and analysed first; to plan more than once, pass a `History`. Weights and keywords are
    those of the task type that applies.

    `strategy` overrides the settings. `spare` and `drop` are positions whose units the user keeps or drops in this
    plan; a unit named in both is spared. `wire_format` is the format in which the result will be sent, if known: some
    formats restrict the order of roles (`scoring.planning.role_order`), and so do the providers of some models: `model`
    is the one that gets the result.

    Raises:
        InvalidSettings: the budget is not a whole number of at least 0, the strategy is unknown, or `spare` or `drop`
            contain something that is not a position in the history.
        InvalidList: the plan would split a unit (a bug, never caused by input).
    """
    name = strategy or settings.strategy
    if not isinstance(history, History):
        history = History.of(history, settings=settings)
    _check_arguments(max_tokens, name, len(history), spare=spare, drop=drop)
    history = history.snapshot()
    settings = settings_for(settings, history.task_counts)
    chosen = STRATEGIES[name]

    def decided(history: History) -> Decision:
        protection = protect(history, settings, max_tokens, spare, drop)
        return decide(history, settings, max_tokens, chosen.choose, protection, drop)

    decision = with_commands(history, decided, drop, whole=takes_turns(wire_format))
    if decision.changes:  # a plan is responsible for what it drops, not for faults of its input
        apply_role_order(decision, wire_format, model)
    if (scores := decision.scores) is None:
        rate = chosen.rate
        history, causes = decision.history, decision.protection.causes
        scores = rate(history, settings, causes) if rate else score(history, settings)
    return _plan(decision, scores, name)


def _last_user_lost(decision: Decision) -> list[str]:
    """Return the problem that the last user message is dropped, [] if it is kept."""
    position = decision.protection.last_user_left_out
    if position is None or decision.stays[position]:
        return []
    tokens = decision.history.unit_tokens[decision.history.units.head[position]]
    return [f"the last user message takes {tokens:,} tokens and does not fit beside what is always kept"]


def _check_arguments(max_tokens: object, strategy: str, messages: int, **positions: Collection[int]) -> None:
    faults = []
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
        faults.append(
            Fault("max_tokens", f"expected a whole number of tokens, 0 or more, got {shown(max_tokens)}")
        )
    if strategy not in STRATEGIES:
        faults.append(Fault("strategy", f"expected one of {', '.join(STRATEGIES)}, got {shown(strategy)}"))
    for name, given in positions.items():
        if invalid := [p for p in given if not _is_position(p, messages)]:
            wanted = f"expected positions in a list of {messages:,} messages, counted from 0"
            faults.append(Fault(name, f"{wanted}, got {shown(invalid[0])}"))
    if faults:
        raise InvalidSettings(faults)


def _is_position(value: object, messages: int) -> bool:
    """Return whether a value is the position of a message, counted from 0; negative positions are refused."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < messages


def _plan(decision: Decision, scores: Scores, strategy: str) -> PrunePlan:
    """Return the decision as a plan, checked."""
    history, stays, shortenings = decision.history, bytes(decision.stays), decision.shortenings
    positions, whole = range(len(stays)), decision.stays[:]
    for position in shortenings:
        whole[position] = 0
    always, max_tokens = decision.protection.always_tokens, decision.max_tokens
    summary = _summary(decision)
    plan = PrunePlan(
        max_tokens=max_tokens,
        strategy=strategy,
        tokens_before=sum(history.tokens),
        tokens_after=decision.tokens() + (summary.absorbed if summary else 0),
        kept=tuple(compress(positions, whole)),
        removed=tuple(filterfalse(stays.__getitem__, positions)),
        shortened=tuple(sorted(shortenings)),
        over_budget=OverBudget(always, max_tokens) if always > max_tokens else None,
        scores=scores.scores,
        parts=scores.parts,
        shortenings=shortenings,
        summary=summary,
        opening_tokens=decision.opening_tokens,
        problems=(*_last_user_lost(decision), *decision.problems),
        _head=history.units.head,
        _stays=stays,
        _causes=decision.protection.causes,
        _why=decision.why,
    )
    plan.check(history)
    return plan


def _summary(decision: Decision) -> PlannedSummary | None:
    """Return the planned summary of a decision, in positions; None if it covers nothing."""
    cover, place = decision.cover, decision.summary_place
    if cover is None or place is None:
        return None
    history = decision.history
    covers = tuple(sorted(p for head in cover.heads if not decision.stays[head] for p in history.unit(head)))
    covered = sum([history.tokens[p] for p in covers])
    if not covers:
        return None
    return PlannedSummary(covers, cover.tokens, covered, cover.absorbed, place, decision.compaction)
