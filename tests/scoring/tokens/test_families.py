"""The tokens that families of models add to the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.models import family_of
from scoring.tokens.families import (
    CLAUDE,
    FAMILIES,
    GEMINI_2,
    GPT,
    GPT_4,
    GPT_4O_MINI,
    GPT_5,
    GPT_5_2,
    GPT_5_4,
    GPT_5_5,
    GPT_NANO,
    GPT_SMALL,
    NEW_CLAUDE,
    O4_MINI,
    OTHER,
    Family,
)


class TestFamilies:
    """The table of families."""

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

    @pytest.mark.parametrize(
        ("model", "width", "height", "detail", "tokens"),
        [
            ("gpt-5-mini", 1_024, 1_024, "", 1_659),  # 1,024 patches, times 1.62
            ("gpt-5-mini", 1_800, 2_400, "", 2_353),  # 4,275 patches are shrunk to 33 x 44
            ("gpt-4.1-nano", 1_024, 1_024, "", 2_520),
            ("o4-mini", 1_024, 1_024, "", 1_762),
            ("gpt-5.4-mini", 1_920, 1_080, "", 2_443),  # 2,040 patches are shrunk to 52 x 29
            ("gpt-5.5", 4_032, 3_024, "original", 11_868),
            ("gpt-5.5", 4_032, 3_024, "high", 2_942),  # 57 x 43 of at most 2,500 patches
            ("gpt-5.4", 4_032, 3_024, "", 2_942),  # here high detail is the usual one
            ("gpt-6-sol", 4_032, 3_024, "", 14_364),  # from 5.6 on nothing is shrunk
            ("gpt-5.5", 1_024, 1_024, "low", 308),  # at most 512 pixels
            ("gpt-4o", 1_024, 1_024, "low", 85),
            ("gpt-4o-mini", 1_024, 1_024, "", 25_501),
            ("gpt-4o-mini", 1_024, 1_024, "low", 2_833),
            ("claude-opus-5-5", 280, 280, "low", 100),  # there is no such choice
        ],
    )
    def test_cost_what_openai_documents_for_patches_and_details(
        self, model: str, width: int, height: int, detail: str, tokens: int
    ) -> None:  # P8
        """The maker's own examples, and its rules in the guide on images and vision."""
        assert family_of(model).image_tokens(width, height, detail) == tokens

    def test_have_a_known_size_with_low_detail(self) -> None:  # P8
        """The provider shrinks the image behind an address too; without a wish its size stays unknown."""
        assert family_of("gpt-4o").image_tokens(0, 0, "low") == 85
        assert family_of("gpt-5.5").image_tokens(0, 0, "low") == 308
        assert family_of("gpt-5.5").image_tokens(0, 0) == family_of("gpt-5.5").image_unknown
        assert CLAUDE.image_tokens(0, 0, "low") == CLAUDE.image_unknown

    def test_cost_at_most_1_600_where_no_rule_is_published(self) -> None:  # P8
        """That is the most, whatever size a header claims."""
        assert max(OTHER.image(40_000, 40_000), OTHER.image(1, 4_294_967_295)) <= 1_600

    @pytest.mark.parametrize(
        ("family", "most"),
        [
            (CLAUDE, 1_600), (NEW_CLAUDE, 4_784), (GPT_4, 85 + 8 * 170), (GPT_5, 70 + 8 * 140),
            (GPT_4O_MINI, 2_833 + 8 * 5_667), (GPT_SMALL, 2_489), (GPT_NANO, 3_779), (O4_MINI, 2_642),
            (GPT_5_2, 1_844), (GPT_5_4, 12_000), (GPT_5_5, 12_000), (GPT, 36_000), (GEMINI_2, 20_000), (OTHER, 1_600),
        ],
        ids=lambda value: value.name if isinstance(value, Family) else "",
    )  # fmt: skip
    @given(
        st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from(["", "low", "high", "original", "?"])
    )
    def test_cost_at_most_what_the_provider_says(
        self, family: Family, most: int, width: int, height: int, detail: str
    ) -> None:
        """That holds for every size, shape and detail."""
        assert 1 <= family.image_tokens(width, height, detail) <= most

    @given(st.sampled_from([*FAMILIES.values(), OTHER]), st.integers(1, 20_000), st.integers(1, 20_000))
    def test_cost_something_and_not_the_window(self, family: Family, width: int, height: int) -> None:
        """That holds for every size and shape. Only two families may take more than 20,000 tokens, as documented."""
        assert (
            1
            <= family.image_tokens(width, height)
            <= {GPT_4O_MINI.name: 48_169, GPT.name: 36_000}.get(family.name, 20_000)
        )


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
