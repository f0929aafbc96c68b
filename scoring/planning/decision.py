"""Decides what is kept: protected units, then the strategy's choice among the rest.

The stages that come before dropping replace outputs before the strategy chooses.

Units that are marked to drop first are dropped as soon as anything has to be dropped; the strategy chooses among them
only if all the others stay. Choices are made for whole units, identified by their heads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cached_property, partial
from itertools import compress

from scoring.history import History, reads_traces
from scoring.planning.changed_lines import changed_lines
from scoring.planning.guards import commands_of
from scoring.planning.protection import ALWAYS, Protection
from scoring.planning.score import Scores
from scoring.planning.stages import run
from scoring.planning.stages.contract import StageInput, State
from scoring.planning.strategies import Choice, Cover, Shortening, StrategyInput, Why
from scoring.planning.strategies.contract import OUTDATED, Changed, cut, mark_changed
from scoring.settings import Settings


class Decision:
    """A decision in progress: the messages that stay (`stays`, one flag for each position), and the reasons."""

    def __init__(
        self,
        history: History,
        max_tokens: int,
        protection: Protection,
        dropped: Collection[int],
    ) -> None:
        self.history, self.max_tokens, self.protection = history, max_tokens, protection
        self.scores: Scores | None = None  # if the strategy scored the messages
        self.cover: Cover | None = None  # the units that a summary will cover
        self.opening_tokens = 0  # of the opening line, for a list that no user message can begin
        self.stays = bytearray(len(history))
        self.shortenings: dict[int, Shortening] = {}
        self.problems: list[str] = []
        self._dropped = dropped
        self._first: Choice | None = None  # among units that are not marked to drop first
        self._last: Choice | None = None  # among units that are
        self._mended: dict[int, Why] = {}  # changes that the wire format required afterwards
        self._left: int | None = None  # the unused tokens, once computed

    def mark(self, heads: Collection[int], stay: int = 1) -> None:
        """Let whole units stay (1) or go (0)."""
        stays, members = self.stays, self.history.units.members
        for head in heads:
            stays[head] = stay
            for position in members.get(head, ()):
                stays[position] = stay

    def choose_among(
        self, given: StrategyInput, choose: Callable[[StrategyInput], Choice], *, marked: bool
    ) -> int | None:
        """Keep the candidates and return the room left; if they do not fit, apply the strategy's choice: None.

        `marked`: the candidates are marked to drop first.
        """
        costs, protection = given.history.unit_tokens, self.protection
        total = sum([costs[h] for h in given.candidates])
        if total <= given.room:
            self.mark(given.candidates)
            return given.room - total
        candidates = frozenset(given.candidates)
        guarded = [head for head in protection.guarded if head in candidates]
        room, outdated = protection.guarded_room, protection.outdated
        given = replace(given, guarded=guarded, guarded_room=room, outdated=outdated, stays=self.stays)
        choice = choose(given)
        self.mark(choice.kept)
        self.shortenings.update(choice.shortened)
        self.scores, self.cover = choice.scores, choice.cover
        if marked:
            self._last = choice
        else:
            self._first = choice
        return None

    def stage(self, settings: Settings, free: Collection[int], room: int) -> History:
        """Replace outputs, if the units at these heads do not fit as they are.

        Returns the history with the reduced costs, for the strategies.
        """
        if not reads_traces(settings):
            return self.history
        excess = sum([self.history.unit_tokens[head] for head in free]) - room
        given = StageInput(self.history, settings, frozenset(free), self.protection.causes)
        staged = run(given, excess, self.state_of)
        if staged is None:
            return self.history
        self.shortenings.update(staged.shortened)
        return staged.history

    def state_of(self, position: int) -> State:
        """Return the state of a message in this decision."""
        if not self.stays[position]:
            return "gone"
        return "shortened" if position in self.shortenings else "whole"

    def forget_gone(self) -> None:
        """Discard the shortenings of messages that are dropped."""
        stays = self.stays
        self.shortenings = {p: short for p, short in self.shortenings.items() if stays[p]}

    def mark_changed(self) -> None:
        """Mark lines in outputs that were removed by an edit which is dropped; messages always kept are not changed."""
        history, causes = self.history, self.protection.causes
        for position, changed in changed_lines(history, self.stays).items():
            known = self.shortenings.get(position)
            if causes.get(history.units.head[position]) in ALWAYS or (known is not None and not known.rows):
                continue
            content = history.features[position].content
            if content is None or not content.rows.ends:
                continue  # the message has other content than outputs
            self.shortenings[position] = _marking(changed, known, history.tokens[position])

    def why(self, head: int) -> Why:
        """Return why an unprotected unit stays or goes."""
        if head in self._mended:
            return self._mended[head]
        if head in self._dropped:
            return Why("dropped", "dropped: chosen by you")
        first = self.history.drop_first
        if first and any(p in first for p in self.history.unit(head)):
            if self._last is not None and head in self._last.kept:
                return self._last.explain(head)
            if not self.stays[head]:
                return Why("dropped_first", "dropped: marked to drop first")
        elif self._first is not None:
            return self._first.explain(head)
        if self.shortenings:
            return Why("fits", "kept: everything fits, with outputs shortened")
        return Why("fits", "kept: everything fits")

    @cached_property
    def _commands(self) -> dict[int, int]:
        """Return the position of the command of each output in a user message, by the position of the output."""
        return commands_of(self.history)

    @property
    def changes(self) -> bool:
        """Return whether anything is dropped or shortened."""
        return 0 in self.stays or bool(self.shortenings)

    @property
    def summary_place(self) -> int | None:
        """Return the position before which the summary that will be written stands, None without one.

        That is its first message, but after the provider's compaction. The summary counts as a user message.
        """
        if self.cover is None:
            return None
        first, compaction = min(self.cover.heads), self.compaction
        return first if compaction is None else max(first, compaction + 1)

    @property
    def compaction(self) -> int | None:
        """Return the position of the provider's newest compaction that stays; None if there is none."""
        return next((p for p in reversed(self.history.compactions) if self.stays[p]), None)

    def put_back_user(self, positions: Iterable[int], why: Why) -> int | None:
        """Put back the first dropped user message among these that fits; returns its position, or None.

        The output of a command that was dropped is never put back.
        """
        history, head = self.history, self.history.units.head
        covered = self.cover.heads if self.cover is not None else frozenset()
        for position in positions:
            unit = head[position]
            asks = history.roles[position] == "user" and not history.features[position].results
            command = self._commands.get(position)
            asks = asks and (command is None or bool(self.stays[command]))
            fits = asks and history.unit_tokens[unit] <= self.left()
            if fits and unit == position and unit not in self._dropped and unit not in covered:
                self.mark([unit])
                self._mended[unit] = why
                self._left = self.left() - history.unit_tokens[unit]
                return position
        return None

    def open_with_line(self, tokens: int) -> bool:
        """Add an opening line of at most `tokens`; returns False if it does not fit."""
        if self.left() < tokens:
            return False
        self.opening_tokens, self._left = tokens, self.left() - tokens
        return True

    def take_out(self, heads: Collection[int], why: Why) -> None:
        """Drop units that were kept so far."""
        left = self.left()
        for position in (p for head in heads for p in self.history.unit(head)):
            short = self.shortenings.pop(position, None)
            left += short.tokens if short is not None else self.history.tokens[position]
        self.mark(heads, 0)
        self._mended.update(dict.fromkeys(heads, why))
        self._left = left

    def drop_outdated(self) -> bool:
        """Drop what stays although something that replaces it was taken out; return whether there was any."""
        gone = {head for head in self._mended if not self.stays[head]}
        old = [
            head
            for head, newer in self.protection.outdated.items()
            if self.stays[head] and head not in self.protection.causes and not gone.isdisjoint(newer)
        ]
        self.take_out(old, OUTDATED)
        return bool(old)

    def left(self) -> int:
        """Return the unused tokens of the budget."""
        if self._left is None:
            self._left = self.max_tokens - self.tokens()
        return self._left

    def tokens(self) -> int:
        """Return the tokens that stay, less those that a summary absorbs."""
        tokens = self.history.tokens
        saved = sum([tokens[p] - s.tokens for p, s in self.shortenings.items()])
        summary = self.cover.tokens - self.cover.absorbed if self.cover is not None else 0
        return sum(compress(tokens, self.stays)) - saved + summary + self.opening_tokens


