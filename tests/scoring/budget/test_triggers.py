"""Triggers of a summary, and the status view as data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.budget.triggers import (
    Bar,
    ContextSizes,
    available,
    bars,
    status_line,
    summary_due,
)
from scoring.settings import Settings

RULES = Settings()
QUIET = ContextSizes(
    since_messages=20, since_tokens=5_000, messages=5_000, tools=1_000, window=200_000, limit=200_000
)


class TestTriggers:
    """A summary is due when a trigger is reached."""

    @pytest.mark.parametrize(
        ("sizes", "cause"),
        [
            (QUIET, ""),
            (replace(QUIET, since_messages=29), ""),
            (replace(QUIET, since_messages=30), "messages"),
            (replace(QUIET, since_tokens=128_000), ""),
            (replace(QUIET, since_tokens=128_001), "tokens"),
            (replace(QUIET, since_tokens=48_001, window=60_000), "tokens"),
        ],
    )
    def test_by_messages_or_tokens(self, sizes: ContextSizes, cause: str) -> None:  # S3
        """Thirty messages, more than so many tokens, or a share of the window."""
        assert summary_due(sizes, RULES).cause == cause

    @pytest.mark.parametrize("since", [0, 5, 9])
    def test_need_a_few_messages_beyond_the_recent_ones(self, since: int) -> None:  # S3
        """Below min_recent + 4 messages there is nothing to cover, however large they are."""
        sizes = replace(QUIET, since_messages=since, since_tokens=500_000, messages=500_000)
        assert not summary_due(sizes, RULES)

    def test_by_the_full_formula(self) -> None:  # P5
        """Messages, tool definitions and output reserve together exceed the window."""
        fits = replace(QUIET, messages=190_000, tools=5_904)
        assert not summary_due(fits, RULES)
        over = replace(fits, tools=5_905)
        assert summary_due(over, RULES).cause == "window"

    def test_are_not_reached_right_after_a_summary_of_everything(self) -> None:  # S3, C9
        """Conformance example 15: only messages since the last summary count."""
        after = replace(QUIET, since_messages=0, since_tokens=0, messages=199_999)
        assert not summary_due(after, RULES)

    def test_follow_the_settings(self) -> None:  # S3
        """Each threshold is a setting."""
        eager = replace(RULES, max_messages_before_summary=10, min_recent_messages=4)
        assert summary_due(replace(QUIET, since_messages=10), eager).cause == "messages"


class TestStatus:
    """The status view in the words of the command line."""

    def test_shows_both_triggers_as_bars(self) -> None:  # S7
        """Name, value, limit and percent."""
        sizes = replace(QUIET, since_messages=18, since_tokens=45_000)
        assert [str(bar) for bar in bars(sizes, replace(RULES, auto_summarize=True))] == [
            "Messages 18 / 30 (60.0 %)",
            "Tokens 45,000 / 128,000 (35.2 %)",
        ]

    def test_has_no_limit_at_which_nothing_happens(self) -> None:  # S7, S3
        """Summaries on request have none, below it and above; automatic ones can be above 100 %."""
        sizes = replace(QUIET, since_messages=225, since_tokens=45_000)
        on_request = bars(sizes, replace(RULES, auto_summarize=False))
        assert list(map(str, on_request)) == ["Messages 225", "Tokens 45,000"]
        by_itself = bars(sizes, replace(RULES, auto_summarize=True))
        assert str(by_itself[0]) == "Messages 225 / 30 (750.0 %)"

    def test_is_one_line(self) -> None:  # S7
        """The line has messages, tools, context and percent."""
        sizes = replace(QUIET, messages=45_000, tools=12_450, limit=200_000)
        assert status_line(sizes) == "tokens: 45,000 msgs + 12,450 tools | context: 57,450 / 200,000 (28.7 %)"

    def test_is_full_at_the_limit_only(self) -> None:  # S7
        """99.98 % is not 100.0 %."""
        assert status_line(replace(QUIET, messages=198_960, limit=200_000)).endswith("(99.9 %)")

    def test_counts_one_message_as_one(self) -> None:  # S3
        """A reason agrees with its number."""
        assert summary_due(replace(QUIET, since_messages=1), RULES).reason.startswith("1 message since ")

    def test_names_tokens_outside_the_transcript_as_the_bar_does(self) -> None:  # S7, X11
        """It is named "unseen" as in the bar, and tools are named beside it if there are any."""
        sizes = replace(QUIET, messages=45_000, tools=12_450, unseen=12_450, limit=200_000)
        assert "45,000 msgs + 12,450 not in the transcript | context: 57,450" in status_line(sizes)
        both = replace(sizes, tools=12_950)
        assert "45,000 msgs + 500 tools + 12,450 not in the transcript | context: 57,950" in status_line(both)

    def test_a_bar_without_a_limit_is_empty(self) -> None:
        """A limit of 0 gives an empty bar instead of a division by zero."""
        assert Bar("Messages", 3, 0).percent == 0.0

    def test_available_is_the_limit_less_reserve_prompt_and_tools(self) -> None:  # S6
        """The available tokens are the limit less reserve, prompt and tools."""
        assert available(replace(QUIET, system=2_000), RULES) == 200_000 - 4_096 - 2_000 - 1_000
