"""Reads that a later read or write of the same file supersedes: the output of the earlier one is cleared.

A later read counts if it shows the whole file, so that it has every line of the earlier one; a write counts if it wrote
the whole file. Failed calls do not count, nor do edits: an agent knows the rest of the file only from reading it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scoring.history import (
    FAILED,
    READ,
    WRITE,
    Features,
    History,
    Touch,
    acts_of,
    output_lines,
    read_output,
)
from scoring.planning.stages.contract import Cut, Stage, StageInput, State
from scoring.planning.stages.shells import Shells
from scoring.planning.strategies.contract import Why

# A file can shrink; a read that shows much less than the one before was cut off, or failed without saying so.
LEAST_SHARE = 0.75


class Seen(NamedTuple):
    """A file that was read or written: the message that shows its content, the number of the result, and its length."""

    touch: Touch
    position: int
    result: int
    chars: int

    def supersedes(self, other: Seen) -> bool:
        """Return whether this read or write makes the earlier read redundant."""
        if not self.touch.covers(other.touch):
            return False
        return self.touch.kind == WRITE or self.chars >= LEAST_SHARE * other.chars


def find(given: StageInput) -> Iterator[Cut]:
    """Yield the reads that are superseded, each with the latest message that does so."""
    later: dict[tuple[str, str], list[Seen]] = {}
    found: list[Cut] = []
    for seen in reversed(_seen(given.history)):
        if not given.may_stay(seen.position):
            continue
        after = later.setdefault((seen.touch.place, seen.touch.path), [])
        by = next((one for one in after if one.supersedes(seen)), None)
        if by is None:
            after.append(seen)
        elif seen.touch.kind == READ and given.may_change(seen.position):
            wrote = by.touch.kind == WRITE
            found.append(Cut(seen.position, seen.result, by.position, seen.touch.name, written=wrote))
    yield from reversed(found)


def why(cut: Cut, state: State, number: int) -> Why:
    """Return the reason, with the message that reads or writes the file again and the state of that message."""
    done = "rewritten" if cut.written else "read again"
    said = {
        "gone": f"{cut.name} was {done} in message {number:,}, which goes as well",
        "shortened": f"{cut.name} was {done} in message {number:,}, which is shortened too",
    }.get(state, f"{cut.name} is {done} in message {number:,}")
    return Why("superseded", f"cleared: {said}")


def note_for_model(cut: Cut) -> str:
    """Return the text for the model in the line that replaces the output."""
    return f"the file was {'rewritten' if cut.written else 'read again'} later"


def _seen(history: History) -> list[Seen]:
    """Return the files that were read and written, in the order of the answers."""
    asked: dict[str, tuple[int, tuple[Touch, ...]]] = {}
    shells = Shells()
    out: list[Seen] = []
    for position, features in enumerate(history.features):
        if features.calls:
            _ask(asked, position, features)
        if asked and not asked.keys().isdisjoint(features.results):
            lines = output_lines(features.traces, len(features.calls)) if features.traces else ()
            for result, call_id in enumerate(features.results):
                if call_id in asked:
                    caller, acts = asked.pop(call_id)
                    line = lines[result] if lines else ""
                    failed = line.startswith(FAILED)
                    if not failed:
                        out += _answered(shells.files(acts), caller, position, result, line)
                    shells.move(acts, failed=failed)
    return out


def _ask(asked: dict[str, tuple[int, tuple[Touch, ...]]], position: int, features: Features) -> None:
    """Note the calls of a message that read or write a file, or move a shell; of a repeated id the latest counts."""
    for call_id, acts in zip(
        features.calls, acts_of(features.traces or "", len(features.calls)), strict=False
    ):
        if acts:
            asked[call_id] = position, acts
        else:
            asked.pop(call_id, None)


def _answered(
    touched: tuple[Touch, ...], caller: int, position: int, result: int, line: str
) -> Iterator[Seen]:
    """Yield what a successful call shows of each file: a write in its arguments, a read in its output, if whole."""
    for touch in touched:
        if touch.kind == WRITE:
            yield Seen(touch, caller, result, 0)
        elif line:
            yield Seen(touch, position, result, read_output(line).chars)


STAGE = Stage(
    is_enabled=lambda settings: settings.stage_superseded, find=find, why=why, note_for_model=note_for_model
)
