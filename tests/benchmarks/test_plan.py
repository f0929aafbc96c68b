"""The benchmark of plans, on few messages: that it measures what it says. How long that takes, no test asks."""

from __future__ import annotations

from benchmarks.plan import KEPT, _cold, _talked, _worked, made_up, with_contents
from scoring.formats import recognise
from scoring.planning import plan_prune
from scoring.settings import FORESIGHT


class TestHistories:
    """Tests of the made-up histories."""

    def test_have_to_let_something_go(self) -> None:
        """A plan over them changes something, and keeps to its budget."""
        history = with_contents(made_up(60))
        budget = int(sum(history.tokens) * KEPT)
        plan = plan_prune(history, FORESIGHT, budget)
        assert plan.removed or plan.shortened
        assert plan.tokens_after <= budget


class TestLists:
    """Bare lists, pruned by both."""

    def test_are_pruned_by_both_side_by_side(self) -> None:
        """OpenAI's pruning is measured beside ours, with a figure for each and for both together."""
        for make in (_worked, _talked):
            messages = make(24)
            assert recognise(messages).name == "openai"
            rows = {row.name: row for row in _cold("list", messages, foresight=True)}
            ours, theirs = rows["prune a list, Blueprint"], rows["the same, langchain-core trim_messages"]
            assert ours.goal == theirs.value
            assert rows["the same, Blueprint beside trim_messages"].value == ours.value / theirs.value
            calls = (
                "the same, Foresight, first call, beside trim_messages",
                "the same, grown by a turn, second call",
            )
            assert all(rows[name].value > 0 for name in calls)
