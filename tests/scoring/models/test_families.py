"""The families of models, by their names."""

from __future__ import annotations

import pytest

from scoring.models import family_of
from scoring.models.table import ROWS
from scoring.tokens.families import (
    CLAUDE,
    GEMINI_2,
    GPT,
    GPT_4,
    GPT_4O_MINI,
    GPT_5,
    GPT_5_2,
    GPT_5_4,
    GPT_5_5,
    GPT_NANO,
    NEW_CLAUDE,
    O4_MINI,
    OTHER,
)


class TestFamilies:
    """From a name to a family."""

    @pytest.mark.parametrize(
        ("name", "family"),
        [
            ("claude-opus-4-5-20251101", CLAUDE),
            ("anthropic/claude-sonnet-4.6", CLAUDE),
            ("claude-3-7-sonnet", CLAUDE),
            ("claude-opus-4.7", NEW_CLAUDE),
            ("claude-haiku-5-5", NEW_CLAUDE),
            ("gpt-5.1-codex", GPT_5),
            ("gpt-5.3-codex", GPT_5_2),
            ("gpt-5.4-2026-03-05", GPT_5_4),
            ("gpt-5.4-nano", GPT_NANO),
            ("gpt-5.5", GPT_5_5),
            ("GPT-6-sol", GPT),
            ("gpt-4o-mini-2024-07-18", GPT_4O_MINI),
            ("codex-mini-latest", O4_MINI),
            ("models/gemini-2.5-pro", GEMINI_2),
            ("somebodys-own", OTHER),
            (None, OTHER),
        ],
    )
    def test_are_found_by_the_longest_beginning(self, name: str | None, family: object) -> None:  # P8
        """With or without provider, in any case, dots as dashes."""
        assert family_of(name) is family

    @pytest.mark.parametrize(
        ("name", "family"),
        [
            ("sonnet", NEW_CLAUDE),
            ("opus[1m]", NEW_CLAUDE),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", CLAUDE),
            ("bedrock/anthropic.claude-3-haiku", CLAUDE),
            ("gpt-35-turbo", GPT_4),
        ],
    )
    def test_are_those_of_the_model_however_it_is_called(self, name: str, family: object) -> None:  # P8
        """An agent's alias and a host's spelling count as the model they name."""
        assert family_of(name) is family

    def test_know_every_model_of_the_three_that_have_a_rule_for_images(self) -> None:
        """No row of Claude, GPT or Gemini falls to the family of strangers."""
        names = [
            row.name for row in ROWS if row.name.startswith(("claude", "gpt", "o1", "o3", "o4", "gemini"))
        ]
        assert names
        assert all(family_of(name) is not OTHER for name in names)
