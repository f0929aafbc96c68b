"""Targets, usable windows and shared totals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoring.budget.budget import (
    Targets,
    TokenBudget,
    share_of,
    targets,
    usable_tokens,
    utilization,
)
from scoring.errors import InvalidSettings
from scoring.models import ModelLimits, find_model
from scoring.settings import BLUEPRINT
from tests.scoring.builders import BALANCED


def window(tokens: int, input_limit: int | None = None) -> ModelLimits:
    """Return a model with this window and input limit."""
    return ModelLimits("made-up", tokens, input_limit)


class TestTargets:
    """The target, up to which a context may fill its window, and the aim of a prune."""

    @pytest.mark.parametrize(
        ("name", "limit", "target"),
        [
            ("gemini-2.5-flash", 1_000_000, 800_000),
            ("claude-sonnet-4-5", 200_000, 160_000),
            ("gpt-5", 128_000, 102_400),
            ("default", 100_000, 80_000),
        ],
    )
    def test_of_blueprint_are_eighty_percent(self, name: str, limit: int, target: int) -> None:  # B13
        """Target and aim are equal in this preset."""
        model = find_model(name, settings=BLUEPRINT)
        assert targets(model, BLUEPRINT) == Targets(limit, target, target)

    def test_are_the_least_of_three(self) -> None:  # X10
        """80 % of the input limit, the window less the reserve, or the user's cap; the answer names which."""
        reserve = replace(BALANCED, response_reserve=60_000)
        cap = replace(BALANCED, cap_tokens=50_000)
        assert targets(window(200_000), BALANCED) == Targets(200_000, 160_000, 120_000)
        assert targets(window(400_000, 272_000), BALANCED).target == 217_600
        assert targets(window(200_000), reserve) == Targets(200_000, 140_000, 120_000)
        assert targets(window(200_000), cap) == Targets(200_000, 50_000, 37_500)

    def test_never_aim_above_themselves(self) -> None:  # X9
        """A prune never cuts to more than the target, whatever the settings are."""
        tight = replace(BLUEPRINT, cap_tokens=1_000)
        assert targets(window(200_000), tight) == Targets(200_000, 1_000, 1_000)


class TestUtilization:
    """Tokens as a percentage of the limit."""

    @pytest.mark.parametrize(
        ("tokens", "limit", "percent"),
        [(57_450, 200_000, 28.7), (1, 3, 33.3), (0, 100, 0.0), (300, 200, 150.0), (5, 0, 0.0)],
    )
    def test_has_one_decimal_and_no_cap(self, tokens: int, limit: int, percent: float) -> None:  # X10, B11
        """150 % is shown as 150 %; without a limit it is 0."""
        assert utilization(tokens, limit) == percent

    @pytest.mark.parametrize(
        ("tokens", "percent"), [(199_899, 99.9), (199_999, 99.9), (200_000, 100.0), (200_200, 100.1)]
    )
    def test_calls_only_a_full_limit_100_percent(self, tokens: int, percent: float) -> None:  # B11
        """Rounding fills it no sooner, on whatever page or line the share is shown."""
        assert utilization(tokens, 200_000) == percent


class TestUsable:
    """The tokens that an assembled context may use."""

    @pytest.mark.parametrize(
        ("tokens", "usable"),
        [(200_000, 200_000 - 4_096 - 20_000), (8_192, 8_192 - 4_096 - 819), (1_000_000, 1_000_000 - 24_096)],
    )
    def test_is_the_window_less_reserve_and_buffer(self, tokens: int, usable: int) -> None:  # C5
        """The window less at least 4,096 tokens for the answer and a buffer of 20,000, on small windows a tenth."""
        assert usable_tokens(window(tokens), BALANCED) == usable
        assert usable_tokens(window(tokens), replace(BALANCED, response_reserve=0)) == usable

    def test_refuses_a_window_with_nothing_usable(self) -> None:  # C5
        """The error has the numbers."""
        with pytest.raises(InvalidSettings, match="window: expected more than 4,496 tokens, got 4,000"):
            usable_tokens(window(4_000), BALANCED)


class TestTokenBudget:
    """A total of tokens, divided into reserves and shares."""

    BUDGET = TokenBudget(30_000, 2_000, 2_000, 0.15, 0.05, 16)

    def test_gives_history_what_the_others_leave(self) -> None:  # M1
        """26,000 available: 3,900 for memory, 1,300 for learnings, 20,800 for history."""
        budget = self.BUDGET
        assert (budget.available, budget.memory, budget.learnings, budget.history) == (
            26_000,
            3_900,
            1_300,
            20_800,
        )
        assert budget == TokenBudget(30_000)

    def test_may_be_used_up_by_its_reserves(self) -> None:  # M2
        """Reserves equal to the total are accepted and leave nothing."""
        budget = TokenBudget(4_000, 2_000, 2_000)
        assert (budget.available, budget.history) == (0, 0)

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"total": -1}, "total"),
            ({"total": 2.5}, "total"),
            ({"system_reserve": True}, "system_reserve"),
            ({"fresh_tail_count": -1}, "fresh_tail_count"),
            ({"memory_fraction": 1.1}, "memory_fraction"),
            ({"learnings_fraction": float("nan")}, "learnings_fraction"),
            ({"learnings_fraction": "0.1"}, "learnings_fraction"),
            ({"memory_fraction": 0.6, "learnings_fraction": 0.5}, "memory_fraction"),
            ({"total": 3_999}, "system_reserve"),
        ],
    )
    def test_refuses_impossible_numbers(self, changes: dict[str, Any], field: str) -> None:  # M2
        """The error names the wrong number and the reason."""
        with pytest.raises(InvalidSettings) as refused:
            replace(self.BUDGET, **changes)
        assert [fault.field for fault in refused.value.faults] == [field]

    def test_names_every_fault_at_once(self) -> None:  # M2
        """One error has every fault."""
        with pytest.raises(InvalidSettings, match=r"total: .*memory_fraction: "):
            TokenBudget(-5, memory_fraction=-0.1)


class TestShares:
    """A percentage of tokens, as a whole number."""

    def test_is_rounded_down_without_floating_point_error(self) -> None:
        """29 % of 100 is 29, although floating point makes it slightly less."""
        assert share_of(100, 29.0) == 29
        assert share_of(7, 50) == 3
