"""The order in which an agent sends its context, where it differs from that of the log.

A compaction can keep messages that are older than its summary. The agent sends the summary first, then these.
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
    place, row = found
    first = next((n for n, one in enumerate(items) if one.message.role != "system"), place)
    if first >= place or _follows_kept(store, session, row):
        return items
    return [*items[:first], items[place], *items[first:place], *items[place + 1 :]]


def _summary_row(item: ViewItem) -> MessageRow | None:
    row = item.row
    return row if isinstance(row, MessageRow) and row.kind == COMPACTION_SUMMARY else None


def _follows_kept(store: Store, session: int, summary: MessageRow) -> bool:
    """Return whether a summary continues the messages that its compaction kept, as one of the older messages does."""
    entries = store.log.rows_of(session, [summary.no])[summary.no]
    return entries[0].parent is not None
