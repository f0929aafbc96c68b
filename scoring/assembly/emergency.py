"""The emergency path: the last resort when a context does not fit, and the only one that cuts protected messages.

First, if a provider has reported an overflow, the oldest half of the turns is dropped (P6). Then, in this order and
only until the list fits (S5): images in the middle are removed, large contents in the middle are cut, the oldest
unprotected units are dropped, and last of all protected messages are cut. A unit that does not fit even beside the
system messages alone is dropped before all that, or everything else would be dropped in vain. The result is within the
budget, including repairs, and has a user message if there was one; if that is impossible, an error has the numbers.
Each step passes over the list once, so the cost is linear. Units are whole at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from scoring.counted import counted
from scoring.errors import ScoringError
from scoring.formats import repair
from scoring.history import is_compacted
from scoring.messages import Message, Text, ToolResult, Units, has_own_words, links_of
from scoring.summary import CUT, HEAD_CHARS, TAIL_CHARS, Summary, cut_message, shortened, without_media
from scoring.tokens import ESTIMATOR, TokenCounter, estimate_message_tokens

MIN_RECENT = 6
# Protected messages are cut to these sizes, one after the other: head and tail in characters.
PROTECTED_CUTS = ((HEAD_CHARS, TAIL_CHARS), (200, 100))


class SystemTooLarge(ScoringError):
    """The system messages alone exceed the budget, so dropping messages cannot help."""

    def __init__(self, system_tokens: int, available: int) -> None:
        self.system_tokens, self.available = system_tokens, available
        super().__init__(
            f"the system prompt alone takes {system_tokens:,} tokens, {system_tokens - available:,} more than the "
            f"{available:,} available; shorten it or choose a model with a larger window"
        )


class NoUserMessageFits(ScoringError):
    """The system messages leave no room for any user message, so nothing could be sent (X6)."""

    def __init__(self, system_tokens: int, available: int) -> None:
        super().__init__(
            f"no user message, even cut, fits in the {available - system_tokens:,} tokens that the system prompt "
            f"({system_tokens:,}) leaves of the {available:,} available; shorten the system prompt or choose a model "
            "with a larger window"
        )


@dataclass(frozen=True, slots=True)
class Emergency:
    """The outcome of an emergency. Positions are those in the input list.

    `messages` are the kept messages in order, `kept` their positions, `dropped` all others. `changed` maps the position
    of each shortened message to its new form; `images` and `shortened` are the positions whose media were replaced and
    whose contents were cut. `cut_protected` is True if protected messages were cut. `note` is for the summary, never
    for the history.
    """

    messages: tuple[Message, ...]
    tokens: int
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    changed: dict[int, Message]
    images: tuple[int, ...]
    shortened: tuple[int, ...]
    cut_protected: bool
    note: str

    @property
    def nothing_done(self) -> bool:
        """Return whether the list is unchanged."""
        return not self.dropped and not self.changed


def relieve(
    items: Sequence[Message | Summary],
    available: int,
    *,
    tokens: Sequence[int] | None = None,
    min_recent: int = MIN_RECENT,
    pinned: Collection[int] = (),
    overflow: bool = False,
    counter: TokenCounter = ESTIMATOR,
    model: str | None = None,
) -> Emergency:
    """Cut a context of a model to at most `available` tokens.

    `tokens` are the items' costs, if known. With `overflow` the oldest half of the turns is dropped first, whether or
    not the estimate fits, because the provider has said that it does not.

    Raises:
        SystemTooLarge: the system messages alone exceed `available`.
        NoUserMessageFits: there are user messages, and none fits beside the system messages.
    """
    costs = tuple(tokens) if tokens is not None else _costs(items, counter)
    budget, step = available, 1
    while True:
        work = _Work(items, budget, costs, pinned, counter)
        if work.system > available:
            raise SystemTooLarge(work.system, available)
        work.drop_what_cannot_stay(min_recent)
        if overflow:
            work.drop_half_of_the_turns()
        if work.total > budget:
            work.protect(min_recent)
            work.truncate()
        done = work.result()
        growth = done.tokens + _repairs_cost(done.messages, model, counter) - available
        if growth <= 0 or budget <= work.system:
            break
        # Based on the last result, because cuts are whole units; the step doubles, because repairs can grow too.
        budget = max(work.system, min(budget, done.tokens) - growth * step)
        step *= 2
    if work.lost_the_user():
        raise NoUserMessageFits(work.system, available)
    return done


def _costs(items: Sequence[Message | Summary], counter: TokenCounter) -> tuple[int, ...]:
    messages = (item.as_message() if isinstance(item, Summary) else item for item in items)
    return tuple(estimate_message_tokens(m, counter) for m in messages)


def _repairs_cost(messages: Sequence[Message], model: str | None, counter: TokenCounter) -> int:
    """Return the tokens that repairs will add: placeholders for missing results, an opening line."""
    repaired, notes = repair(messages, model)
    if not notes:
        return 0
    there = {id(m) for m in messages}
    after = {id(m) for m in repaired}
    new = sum(estimate_message_tokens(m, counter) for m in repaired if id(m) not in there)
    return new - sum(estimate_message_tokens(m, counter) for m in messages if id(m) not in after)


def _cut(message: Message, tokens: int, counter: TokenCounter) -> Message:
    """Return the message cut to `tokens`, as far as possible; tool results are cut before the user's own words."""
    cut = cut_message(message, tokens, counter)
    if has_own_words(cut) or not has_own_words(message):
        return cut
    bare = tuple(replace(p, text="") if isinstance(p, ToolResult) else p for p in message.parts)
    cut = cut_message(replace(message, parts=bare), tokens, counter)
    return cut if has_own_words(cut) else replace(cut, parts=(*cut.parts, Text(CUT)))


