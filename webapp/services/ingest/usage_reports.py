"""Real usage as programs report it: any provider's field names, mapped to our own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scoring.errors import shown
from scoring.messages import Message, Reasoning
from webapp.agents.iterations import cache_writes, with_iterations
from webapp.agents.reading.rows import object_of
from webapp.agents.records import Usage, tier_of
from webapp.errors import Invalid

# (ours, the names providers use); the first that is there counts.
# Bedrock and Vercel's AI SDK write inputTokens, Ollama prompt_eval_count.
INPUT = (
    "input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count", "input", "inputTokens", "promptTokens",
    "prompt_eval_count",
)  # fmt: skip
OUTPUT = (
    "output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count", "output", "outputTokens",
    "completionTokens", "eval_count", "responseTokenCount", "response_token_count",
)  # fmt: skip
# Results of tools that the provider ran within the call: input of its later inferences, beside that of the first.
WITHIN = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")
# Thoughts are part of the output in the details of all but Gemini, whose fields have them apart from it.
DETAILS, APART = (
    ("completion_tokens_details", "output_tokens_details", "output_token_details"),
    ("thoughtsTokenCount", "thoughts_token_count"),
)
THOUGHTS = ("reasoning_tokens", "thinking_tokens", "reasoning")
# Details that break the input down are parts of it.
INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
READ_INSIDE = ("cached_tokens", "cache_read")
WRITTEN_INSIDE = (
    "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens", "cache_creation",
)  # fmt: skip
LIFETIMES = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
# Figures of the cache outside such details: always parts of the input, or, under names of Anthropic's kind, beside it.
READ_PART = (
    "cached_tokens", "cachedContentTokenCount", "cached_content_token_count", "prompt_cache_hit_tokens", "cached",
    "cachedInputTokens",
)  # fmt: skip
READ = ("cache_read_input_tokens", "cacheRead", "cacheReadInputTokens")
WRITTEN = ("cache_creation_input_tokens", "cacheWrite", "cacheWriteInputTokens")
# A report with one of these names, and without any figure of the cache, may lack what the cache held.
PERHAPS_UNCACHED = ("input_tokens", "input", "inputTokens", "prompt_eval_count")
CACHE_FIGURES = frozenset({*INPUT_DETAILS, *READ_PART, *READ, *WRITTEN, "cache_creation", "cache"})
# The largest window that the model table allows: the size of a call says something about its window, permanently.
MOST = 100_000_000


def read_usage(data: Mapping[str, Any] | None, answer: Iterable[Message] = ()) -> Usage | None:
    """Return the usage that a program reports, or None if it reports none.

    Thoughts that are not in the messages of the `answer` are not sent again with the next call.

    Raises:
        Invalid: it has no input tokens, or a number is not one.
    """
    if not data:
        return None
    inner = data.get("usageMetadata") or data.get("usage_metadata")
    data = inner if isinstance(inner, Mapping) else data
    name = next((n for n in INPUT if n in data), None)
    if name is None:
        raise Invalid(
            f"expected usage with input_tokens (or prompt_tokens), got {', '.join(list(data)[:6])}", "usage"
        )
    read, written, hour, beside = _cache(data, name)
    output_name = next((n for n in OUTPUT if n in data), None)
    apart = sum(_count(data, one) for one in APART)
    output = (_count(data, output_name) if output_name else 0) + apart
    inside = [_first(object_of(data.get(n)), THOUGHTS) for n in DETAILS]
    thoughts = min(output, apart + sum(inside))
    kept = any(isinstance(part, Reasoning) for message in answer for part in message.parts)
    unsent = 0 if kept else thoughts
    sent, within = _count(data, name) + beside, _first(data, WITHIN)
    found = Usage(
        sent + within,
        output,
        read,
        written,
        thoughts,
        cache_write_hour_tokens=hour,
        unsent_tokens=unsent,
        tier=tier_of(data),
        whole=name not in PERHAPS_UNCACHED or not CACHE_FIGURES.isdisjoint(data),
        first_tokens=sent if within else 0,
        last_tokens=sent + output - unsent if within else 0,
    )
    return with_iterations(found, data, None)


def _cache(data: Mapping[str, Any], name: str) -> tuple[int, int, int, int]:
    """Return what a call read from the cache, wrote to it, wrote for an hour, and what the input `name` lacks of it."""
    details = next((object_of(data[n]) for n in INPUT_DETAILS if data.get(n)), {})
    lives = [_count(details, one) for one in LIFETIMES]
    apart = object_of(data.get("cache"))
    read = _first(data, READ) or _count(apart, "read")
    written, hour = cache_writes(data)
    written = max(written, _first(data, WRITTEN), _count(apart, "write"))
    beside = 0 if details and _count(data, name) >= read + written else read + written
    # Gateways that report Claude's calls in OpenAI's fields name the figures of the cache again beside the whole input.
    if name not in PERHAPS_UNCACHED and _count(data, name) >= beside:
        beside = 0
    return (
        read or _first(details, READ_INSIDE) or _first(data, READ_PART),
        written or _first(details, WRITTEN_INSIDE) or sum(lives),
        hour or lives[1],
        beside,
    )


def _first(data: Mapping[str, Any], names: Iterable[str]) -> int:
    """Return the first figure of these that is not 0."""
    return next((count for name in names if (count := _count(data, name))), 0)


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        wanted = f"a whole number of tokens, at most {MOST:,}, for {name}"
        raise Invalid(f"expected {wanted}, got {shown(value)}", f"usage.{name}")
    return value
