"""Decides what stays: protected units, then what the strategy keeps of the rest, then how the list opens.

Units that are marked to go first are out as soon as anything has to go; only where all the others stay does the
strategy choose among them too. All marks are made at heads of units and spread to their members at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from scoring.history import History
from scoring.protection import Protection
from scoring.score import Scores
from scoring.selection import Choice, Shortening, Strategy, Task, Why
from scoring.settings import Settings


class Decision:
    """Which messages stay (`stays`, a flag a position), and how to say why."""

    __slots__ = (
        "_dropped", "_first", "_last", "_opening", "history", "max_tokens", "problems", "protection", "scores",
        "shortenings", "stays",
    )  # fmt: skip

    def __init__(
        self,
        history: History,
        max_tokens: int,
        protection: Protection,
        dropped: Collection[int],
    ) -> None:
        self.history, self.max_tokens, self.protection = history, max_tokens, protection
        self.scores: Scores | None = None  # as the strategy rated, where it did
        self.stays = bytearray(len(history))
        self.shortenings: Mapping[int, Shortening] = {}
        self.problems: list[str] = []
        self._dropped = dropped
        self._first: Choice | None = None  # among what is not marked to go first
        self._last: Choice | None = None  # among what is
        self._opening: dict[int, Why] = {}
        if protection.last_user_left_out is not None:
            tokens = history.unit_tokens[history.units.head[protection.last_user_left_out]]
            self.problems.append(
                f"the last user message takes {tokens:,} tokens and does not fit beside what is always kept"
            )

    def mark(self, heads: Collection[int], stay: int = 1) -> None:
        """Let whole units stay (1) or go (0)."""
        stays, members = self.stays, self.history.units.members
        if not members:
            for head in heads:
                stays[head] = stay
            return
        for head in heads:
            stays[head] = stay
            if head in members:
                for position in members[head]:
                    stays[position] = stay

    def take(self, choice: Choice, *, marked: bool) -> None:
        """Follow a strategy's choice; `marked` says it was among what is marked to go first."""
        self.mark(choice.kept)
        if choice.shortened:
            self.shortenings = {**self.shortenings, **choice.shortened}
        self.scores = choice.scores
        if marked:
            self._last = choice
            return
        self._first = choice

    def order(self) -> Collection[int]:
        """The heads that a strategy chose, in the order it took them; none where it was not asked."""
        choice = self._last or self._first
        return choice.kept if choice is not None else ()

    def why(self, head: int) -> Why:
        """Why an unprotected unit stays or goes."""
        if head in self._opening:
            return self._opening[head]
        if head in self._dropped:
            return Why("dropped", "dropped: taken out in this plan")
        first = self.history.drop_first
        if first and any(p in first for p in self.history.unit(head)):
            if self._last is not None and head in self._last.kept:
                return self._last.explain(head)
            if not self.stays[head]:
                return Why("dropped_first", "dropped: marked to go first")
        elif self._first is not None:
            return self._first.explain(head)
        return Why("fits", "kept: everything fits")

    def open_with_user(self) -> None:
        """See to it that the first message after the system's is a user's, as some formats demand.

        The latest user message before it that fits is put back; failing that, what stands before the first user
        message that stays goes, as far as it is not protected.
        """
        opening = self._first_staying()
        if opening is None or self.history.roles[opening] == "user":
            return
        if self._put_back_before(opening):
            return
        users = (p for p, role in enumerate(self.history.roles) if role == "user" and self.stays[p])
        user = next(users, None)
        if user is None:
            self.problems.append("no user message stays, so the list cannot begin with one")
            return
        self._clear_before(user)

    def _first_staying(self) -> int | None:
        roles = self.history.roles
        return next((p for p, stay in enumerate(self.stays) if stay and roles[p] != "system"), None)

    def _put_back_before(self, opening: int) -> bool:
        history, head = self.history, self.history.units.head
        left = self.max_tokens - self._tokens()
        for position in range(opening - 1, -1, -1):
            unit = head[position]
            fits = history.roles[position] == "user" and history.unit_tokens[unit] <= left
            if fits and unit == position and unit not in self._dropped:
                self.mark([unit])
                self._opening[unit] = Why("opening", "kept: the list has to begin with a user message")
                return True
        return False

    def _clear_before(self, user: int) -> None:
        roles, causes = self.history.roles, self.protection.causes
        leading = {self.history.units.head[p] for p in range(user) if self.stays[p] and roles[p] != "system"}
        kept = leading & causes.keys()
        gone = leading - kept
        self.mark(gone, 0)
        why = Why("opening", "dropped: the list has to begin with a user message")
        self._opening.update(dict.fromkeys(gone, why))
        members = {p for unit in gone for p in self.history.unit(unit)}
        self.shortenings = {p: s for p, s in self.shortenings.items() if p not in members}
        if kept:
            self.problems.append("a protected message stands before the first user message that stays")

    def _tokens(self) -> int:
        tokens = self.history.tokens
        saved = sum(tokens[p] - s.tokens for p, s in self.shortenings.items())
        return sum(tokens[p] for p, stay in enumerate(self.stays) if stay) - saved


def decide(
    history: History,
    settings: Settings,
    max_tokens: int,
    strategy: Strategy,
    protection: Protection,
    drop: Collection[int],
) -> Decision:
    """Decide what stays of a history within `max_tokens`."""
    causes, head = protection.causes, history.units.head
    dropped = {head[p] for p in drop} - causes.keys()
    marked = {head[p] for p in history.drop_first} - causes.keys() - dropped
    decision = Decision(history, max_tokens, protection, dropped)
    decision.mark(causes)
    free = _unmarked(history, causes, dropped, marked)
    room = max(0, max_tokens - protection.tokens)

    def choose(candidates: list[int], room: int, staying: Collection[int]) -> tuple[Choice | None, int]:
        costs = history.unit_tokens
        total = sum([costs[h] for h in candidates])
        if total <= room:
            decision.mark(candidates)
            return None, room - total
        choice = strategy(Task(history, settings, candidates, room, staying))
        return choice, room - choice.tokens

    choice, left = choose(free, room, causes)
    if choice is not None:
        decision.take(choice, marked=False)
    elif marked:
        choice, left = choose(sorted(marked), left, causes.keys() | free)
        if choice is not None:
            decision.take(choice, marked=True)
    return decision


def _unmarked(history: History, *but: Collection[int]) -> list[int]:
    """The heads that are in none of the collections, in order."""
    out = history.units.heads()
    for heads in but:
        if heads:
            out = [h for h in out if h not in heads]
    return out
