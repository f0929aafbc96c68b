"""Old tool outputs: shortened to head, tail and error lines, or cleared, the oldest first.

The settings of *tool outputs first* define which outputs are old: those of the last turns and the newest ones up to a
number of tokens are not. No more of them are replaced than necessary.
"""

from __future__ import annotations

from collections.abc import Iterator

from scoring.planning.old_outputs import old_outputs
from scoring.planning.stages.contract import Cut, Stage, StageInput, State
from scoring.planning.strategies.contract import Why


def find(given: StageInput) -> Iterator[Cut]:
    """Yield the outputs of old messages, the oldest first."""
    shorten = given.settings.stage_outputs == "shorten"
    for position in reversed(old_outputs(given.history, given.settings)):
        if given.may_change(position):
            for index, output in enumerate(given.history.features[position].traced.outputs):
                if output.digest and (output.short < output.chars or not shorten):
                    yield Cut(position, index, shorten=shorten)


def why(cut: Cut, _state: State, _number: int) -> Why:
    """Return the reason, with what is left of the output."""
    if cut.shorten:
        return Why("old_shortened", "shortened: an old output, of which head, tail and error lines stay")
    return Why("old_cleared", "cleared: an old output, of which the call stays")


STAGE = Stage(
    is_enabled=lambda settings: settings.stage_outputs != "off",
    find=find,
    why=why,
    note_for_model=lambda _: "",
    as_needed=True,
)
