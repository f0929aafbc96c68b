"""The summary that a plan asks for, written by the built-in summariser within the tokens that the plan reserves.

It is used for lists outside the store: a file that is pruned, a context that is assembled. The same messages always
give the same summary.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.messages import Message
from scoring.summary.levels import JudgedSummary, covering, deterministic, replaced_tokens
from scoring.summary.snapshot import MOST_WORDS
from scoring.summary.summary import Summary
from scoring.tokens import ESTIMATOR, TokenCounter


def written(
    items: Sequence[Message | Summary],
    most_tokens: int,
    max_words: int = MOST_WORDS,
    counter: TokenCounter = ESTIMATOR,
) -> JudgedSummary:
    """Return a summary of these items in at most `most_tokens` and in fewer tokens than the items."""
    return deterministic(
        covering(items), items, replaced_tokens(items, counter), max_words, counter, most_tokens
    )
