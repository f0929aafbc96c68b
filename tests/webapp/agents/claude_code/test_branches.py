"""The live rows of a transcript, which are the same read row by row or at once."""

from __future__ import annotations

from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from webapp.agents.claude_code.branches import LiveTree, Node, live_path

# Each row: (where its parent is, counted back from it; 0: a root), its round, whether it is skipped.
ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.booleans()), max_size=30)


def path(tree: LiveTree) -> tuple[str, ...]:
    """Return the live rows of a tree, in order of arrival."""
    return tuple(tree._path)


class TestALiveTree:
    """The path of live rows, updated with each row."""

    @given(ROWS)
    def test_has_the_path_of_all_rows(self, rows: list[tuple[int, int, bool]]) -> None:
        """After every row of any tree, the path equals that of all rows so far."""
        tree, nodes = LiveTree(), []
        for n, (back, round_number, skipped) in enumerate(rows):
            name, parent = str(n), str(n - back) if 0 < back <= n else None
            if skipped:
                tree.link(name, parent)
                continue
            round_id = f"call {n // 5}" if round_number else None
            before = tree.add(name, parent, round_id)
            nodes.append(Node(name, tree.parent_of(name), round_id))
            assert list(path(tree)) == live_path(nodes)
            assert before is None or [*before, name] == live_path(nodes)

    @given(ROWS, st.randoms(use_true_random=False))
    def test_is_the_same_if_rows_come_before_their_parents(
        self, rows: list[tuple[int, int, bool]], random: Random
    ) -> None:
        """Once all rows came, the newest last, the path has the rows that it would have in order."""
        written = [
            (str(n), str(n - back) if 0 < back <= n else None, f"call {n // 5}" if number else None, skipped)
            for n, (back, number, skipped) in enumerate(rows)
        ] + [("last", str(len(rows) - 1) if rows else None, None, False)]
        early = written[:-1]
        random.shuffle(early)
        # A root that is skipped continues from the tip, so that its place is a part of what it says.
        assume(all(parent is not None or not skipped for _, parent, _, skipped in written))
        ordered, shuffled = LiveTree(), LiveTree()
        context: set[str] = set()
        for tree, given_rows in ((ordered, written), (shuffled, [*early, written[-1]])):
            for name, parent, round_id, skipped in given_rows:
                live = tree.link(name, parent) if skipped else tree.add(name, parent, round_id)
                if tree is shuffled:
                    context = context if live is None else set(live)
                    context |= {name} if not skipped and tree.is_live(name) else set()
                    assert context == set(path(tree))
        assert set(path(shuffled)) == set(path(ordered))

    def test_takes_in_a_parent_that_comes_late(self) -> None:
        """The child stays, and the conversation goes on from it."""
        tree = LiveTree()
        for name, parent in [("u", None), ("child", "parent"), ("parent", "u"), ("next", "child")]:
            assert tree.add(name, parent) is None
        assert set(path(tree)) == {"u", "child", "parent", "next"}

    def test_leaves_a_late_row_of_another_branch_out(self) -> None:
        """The conversation went back before the branch's last row was written."""
        tree = LiveTree()
        for name, parent in [("u", None), ("a", "u"), ("child", "late"), ("b", "u")]:
            tree.add(name, parent)
        assert tree.add("late", "a") == ("u", "b")
        assert not tree.is_live("late")
        assert tree.add("c", "b") is None

    def test_keeps_parallel_results_together(self) -> None:
        """Two calls of one round and their results, in any order, are one path."""
        tree = LiveTree()
        for name, parent, round_id in [
            ("u", None, None), ("a", "u", "r"), ("b", "a", "r"), ("b1", "b", "r"), ("a1", "a", "r"), ("c", "b1", "s"),
        ]:  # fmt: skip
            assert tree.add(name, parent, round_id) is None
        assert path(tree) == ("u", "a", "b", "b1", "a1", "c")

    def test_goes_through_skipped_rows(self) -> None:
        """A child of a skipped row is a child of the row above; a skipped root continues the path."""
        tree = LiveTree()
        tree.link("p", None)
        assert tree.add("u", "p") is None
        tree.link("q", None)
        assert tree.add("v", "q") is None
        assert path(tree) == ("u", "v")

    def test_survives_rows_that_are_their_own_parents(self) -> None:
        """A cycle of skipped rows counts as an unknown parent."""
        tree = LiveTree()
        tree.add("u", None)
        tree.link("x", "y")
        tree.link("y", "x")
        assert tree.add("v", "x") is None
        assert path(tree) == ("u", "v")


class TestLivePath:
    """The path of a list of rows."""

    def test_leads_to_the_newest_row(self) -> None:
        """Other branches are left out."""
        nodes = [Node("a", None), Node("b", "a"), Node("c", "a"), Node("d", "b")]
        assert live_path(nodes) == ["a", "b", "d"]

    def test_of_no_rows_is_empty(self) -> None:
        """An empty list has an empty path."""
        assert live_path([]) == []
