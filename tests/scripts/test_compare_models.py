"""The comparison of the table of models with what others publish."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from scoring.models import find_model
from scripts.compare_models import (
    Published,
    disagreements,
    explanation,
    from_genai_prices,
    from_litellm,
    left_out,
    main,
)

OPUS = find_model("claude-opus-4-5")


def litellm_row(**changes: Any) -> dict[str, Any]:
    """Return a row as litellm writes it, equal to ours except for the changes."""
    row = {
        "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200_000, "max_output_tokens": 64_000,
        "input_cost_per_token": 5e-06, "cache_read_input_token_cost": 5e-07,
        "cache_creation_input_token_cost": 6.25e-06, "output_cost_per_token": 2.5e-05,
    }  # fmt: skip
    return row | changes


class TestDisagreements:
    """Disagreements between the table and litellm's."""

    def test_are_none_where_both_say_the_same(self) -> None:
        """Equal figures, figures they do not have, and a million spelled in two ways."""
        same = from_litellm({"claude-opus-4-5": litellm_row(), "gpt-6-sol": {}})
        assert list(disagreements(same)) == []
        assert list(disagreements([Published("gemini-2.5-pro", limit=1_000_000)])) == []

    def test_name_the_model_the_figure_and_both_values(self) -> None:
        """One line for each figure."""
        other = from_litellm({"claude-opus-4-5": litellm_row(output_cost_per_token=3e-05)})
        assert list(disagreements(other)) == [
            "claude-opus-4-5 (claude-opus-4-5): output_price is 25 here, 30 there"
        ]

    def test_name_models_that_are_not_in_the_table(self) -> None:
        """With what is known of them."""
        other = [Published("brand-new-1", limit=500_000, input_price=2)]
        assert list(disagreements(other)) == ["brand-new-1: not in the table (limit 500,000, input_price 2)"]

    def test_of_other_names_are_only_what_is_said_wrongly(self) -> None:
        """That a price is unknown is no disagreement there, nor a window that is called assumed."""
        assumed, priced = find_model("gpt-5.7"), find_model("gpt-4-0613")
        assert (assumed.assumed, assumed.input_price, priced.input_price) == (True, None, 30)
        other = Published("gpt-5.7", limit=5, input_price=7, also=True)
        wrong = Published("gpt-4-0613", input_price=10, also=True)
        assert list(disagreements([other, wrong, Published("brand-new-1", also=True)])) == [
            "gpt-4-0613 (gpt-4): input_price is 30 here, 10 there"
        ]


class TestWhatIsSettled:
    """Disagreements that were looked into."""

    def test_leaves_none_with_the_list_we_have(self) -> None:  # B13, X10
        """Each figure of genai-prices is ours, or it is said why not; on the day both were read."""
        data = pytest.importorskip(
            "genai_prices.data", reason="genai-prices comes with the development packages"
        )
        published = list(from_genai_prices(data.providers, date(2026, 11, 20)))
        assert len(published) > 100
        assert [line for line in disagreements(published) if explanation(line) is None] == []

    def test_is_told_on_request_with_its_reason(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Without the option it does not count as a difference."""
        table = tmp_path / "prices.json"
        row = litellm_row(litellm_provider="xai", max_input_tokens=500_000, max_output_tokens=500_000)
        table.write_text(json.dumps({"xai/grok-4.7": {k: v for k, v in row.items() if "cost" not in k}}))
        assert main([str(table)]) == 0
        assert capsys.readouterr().out == ""
        assert main([str(table), "--all"]) == 0
        assert "500,000 there  [the maker's pages name no limit" in capsys.readouterr().out


class TestReading:
    """Both sources."""

    def test_of_litellm_keeps_to_conversations_of_our_providers(self) -> None:
        """Other providers, other modes and other kinds of models are left out."""
        rows = {
            "one": litellm_row(), "two": litellm_row(litellm_provider="bedrock"),
            "three": litellm_row(mode="embedding"), "gpt-4o-audio": litellm_row(),
        }  # fmt: skip
        assert [published.name for published in from_litellm(rows)] == ["one"]

    def test_of_genai_prices_takes_the_prices_of_today(self) -> None:
        """Prices that begin later are left out, and of the higher tier of long prompts all but its beginning."""

        @dataclass
        class Tier:
            start: int

        @dataclass
        class Tiers:
            base: float
            tiers: tuple[Tier, ...] = ()

        @dataclass
        class Prices:
            input_mtok: Any
            output_mtok: Any = 25
            cache_read_mtok: Any = None

        @dataclass
        class Begins:
            start_date: date

        @dataclass
        class When:
            constraint: Any
            prices: Prices

        @dataclass
        class Model:
            id: str
            prices: Any
            context_window: int | None = None

        @dataclass
        class Provider:
            id: str
            models: list[Model] = field(default_factory=list)

        dated = [When(None, Prices(Tiers(5, (Tier(200_000),)))), When(Begins(date(9_000, 1, 1)), Prices(10))]
        read = list(
            from_genai_prices(
                [Provider("anthropic", [Model("a", dated)]), Provider("groq", [Model("b", Prices(1))])]
            )
        )
        assert read == [Published("a", input_price=5.0, output_price=25.0, dearer_above=200_000)]

    def test_of_genai_prices_reads_every_name_of_a_model(self) -> None:
        """The package finds a model by rules; those for a whole name are names of it."""
        data = pytest.importorskip("genai_prices.data", reason="it comes with the development packages")
        read = {one.name: one for one in from_genai_prices(data.providers, date(2026, 11, 20))}
        assert (read["gpt-4-0125-preview"].input_price, read["gpt-4-0125-preview"].also) == (10, True)


class TestTheCommand:
    """`python scripts/compare_models.py FILE`."""

    def test_prints_what_differs_and_says_so_in_its_result(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """0 for agreement, 1 for any difference."""
        table = tmp_path / "prices.json"
        table.write_text(json.dumps({"claude-opus-4-5": litellm_row()}))
        assert main([str(table)]) == 0
        table.write_text(json.dumps({"claude-opus-4-5": litellm_row(max_output_tokens=1)}))
        assert main([str(table)]) == 1
        assert "output_limit is 64,000 here, 1 there" in capsys.readouterr().out


def test_names_of_other_makers_are_counted() -> None:
    """Makers that are not compared are named, with how many models each has."""
    makers = ["openai", "anthropic", "azure", "azure", "bedrock"]
    assert left_out(makers) == (3, 5, "azure 2, bedrock 1")
