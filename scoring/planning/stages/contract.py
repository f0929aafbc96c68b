"""The contract of a stage.

A stage names tool outputs of messages that are not protected, and changes nothing else: the arguments of a call always
stay. It decides without texts; `replacement` computes costs and makes the replaced messages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scoring.history import History, output_lines
from scoring.planning.strategies.contract import Why
from scoring.settings import Settings

# The state, in a decision, of the message that a reason names.
State = Literal["whole", "shortened", "gone"]


class Cut(NamedTuple):
    """One output that will be replaced.

    `position` is its message, `result` its number among the results there. `other` is the later message that makes it
    redundant, if any; `name` is the file in question, and `written` is True if the other message writes that file. With
    `shorten` the head, the tail and the error lines stay.
    """

    position: int
    result: int
    other: int | None = None
    name: str = ""
    written: bool = False
    shorten: bool = False


@dataclass(frozen=True, slots=True)
class StageInput:
    """The input of a stage: `free` are the heads of units that can be dropped, `kept` those that are always kept.

    Units in neither are dropped in any case, so no output is replaced because of them.
    """

    history: History
    settings: Settings
    free: Collection[int]
    kept: Collection[int]

    def may_change(self, position: int) -> bool:
        """Return whether an output of this message can be replaced; messages before a summary are left unchanged."""
        return position >= self.history.summarised and self.history.units.head[position] in self.free

    def may_stay(self, position: int) -> bool:
        """Return whether this message can stay, so that an output repeated in it can be replaced elsewhere."""
        head = self.history.units.head[position]
        return head in self.free or head in self.kept

    def outputs(self) -> Iterator[tuple[int, int, str]]:
        """Yield the outputs that are whole and long enough: position, number of the result, and its trace line."""
        for position, features in enumerate(self.history.features):
            if features.results and features.traces:
                for result, line in enumerate(output_lines(features.traces, len(features.calls))):
                    if len(line) > 1:
                        yield position, result, line


@dataclass(frozen=True, slots=True)
class Stage:
    """One way to make room before anything is dropped.

    `is_enabled` returns whether the settings enable it. `find` yields the outputs it would replace, older messages
    first; with `as_needed`, no more of them are replaced than necessary. `why` words the reason for one output, given
    the state and the number of the other message. `note_for_model` returns the text for the model in the line that
    replaces the output.
    """

    is_enabled: Callable[[Settings], bool]
    find: Callable[[StageInput], Iterator[Cut]]
    why: Callable[[Cut, State, int], Why]
    note_for_model: Callable[[Cut], str]
    as_needed: bool = False
