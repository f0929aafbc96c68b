"""Old tool outputs: shortened to head, tail and the lines that name an error, or cleared, the oldest first.

What is old the settings of *tool outputs first* say: not the outputs of the last turns, nor the newest ones up to so
many tokens. No more of them are replaced than has to be.
"""

from __future__ import annotations

from collections.abc import Iterator

from scoring.planning.old_outputs import old_outputs
from scoring.planning.stages.contract import Cut, Stage, StageInput
from scoring.planning.strategies.contract import Why
from scoring.settings import Settings

SHORTENED_CAUSE, CLEARED_CAUSE = "old_shortened", "old_cleared"


def wanted(settings: Settings) -> bool:
    """Return whether the settings ask for this stage."""
    return settings.stage_outputs != "off"


def find(given: StageInput) -> Iterator[Cut]:
    """Yield the outputs of old messages, the oldest first."""
    shorten = given.settings.stage_outputs == "shorten"
    for position in reversed(old_outputs(given.history, given.settings)):
        if given.may_change(position):
            for index, output in enumerate(given.history.features[position].traced.outputs):
                if output.digest and (output.short < output.chars or not shorten):
                    yield Cut(position, index, shorten=shorten)


def why(cut: Cut, _state: str, _number: int) -> Why:
    """Return what is left of it."""
    if cut.shorten:
        return Why(SHORTENED_CAUSE, "shortened: an old output, of which head, tail and error lines stay")
    return Why(CLEARED_CAUSE, "cleared: an old output, of which the call stays")


def told(_: Cut) -> str:
    """Return the text of the line in its place, besides the note that it was cleared."""
    return ""


STAGE = Stage((SHORTENED_CAUSE, CLEARED_CAUSE), wanted, find, why, told, sparing=True)
