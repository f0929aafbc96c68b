"""The tokens that families of models add to the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.models.table import ROWS
from scoring.tokens.families import (
    CLAUDE,
    FAMILIES,
    GEMINI_2,
    GPT,
    GPT_4,
    GPT_5,
    NEW_CLAUDE,
    OTHER,
    family_of,
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
            ("gpt-5.5", GPT),
            ("GPT-6-sol", GPT),
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

    def test_say_where_their_figures_come_from(self) -> None:
        """A source for each."""
        assert all(family.source for family in (*FAMILIES.values(), OTHER))


class TestImages:
    """Flat costs by the provider's rule."""

    # Tokens of one image as providers counted it; the question around it (some 70 tokens of Claude) taken off.
    @pytest.mark.parametrize(
        ("model", "width", "height", "measured"),
        [
            ("claude-opus-5-5", 256, 256, 100),
            ("claude-opus-5-5", 1_280, 720, 1_196),
            ("claude-opus-5-5", 1_920, 1_080, 2_691),
            ("claude-opus-5-5", 4_032, 3_024, 3_928),
            ("claude-haiku-4-5", 1_024, 1_024, 1_369),
            ("claude-haiku-4-5", 3_840, 2_160, 1_592),
            ("gpt-5.5", 512, 512, 308),
            ("gpt-5.5", 1_280, 720, 1_104),
            ("gpt-5.5", 4_032, 3_024, 11_868),
            ("gemini-3.8-flash", 1_920, 1_080, 1_101),
        ],
    )
    def test_cost_what_was_measured(self, model: str, width: int, height: int, measured: int) -> None:  # P8
        """Within three percent."""
        assert family_of(model).image(width, height) == pytest.approx(measured, rel=0.03)

    def test_cost_what_openai_documents_for_tiles(self) -> None:  # P8
        """1,024 x 1,024 is four tiles; 2,048 x 4,096 is six."""
        assert family_of("gpt-4o").image(1_024, 1_024) == 765
        assert family_of("gpt-4o").image(2_048, 4_096) == 1_105
        assert family_of("gemini-2.5-flash").image(300, 200) == 258

    def test_cost_at_most_1_600_where_no_rule_is_published(self) -> None:  # P8
        """That is the most, whatever size a header claims."""
        assert max(OTHER.image(40_000, 40_000), OTHER.image(1, 4_294_967_295)) <= 1_600

    @given(st.sampled_from([*FAMILIES.values(), OTHER]), st.integers(1, 20_000), st.integers(1, 20_000))
    def test_cost_something_and_not_the_window(self, family: object, width: int, height: int) -> None:
        """That holds for every size and shape."""
        assert isinstance(family, type(OTHER))
        assert 1 <= family.image(width, height) <= 20_000


class TestSealedReasoning:
    """Reasoning of which only a signature or an encrypted copy is left."""

    @pytest.mark.parametrize(
        ("model", "chars", "tokens"),
        [("gpt-5.1-codex", 1_292, 64), ("gpt-5.1-codex", 6_948, 896), ("gpt-5.1-codex", 19_724, 3_200)],
    )
    def test_is_as_long_as_its_copy_lets_it_be(self, model: str, chars: int, tokens: int) -> None:  # P8
        """Within a quarter of what was reported."""
        assert family_of(model).sealed(chars) == pytest.approx(tokens, rel=0.35)

    def test_costs_nothing_where_the_copy_is_a_mere_seal(self) -> None:
        """A signature has a length of its own."""
        assert family_of("claude-opus-4-7").sealed(200) == 0