def decide(
    history: History,
    settings: Settings,
    max_tokens: int,
    choose: Callable[[StrategyInput], Choice],
    protection: Protection,
    drop: Collection[int],
) -> Decision:
    """Decide which messages of a history stay within `max_tokens`."""
    causes, head = protection.causes, history.units.head
    dropped = {head[p] for p in drop} - causes.keys()
    marked = {head[p] for p in history.drop_first} - causes.keys() - dropped
    decision = Decision(history, max_tokens, protection, dropped)
    decision.mark(causes)
    excluded = {*causes, *dropped, *marked}
    free = [head for head in history.units.heads() if head not in excluded]
    room = max(0, max_tokens - protection.tokens)
    staged = decision.stage(settings, free, room)
    left = decision.choose_among(StrategyInput(staged, settings, free, room, causes), choose, marked=False)
    if left is not None and marked:
        others = StrategyInput(staged, settings, sorted(marked), left, causes.keys() | free)
        decision.choose_among(others, choose, marked=True)
    causes.update((head, cause) for head, cause in protection.guarded.items() if decision.stays[head])
    if decision.shortenings:
        decision.forget_gone()
    if settings.mark_changed and 0 in decision.stays:
        decision.mark_changed()
    return decision


def _marking(changed: Changed, known: Shortening | None, tokens: int) -> Shortening:
    """Return the shortening of a message that also has changed lines marked."""
    if known is not None:
        return replace(known, apply=partial(cut, known.rows, changed=changed), changed=changed)
    why = Why("changed", "shortened: lines are marked that a later edit removed; that edit is dropped")
    return Shortening(tokens, partial(mark_changed, changed), why=lambda: why, lasting=True, changed=changed)
