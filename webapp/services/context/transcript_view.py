"""The pruned view of a session, read from the store for an agent that writes it as a new transcript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from webapp.agents.view import MessageOrSummary, View, ViewMessage, ViewRow, ViewSummary
from webapp.services.context.pruned_view import message_of, summary_value
from webapp.services.session.labels import shown_title
from webapp.services.session.replacements import Replacement
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.context import AGENT, MESSAGE, PRUNED, ContextItem
from webapp.store.log import EntryRow
from webapp.store.sessions import SessionRow
from webapp.store.summaries import SummaryRow

BATCH = 300
PRUNED_MARK = " (pruned)"


def view_of(store: Store, row: SessionRow, now: int, *, keeps_thinking: bool) -> View:
    """Return a session's pruned view as an agent writes it; its items are read when they are needed."""
    file = Path(row.path) if row.path else None
    return View(
        cwd=row.cwd or "",
        now=iso(now) or "",
        items=places(store, row, PRUNED),
        session_id=row.id,
        title=copy_title(store, row),
        file=file if file is not None and file.is_file() else None,
        drops_thinking=row.operations > 0 and not keeps_thinking,
    )


def copy_title(store: Store, row: SessionRow) -> str:
    """Return the title of a session's copy, which says if something was cut from it."""
    title = shown_title(row)
    return title.removesuffix(PRUNED_MARK) + PRUNED_MARK if is_cut(store, row) else title


def is_cut(store: Store, row: SessionRow) -> bool:
    """Return whether the pruned view is not what the agent sends by itself; what the agent took out is no cut."""
    if row.operations == 0:
        return False
    seen, kept = (
        [(one.kind, one.ref, one.replacement) for one in store.contexts.items(row.key, view)]
        for view in (AGENT, PRUNED)
    )
    return seen != kept


def places(store: Store, row: SessionRow, view: int) -> Iterator[MessageOrSummary]:
    """Yield the items of one of a session's contexts, in order."""
    items = store.contexts.items(row.key, view)
    summaries = {s.n: s for s in store.summaries.active(row.key)}
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        entries = store.log.rows_of(row.key, [item.ref for item in some if item.kind == MESSAGE])
        for item in some:
            if item.kind == MESSAGE:
                yield _message(entries[item.ref], item)
            else:
                yield _summary(summaries[item.ref])


def _message(entries: list[EntryRow], item: ContextItem) -> ViewMessage:
    rows = [ViewRow(e.source_id or str(e.seq), e.message, e.raw, iso(e.at)) for e in entries]
    if item.replacement is None:
        return ViewMessage(rows)
    stored = Replacement.of_text(item.replacement)
    whole = replace(message_of(entries), parts=stored.parts) if stored.parts is not None else None
    own = {result.call_id: result.text for entry in entries for result in entry.message.results}
    changed = {call_id: text for call_id, text in stored.results.items() if text != own.get(call_id)}
    return ViewMessage(rows, changed, whole)


def _summary(summary: SummaryRow) -> ViewSummary:
    text = summary_value(summary).as_message().text
    return ViewSummary(summary.n, text, summary.replaced_tokens, iso(summary.last_at or None))
