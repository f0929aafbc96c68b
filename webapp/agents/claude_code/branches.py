"""Live rows of a transcript: those that the agent still sends, on the path to the newest leaf.

Rows form a tree by parent. The live conversation is the chain from the newest row back to a root, and every round that
has a row on this chain, with the rows that round depends on. A round is one API call with the results of its tool
calls: agents write one row for each content block, and the parent of a result is the row of its own call, so parallel
calls look like a fork although they are not one.

`live_path` computes it for a whole list of rows. `LiveTree` does the same row by row: after each row its path is
`live_path` of the rows so far (a property test checks that). Skipped rows only link other rows.

Rows that an agent writes at the same moment, such as the notes of hooks, can come before their parents. A row with an
unknown parent follows the newest live row, until its parent comes and it becomes a child of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Node:
    """A delivered row. `parent` is a delivered row or None (a root); a row without `round` is a round of its own."""

    id: str
    parent: str | None
    round: str | None = None


def live_path(nodes: Sequence[Node], tip: str | None = None) -> list[str]:
    """Return the ids that are live where `tip` (by default the last of `nodes`) is the newest, in order of arrival."""
    by_id, rounds = {node.id: node for node in nodes}, defaultdict[str, list[str]](list)
    for node in nodes:
        if node.round is not None:
            rounds[node.round].append(node.id)
    live: set[str] = set()
    waiting = [tip or nodes[-1].id] if nodes else []
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
    """Follows a tree as it grows; `tip` is the newest live row.

    Ids are added once; `add` and `link` are O(1) unless the path turns.
    """

    def __init__(self) -> None:
        self._parent: dict[str, str | None] = {}  # of every row, skipped ones included, as written
        self._seen: dict[str, Node] = {}  # delivered rows in order of arrival
        self._redirect: dict[str, str] = {}  # rows after which others were moved by a compaction
        self._path: list[str] = []
        self._place: dict[str, int] = {}  # id -> position in _path
        self._kept: list[str] = []  # rows that move behind the next row
        self._rounds: dict[str, list[str]] = {}  # round -> its rows
        self._early: dict[str, list[str]] = {}  # a parent that has not come -> the rows that came before it
        self.tip: str | None = None
        self._moved = False  # the path is that of other parents or rounds than the rows have now

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._parent

    def is_live(self, row_id: str) -> bool:
        """Return whether a delivered row is live."""
        return row_id in self._place

    def awaits(self, row_id: str) -> bool:
        """Return whether children of this row came before it."""
        return row_id in self._early

    def link(self, row_id: str, parent: str | None) -> tuple[str, ...] | None:
        """Add a skipped row: its children become children of its parent. A later root continues from the tip.

        Returns the live rows if they changed, because children came before this row; else None.
        """
        if row_id in self._parent:
            return None
        self._parent[row_id] = self._provisional(row_id) if parent is None else parent
        self._adopt(row_id)
        return self._turn() if self._moved else None

    def tie(self, row_id: str, round_id: str) -> None:
        """Set the round of a row that came before its round was known; it counts from the next row on."""
        if self._seen[row_id].round is None:
            self._seen[row_id] = replace(self._seen[row_id], round=round_id)
            self._rounds.setdefault(round_id, []).append(row_id)
            self._moved = True

    def between(self, head: str | None, tail: str | None) -> list[str]:
        """Return the live rows from `head` to `tail`; none if one of them is not live."""
        ends = (row if row in self._place else self.resolve(row)[0] for row in (head, tail))
        first, last = (self._place.get(row or "") for row in ends)
        return self._path[first : last + 1] if first is not None and last is not None else []

    def delivered(self, row_ids: Iterable[str]) -> list[str]:
        """Return those of the rows that were delivered, each once."""
        return [row_id for row_id in dict.fromkeys(row_ids) if row_id in self._seen]

    def cut(self, row_id: str | None, kept: Iterable[str] = (), *, at_once: bool = False) -> tuple[str, ...]:
        """Compact: `row_id` (not a row of the conversation) becomes a new root, and the path starts from it.

        `kept` are the delivered rows that stay. They are placed after the row that follows, or `at_once` before it.
        Returns these rows.
        """
        self._kept, self.tip = list(kept), None
        stay = tuple(self._kept)
        self._set_path([])
        if at_once and stay:
            self._chain_kept(None)
        if row_id is not None:
            self._parent[row_id] = stay[-1] if at_once and stay else None
        return stay

    def collapse(self, rows: list[str], summary: str) -> tuple[str, ...]:
        """Take live rows out, in favour of the row `summary`, which has to be added next as a root.

        Returns the rows that stay. They follow the summary, and the next row follows them.
        """
        gone, tip = set(rows), self.tip
        stay = self.cut(None, [row_id for row_id in self._path if row_id not in gone])
        if tip in gone:
            self._redirect[tip] = stay[-1] if stay else summary
        return stay

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
            found = self._provisional(row_id)
            self._await(row_id, parent)
        node, late = Node(row_id, found, round_id), row_id in self._early
        goes_on = not late and not self._moved and self._goes_on(node)
        self._parent[row_id] = parent
        self._seen[row_id] = node
        if round_id is not None:
            self._rounds.setdefault(round_id, []).append(row_id)
        if not goes_on:
            self._adopt(row_id)
            self.tip = self._newest_below(row_id) if late else row_id
            return self._turn(row_id)
        self._append(row_id)
        if self._kept:
            self._move_kept(row_id)
        return None

    def _provisional(self, row_id: str) -> str | None:
        """Return the row to follow while the parent is unknown: the newest, or what this row's children followed."""
        early = self._early.get(row_id)
        return self._seen[early[0]].parent if early else self.tip

    def _await(self, row_id: str, parent: str | None) -> None:
        """Note which row would have to come for the parent of a row to be known."""
        steps = 0
        while parent in self._parent and parent not in self._seen and steps <= len(self._parent):
            parent = self._parent[parent]
            steps += 1
        if parent is not None and parent not in self._parent:
            self._early.setdefault(parent, []).append(row_id)

    def _adopt(self, row_id: str) -> None:
        """Make the rows that came before this row, their parent, its children."""
        for child in self._early.pop(row_id, ()):
            found, known = self.resolve(row_id)
            if not known:
                self._await(child, row_id)
            elif found != child:
                self._moved = self._moved or self._seen[child].parent != found
                self._seen[child] = replace(self._seen[child], parent=found)

    def _newest_below(self, row_id: str) -> str:
        """Return the newest row after one that came late, or the tip if the conversation has left that branch."""
        children = defaultdict[str | None, list[str]](list)
        for node in self._seen.values():
            children[node.parent].append(node.id)
        below, waiting = set[str](), [row_id]
        while waiting:
            at = waiting.pop()
            if at not in below:
                below.add(at)
                waiting += children[at]
        newest = next(
            one for one in reversed(self._seen) if one in below and (one != row_id or len(below) == 1)
        )
        above = set(live_path([*self._seen.values()], newest))
        return newest if self.tip is None or self.tip in above else self.tip

    def _turn(self, row_id: str | None = None) -> tuple[str, ...] | None:
        """Compute the path again; return the live rows without `row_id` if others came or left, or it is not live."""
        before = set(self._path)
        path = live_path([*self._seen.values()], self.tip)
        self._set_path(path)
        self._moved = False
        rest = tuple(i for i in path if i != row_id)
        return None if set(rest) == before and (row_id is None or row_id in self._place) else rest

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
        self.tip = row_id

    def _move_kept(self, summary: str) -> None:
        """Make the kept rows children of the summary, and its former children those of the last kept row."""
        self._redirect[summary] = self._kept[-1]
        self._chain_kept(summary)

    def _chain_kept(self, before: str | None) -> None:
        """Make each kept row the child of the one before it, the first one of `before`, and put them on the path."""
        kept, self._kept = self._kept, []
        for row_id in kept:
            node = self._seen.pop(row_id)
            self._seen[row_id] = Node(row_id, before, node.round)
            self._append(row_id)
            before = row_id

    def _set_path(self, path: list[str]) -> None:
        self._path = path
        self._place = {row_id: n for n, row_id in enumerate(path)}
