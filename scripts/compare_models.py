"""`python scripts/compare_models.py [FILE]`: report disagreements of the table of models with other publishers.

FILE is litellm's `model_prices_and_context_window.json`. Without it the package `genai-prices` is read, which comes
with the development packages. Known disagreements are left out (`EXPLAINED`, with the reason) unless
`--all` is given. Nothing is fetched, and the application runs none of this: it helps to bring
`scoring/models/table.py` up to date. Prices are US dollars per million tokens.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
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
FIELDS = (
    "limit", "output_limit", "input_price", "cached_price", "cache_write_price", "output_price", "dearer_above",
)  # fmt: skip
TOLERANCE = 0.05  # 1,000,000 and 1,048,576 are both in use for the same window

OUT_OF_USE = (
    "ada", "curie", "claude-2", "claude-v1", "gemini-pro", "gpt-3.5-0301", "grok-2-1212", "mixtral-8x7b",
    r"mistral-(7b|nemo|saba|tiny)\S*", r"pixtral-\S+", "deepseek/deepseek-coder",
    r"mistral/(open-mistral-nemo|mistral-tiny|pixtral-\S+)",
)  # fmt: skip
OUT_OF_SCOPE = (
    r"((mistral|dashscope)/)?(zai-)?glm-\S+", r"dashscope/(kimi|qwen3-(vl|next|30b)|qwq|qwen-coder)\S*",
    r"mistral/(labs-|mistral-(code|vibe))\S*", r"grok-voice-\S+", r"gemini-nano-banana-\S+", "openai/container",
    r"(gpt-)?daybreak-\S+", "gpt-rosalind-discovery", "chat-latest",
)  # fmt: skip
# The beginnings of lines that were looked into, on 2026-11-20, with the reasons why our figures stay.
EXPLAINED: tuple[tuple[str, str], ...] = (
    (
        r"(deepseek/)?deepseek-(flash|v4-flash|v4-pro) .*(input|cached|output)_price",
        "ours are those of the peak hours",
    ),
    (
        r"(deepseek/)?deepseek-\S+ .*cache_write_price is unknown here, 0 there",
        "a write is billed as input is",
    ),
    (r"deepseek-(chat|reasoner) ", "withdrawn names: ours are the last prices of the maker's page"),
    (r"(deepseek/)?deepseek-v3\S* ", "the maker's figures for V3 and V3.2, not those of hosts"),
    (r"(mistral/)?deepseek-|dashscope/deepseek-|zai-glm-", "what another host charges"),
    (r"codestral\S* .*limit", "the model card of 25.08 says 128,000"),
    (r"(mistral/)?codestral-mamba", "another model under the name, out of use"),
    (
        r"mistral-large(-latest)? \(|ministral-[38]b \(|mistral-medium(-2312)? ",
        "ours is the current generation under that name",
    ),
    (
        r"mistral/mistral-large-4",
        "the page lists 0.70, 0.07 and 2.10 since 2026-10-29; the output has no limit of its own",
    ),
    (r"mistral/mistral-small .*(limit|cached)", "the name stood for models of 32,000 first"),
    (r"gemini-1.5-pro .*limit", "two million since 2024-06, one million before"),
    (r"gemini-(2.5-flash-preview\S*|flash-1.5-8b) ", "other models under the name, out of use"),
    (r"gemini/gemini-4-argon .*output_limit", "65,536 a request; more only by continuing it"),
    (
        r"gpt-3.5-turbo-(0613|1106|16k) |gpt-4o-mini-\S*ft|gpt-4o:extended ",
        "retired, tuned or hosted variants",
    ),
    (
        r"gpt-5\S*-chat\S* .*limit",
        "the models of ChatGPT take 128,000; the list has them under those of the API",
    ),
    (r"gpt-4(-0613)? .*output_limit", "output shares the window of 8,192; the maker names no smaller limit"),
    (
        r"(gpt-oss-\d+b|mistral-(7b|nemo)|mixtral-8x7b) .*price",
        "open weights: each host has prices of its own",
    ),
    (r"grok-3-(mini-)?fast ", "a faster service of the same model"),
    (
        r"xai/\S+ .*output_limit is unknown here",
        "the maker's pages name no limit of the output; the list repeats the window",
    ),
    (r"grok-code-fast\S* .*price", "billed as grok-build since 2026-05-15"),
    (r"dashscope/qwen-(plus|turbo)-(20|latest)", "snapshots; the name alone is in the table"),
    (rf"({'|'.join(OUT_OF_USE)}): not", "out of use"),
    (
        rf"({'|'.join(OUT_OF_SCOPE)}): not",
        "other makers, other kinds, moving aliases, access by programmes alone",
    ),
)


@dataclass(frozen=True, slots=True)
class Published:
    """A model as another publisher lists it; None for unknown values. Prices in dollars per million tokens.

    `also`: the name is another one under which the publisher finds the model. What we say of it must be right, but we
    need not know it.
    """

    name: str
    limit: int | None = None
    output_limit: int | None = None
    input_price: float | None = None
    cached_price: float | None = None
    cache_write_price: float | None = None
    output_price: float | None = None
    dearer_above: int | None = field(default=None, kw_only=True)
    also: bool = field(default=False, kw_only=True)


def from_litellm(table: Mapping[str, Any]) -> Iterator[Published]:
    """Yield the conversational models of our providers in litellm's table."""
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


