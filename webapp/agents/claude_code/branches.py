"""Live rows of a transcript: those that the agent still sends, on the path to the newest leaf.

Rows form a tree by parent. The live conversation is the chain from the newest row back to a root, and every round that
has a row on this chain, with the rows that round depends on. A round is one API call with the results of its tool
calls: agents write one row for each content block, and the parent of a result is the row of its own call, so parallel
calls look like a fork although they are not one.

`live_path` computes it for a whole list of rows. `LiveTree` does the same row by row: after each row its path is
`live_path` of the rows so far (a property test checks that). Skipped rows only link other rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A delivered row. `parent` is a delivered row or None (a root); a row without `round` is a round of its own."""

    id: str
    parent: str | None
    round: str | None = None


def live_path(nodes: Sequence[Node]) -> list[str]:
    """Return the ids that are live after the last of `nodes`, in order of arrival. Parents come before children."""
    by_id, rounds = {node.id: node for node in nodes}, defaultdict[str, list[str]](list)
    for node in nodes:
        if node.round is not None:
            rounds[node.round].append(node.id)
    live: set[str] = set()
    waiting = [nodes[-1].id] if nodes else []
    while waiting:
        row_id = waiting.pop()
        if row_id in live:
            continue
        live.add(row_id)
        node = by_id[row_id]
        waiting += [node.parent] if node.parent is not None else []
        waiting += rounds.pop(node.round, []) if node.round is not None else []
    return [node.id for node in nodes if node.id in live]


class LiveTree:
    """Follows a tree as it grows. Ids are added once; `add` and `link` are O(1) unless the path turns."""

    def __init__(self) -> None:
        self._parent: dict[str, str | None] = {}  # of every row, skipped ones included, as written
        self._seen: dict[str, Node] = {}  # delivered rows in order of arrival
        self._redirect: dict[str, str] = {}  # rows after which others were moved by a compaction
        self._path: list[str] = []
        self._place: dict[str, int] = {}  # id -> position in _path
        self._kept: list[str] = []  # rows that move behind the next row
        self._rounds: dict[str, list[str]] = {}  # round -> its rows

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._parent

    @property
    def tip(self) -> str | None:
        """Return the newest live row."""
        return self._path[-1] if self._path else None

    def path(self) -> tuple[str, ...]:
        """Return the live rows, in order of arrival."""
        return tuple(self._path)

    def link(self, row_id: str, parent: str | None) -> None:
        """Add a skipped row: its children become children of its parent. A later root continues from the tip."""
        if row_id not in self._parent:
            self._parent[row_id] = self.tip if parent is None else parent

    def cut(self, row_id: str | None, head: str | None = None, tail: str | None = None) -> tuple[str, ...]:
        """Compact: `row_id` (not a row of the conversation) becomes a new root, and the path starts from it.

        `head` and `tail` are the first and last of the live rows that stay; they are placed after the row that
        follows. Returns these rows.
        """
        kept: list[str] = []
        first, last = (self._place.get(self.resolve(row)[0] or "") for row in (head, tail))
        if first is not None and last is not None:
            kept = self._path[first : last + 1]
        if row_id is not None:
            self._parent[row_id] = None
        self._kept = kept
        self._set_path([])
        return tuple(kept)

    def resolve(self, parent: str | None) -> tuple[str | None, bool]:
        """Return the nearest delivered row at or above `parent`, and True if it is known. (None, True) is a root."""
        steps = 0
        while parent is not None and parent not in self._seen:
            if parent not in self._parent or steps > len(self._parent):
                return None, False
            parent = self._parent[parent]
            steps += 1
        return (self._redirect.get(parent, parent) if parent else None), True

    def add(self, row_id: str, parent: str | None, round_id: str | None = None) -> tuple[str, ...] | None:
        """Add a delivered row whose written parent is `parent`.

        Returns the rows that are live before this one if the conversation turned (a rewind or another branch), None
        if it continues. With an unknown parent it continues.
        """
        found, known = self.resolve(parent)
        if not known:
            found = self.tip
        node = Node(row_id, found, round_id)
        turned = not self._goes_on(node)
        self._parent[row_id] = parent
        self._seen[row_id] = node
        if round_id is not None:
            self._rounds.setdefault(round_id, []).append(row_id)
        if turned:
            path = live_path([*self._seen.values()])
            self._set_path(path)
            return tuple(i for i in path if i != row_id)
        self._append(row_id)
        if self._kept:
            self._move_kept(row_id)
        return None

    def parent_of(self, row_id: str) -> str | None:
        """Return the delivered row before a delivered one."""
        return self._seen[row_id].parent

    def _goes_on(self, node: Node) -> bool:
        """Return whether all live rows after the parent belong to its round, or to the row's own live round."""
        if any(row_id not in self._place for row_id in self._rounds.get(node.round or "", ())):
            return False
        if not self._path:
            return node.parent is None
        start = self._place.get(node.parent, -2) if node.parent is not None else -1
        if start == -2:
            return False
        rounds = {node.round, self._seen[node.parent].round if node.parent else None} - {None}
        return all(self._seen[i].round in rounds for i in reversed(self._path[start + 1 :]))

    def _append(self, row_id: str) -> None:
        self._place[row_id] = len(self._path)
        self._path.append(row_id)

    def _move_kept(self, summary: str) -> None:
        """Make the kept rows children of the summary, and its former children those of the last kept row."""
        before = summary
        kept, self._kept = self._kept, []
        for row_id in kept:
            node = self._seen.pop(row_id)
            self._seen[row_id] = Node(row_id, before, node.round)
            self._append(row_id)
            before = row_id
        self._redirect[summary] = before

    def _set_path(self, path: list[str]) -> None:
        self._path = path
        self._place = {row_id: n for n, row_id in enumerate(path)}
