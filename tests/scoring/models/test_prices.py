"""The cost of contexts, prunes and sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.models.lookup import ModelLimits, find_model
from scoring.models.prices import CallTokens, Spent, context_cost, prune_cost, spent

OPUS = ModelLimits(
    "opus", 200_000, input_price=5, cached_price=0.5, cache_write_price=6.25, output_price=25
)  # fmt: skip
GPT = ModelLimits("gpt", 400_000, input_price=1.25, cached_price=0.125, output_price=10)
UNKNOWN = find_model("nobody-knows-this-one")
DEARER = replace(OPUS, dearer_above=272_000)


class TestAContext:
    """The cost of one call's input."""

    def test_costs_a_tenth_where_it_is_read_from_the_cache(self) -> None:  # X9
        """100,000 tokens: half a dollar new, five cents cached."""
        cost = context_cost(100_000, OPUS)
        assert cost is not None
        assert (cost.fresh, cost.cached, cost.at_least) == (0.5, 0.05, False)

    def test_costs_what_input_costs_without_a_cache(self) -> None:
        """No price for cached input means no cache."""
        cost = context_cost(100_000, replace(OPUS, cached_price=None))
        assert cost is not None
        assert cost.cached == cost.fresh

    def test_says_where_the_provider_charges_more(self) -> None:
        """Above the limit the figure is a lower bound."""
        cost = context_cost(300_000, replace(OPUS, dearer_above=272_000))
        assert cost is not None
        assert cost.at_least

    def test_of_a_model_without_prices_is_not_known(self) -> None:  # X9
        """None, and not 0."""
        assert context_cost(100_000, UNKNOWN) is None


class TestAPrune:
    """The savings of every later call, and the cost paid once."""

    def test_saves_the_cached_read_of_removed_tokens(self) -> None:  # X9
        """60,000 tokens at half a dollar a million."""
        cost = prune_cost(60_000, 40_000, OPUS)
        assert cost.saved_cost == 0.03
        assert cost.currency == "USD"

    def test_costs_the_rewriting_of_everything_after_the_first_change(self) -> None:  # X9
        """40,000 tokens written at 6.25 instead of read at 0.50."""
        assert prune_cost(60_000, 40_000, OPUS).rewrite_cost == 0.23

    def test_pays_back_after_so_many_calls(self) -> None:  # X9
        """0.23 dollars at 0.03 a call: eight."""
        assert prune_cost(60_000, 40_000, OPUS).break_even_calls == 8
        assert prune_cost(60_000, 0, OPUS).break_even_calls == 0

    def test_costs_more_to_rewrite_into_a_cache_of_an_hour(self) -> None:  # X9
        """40,000 tokens written at 10 instead of 6.25."""
        cost = prune_cost(60_000, 40_000, OPUS, hour=True)
        assert (cost.rewrite_cost, cost.break_even_calls) == (0.38, 13)

    def test_costs_nothing_extra_once_the_cache_has_expired(self) -> None:  # X9
        """The next call writes everything again anyway."""
        cost = prune_cost(60_000, 40_000, OPUS, cold=True)
        assert (cost.rewrite_cost, cost.break_even_calls, cost.cold) == (0, 0, True)

    @pytest.mark.parametrize("cold", [True, False])
    def test_makes_the_first_call_cheaper_once_the_cache_has_expired(self, cold: bool) -> None:  # X26
        """That call does not write the 60,000 removed tokens, at 6.25 or 10."""
        assert prune_cost(60_000, 40_000, OPUS, cold=cold).saved_when_cold == 0.375
        assert prune_cost(60_000, 40_000, OPUS, cold=cold, hour=True).saved_when_cold == 0.6
        assert prune_cost(60_000, 40_000, UNKNOWN, cold=cold).saved_when_cold is None

    def test_takes_the_price_of_input_where_writing_has_none(self) -> None:  # X9
        """OpenAI charges nothing extra for the cache."""
        cost = prune_cost(50_000, 20_000, GPT)
        assert cost.rewrite_cost == pytest.approx(20_000 * (1.25 - 0.125) / 1e6)
        assert cost.break_even_calls == 4

    def test_keeps_its_tokens_where_prices_are_not_known(self) -> None:  # X9
        """Tokens are counted, money is None."""
        cost = prune_cost(60_000, 40_000, UNKNOWN)
        assert (cost.saved_per_call, cost.rewritten_once) == (60_000, 40_000)
        assert cost.break_even_calls is cost.saved_cost is cost.rewrite_cost is None

    def test_that_removes_nothing_never_pays_back(self) -> None:
        """There is nothing to save."""
        assert prune_cost(0, 40_000, OPUS).break_even_calls is None

    def test_of_a_free_model_costs_nothing(self) -> None:
        """Prices of 0 are known prices."""
        free = replace(OPUS, input_price=0.0, cached_price=0.0, cache_write_price=0.0)
        assert prune_cost(10, 10, free).break_even_calls == 0


class TestASession:
    """The cost of a session's calls."""

    def test_is_the_sum_of_new_cached_written_and_output(self) -> None:  # X9
        """Cached and written tokens are parts of the input and not counted twice."""
        calls = [CallTokens(20_000, 1_000, cached=0, written=20_000), CallTokens(22_000, 500, 20_000, 1_900)]
        expected = (20_000 * 6.25 + 1_000 * 25 + 100 * 5 + 20_000 * 0.5 + 1_900 * 6.25 + 500 * 25) / 1e6
        found = spent((call, OPUS) for call in calls)
        assert found is not None
        assert not found.at_least
        assert found.amount == pytest.approx(expected)

    def test_prices_each_call_by_its_own_model(self) -> None:  # X9
        """Sessions change their model."""
        found = spent([(CallTokens(1_000_000, 0), OPUS), (CallTokens(1_000_000, 0), GPT)])
        assert found is not None
        assert found.amount == OPUS.input_price + GPT.input_price

    def test_prices_a_cache_of_an_hour_at_twice_the_input(self) -> None:  # X9
        """Only the part that was written to it."""
        found = spent([(CallTokens(1_000_000, 0, written=1_000_000, hour=400_000), OPUS)])
        assert found is not None
        assert found.amount == pytest.approx(0.6 * 6.25 + 0.4 * 10)

    @pytest.mark.parametrize(
        "call",
        [
            (CallTokens(10, 10), UNKNOWN),
            (CallTokens(10, 3, answer=40), OPUS),
            (CallTokens(300_000, 1), DEARER),
        ],
    )
    def test_is_at_least_what_is_known(self, call: tuple[CallTokens, ModelLimits]) -> None:  # X9
        """An unknown price, an answer that was reported in part, a context above the list price."""
        found = spent([(CallTokens(10, 10), OPUS), call])
        assert found is not None
        assert found.at_least

    def test_counts_the_text_of_an_answer_reported_in_part(self) -> None:  # X9
        """Transcripts often contain an early, partial count."""
        found = spent([(CallTokens(0, 3, answer=40_000), OPUS)])
        assert found is not None
        assert found.amount == 1.0

    def test_is_not_known_without_prices(self) -> None:
        """None, and not 0."""
        assert spent([(CallTokens(10, 10), UNKNOWN)]) is None
        assert spent([]) == Spent(0, at_least=False)
