"""The verdict on a session (X18): the advice on its context, decided from its situation alone.

Nothing is advised without need. Above the target something has to be done. Below it, only clearing redundant outputs
can be worth it, and only if that pays back within the calls that are left at the session's own pace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scoring.budget import utilization
from scoring.counted import counted

Kind = Literal["empty", "over", "fine", "clear", "wait", "above", "resume", "now"]
Activity = Literal["live", "resting", "unused", "ended"]
Action = Literal["prune", "clear", "resume", "export"]

# A prune is urgent if at most so many turns are left until the context is full.
FEW_TURNS = 5
# More turns or calls than these are "many": the pace does not hold for so long.
MANY = 100
# The place of each kind in the order of the overview. An inactive session is never more urgent than RESTING.
URGENCY: Mapping[Kind, int] = {
    "empty": 0, "over": 0, "fine": 1, "clear": 2, "wait": 2, "above": 4, "resume": 5, "now": 6,
}  # fmt: skip
RESTING = 3

REVERSIBLE = "Can be undone."
UNTOUCHED = "Can be undone; the agent is untouched until you resume it."
WHEN_COLD = " now, at once when the provider's cache is cold"
NEW_FILE = "Writes a new transcript; the agent's own file is untouched."


@dataclass(frozen=True, slots=True)
class Price:
    """The tokens a plan frees, and the calls after which it has paid back; None if no prices are known.

    `over` is the excess of what is always kept over the plan's budget, in tokens.
    """

    freed: int
    break_even_calls: int | None
    over: int = 0


@dataclass(frozen=True, slots=True)
class Clearing:
    """A plan that clears redundant outputs only, to `max_tokens`. `superseded` counts superseded reads by file."""

    superseded: Mapping[str, int]
    repeated: int
    price: Price
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation that a verdict is made on; all sizes are in tokens, as shown on the pages."""

    tokens: int
    """The size of the agent's context, or of the only one."""
    limit: int
    target: int
    aim: int
    least_gain: int
    """A prune that frees less is not worth it."""
    growth: int | None = None
    """The tokens that a turn adds; None if unknown."""
    calls_per_turn: float = 1.0
    activity: Activity = "live"
    days_unused: int = 1
    """Whole days; matters if the activity is "unused"."""
    followed: bool = False
    """The session is read from an agent's transcript."""
    pruned: int = 0
    """The size of the pruned view."""
    reaches_agent: bool = False
    """Prunes reach the agent by themselves, with its next turn: the proxy applies them."""
    resumable: bool = True
    sub_agent: bool = False
    automatic: bool = False
    prune: Price | None = None
    """The price of a plan that cuts to the aim; None until it is known."""
    clear: Clearing | None = None
    """The plan that clears redundant outputs; None until it is known."""
    cache_is_warm: bool = False
    """The provider's cache is of use, so that a prune is cheaper later, unless its price is 0 calls (X26)."""
    emergency: bool = False
    """The emergency path is offered for the pruned view."""

    @property
    def turns_to_target(self) -> int | None:
        """Return the turns until the target at the current growth; None if the context does not grow."""
        return _turns_until(self.target, self.tokens, self.growth)

    @property
    def turns_to_limit(self) -> int | None:
        """Return the turns until the context is full at the current growth; None if it does not grow."""
        return _turns_until(self.limit, self.tokens, self.growth)

    def waits(self, price: Price | None) -> bool:
        """Return whether a plan should wait for a cold cache: it costs something now, and nothing then."""
        return self.cache_is_warm and price is not None and bool(price.break_even_calls)

    def pays_back(self, price: Price, turns: int | None) -> bool:
        """Return whether a plan has paid back within so many turns of this session, and within MANY calls."""
        calls = MANY if turns is None else min(MANY, turns * self.calls_per_turn)
        return price.break_even_calls is None or price.break_even_calls <= calls


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict: `text` is one sentence without a full stop; `urgency` orders sessions, the highest first.

    `action` is the advised action, `label` the text of its button and `safety` a sentence on what it leaves untouched;
    None and empty if nothing is needed. The action's plan cuts to `max_tokens`; None for the aim.
    """

    kind: Kind
    text: str
    urgency: int
    action: Action | None = None
    label: str = ""
    safety: str = ""
    max_tokens: int | None = None


def _turns_until(bound: int, tokens: int, growth: int | None) -> int | None:
    """Return the whole turns until a context reaches `bound`, from its growth per turn; None if it does not grow."""
    return None if growth is None or growth <= 0 else max(0, (bound - tokens) // growth)


def verdict_of(situation: Situation) -> Verdict:
    """Return the verdict on a session in this situation."""
    if situation.tokens <= 0:
        return Verdict("empty", "The context is empty", URGENCY["empty"])
    if situation.activity in ("unused", "ended"):
        why = (
            "it has ended"
            if situation.activity == "ended"
            else f"not used for {_duration(situation.days_unused)}"
        )
        return _nothing_needed("over", situation, f": {why}")
    if situation.tokens > situation.target:
        return _above(situation)
    if (clear := situation.clear) is not None and _is_worth_clearing(situation, clear):
        back = _payback(clear.price) or " makes every call smaller"
        waits = situation.waits(clear.price)
        text = f"{_redundant_words(clear)}: clearing them{back}{WHEN_COLD if waits else ''}"
        kind: Kind = "wait" if waits else "clear"
        return _advice(kind, situation, text, "clear", "Clear them…", max_tokens=clear.max_tokens)
    return _nothing_needed("fine", situation, _pace(situation))


def price_needed(situation: Situation) -> Literal["prune", "clear"] | None:
    """Return the plan whose price the verdict depends on, `prune` or `clear`; None where it depends on none."""
    if situation.tokens <= 0 or situation.activity in ("unused", "ended"):
        return None
    if situation.tokens <= situation.target:
        return "clear" if _can_be_sent(situation) else None
    of_sub_agent = situation.sub_agent and situation.followed
    return "prune" if situation.pruned > situation.target and not of_sub_agent else None


def _nothing_needed(kind: Kind, situation: Situation, why: str) -> Verdict:
    return Verdict(kind, f"{_fullness(situation)}. Nothing needed{why}", URGENCY[kind])


def _advice(
    kind: Kind,
    situation: Situation,
    text: str,
    action: Action,
    label: str,
    *,
    max_tokens: int | None = None,
) -> Verdict:
    urgency = URGENCY[kind] if situation.activity == "live" else min(URGENCY[kind], RESTING)
    safety = UNTOUCHED if situation.followed and not situation.reaches_agent else REVERSIBLE
    safety = {"resume": NEW_FILE, "export": ""}.get(action, safety)
    return Verdict(kind, text, urgency, action, label, safety, max_tokens)


# -- above the target


def _above(situation: Situation) -> Verdict:
    if situation.followed and situation.pruned <= situation.target:
        if situation.reaches_agent:
            return _nothing_needed("fine", situation, ": the prune reaches the agent with its next turn")
        return _resume(situation)
    if situation.sub_agent and situation.followed:
        return _nothing_needed("fine", situation, ": a sub-agent ends with its task")
    price, turns = situation.prune, situation.turns_to_limit
    if price is not None and _gains_little(situation, price):
        return _little_gained(situation, price)
    if _runs_out(situation):
        return _advice("now", situation, _now(situation, turns), "prune", "See the plan…")
    freed = situation.pruned - situation.aim if price is None else price.freed
    text = f"{_above_target(situation)}: pruning to {_reached(situation)} frees about {_tokens(freed)} tokens"
    if price is not None and (back := _payback(price)):
        if situation.waits(price):
            return _advice("wait", situation, f"{text} and{back}{WHEN_COLD}", "prune", "See the plan…")
        soon = situation.pays_back(price, turns)
        text += f" and{back}" if soon else f", but{back}, more than are left before it is full"
    return _advice("above", situation, text, "prune", "See the plan…")


def _above_target(situation: Situation) -> str:
    return f"{_fullness(situation)}, above the target of {_percent(situation.target, situation)}"


def _gains_little(situation: Situation, price: Price) -> bool:
    """Return whether a prune frees nothing, or what is always kept leaves too little to free or a full context."""
    too_large = situation.aim + price.over >= situation.limit
    return price.freed <= 0 or (price.over > 0 and (price.freed < situation.least_gain or too_large))


def _little_gained(situation: Situation, price: Price) -> Verdict:
    """Return the verdict if a prune gains little: what helps instead."""
    smaller = situation.pruned <= situation.tokens - situation.least_gain
    if situation.followed and situation.resumable and smaller and not situation.reaches_agent:
        return _resume(situation)
    text = f"{_above_target(situation)}, and all that is left is protected"
    if price.freed > 0:
        text = f"{_above_target(situation)}: pruning frees only about {_tokens(price.freed)} tokens"
        if (reached := _reached(situation)) != _percent(situation.pruned, situation):
            text += f", to {reached}"
    helps = "an emergency prune" if situation.emergency else "a model with a larger window"
    kind: Kind = "now" if _runs_out(situation) else "above"
    return _advice(kind, situation, f"{text}; {helps} helps", "prune", "See why…")


def _reached(situation: Situation) -> str:
    """Return the share of the limit that the plan leaves; before there is one, the aim."""
    left = situation.aim if situation.prune is None else situation.pruned - situation.prune.freed
    return _percent(left, situation)


def _runs_out(situation: Situation) -> bool:
    """Return whether the context is full, or will be in a few turns."""
    turns = situation.turns_to_limit
    return situation.tokens >= situation.limit or (turns is not None and turns <= FEW_TURNS)


def _now(situation: Situation, turns: int | None) -> str:
    begin = "Prune now" if situation.activity == "live" else "Prune before you go on"
    text = (
        f"{begin}: {_fullness(situation) if situation.tokens >= situation.limit else _turns_left(turns or 0)}"
    )
    if (price := situation.prune) is not None and (back := _payback(price)):
        to = f", down to {_reached(situation)}," if price.over else ""
        text += f", and freeing about {_tokens(price.freed)} tokens{to}{back}"
    return text


def _resume(situation: Situation) -> Verdict:
    """Return the verdict if the pruned view is small enough but the agent still sends the whole context."""
    share, pruned = _percent(situation.tokens, situation), _percent(situation.pruned, situation)
    if situation.resumable and situation.cache_is_warm and not _runs_out(situation):
        text = f"Resume from a pruned copy when the provider's cache is cold: it is {pruned} full"
        return _advice("wait", situation, f"{text}, the agent's own context {share}", "resume", "Resume…")
    if situation.resumable:
        text = f"Resume from a pruned copy: it is {pruned} full, the agent's own context {share}"
        return _advice("resume", situation, text, "resume", "Resume…")
    if situation.sub_agent:
        return _nothing_needed("fine", situation, ": a sub-agent ends with its task")
    text = _sentence(f"{share} full: the pruned view, {pruned} full, can be exported")
    return _advice("above", situation, text, "export", "Export…")


# -- below the target


def _is_worth_clearing(situation: Situation, clear: Clearing) -> bool:
    """Return whether the gain is worth a prune and pays back before the target is reached."""
    enough = clear.price.freed >= situation.least_gain
    return _can_be_sent(situation) and enough and situation.pays_back(clear.price, situation.turns_to_target)


def _can_be_sent(situation: Situation) -> bool:
    """Return whether there is a way to send a smaller pruned view to the provider."""
    return not situation.followed or situation.resumable or situation.reaches_agent


def _redundant_words(clear: Clearing) -> str:
    """Return the redundant outputs and their size in words: "9 superseded reads of spec.md hold 41k tokens"."""
    reads, files = sum(clear.superseded.values()), len(clear.superseded)
    count = reads + clear.repeated
    holds = f"hold{'s' if count == 1 else ''} {_tokens(clear.price.freed)} tokens"
    if not reads:
        return f"{counted(count, 'repeated output')} {holds}"
    if clear.repeated:
        return f"{count:,} superseded reads and repeated outputs {holds}"
    name = next(iter(clear.superseded)) if files == 1 else f"{files:,} files"
    return f"{counted(reads, 'superseded read')} of {name} {holds}"


def _pace(situation: Situation) -> str:
    if situation.automatic and (situation.reaches_agent or not situation.followed):
        return ": it prunes automatically above the target"
    turns = situation.turns_to_target
    if turns is None:
        return ""
    if turns == 0:
        return " yet: above the target at the next turn"
    return f": {_turns_left(turns)} to the target at this pace"


# -- words


def _fullness(situation: Situation) -> str:
    """Return how full the context is, and how full it would be with the pruned view."""
    share, pruned = _percent(situation.tokens, situation), _percent(situation.pruned, situation)
    differs = situation.followed and situation.pruned < situation.tokens and pruned != share
    shows_pruned = differs and (situation.resumable or situation.reaches_agent)
    return _sentence(f"{share} full, its pruned view {pruned}" if shows_pruned else f"{share} full")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _turns_left(turns: int) -> str:
    """Return the turns left in words: exact up to 20, then rounded to fives."""
    if turns >= MANY:
        return "many turns left"
    if turns > FEW_TURNS:
        return f"about {turns if turns <= 20 else 5 * round(turns / 5)} turns left"
    return f"{counted(turns, 'turn')} left" if turns else "the next turn may not fit"


def _duration(days: int) -> str:
    """Return a time of at least a day in its largest whole unit: "a day", "3 weeks", "2 years"."""
    for unit, size in (("year", 365), ("month", 30), ("week", 7)):
        if days >= size:
            return counted(days // size, unit) if days >= 2 * size else f"a {unit}"
    return counted(days, "day") if days > 1 else "a day"


def _payback(price: Price) -> str:
    """Return the calls after which a plan has paid back, in words; "" if no prices are known."""
    calls = price.break_even_calls
    if calls is None:
        return ""
    return f" pays back after {counted(calls, 'call')}" if calls else " pays back at once"


def _percent(tokens: int, situation: Situation) -> str:
    return percent_words(tokens, situation.limit, situation.target)


def percent_words(tokens: int, limit: int, target: int) -> str:
    """Return a share of the limit in whole percent, with one decimal within a percent of the target or the limit.

    Only a full context is 100 % full, and only an empty one 0 %. The target itself has a decimal if it is not whole.
    """
    share = utilization(tokens, limit)
    if tokens == target:
        return f"{share:,.1f}".removesuffix(".0") + " %"
    if tokens != limit and any(abs(tokens - bound) < limit / 100 for bound in (target, limit)):
        return f"{share:,.1f} %"
    whole = f"{100 * tokens / limit:,.0f}"
    return "under 1 %" if whole == "0" and tokens > 0 else f"{whole} %"


def _tokens(count: int) -> str:
    """Return a number of tokens with two leading digits: "840", "9.8k", "41k", "1.2M"."""
    if count < 1_000:
        return f"{count:,}"
    rounded = round(float(f"{count:.2g}"))
    if rounded < 1_000_000:
        return f"{rounded / 1_000:g}k"
    return f"{rounded / 1_000_000:,g}M"
