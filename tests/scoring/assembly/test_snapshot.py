"""The input of an assembly."""

from __future__ import annotations

from dataclasses import replace

from scoring.assembly.snapshot import AssemblyConfig, Item, Snapshot, user_says_something
from scoring.budget import TokenBudget
from scoring.messages import Media, ToolResult, message
from scoring.settings import BLUEPRINT, DEFAULT_PRESET, PRESETS
from scoring.summary import Summary
from scoring.tokens import ESTIMATOR, FOUR_CHARACTERS
from tests.scoring.builders import BALANCED, model, user


class TestSnapshot:
    """Snapshots made from messages, wire objects or stored items."""

    def test_stays_as_it_is(self) -> None:
        """A snapshot is returned unchanged."""
        one = Snapshot()
        assert Snapshot.of(one) is one

    def test_numbers_bare_messages(self) -> None:
        """Messages get their positions as ids; summaries and items are kept."""
        summary, item = Summary("s", "text"), Item("x", user())
        made = Snapshot.of([model(), summary, item])
        assert made.items == (Item("0", model()), summary, item)
        assert made.format == ""

    def test_reads_wire_objects_and_bodies(self) -> None:
        """The format is remembered, and the tools of a body are counted."""
        listed = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
        body = {
            "messages": listed,
            "system": "You are.",
            "tools": [{"name": "t", "input_schema": {}}],
            "model": "claude",
        }
        assert Snapshot.of(listed).format in ("openai", "anthropic")
        assert Snapshot.of(body).format == "anthropic"
        assert Snapshot.of(body).tools == ({"name": "t", "input_schema": {}},)
        assert Snapshot.of(body).system_prompt == "You are."
        for tools in ({"a": 1}, ["x"], [None]):
            assert Snapshot.of({**body, "tools": tools}).tools == ()


class TestTheRules:
    """The settings and budget of an assembly."""

    def test_come_from_settings_or_a_budget_alone(self) -> None:  # C1
        """A bare budget means the strategy *newest first*."""
        budget = TokenBudget(1_000, 0, 0, fresh_tail_count=3)
        assert AssemblyConfig.of(budget).settings.strategy == "newest_first"
        assert AssemblyConfig.of(budget).tail == 3
        assert AssemblyConfig.of(BLUEPRINT).settings is BLUEPRINT
        assert AssemblyConfig.of(None) == AssemblyConfig()

    def test_count_as_the_settings_say(self) -> None:
        """*Blueprint* counts four characters per token, unless a counter is passed."""
        assert AssemblyConfig(BLUEPRINT).counts is FOUR_CHARACTERS
        assert AssemblyConfig(BLUEPRINT, counter=ESTIMATOR).counts is ESTIMATOR

    def test_protect_at_least_the_recent_messages(self) -> None:  # S2, C2
        """So it is for a prune without fresh tail; a bare budget has the tail that it names."""
        assert AssemblyConfig(BLUEPRINT).tail == 6
        assert AssemblyConfig(replace(BALANCED, fresh_tail=16)).tail == 16
        assert AssemblyConfig(budget=TokenBudget(10, 0, 0, fresh_tail_count=0)).tail == 0

    def test_default_to_the_default_preset(self) -> None:  # C5
        """The library and the application share one default preset."""
        for config in (AssemblyConfig(), AssemblyConfig.of(None)):
            assert config.settings == PRESETS[DEFAULT_PRESET]


class TestAUserMessage:
    """User messages, in any format."""

    def test_have_words_or_media(self) -> None:  # X6
        """A text of blanks, or a message of tool results, cannot open a list."""
        assert user_says_something(user("hi"))
        assert user_says_something(message("user", "", Media("image")))
        assert not user_says_something(user("  "))
        assert not user_says_something(message("user", "", ToolResult("1", "out")))
        assert not user_says_something(model("hi"))
