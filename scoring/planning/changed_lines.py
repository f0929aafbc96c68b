"""Lines that kept outputs show but files no longer have, because of an edit that the plan drops.

A reader would take them for the present content. A line counts as removed until something later shows it in the file
again. A file is identified by its name without folders, and only lines of its reads are examined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scoring.history import Edit, History


class _Event(NamedTuple):
    """A read or change of a file: positions of the call and its result, and the edit (None for a read)."""

    call: int
    result: int
    edit: Edit | None


def changed_lines(history: History, stays: Sequence[int]) -> dict[int, frozenset[int]]:
    """Return the hashes of such lines by the position of the output that shows them; `stays` flags kept messages."""
    found: dict[int, set[int]] = {}
    for events in _by_file(history).values():
        for number, (call, _, edit) in enumerate(events):
            if edit is None or stays[call]:
                continue
            for _, shown, other in events[:number]:
                if other is None and stays[shown]:
                    gone = _removed(history, edit, call, shown)
                    gone = gone - _shown_again(history, events[number + 1 :]) if gone else gone
                    if gone:
                        found.setdefault(shown, set()).update(gone)
    return {position: frozenset(gone) for position, gone in found.items()}


def _by_file(history: History) -> dict[str, list[_Event]]:
    """Return the reads and changes of each file that was changed, in order, without failed calls."""
    asked: dict[str, tuple[int, int]] = {}
    files: dict[str, list[_Event]] = {}
    for position, features in enumerate(history.features):
        for number, call_id in enumerate(features.calls[: len(features.cues.calls)]):
            asked[call_id] = position, number
        for call_id, failed in zip(features.results, features.cues.failed, strict=False):
            if call_id not in asked or failed:
                continue
            caller, number = asked[call_id]
            call = history.features[caller].cues.calls[number]
            for edit in call.edits:
                files.setdefault(edit.file, []).append(_Event(caller, position, edit))
            for file in call.reads:
                if not call.edits:
                    files.setdefault(file, []).append(_Event(caller, position, None))
    return {file: events for file, events in files.items() if any(one.edit for one in events)}


def _lines(history: History, position: int) -> frozenset[int]:
    content = history.features[position].content
    return frozenset(content.lines) if content is not None else frozenset()


def _removed(history: History, edit: Edit, call: int, shown: int) -> frozenset[int]:
    """Return the lines of an output that an edit removed."""
    lines = _lines(history, shown)
    if not edit.whole:
        return lines.intersection(edit.gone)
    put = _lines(history, call)
    return lines - put if put & lines else frozenset()


def _shown_again(history: History, later: Sequence[_Event]) -> frozenset[int]:
    """Return the lines that later reads and edits of the file show."""
    shown = (_lines(history, one.call if one.edit is not None else one.result) for one in later)
    return frozenset().union(*shown)
