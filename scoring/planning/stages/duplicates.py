"""Exact duplicates: of equal tool outputs the newest stays, older ones are cleared."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.planning.stages.contract import Cut, Stage, StageInput, State
from scoring.planning.strategies.contract import Why


def find(given: StageInput) -> Iterator[Cut]:
    """Yield the outputs that are repeated, word for word, in a later message."""
    seen: dict[str, list[tuple[int, int]]] = {}
    for position, index, trace in given.outputs():
        seen.setdefault(trace, []).append((position, index))
    found: list[Cut] = []
    for places in seen.values():
        staying = [place for place in places if given.may_stay(place[0])] if len(places) > 1 else []
        found += [
            Cut(position, index, staying[-1][0])
            for position, index in staying
            if position != staying[-1][0] and given.may_change(position)
        ]
    yield from sorted(found)


def why(cut: Cut, state: State, number: int) -> Why:
    """Return the reason, with the message that holds the same output and the state of that message."""
    said = {
        "gone": f"message {number:,} had the same output, and goes as well",
        "shortened": f"message {number:,} had the same output, and is shortened too",
    }.get(state, f"message {number:,} holds the same output")
    return Why("duplicate", f"cleared: {said}")


STAGE = Stage(
    is_enabled=lambda settings: settings.stage_duplicates,
    find=find,
    why=why,
    note_for_model=lambda _: "the same came again later",
)
