"""The order in which an agent sends its context, where it differs from that of the log.

A compaction can keep messages that are older than its summary. The agent sends the summary first, then these; or, if
the summary has a parent, behind that message.
"""

from __future__ import annotations

from collections.abc import Sequence

from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.context.pruned_view import ViewItem
from webapp.store import Store
from webapp.store.log import MessageRow


def as_sent(store: Store, session: int, items: Sequence[ViewItem]) -> Sequence[ViewItem]:
    """Return the items of a view with the summary of the agent's last compaction before the messages that it kept."""
    found = next(
        ((n, row) for n in range(len(items) - 1, 0, -1) if (row := _summary_row(items[n])) is not None), None
    )
    if found is None:
        return items
    place, summary = found
    first = next((n for n, one in enumerate(items) if one.message.role != "system"), place)
    *_, entry = store.log.rows_of(session, [summary.no])[summary.no]
    if entry.parent is None:
        return [*items[:first], items[place], *items[first:place], *items[place + 1 :]]
    known = store.log.known(session, [entry.parent])
    if entry.parent not in known:
        return items
    _, parent = known[entry.parent]
    numbers = [one.row.no if isinstance(one.row, MessageRow) else 0 for one in items]
    # The parent itself may have been pruned.
    first = next((n for n in range(first, place) if numbers[n] > parent), place)
    end = place + 1
    if first < place:  # what follows the summary at once, such as an answer to it, goes with it
        while end < len(items) and _follows(store, session, numbers[end], numbers[end - 1]):
            end += 1
    return [*items[:first], *items[place:end], *items[first:place], *items[end:]]


def _summary_row(item: ViewItem) -> MessageRow | None:
    row = item.row
    return row if isinstance(row, MessageRow) and row.kind == COMPACTION_SUMMARY else None


def _follows(store: Store, session: int, number: int, before: int) -> bool:
    """Return whether a message has another one as its parent."""
    if not number or not before:
        return False
    rows = store.log.rows_of(session, [number, before])
    return rows[number][0].parent in {entry.source_id for entry in rows[before]}