class _Work:
    """The list in progress: the message and cost of each position, and which positions are still in it."""

    def __init__(
        self,
        items: Sequence[Message | Summary],
        available: int,
        tokens: Sequence[int],
        pinned: Collection[int],
        counter: TokenCounter,
    ) -> None:
        self.pinned = frozenset(pinned)
        self.available, self.counter = available, counter
        self.summaries = {n for n, item in enumerate(items) if isinstance(item, Summary)}
        self.now = [item.as_message() if isinstance(item, Summary) else item for item in items]
        self.cost = list(tokens)
        self.total = sum(self.cost)
        self.there = bytearray(b"\1") * len(self.now)
        self.units = Units()
        self.units.extend(map(links_of, self.now))
        # The units that replace earlier messages.
        self.substitutes = {*self.summaries, *self._newest_compaction()}
        self.systems = {n for n, m in enumerate(self.now) if m.role == "system"}
        self.system = sum(self.cost[n] for n in self.systems)
        self.protected: set[int] = set()
        self.changed: dict[int, Message] = {}
        self.images: set[int] = set()
        self.shortened: set[int] = set()
        self.cut_protected = False

    # -- what cannot stay

    def drop_what_cannot_stay(self, min_recent: int) -> None:
        """Drop units that do not fit beside the system messages even when cut as far as possible."""
        room = self.available - self.system
        gone = [h for h in self._heads() if not self._could_stay(h, room)]
        if gone:
            self.protect(min_recent)
            self.cut_protected = any(not self.protected.isdisjoint(self.units.of(h)) for h in gone)
            self._drop(gone)

    def _could_stay(self, head: int, room: int) -> bool:
        unit = self.units.of(head)
        if sum(self.cost[n] for n in unit) <= room or not self.systems.isdisjoint(unit):
            return True
        return sum(map(self._least, unit)) <= room

    def _least(self, position: int) -> int:
        """Return the tokens of a message when it is cut as far as possible; a summary is never cut."""
        if position in self.summaries:
            return self.cost[position]
        cut = _cut(without_media(self.now[position]), 0, self.counter)
        return min(self.cost[position], estimate_message_tokens(cut, self.counter))

    # -- half of the turns

    def drop_half_of_the_turns(self) -> None:
        """Drop the oldest half of the turns; of a single turn keep only the user's message."""
        starts = [n for n in self._present() if has_own_words(self.now[n]) and n not in self.summaries]
        if len(starts) >= 2:
            boundary = starts[len(starts) // 2]
            self._drop(h for h in self._heads() if self.units.of(h)[-1] < boundary and not self._lasts(h))
        elif starts:
            last = self.units.head[starts[0]]
            self._drop(h for h in self._heads() if h != last and not self._lasts(h))

    def _lasts(self, head: int) -> bool:
        """Return whether a unit belongs to no turn: a substitute for earlier messages, or pinned."""
        return head in self.substitutes or not self.pinned.isdisjoint(self.units.of(head))

    # -- in order, until it fits

    def protect(self, min_recent: int) -> None:
        """Set the protected positions: system, substitutes, pinned, the last user message, the newest.

        Units are protected whole.
        """
        protected = {*self.systems, *self.substitutes}
        spoken = [n for n in self._present() if n not in protected]
        asked = self._last_words(spoken)
        protected.update(self.pinned, spoken[max(0, len(spoken) - max(1, min_recent)) :])
        protected.update(() if asked is None else (asked,))
        for head in {self.units.head[n] for n in protected}:
            protected.update(self.units.of(head))
        self.protected = protected

    def truncate(self) -> None:
        """Take each step in turn, from the oldest message on, until the list fits."""
        middle = [n for n in self._present() if n not in self.protected]
        if self._strip(middle) or self._shorten(middle, HEAD_CHARS, TAIL_CHARS):
            return
        if self._drop_until_fits(
            h for h in self._heads() if not self.protected.intersection(self.units.of(h))
        ):
            return
        self.cut_protected = True
        self._inside_protected()

    def _inside_protected(self) -> None:
        rest = [n for n in self._present() if n not in self.systems]
        asked = self._last_words(rest)
        # A stored summary has one form: it stays whole, or goes.
        others = [n for n in rest if n != asked and n not in self.summaries]
        if self._strip(others):
            return
        for head, tail in PROTECTED_CUTS:
            if self._shorten(others, head, tail):
                return
        if asked is not None and (self._strip([asked]) or self._shorten([asked], *PROTECTED_CUTS[0])):
            return
        stays = {self.units.head[asked]} if asked is not None else set()
        heads = [
            h for h in self._heads() if h not in stays and not self.systems.intersection(self.units.of(h))
        ]
        substitutes = [h for h in heads if h in self.substitutes]
        last = [h for h in heads if h not in self.substitutes][-1:]
        oldest = [h for h in heads if h not in self.substitutes and h not in last]
        if self._drop_until_fits([*oldest, *substitutes, *last]):
            return
        if asked is not None:
            for n in (*(n for n in self.units.of(asked) if n != asked), asked):
                self._cut_to(n, self.available - self.total + self.cost[n])
        if self.total > self.available:  # a unit that reaches into system messages' places
            self._drop(self._heads())

    # -- steps

    def _newest_compaction(self) -> set[int]:
        """Return the head of the unit with the provider's newest compaction: it replaces all that came before."""
        newest = next((n for n in reversed(range(len(self.now))) if is_compacted(self.now[n])), None)
        return set() if newest is None else {self.units.head[newest]}

    def lost_the_user(self) -> bool:
        """Return whether there were user messages and none of them is left."""
        everything = range(len(self.now))
        return self._last_words(self._present()) is None and self._last_words(everything) is not None

    def _last_words(self, positions: Sequence[int]) -> int | None:
        """Return the position of the last user message; None without any."""
        return next(
            (n for n in reversed(positions) if has_own_words(self.now[n]) and n not in self.summaries), None
        )

    def _present(self) -> list[int]:
        return [n for n, there in enumerate(self.there) if there]

    def _heads(self) -> list[int]:
        return [h for h in self.units.heads() if self.there[h]]

    def _put(self, position: int, message: Message) -> bool:
        """Replace a message, if that costs less; return whether it was replaced."""
        cost = estimate_message_tokens(message, self.counter)
        if cost >= self.cost[position]:
            return False
        self.total -= self.cost[position] - cost
        self.cost[position], self.now[position] = cost, message
        self.changed[position] = message
        return True

    def _each(self, positions: Iterable[int], make: Callable[[Message], Message], done: set[int]) -> bool:
        for n in positions:
            if self.total <= self.available:
                return True
            message = make(self.now[n])
            if message is not self.now[n] and self._put(n, message):
                done.add(n)
        return self.total <= self.available

    def _strip(self, positions: Iterable[int]) -> bool:
        return self._each(positions, without_media, self.images)

    def _shorten(self, positions: Iterable[int], head: int, tail: int) -> bool:
        return self._each(
            positions, lambda m: shortened(m, head, tail, error_lines=0, results_only=False), self.shortened
        )

    def _cut_to(self, position: int, tokens: int) -> None:
        message = _cut(self.now[position], max(0, tokens), self.counter)
        if message.parts and self._put(position, message):
            self.shortened.add(position)

    def _drop_until_fits(self, heads: Iterable[int]) -> bool:
        for head in heads:
            if self.total <= self.available:
                return True
            self._drop((head,))
        return self.total <= self.available

    def _drop(self, heads: Iterable[int]) -> None:
        """Drop whole units, except those with a system message."""
        for head in heads:
            unit = self.units.of(head)
            if self.systems.intersection(unit):
                continue
            for n in unit:
                if self.there[n]:
                    self.there[n] = 0
                    self.total -= self.cost[n]

    # -- result

    def result(self) -> Emergency:
        """Return the outcome."""
        kept = tuple(self._present())
        dropped = tuple(n for n, there in enumerate(self.there) if not there)
        messages = sum(n not in self.summaries for n in dropped)
        return Emergency(
            messages=tuple(self.now[n] for n in kept),
            tokens=self.total,
            kept=kept,
            dropped=dropped,
            changed={n: m for n, m in self.changed.items() if self.there[n]},
            images=tuple(sorted(n for n in self.images if self.there[n])),
            shortened=tuple(sorted(n for n in self.shortened if self.there[n])),
            cut_protected=self.cut_protected,
            note=f"Emergency compression dropped {counted(messages, 'oldest message')}" if messages else "",
        )