def from_genai_prices(providers: Iterable[Any], today: date | None = None) -> Iterator[Published]:
    """Yield the conversational models of our providers in the package `genai-prices`, with the prices of a day.

    Each other name under which the package finds a model is listed, too.
    """
    today = today or datetime.now(tz=UTC).date()
    for provider in providers:
        if provider.id not in PROVIDERS.values():
            continue
        for model in provider.models:
            if any(kind in model.id.lower() for kind in OTHER_KINDS):
                continue
            prices = _of_day(model.prices, today) if isinstance(model.prices, list) else model.prices
            keys = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
            said = Published(
                model.id,
                _whole(model.context_window),
                None,
                *(_price(getattr(prices, key, None)) for key in keys),
                dearer_above=_tier(getattr(prices, "input_mtok", None)),
            )
            yield said
            for name in {*_names(getattr(model, "match", None))} - {model.id}:
                if not any(kind in name.lower() for kind in OTHER_KINDS):
                    yield replace(said, name=name, also=True)


def _names(match: Any) -> Iterator[str]:
    """Yield the names that a rule of `genai-prices` gives in full; its beginnings and endings of names are none."""
    if (name := getattr(match, "equals", None)) is not None:
        yield name
    for part in getattr(match, "or_", ()):
        yield from _names(part)


def _tier(price: Any) -> int | None:
    """Return the tokens above which a price is another, None if there are none."""
    return min((_whole(tier.start) or 0 for tier in getattr(price, "tiers", ())), default=None)


def left_out(makers: Iterable[str]) -> tuple[int, int, str]:
    """Return the number of names whose makers are not compared, the number of such makers, and the largest of them."""
    counts = Counter(makers)
    ours = {*PROVIDERS, *PROVIDERS.values()}
    others = Counter({maker: count for maker, count in counts.items() if maker not in ours})
    most = ", ".join(f"{maker} {count}" for maker, count in others.most_common(5))
    return others.total(), counts.total(), most


def disagreements(published: Iterable[Published]) -> Iterator[str]:
    """Yield one line for each model that we do not have, and for each value that differs."""
    for other in sorted(published, key=lambda p: p.name):
        ours = find_model(other.name)
        if not ours.known:
            if not other.also:
                yield f"{other.name}: not in the table{_known_fields(other)}"
            continue
        for name in FIELDS:
            said, have = getattr(other, name), getattr(ours, name)
            if other.also and (have is None or (ours.assumed and name.endswith("limit"))):
                continue
            if said is not None and not _same(name, said, have, ours):
                yield f"{other.name} ({ours.name}): {name} is {_show(have)} here, {_show(said)} there"


def explanation(line: str) -> str | None:
    """Return the reason why a disagreement stays, or None if it was not examined."""
    return next((reason for pattern, reason in EXPLAINED if re.match(pattern, line)), None)


def _same(name: str, said: float, have: float | None, ours: ModelLimits) -> bool:
    if name == "cache_write_price" and have is None:
        have = ours.input_price  # a write costs what input costs
    if have is None:
        return said == 0
    windows = (ours.window, ours.limit) if name == "limit" else (have,)
    rounded = name.endswith(("limit", "above"))
    return any(abs(said - one) <= (TOLERANCE * one if rounded else 1e-9) for one in windows)


def _known_fields(other: Published) -> str:
    known = [f"{name} {_show(getattr(other, name))}" for name in FIELDS if getattr(other, name) is not None]
    return f" ({', '.join(known)})" if known else ""


def _show(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.10g}"


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _per_million(value: Any) -> float | None:
    return round(float(value) * 1_000_000, 6) if isinstance(value, int | float) else None


def _of_day(conditional: Sequence[Any], today: date) -> Any:
    """Return the price that is valid on a day, without prices for certain hours."""
    begun = [c for c in conditional if c.constraint is None or getattr(c.constraint, "start_date", None)]
    holding = [c for c in begun if c.constraint is None or c.constraint.start_date <= today]
    return (holding or list(conditional))[-1].prices


def _price(value: Any) -> float | None:
    """Return a price; if it depends on the length of the prompt, that for short prompts."""
    value = getattr(value, "base", value)
    return None if value is None else float(value)


def main(argv: list[str] | None = None) -> int:
    """Print the disagreements; return 1 if there are any, 2 if there is nothing to compare with."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="litellm's model_prices_and_context_window.json")
    parser.add_argument(
        "--all", action="store_true", help="list explained disagreements too, with the reason"
    )
    parser.add_argument("--only", default="", help="compare only models whose name contains this")
    args = parser.parse_args(argv)
    if args.file:
        table = json.loads(args.file.read_text(encoding="utf-8"))
        published = list(from_litellm(table))
        makers = [str(row.get("litellm_provider")) for row in table.values()]
    else:
        try:
            providers = importlib.import_module("genai_prices.data").providers
        except ImportError:
            print("name litellm's table as FILE, or install genai-prices", file=sys.stderr)
            return 2
        published = list(from_genai_prices(providers))
        makers = [provider.id for provider in providers for _ in provider.models]
    found = [(line, explanation(line)) for line in disagreements(p for p in published if args.only in p.name)]
    lines = [line for line, reason in found if reason is None]
    for line, reason in found:
        if reason is None or args.all:
            print(line if reason is None else f"{line}  [{reason}]")
    summary = f"{len(lines)} disagreements over {len(published)} models, {len(found) - len(lines)} explained"
    others, names, most = left_out(makers)
    print(
        summary,
        f"{others} of {names} names left out, of other makers and hosts: {most}",
        sep="\n",
        file=sys.stderr,
    )
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
