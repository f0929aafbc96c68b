"""The reads and changes of each file in a history, and the changes that a later one takes back.

A file is identified by its place and path; a path that ends with another one is the same file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from scoring.history import RUN, Edit, History, own_name, same_files

MOST_EDITS = 50  # that one reading is examined for; it would hardly stay beside more


class FileEvent(NamedTuple):
    """A read or change of a file: positions of the call and its result, and the edit (None for a read).

    `looks` unless it is a command that does more than read, such as one that runs the file, and may show it too.
    """

    call: int
    result: int
    edit: Edit | None
    looks: bool = False


def events_by_file(history: History) -> dict[str, list[FileEvent]]:
    """Return the reads and changes of each file that was changed, in order, without failed calls."""
    files: dict[str, list[FileEvent]] = {}
    calls = [call for features in history.features for call in features.cues.calls]
    edited = {own_name(edit.file) for call in calls for edit in call.edits}
    if not edited:
        return files
    named = (name for call in calls for name in (*call.reads, *(edit.file for edit in call.edits)))
    same = same_files(name for name in named if own_name(name) in edited)
    for caller, call, position, failed in history.outcomes():
        if failed:
            continue
        for edit in call.edits:
            files.setdefault(same[edit.file], []).append(FileEvent(caller, position, edit))
        shows = all(edit.unseen for edit in call.edits) and (not call.edits or lines_of(history, position))
        for file in call.reads if shows else ():
            if file in same:
                files.setdefault(same[file], []).append(FileEvent(caller, position, None, call.kind != RUN))
    return {file: events for file, events in files.items() if any(one.edit for one in events)}


def lines_of(history: History, position: int) -> frozenset[int]:
    """Return the text lines of a message, by their hashes."""
    content = history.features[position].content
    return frozenset(content.lines) if content is not None else frozenset()


def taken_back(history: History) -> set[tuple[int, int]]:
    """Return the pairs of a call and a later edit without which its lines would read as the present content.

    They are an edit and one that removed lines of it for good, and a reading and one whose changes cannot be marked in
    it. Calls are given by their positions.
    """
    found: set[tuple[int, int]] = set()
    for events in events_by_file(history).values():
        found.update(_changed_unseen(history, events))
        showing: dict[int, set[int]] = {}  # the edits whose new text has each line
        removers: dict[int, int] = {}  # the call that removed it last, unless something showed it again
        for call, result, edit, _ in events:
            if edit is not None and edit.unseen:
                continue
            shown = lines_of(history, result if edit is None else call)
            if edit is not None:
                shown = shown.difference(edit.gone)
                removers.update(dict.fromkeys(_removed(edit, shown, showing), call))
                for line in shown:
                    showing.setdefault(line, set()).add(call)
            for line in removers.keys() & shown:
                del removers[line]
        for line, by in removers.items():
            found.update((call, by) for call in showing[line] if call != by)
    return found


def _changed_unseen(history: History, events: Sequence[FileEvent]) -> Iterator[tuple[int, int]]:
    """Yield each reading of a file with each later edit whose changes cannot be marked in it.

    An edit that replaced the whole file is the last one of the readings before it.
    """
    edits = [(one.call, one.edit) for one in events if one.edit is not None and one.edit.unseen]
    later = 0
    for call, result, edit, looks in events:
        if edit is not None and edit.unseen:
            later += 1
        if not looks:
            continue
        content = history.features[result].content
        shown = content.names if content is not None else ""
        for by, after in edits[later : later + MOST_EDITS]:
            if all(name in shown for name in after.names):
                yield call, by
            if after.whole:
                break


def _removed(edit: Edit, shown: frozenset[int], known: Mapping[int, object]) -> Collection[int]:
    """Return those of the known lines that an edit removed; one that shares no line may write another such file."""
    if not edit.whole:
        return known.keys() & edit.gone
    return known.keys() - shown if not shown.isdisjoint(known) else ()
