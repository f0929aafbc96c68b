"""The reasons of *Foresight* in words: the name that a unit is kept for, or why its mentions are not worth its tokens.

They are worded on request from the recorded plan. No reason refers to a message by its number, because that message
could be dropped by the next plan.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress

from scoring.counted import counted
from scoring.planning.strategies.contract import OUTDATED, StrategyInput, Why
from scoring.planning.strategies.foresight.greedy import GreedyChoice
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.points import Points
from scoring.signals import AGENT, IS_LINE, TASK, USER

NAMES_SHOWN, NAME_CHARS = 3, 60


class Reasons:
    """Words the reasons of one choice, unit by unit."""

    def __init__(self, given: StrategyInput, offers: Offers, points: Points, taken: GreedyChoice) -> None:
        self._history, self._stay, self._outdated = given.history, given.stays, given.outdated
        self._coverage, self._offers, self._points, self._taken = offers.coverage, offers, points, taken

    @cached_property
    def _kept(self) -> frozenset[int]:
        return frozenset(self._taken.order)

    @cached_property
    def _copies(self) -> array[int]:
        """Return the number of messages that stay and have each mention.

        Shortened ones count with all their mentions, because a plan that is applied restores some of them.
        """
        copies = array("I", bytes(4 * len(self._coverage.worth)))
        for numbers in compress(self._coverage.held, self._stay):
            for number in numbers:
                copies[number] += 1
        return copies

    def __call__(self, head: int) -> Why:
        """Return why the unit with this head is kept or dropped."""
        return self._stays(head) if head in self._kept else self._goes(head)

    def shortened(self, position: int) -> Why:
        """Return why a message keeps some of its rows."""
        rows = self._offers.rows(position, self._taken.shortened[position].rows)
        lines = len({row.line for row in rows})
        if not lines:
            return Why("shortened", "shortened: the call stays; its output holds nothing needed later")
        named = self._named(n for n in self._coverage.held[position] if self._coverage.holder[n] == position)
        which = f", naming {self._listed(named)}" if named else ""
        return Why("shortened", f"shortened to {counted(lines, 'line')} of its output{which}")

    def _stays(self, head: int) -> Why:
        if self._by_relevance(head):
            return Why("relevant", "kept: relevant to the last question")
        own = [
            n for n in self._points.own(head) if self._coverage.holder[n] >= 0 and self._coverage.worth[n] > 0
        ]
        if not own:
            return Why("room", "kept: there is room for it, though others say the same")
        best = max(own, key=lambda n: (self._coverage.worth[n], -n))
        if not self._coverage.flags[best] & IS_LINE:
            return Why("names", f"kept: {self._naming([best])}{self._by_whom(self._coverage.flags[best])}")
        if named := self._named(own):
            return Why("says", f"kept: {self._naming(named)}")
        again = self._coverage.count[best] > 1
        return Why("says", "kept: says what comes up again" if again else "kept: nothing else says this")

    def _naming(self, numbers: Sequence[int]) -> str:
        """Return "names …", after "the only message that" if no other message has any of the names.

        If others have them and none of these stays, it is "the only message left that".
        """
        if all(self._coverage.count[n] == 1 for n in numbers):
            alone = "the only message that "
        else:
            alone = "the only message left that " if all(self._copies[n] <= 1 for n in numbers) else ""
        return f"{alone}names {self._listed(numbers)}"

    def _goes(self, head: int) -> Why:
        coverage = self._coverage
        if head in self._outdated and not all(self._stay[one] for one in self._outdated[head]):
            return OUTDATED
        if self._by_relevance(head):
            return Why(
                "less_relevant", "dropped: its relevance to the last question is too little for its size"
            )
        held = list(self._offers.held(head))
        if not held:
            return Why("empty", "dropped: it names nothing that could be needed again")
        missing = [n for n in held if coverage.holder[n] < 0]
        if not missing:
            later = all(coverage.holder[n] > head for n in held)
            return Why(
                "covered", f"dropped: said again in {'later messages' if later else 'messages that stay'}"
            )
        if head in self._taken.passed_over:
            return Why("too_large", "dropped: to make room for what matters more")
        again = [n for n in missing if coverage.count[n] > 1]
        if not again:
            all_of_it = "in it" if len(missing) == len(held) else "that only it says"
            return Why("not_named_again", f"dropped: nothing {all_of_it} was named again")
        named = self._named(again)
        best = named[0] if named else max(again, key=lambda n: (coverage.worth[n], -n))
        ago = coverage.size - 1 - coverage.last[best]
        when = "in the last message" if not ago else f"{counted(ago, 'message')} ago"
        what = f"{self._listed(named[:1])} was last named" if named else "what it says was last said"
        return Why("too_little", f"dropped: {what} {when}, too little for its size")

    def _by_relevance(self, head: int) -> bool:
        """Return whether relevance gave most of a unit's rate; False for a unit without a rate."""
        return self._offers.bonus(head) * 2 > self._taken.rates.get(head, 0.0) > 0

    def _named(self, numbers: Iterable[int]) -> list[int]:
        """Return the names among mentions that reasons show, the most valuable first."""
        worth, flags = self._coverage.worth, self._coverage.flags
        return sorted((n for n in numbers if not flags[n] & IS_LINE), key=lambda n: (-worth[n], n))[
            :NAMES_SHOWN
        ]

    def _listed(self, names: Iterable[int]) -> str:
        return ", ".join([_clipped(str(self._history.mentions.spelled[n])) for n in names])

    def _by_whom(self, flags: int) -> str:
        if flags & TASK:
            return ", which the task mentions"
        if flags & AGENT:
            return ", which the agent itself named"
        return ", which the user named" if flags & USER else ""


def _clipped(name: str) -> str:
    return f"`{name if len(name) <= NAME_CHARS else name[: NAME_CHARS - 1] + '…'}`"
