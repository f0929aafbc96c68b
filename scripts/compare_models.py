"""`python scripts/compare_models.py [FILE]`: where the table of models disagrees with what others publish.

FILE is litellm's `model_prices_and_context_window.json`. Without it the package `genai-prices` is asked, if it is
installed (`pip install genai-prices`). Nothing is fetched, and nothing of this runs with the application: it helps
whoever brings `scoring/model_table.py` up to date. Prices are US dollars per million tokens.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scoring.models import ModelLimits, find_model

# litellm's names of the providers whose models are in the table; genai-prices' are the second ones.
PROVIDERS = {
    "anthropic": "anthropic", "openai": "openai", "gemini": "google", "mistral": "mistral", "deepseek": "deepseek",
    "xai": "x-ai", "dashscope": "qwen", "meta_llama": "meta",
}  # fmt: skip
MODES = ("chat", "responses", None)
# Models of these kinds are not ones to hold a conversation's context.
OTHER_KINDS = (
    "audio", "realtime", "image", "search", "transcribe", "tts", "embed", "moderation", "live", "omni", "robotics",
    "computer-use", "deep-research", "instruct", "ocr", "voxtral", "veo", "lyria", "sora", "whisper", "vision", "gemma",
    "ft:", "learnlm", "exp", "imagine", "guard", "dall-e", "davinci", "babbage",
)  # fmt: skip
FIELDS = ("limit", "output_limit", "input_price", "cached_price", "cache_write_price", "output_price")
TOLERANCE = 0.05  # 1,000,000 and 1,048,576 are told as the one or the other


@dataclass(frozen=True, slots=True)
class Published:
    """A model as somebody else has it; None where they say nothing. Prices in dollars per million tokens."""

    name: str
    limit: int | None = None
    output_limit: int | None = None
    input_price: float | None = None
    cached_price: float | None = None
    cache_write_price: float | None = None
    output_price: float | None = None


def from_litellm(table: Mapping[str, Any]) -> Iterator[Published]:
    """The conversational models of our providers in litellm's table."""
    for name, row in table.items():
        if row.get("litellm_provider") not in PROVIDERS or row.get("mode") not in MODES:
            continue
        if any(kind in name.lower() for kind in OTHER_KINDS):
            continue
        costs = ("input_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost")
        prices = [_per_million(row.get(key)) for key in (*costs, "output_cost_per_token")]
        yield Published(
            name, _whole(row.get("max_input_tokens")), _whole(row.get("max_output_tokens")), *prices
        )


def from_genai_prices(providers: Iterable[Any]) -> Iterator[Published]:
    """The conversational models of our providers in the data of the package `genai-prices`."""
    for provider in providers:
        if provider.id not in PROVIDERS.values():
            continue
        for model in provider.models:
            if any(kind in model.id.lower() for kind in OTHER_KINDS):
                continue
            prices = _of_today(model.prices) if isinstance(model.prices, list) else model.prices
            keys = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
            yield Published(
                model.id,
                _whole(model.context_window),
                None,
                *(_price(getattr(prices, k, None)) for k in keys),
            )


def disagreements(published: Iterable[Published]) -> Iterator[str]:
    """One line for each model that we do not have, and for each figure that differs."""
    for other in sorted(published, key=lambda p: p.name):
        ours = find_model(other.name)
        if not ours.known:
            yield f"{other.name}: not in the table{_told(other)}"
            continue
        for field in FIELDS:
            said, have = getattr(other, field), getattr(ours, field)
            if said is not None and not _same(field, said, have, ours):
                yield f"{other.name} ({ours.name}): {field} is {_show(have)} here, {_show(said)} there"


def _same(field: str, said: float, have: float | None, ours: ModelLimits) -> bool:
    if field == "cache_write_price" and have is None:
        have = ours.input_price  # a write costs what input costs
    if have is None:
        return said == 0
    windows = (ours.window, ours.limit) if field == "limit" else (have,)
    return any(abs(said - one) <= (TOLERANCE * one if field.endswith("limit") else 1e-9) for one in windows)


def _told(other: Published) -> str:
    told = [
        f"{field} {_show(getattr(other, field))}" for field in FIELDS if getattr(other, field) is not None
    ]
    return f" ({', '.join(told)})" if told else ""


def _show(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.10g}"


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _per_million(value: Any) -> float | None:
    return round(float(value) * 1_000_000, 6) if isinstance(value, int | float) else None


def _of_today(conditional: Sequence[Any]) -> Any:
    """Of prices with a date of their beginning the ones that hold today; those of certain hours are left out."""
    today = datetime.now(tz=UTC).date()
    begun = [c for c in conditional if c.constraint is None or getattr(c.constraint, "start_date", None)]
    holding = [c for c in begun if c.constraint is None or c.constraint.start_date <= today]
    return (holding or list(conditional))[-1].prices


def _price(value: Any) -> float | None:
    """A price; of prices by length of the prompt the one of short prompts."""
    value = getattr(value, "base", value)
    return None if value is None else float(value)


def main(argv: list[str] | None = None) -> int:
    """Prints the disagreements; 1 if there are any, 2 if there is nothing to compare with."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="litellm's model_prices_and_context_window.json")
    parser.add_argument("--only", default="", help="compare only models whose name contains this")
    args = parser.parse_args(argv)
    if args.file:
        published = list(from_litellm(json.loads(args.file.read_text(encoding="utf-8"))))
    else:
        try:
            providers = importlib.import_module("genai_prices.data").providers
        except ImportError:
            print("name litellm's table as FILE, or install genai-prices", file=sys.stderr)
            return 2
        published = list(from_genai_prices(providers))
    lines = list(disagreements(p for p in published if args.only in p.name))
    print("\n".join(lines))
    print(f"{len(lines)} disagreements over {len(published)} models", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
