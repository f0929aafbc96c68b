"""The part of a session that a summary covers: which messages and summaries it has, and what stays around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scoring.history import is_compacted
from scoring.messages import REMINDER, Message, Units, links_of, waiting
from scoring.summary import Summary, SummaryScope, Surroundings, covering, is_request
from scoring.tokens import TokenCounter
from webapp.services.context.pruned_view import ViewItem
from webapp.services.session.stored_messages import read_features
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.summaries import SummaryRow


@dataclass(frozen=True, slots=True)
class Span:
    """The messages and summaries that a summary covers, in order, their tokens by `counter`, and what stays around.

    `compaction` is the provider's newest compaction among what stays; the provider ignores what comes before it.
    """

    items: Sequence[ViewItem]
    replaced: int
    counter: TokenCounter
    around: Surroundings
    compaction: MessageRow | None = None

    @classmethod
    def of(
        cls, items: Sequence[ViewItem], replaced: int, counter: TokenCounter, kept: Iterable[ViewItem]
    ) -> Span:
        """Return the span of these items; `kept` are the others that stay in the context, in order."""
        staying = {
            one.row.no: one for one in kept if isinstance(one.row, MessageRow) and one.row.role != "system"
        }
        numbers = [one.row.no for one in items if isinstance(one.row, MessageRow)]
        compacted = [one.row for one in staying.values() if is_compacted(one.message)]
        compaction = compacted[-1] if compacted and isinstance(compacted[-1], MessageRow) else None
        newest = None if compaction is None else compaction.no
        around = Surroundings.of(numbers, staying, lambda no: _asks(staying[no]), newest)
        return cls(items, replaced, counter, around, compaction)

    @property
    def position(self) -> float:
        """Return where a summary of it stands: at its first message or summary, after the provider's compaction."""
        places = [m.first_seq - 0.5 for m in self.messages] + [s.position for s in self.summaries]
        return min(places) if self.compaction is None else max(min(places), self.compaction.first_seq + 0.5)

    @property
    def values(self) -> list[Message | Summary]:
        """Return the items as `scoring` takes them."""
        return [_with_speaker(item) for item in self.items]

    @property
    def scope(self) -> SummaryScope:
        """Return the span as `scoring` takes it."""
        values, first, last = self.values, iso(self.first_at) or "", iso(self.last_at) or ""
        empty = covering(values, self.around, first, last)
        return SummaryScope(values, self.around, self.replaced, empty, self.counter)

    @property
    def messages(self) -> list[MessageRow]:
        """Return the rows of the messages among them."""
        return [s.row for s in self.items if isinstance(s.row, MessageRow)]

    @property
    def summaries(self) -> list[SummaryRow]:
        """Return the rows of the summaries among them."""
        return [s.row for s in self.items if isinstance(s.row, SummaryRow)]

    @property
    def first_at(self) -> int | None:
        """Return the time of the first message behind them, None if it is unknown."""
        times = [m.at for m in self.messages] + [s.first_at for s in self.summaries]
        return min((at for at in times if at is not None), default=None)

    @property
    def last_at(self) -> int | None:
        """Return the time of the last message behind them, None if it is unknown."""
        times = [m.at for m in self.messages] + [s.last_at for s in self.summaries]
        return max((at for at in times if at is not None), default=None)


def _asks(item: ViewItem) -> bool:
    value = _with_speaker(item)
    return isinstance(value, Message) and is_request(value)


def _with_speaker(item: ViewItem) -> Message | Summary:
    """Return the value of an item by who really speaks.

    What a program wrote in the user's role has the name REMINDER. The agent's own summary of what was before is in the
    agent's words.
    """
    value, row = item.value, item.row
    if isinstance(value, Summary) or not isinstance(row, MessageRow) or row.role != "user":
        return value
    if row.kind != "message":
        return replace(value, role="assistant", name="")
    (features,) = read_features([row.features])
    return value if features.own_words else replace(value, name=REMINDER)


def to_cover(items: Sequence[ViewItem], min_recent: int) -> list[ViewItem]:
    """Return the items to cover, in whole units.

    System messages, pinned ones, calls without results, the recent messages and the provider's newest compaction stay.
    """
    units, links = Units(), [links_of(one.message) for one in items]
    for one_links in links:
        units.append(one_links)
    spoken = [
        n for n, one in enumerate(items) if isinstance(one.row, MessageRow) and one.row.role != "system"
    ]
    recent = spoken[max(0, len(spoken) - max(1, min_recent)) :]
    compacted = [n for n in spoken if is_compacted(items[n].message)]
    stays = {units.head[n] for n in (*recent, *waiting(links), *compacted[-1:])}
    stays |= {units.head[n] for n in spoken if items[n].row.pinned}  # type: ignore[union-attr]
    chosen = {n for n in spoken if units.head[n] not in stays}
    chosen |= {n for n, one in enumerate(items) if isinstance(one.row, SummaryRow)}
    return [items[n] for n in sorted(chosen)]
