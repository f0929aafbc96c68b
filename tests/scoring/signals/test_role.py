"""The signal role."""

from __future__ import annotations

from scoring.history import Mentions
from scoring.settings import BLUEPRINT, Settings
from scoring.signals import AGENT, HAS_DIGIT, IS_LINE, TASK, TOOL, USER
from scoring.signals.role import rate, rate_mentions
from tests.scoring.builders import history_of, in_letters


class TestRole:
    """The rating of roles."""

    def test_rates_as_the_preset_says(self) -> None:  # B3
        """System 1, user 2/3, assistant 1/3, tool 1/3."""
        assert rate(history_of(in_letters("suct")), BLUEPRINT) == [1, 2 / 3, 1 / 3, 1 / 3]

    def test_rates_tool_results_as_the_settings_say(self) -> None:  # B3, B16
        """The table is a setting."""
        settings = Settings.from_dict({"roles": {"tool": 0.9}})
        assert rate(history_of(in_letters("uct")), settings) == [2 / 3, 1 / 3, 0.9]


class TestOfMentions:
    """The rating of names by the role that mentions them."""

    def test_puts_the_agents_own_words_and_the_task_first(self) -> None:  # B18
        """The user's words and codes come next, and last what only tools said."""
        ratings = rate_mentions(Mentions(), 0).table
        assert ratings[AGENT] == ratings[TASK | USER] == 1.0
        assert ratings[USER] == ratings[TOOL | HAS_DIGIT] == 0.5
        assert ratings[TOOL] == ratings[TOOL | IS_LINE] == 0.25
