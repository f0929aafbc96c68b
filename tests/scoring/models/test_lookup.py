"""The limits that a model's name leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoring.errors import InvalidSettings
from scoring.models.lookup import ModelLimits, find_model, get_context_limit, known_models
from scoring.settings import BLUEPRINT


class TestNames:
    """The ways to write a name."""

    @pytest.mark.parametrize(
        ("name", "row"),
        [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("anthropic/claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("Claude 4.5 Sonnet", "claude-sonnet-4-5"),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("claude-3-5-sonnet@20241022", "claude-3-5-sonnet"),
            ("claude-3-opus-20240229", "claude-3-opus"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("openai/gpt-5.1-codex-max", "gpt-5.1-codex-max"),
            ("GPT-5.1-Codex-Mini", "gpt-5.1-codex-mini"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
            ("models/gemini-2.5-flash-preview-05-20", "gemini-2.5-flash"),
            ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
            ("mistralai/mistral-large-2512", "mistral-large-2512"),
            ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1"),
            ("x-ai/grok-4.20", "grok-4.20"),
            ("qwen/qwen3-max", "qwen3-max"),
            ("o3-2025-04-16", "o3"),
        ],
    )
    def test_lead_to_the_longest_row(self, name: str, row: str) -> None:  # B13
        """Case, dots and dashes, word order, provider prefix and date suffix make no difference."""
        assert find_model(name).name == row

    @pytest.mark.parametrize("name", ["", None, "default", "nonsense", "<synthetic>", "claude", "12", "🙂"])
    def test_without_a_row_get_the_default(self, name: str | None) -> None:  # B13
        """The limits of an unknown name are small and marked as assumed."""
        model = find_model(name)
        assert (model.window, model.known) == (100_000, False)

    def test_of_each_row_find_that_row(self) -> None:  # B13
        """Each row's own name finds that row."""
        assert [find_model(row.name).name for row in known_models()] == [row.name for row in known_models()]

    @pytest.mark.parametrize(
        ("name", "window"),
        [("claude-sonnet-4-5[1m]", 1_000_000), ("sonnet[1M]", 1_000_000), ("claude-opus-4-6[1m]", 1_000_000)],
    )
    def test_with_a_marker_have_the_wide_window(self, name: str, window: int) -> None:  # B13
        """Claude Code writes `[1m]` for a window of a million."""
        assert get_context_limit(name) == window


class TestWindows:
    """The windows in the table."""

    @pytest.mark.parametrize(
        ("name", "limit"),
        [
            ("gemini-2.5-flash", 1_000_000),
            ("claude-sonnet-4-5", 200_000),
            ("claude-haiku-4.5", 200_000),
            ("gpt-5", 128_000),
            ("gpt-5-codex", 128_000),
            ("default", 100_000),
            ("grok-4", 100_000),
        ],
    )
    def test_of_blueprint_are_its_own(self, name: str, limit: int) -> None:  # B13
        """Gemini 2.5 Flash a million, Claude 4.5 200,000, GPT-5 128,000, all others 100,000."""
        assert get_context_limit(name, settings=BLUEPRINT) == limit

    def test_are_the_input_limit_if_there_is_one(self) -> None:  # X10
        """GPT-5 takes 272,000 of its 400,000 as input; Claude shares the window."""
        gpt, claude = find_model("gpt-5"), find_model("claude-sonnet-4-5")
        assert (gpt.window, gpt.limit) == (400_000, 272_000)
        assert (claude.window, claude.limit, claude.input_limit) == (200_000, 200_000, None)


class TestOverrides:
    """The user's own limits."""

    def test_come_first(self) -> None:  # S11, B13
        """The user's name wins for all models that begin with it, even if the table's name is longer."""
        own = ModelLimits.from_dict({"name": "claude-opus", "window": 500_000})
        assert get_context_limit("claude-opus-4-5", [own]) == 500_000
        assert get_context_limit("claude-sonnet-4-5", [own]) == 200_000
        assert get_context_limit("claude-opus-4-5", [own], BLUEPRINT) == 500_000

    def test_change_only_what_they_name(self) -> None:  # B13
        """Prices and other limits stay the table's; the source names the user's row."""
        own = ModelLimits.from_dict({"name": "gpt-5", "window": 300_000})
        assert own == replace(
            find_model("gpt-5"), window=300_000, source="own setting", date="", own=True, name="gpt-5"
        )

    def test_of_the_window_alone_remove_a_larger_input_limit(self) -> None:  # B13
        """The table's limit no longer fits; a smaller one stays."""
        small = ModelLimits.from_dict({"name": "gpt-5", "window": 30_000})
        assert (small.limit, small.input_limit) == (30_000, None)
        assert ModelLimits.from_dict({"name": "gpt-5", "window": 300_000}).input_limit == 272_000

    def test_of_a_larger_window_remove_the_tables_input_limit(self) -> None:  # B13, X10
        """It belonged to the smaller window; one that the user names stays."""
        assert ModelLimits.from_dict({"name": "gpt-5", "window": 500_000}).limit == 500_000
        both = ModelLimits.from_dict({"name": "gpt-5", "window": 500_000, "input_limit": 272_000})
        assert both.limit == 272_000

    def test_survive_json(self) -> None:
        """A stored row is read back to an equal value."""
        own = ModelLimits.from_dict({"name": "my-model", "window": 32_000, "input_price": 0.5})
        assert ModelLimits.from_dict(own.to_dict()) == own

    def test_take_the_window_from_the_output_limit_of_an_unknown_model(self) -> None:  # P1
        """It is four times the output limit if nothing else is known."""
        assert ModelLimits.from_dict({"name": "my-model", "output_limit": 8_000}).window == 32_000
        assert ModelLimits.from_dict({"name": "gpt-5", "output_limit": 8_000}).window == 400_000

    @pytest.mark.parametrize(
        ("data", "field"),
        [
            ({}, "name"),
            ({"name": " "}, "name"),
            ({"name": "m", "window": -1}, "window"),
            ({"name": "m", "window": True}, "window"),
            ({"name": "m", "input_price": "2"}, "input_price"),
            ({"name": "m", "window": 10_000, "input_limit": 20_000}, "input_limit"),
            ({"name": "m", "source": 7}, "source"),
            ({"name": "m", "mood": 7}, "mood"),
        ],
    )
    def test_are_refused_with_the_wrong_field(self, data: dict[str, Any], field: str) -> None:  # B13
        """The error names the wrong field of an absurd limit."""
        with pytest.raises(InvalidSettings) as refused:
            ModelLimits.from_dict(data)
        assert [fault.field for fault in refused.value.faults] == [field]
