"""Real usage as programs report it: any provider's field names, mapped to our own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scoring.messages import Message, Reasoning
from webapp.agents.iterations import cache_writes, with_iterations
from webapp.agents.records import Usage, tier_of
from webapp.errors import Invalid

# (ours, the names providers use); the first that is there counts.
INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count", "input")
OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count", "output")
# Anthropic's input leaves out what was read from and written to the cache; everybody else's contains it.
# Thoughts are part of the output in the details of OpenAI, and apart from it in Gemini's fields.
DETAILS, APART = (
    ("completion_tokens_details", "output_tokens_details"),
    ("thoughtsTokenCount", "thoughts_token_count"),
)
# A report with one of these names, and without any figure of the cache, may lack what the cache held.
PERHAPS_UNCACHED = ("input_tokens", "input")
CACHE_FIGURES = frozenset({
    "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "input_tokens_details",
    "prompt_tokens_details", "input_token_details", "cached_tokens", "cache",
})  # fmt: skip
READ, WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
# The largest window that the model table allows: the size of a call says something about its window, permanently.
MOST = 100_000_000


def read_usage(data: Mapping[str, Any] | None, answer: Iterable[Message] = ()) -> Usage | None:
    """Return the usage that a program reports, None for none.

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
    _count(data, WRITTEN)
    read, (written, hour) = _count(data, READ), cache_writes(data)
    details = data.get("prompt_tokens_details") or data.get("input_tokens_details") or {}
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    output_name = next((n for n in OUTPUT if n in data), None)
    apart = sum(_count(data, one) for one in APART)
    output = (_count(data, output_name) if output_name else 0) + apart
    inside = [_count(data[n], "reasoning_tokens") for n in DETAILS if isinstance(data.get(n), Mapping)]
    thoughts = min(output, apart + sum(inside))
    kept = any(isinstance(part, Reasoning) for message in answer for part in message.parts)
    found = Usage(
        _count(data, name) + read + written,
        output,
        read or cached or _count(data, "cached_tokens"),
        written,
        thoughts,
        cache_write_hour_tokens=hour,
        unsent_tokens=0 if kept else thoughts,
        tier=tier_of(data),
        whole=name not in PERHAPS_UNCACHED or not CACHE_FIGURES.isdisjoint(data),
    )
    return with_iterations(found, data, None)


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        wanted = f"a whole number of tokens, at most {MOST:,}, for {name}"
        raise Invalid(f"expected {wanted}, got {str(value)[:40]}", f"usage.{name}")
    return value
