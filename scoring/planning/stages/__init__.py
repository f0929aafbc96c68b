"""Stages, which make room before anything is dropped: one file and one row each, run in order.

A stage runs only while there is still an excess. Strategies then choose from the result: a replaced output costs what
its replacement costs, and a strategy can still drop it. A reason names the later message that made an output
redundant; it is worded after the strategy has chosen, so that it can say if that message is dropped too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from scoring.counted import counted
from scoring.history import History
from scoring.planning.old_outputs import exempt_outputs
from scoring.planning.stages import duplicates, outputs, superseded
from scoring.planning.stages.contract import Cut, Stage, StageInput, State
from scoring.planning.stages.replacement import after_stages, cost, replaced_message
from scoring.planning.strategies.contract import Shortening, Why

STAGES: Mapping[str, Stage] = {
    "duplicates": duplicates.STAGE,
    "superseded": superseded.STAGE,
    "outputs": outputs.STAGE,
}


@dataclass(frozen=True, slots=True)
class Staged:
    """The outcome of the stages: the history to choose from, and the replacement of each message.

    `files` has the file of each replaced output, "" for none, by its message and its number among the results there.
    """

    history: History
    shortened: Mapping[int, Shortening]
    files: Mapping[tuple[int, int], str]


def run(given: StageInput, excess: int, state_of: Callable[[int], State]) -> Staged | None:
    """Free `excess` tokens without dropping anything, as far as the settings allow; None if nothing is replaced.

    `state_of` returns the state of a message in the final decision.
    """
    stages = [stage for stage in STAGES.values() if stage.is_enabled(given.settings)]
    if not stages or excess <= 0:
        return None
    replacements = _Replacements(given.history, state_of)
    replacements.run(stages, given, excess)
    return replacements.staged()


def _by_message(cuts: Iterator[Cut]) -> dict[int, list[Cut]]:
    found: dict[int, list[Cut]] = {}
    for cut in cuts:
        found.setdefault(cut.position, []).append(cut)
    return found


class _Replacements:
    """The replacements made so far, by message."""

    def __init__(self, history: History, state_of: Callable[[int], State]) -> None:
        self._history, self._state_of = history, state_of
        self._cuts: dict[int, dict[int, tuple[Stage, Cut]]] = {}
        self._costs: dict[int, int] = {}
        self._files: dict[tuple[int, int], str] = {}

    def run(self, stages: Sequence[Stage], given: StageInput, excess: int) -> None:
        """Run one stage after the other, while there is an excess."""
        exempt = exempt_outputs(self._history, given.settings.tool_outputs_exempt)
        for stage in stages:
            for position, found in _by_message(stage.find(given)).items():
                cuts = found if stage.as_needed else self._without_failures(position, found)
                if position not in exempt and cuts:
                    self._files.update(((position, cut.result), cut.name) for cut in cuts)
                    excess -= self.take(stage, position, cuts)
                    if stage.as_needed and excess <= 0:
                        return
            if excess <= 0:
                return

    def _without_failures(self, position: int, cuts: list[Cut]) -> list[Cut]:
        """Return the cuts of outputs that report no failure.

        A failure is not cleared, because the later output that has the same text may be dropped.
        """
        failed = self._history.features[position].cues.failed
        return [cut for cut in cuts if not (cut.result < len(failed) and failed[cut.result])]

    def take(self, stage: Stage, position: int, cuts: list[Cut]) -> int:
        """Replace outputs of a message that are still whole; return the tokens gained, 0 if there is no gain."""
        known = self._cuts.get(position, {})
        new = {cut.result: (stage, cut) for cut in cuts if cut.result not in known}
        together = {**known, **new}
        before = self._costs.get(position, self._history.tokens[position])
        after = cost(self._history, position, [cut for _, cut in together.values()]) if new else before
        if after >= before:
            return 0
        self._cuts[position], self._costs[position] = together, after
        return before - after

    def staged(self) -> Staged | None:
        """Return the outcome; None if nothing was replaced."""
        if not self._cuts:
            return None
        shortened = {position: self._shortening(position) for position in self._cuts}
        emptied = [position for position, cuts in self._cuts.items() if self._is_emptied(position, cuts)]
        files = {place: name for place, name in self._files.items() if place[0] in shortened}
        return Staged(after_stages(self._history, shortened, emptied), shortened, files)

    def _is_emptied(self, position: int, cuts: Mapping[int, tuple[Stage, Cut]]) -> bool:
        cleared = sum(not cut.shorten for _, cut in cuts.values())
        return cleared == len(self._history.features[position].results)

    def _shortening(self, position: int) -> Shortening:
        cuts = self._cuts[position]
        apply = partial(
            replaced_message,
            history=self._history,
            cuts={index: cut for index, (_, cut) in cuts.items()},
            notes={index: stage.note_for_model(cut) for index, (stage, cut) in cuts.items()},
        )
        return Shortening(self._costs[position], apply, why=partial(self._why, position), lasting=True)

    def _why(self, position: int) -> Why:
        cuts = self._cuts[position]
        stage, cut = next(iter(cuts.values()))
        state: State = "whole" if cut.other is None else self._state_of(cut.other)
        number = 0 if cut.other is None else self._history.number(cut.other)
        why = stage.why(cut, state, number)
        more = len(cuts) - 1
        if not more:
            return why
        also = f"{counted(more, 'other output')} of it {'is' if more == 1 else 'are'} replaced too"
        return Why(why.cause, f"{why.reason}, and {also}")
