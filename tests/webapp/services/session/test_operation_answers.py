"""Operations as the API answers them."""

from __future__ import annotations

import pytest

from webapp.services.session.operation_answers import operation_answer, pruned_words
from webapp.store.operations import Actor, Facts, OperationRow


def operation(n: int, actor: Actor = "user", undone_at: int | None = None) -> OperationRow:
    """Return the row of an operation."""
    return OperationRow(n, "prune", actor, "manual", 0, 1, 100, 40, 3, Facts(preset="Balanced"), undone_at)


class TestOperation:
    """Operations that an undo can take back."""

    def test_is_undone_together_with_later_ones(self) -> None:  # X2
        """The answer lists the operations that are undone with it."""
        live = [operation(3), operation(2), operation(1)]
        shown = operation_answer(live[2], live)
        assert (shown.undoable, shown.undoes_also, shown.freed) == (True, [2, 3], 60)

    @pytest.mark.parametrize(
        ("removed", "shortened", "words"),
        [
            (12, 3, "12 messages pruned, 3 shortened"),
            (1, 0, "1 message pruned"),
            (0, 1, "1 message shortened"),
        ],
    )
    def test_counts_dropped_and_shortened_messages(self, removed: int, shortened: int, words: str) -> None:
        """Dropped and shortened messages are counted and described separately."""
        made = operation(1)
        made.facts.removed, made.facts.shortened = removed, shortened
        shown = operation_answer(made, [made])
        assert (shown.removed, shown.shortened) == (removed, shortened)
        assert pruned_words(made) == words

    @pytest.mark.parametrize(
        ("removed", "words"),
        [
            (12, "12 messages summarised in 1,204 tokens"),
            (13, "12 messages summarised in 1,204 tokens, 1 pruned"),
        ],
    )
    def test_counts_summarised_and_pruned_messages(self, removed: int, words: str) -> None:
        """The answer has the summary's tokens and number."""
        made = operation(1)
        made.facts = Facts(removed=removed, summarised=12, summary_tokens=1_204, summary=7)
        assert pruned_words(made) == words
        assert operation_answer(made, [made]).summary == 7

    def test_of_an_earlier_version_has_no_separate_counts(self) -> None:
        """Counts that an earlier version did not store are not guessed."""
        assert operation_answer(operation(1), []).removed is None

    def test_cannot_be_undone_before_one_of_the_agent(self) -> None:  # X2
        """A compaction and the operations before it cannot be undone."""
        live = [operation(3), operation(2, "agent"), operation(1)]
        assert [operation_answer(o, live).undoable for o in live] == [True, False, False]

    def test_is_undone_once(self) -> None:
        """An undone operation cannot be undone again."""
        shown = operation_answer(operation(1, undone_at=5_000), [])
        assert (shown.undoable, shown.undone_at) == (False, "1970-01-01T00:00:05.000Z")
