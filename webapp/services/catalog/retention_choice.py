"""The choice of the sessions that the limits on age and size delete."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from webapp.services.catalog.answers import RetentionLimits
from webapp.store.sessions import SessionRow

Reason = Literal["age", "size", "user_size"]
DAY_MS = 24 * 3600 * 1000
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class SessionTree:
    """A session with its sub-agents. `last` is the latest activity in it, in ms.

    `sizes`, in bytes, and `versions` are those of the sessions, by id. `exempt`: it is never deleted, because it is
    kept, or in use whatever its times say.
    """

    row: SessionRow
    user: str
    last: int
    sizes: Mapping[str, int]
    versions: Mapping[str, int]
    exempt: bool

    @property
    def size(self) -> int:
        """Return the bytes of all of it."""
        return sum(self.sizes.values())

    @property
    def sessions(self) -> int:
        """Return the number of sessions in it."""
        return len(self.sizes)


def to_delete(
    trees: Iterable[SessionTree], limits: RetentionLimits, now: int
) -> list[tuple[SessionTree, Reason]]:
    """Return the trees to delete, each with the reason, those unused for longest first.

    The age is applied first, then the size of each user's sessions, then that of all.
    """
    ordered = sorted(trees, key=lambda one: (one.last, one.row.key))
    deletable = {one.row.key for one in ordered if not one.exempt and now - one.last > DAY_MS}
    gone: dict[int, Reason] = {}
    if limits.days is not None:
        before = now - limits.days * DAY_MS
        gone = {one.row.key: "age" for one in ordered if one.row.key in deletable and one.last < before}
    for user in sorted({one.user for one in ordered}):
        own = [one for one in ordered if one.user == user]
        gone |= dict.fromkeys(_beyond(own, limits.user_size_mib, deletable, gone), "user_size")
    gone |= dict.fromkeys(_beyond(ordered, limits.size_mib, deletable, gone), "size")
    return [(one, gone[one.row.key]) for one in ordered if one.row.key in gone]


def _beyond(
    trees: Sequence[SessionTree], size_mib: int | None, deletable: Container[int], gone: Container[int]
) -> list[int]:
    """Return the keys of further trees to delete until the others take at most `size_mib`."""
    found: list[int] = []
    if size_mib is None:
        return found
    left = sum(one.size for one in trees if one.row.key not in gone)
    for one in trees:
        if left <= size_mib * MIB:
            break
        if one.row.key in deletable and one.row.key not in gone:
            found.append(one.row.key)
            left -= one.size
    return found
