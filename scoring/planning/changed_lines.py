"""Lines that kept outputs show but files no longer have, because of an edit that the plan drops.

A reader would take them for the present content. A line counts as removed until something later shows it in the file
again. Only lines of a file's reads are examined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from itertools import takewhile

from scoring.history import Edit, History
from scoring.planning.file_changes import FileEvent, events_by_file, lines_of
from scoring.planning.strategies.contract import Changed


def changed_lines(history: History, stays: Sequence[int]) -> dict[int, Changed]:
    """Return such lines by the position of the output that shows them; `stays` flags the messages that stay."""
    found: dict[int, set[tuple[int, int]]] = {}
    in_order = cache(partial(_lines_in_order, history))  # the same reading comes before several edits
    for events in events_by_file(history).values():
        for number, (call, _, edit, _) in enumerate(events):
            if edit is None or edit.unseen or stays[call]:
                continue
            for _, shown, other, _ in events[:number]:
                if other is None and stays[shown]:
                    known = found.get(shown, set())
                    lines = [line for line in in_order(shown) if line not in known]
                    gone = _removed(history, edit, call, lines)
                    again = _shown_again(history, events[number + 1 :]) if gone else frozenset()
                    if gone := {line for line in gone if line[0] not in again}:
                        found.setdefault(shown, set()).update(gone)
    return {position: frozenset(gone) for position, gone in found.items()}


def _lines_in_order(history: History, position: int) -> list[tuple[int, int]]:
    """Return the text lines of a message's outputs in order: hash, and number of such lines before it.

    Long lines, whose rows do not have them, come last, once each.
    """
    content = history.features[position].content
    if content is None:
        return []
    codes, names = content.lines, len(content.names.split("\n")) if content.names else 0
    found = [codes[place - names] for place in content.rows.mentions if place >= names]
    counts: Counter[int] = Counter()
    out = []
    for code in (*found, *frozenset(codes).difference(found)):
        out.append((code, counts[code]))
        counts[code] += 1
    return out


def _removed(
    history: History, edit: Edit, call: int, lines: Sequence[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Return those of an output's lines that an edit removed.

    Of lines that occur more often than the edit replaced them, those that lie as in the replaced text are taken.
    """
    if edit.whole:
        put = lines_of(history, call)
        shared = any(code in put for code, _ in lines)
        return {line for line in lines if line[0] not in put} if shared else set()
    places: dict[int, list[int]] = {code: [] for code in edit.gone}
    for place, (code, _) in enumerate(lines):
        if code in places:
            places[code].append(place)
    codes = [code for code, _ in lines]
    out: set[int] = set()
    for code, known in places.items():
        times = [n for n, one in enumerate(edit.old) if one == code]
        if edit.everywhere or len(known) <= len(times) or not times:
            out.update(known)
            continue
        for time in times:
            best = max(known, key=lambda place: _alike_around(codes, place, edit.old, time))
            known.remove(best)
            out.add(best)
    return {lines[place] for place in out}


def _alike_around(codes: Sequence[int], place: int, old: Sequence[int], time: int) -> int:
    """Return the number of lines that are the same, without a gap, before and after two places in two texts."""
    before = zip(reversed(codes[:place]), reversed(old[:time]), strict=False)
    after = zip(codes[place + 1 :], old[time + 1 :], strict=False)
    return sum(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], side)) for side in (before, after))


def _shown_again(history: History, later: Sequence[FileEvent]) -> frozenset[int]:
    """Return the lines that later reads and edits of the file show, without those that an edit removes."""
    shown = (
        lines_of(history, one.result)
        if one.edit is None
        else lines_of(history, one.call).difference(one.edit.gone)
        for one in later
    )
    return frozenset().union(*shown)
