"""The contract of a stage.

The law: a stage names outputs of messages that may go, never of one that is protected, and touches nothing but tool
outputs: what a call was asked with always stays. It decides without a text; what it costs and how it reads is for
`standing` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scoring.history import History, output_lines
from scoring.planning.strategies.contract import Why
from scoring.settings import Settings

# What has become of the message that a reason names.
WHOLE, LESS, GONE = "whole", "less", "gone"


class Cut(NamedTuple):
    """One output that is to be replaced: the message, which of its results it is, and the message that it is replaced
    for, where there is one. `name` is the file that it is about, `written` says that the other message writes it. With
    `shorten` head, tail and error lines stay.
    """

    position: int
    result: int
    other: int | None = None
    name: str = ""
    written: bool = False
    shorten: bool = False


@dataclass(frozen=True, slots=True)
class StageInput:
    """The input of a stage: `free` are the heads of units that may go, `kept` those of units that stay anyway.

    What is in neither goes whatever a stage does, so nothing is replaced for its sake.
    """

    history: History
    settings: Settings
    free: Collection[int]
    kept: Collection[int]

    def may_change(self, position: int) -> bool:
        """Return whether an output of this message may be replaced; what a summary has behind it is left alone."""
        return position >= self.history.summarised and self.history.units.head[position] in self.free

    def may_stay(self, position: int) -> bool:
        """Return whether another output may be replaced because this message has it too."""
        head = self.history.units.head[position]
        return head in self.free or head in self.kept

    def outputs(self) -> Iterator[tuple[int, int, str]]:
        """Yield the outputs that are whole and long enough: message, number of the result, and what it is known by."""
        for position, features in enumerate(self.history.features):
            if features.results and features.traces:
                for result, line in enumerate(output_lines(features.traces, len(features.calls))):
                    if len(line) > 1:
                        yield position, result, line


@dataclass(frozen=True, slots=True)
class Stage:
    """One way to make room before anything is dropped.

    `causes` are those of its reasons. `wanted` tells whether the settings ask for it; `find` yields what it would
    replace, older messages first, and with `sparing` no more is replaced than has to be. `why` words the reason for one
    output, given what has become of the other message and its number; `told` is what the line in its place tells the
    model.
    """

    causes: tuple[str, ...]
    wanted: Callable[[Settings], bool]
    find: Callable[[StageInput], Iterator[Cut]]
    why: Callable[[Cut, str, int], Why]
    told: Callable[[Cut], str]
    sparing: bool = False
