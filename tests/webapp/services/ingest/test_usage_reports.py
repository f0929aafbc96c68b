"""Usage reports, in the fields of every provider."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.messages import Message, Reasoning, Text
from webapp.errors import Invalid
from webapp.services.ingest.usage_reports import read_usage


class TestUsage:
    """Usage that a program reports."""

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ({"input_tokens": 10, "output_tokens": 2}, (10, 2, 0)),
            (
                {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
                (10, 2, 4),
            ),
            ({"input_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2}, (10, 0, 5)),
            ({"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2}}, (10, 2, 0)),
            ({"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}, (10, 2, 0)),
            ({"promptTokens": 10, "completionTokens": 2}, (10, 2, 0)),
            ({"model": "qwen3:8b", "prompt_eval_count": 10, "eval_count": 2}, (10, 2, 0)),
            (
                {
                    "usageMetadata": {
                        "promptTokenCount": 9,
                        "candidatesTokenCount": 2,
                        "thoughtsTokenCount": 5,
                    }
                },
                (9, 7, 0),
            ),
        ],
    )
    def test_is_understood(self, data: dict[str, Any], expected: tuple[int, int, int]) -> None:  # X11
        """Cached tokens are part of the input, in every provider's spelling."""
        found = read_usage(data)
        assert found is not None
        assert (found.input_tokens, found.output_tokens, found.cached_tokens) == expected

    def test_has_results_of_the_provider_s_tools_beside_the_prompt(self) -> None:  # X11
        """They are billed as input, and are no part of the context that was sent."""
        found = read_usage(
            {"promptTokenCount": 100, "candidatesTokenCount": 7, "toolUsePromptTokenCount": 40}
        )
        assert found is not None
        assert (found.input_tokens, found.sent_tokens, found.answer_tokens) == (140, 100, 7)

    @pytest.mark.parametrize(
        "data",
        [
            {"input_tokens": 10, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20},
            {"input_tokens": 10, "cache_read_input_tokens": 70, "cache_creation": {"ephemeral_5m_input_tokens": 20}},
            {"input": 10, "output": 5, "cache": {"read": 70, "write": 20}},
            {"input": 10, "output": 5, "cacheRead": 70, "cacheWrite": 20},
            {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 70, "cacheWriteInputTokens": 20},
            {"prompt_tokens": 10, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20},
            {"prompt_tokens": 100, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20},
            {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 70, "cache_write_tokens": 20}},
            {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 70, "cache_creation_tokens": 20}},
            {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 70, "cache_write_tokens": 20}},
            {"input_tokens": 100, "input_token_details": {"cache_read": 70, "cache_creation": 20}},
            {
                "input_tokens": 100,
                "input_token_details": {
                    "cache_read": 70, "cache_creation": 0,
                    "ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0,
                },
            },
        ],
    )  # fmt: skip
    def test_has_the_cache_inside_or_beside_the_input(self, data: dict[str, Any]) -> None:  # X11
        """Figures of the cache beside the input are added, those that are parts of it are not added again."""
        found = read_usage(data)
        assert found is not None
        assert (found.input_tokens, found.cached_tokens, found.cache_write_tokens) == (100, 70, 20)
        assert found.whole

    @pytest.mark.parametrize(
        "data",
        [
            {"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 70}},
            {"usage_metadata": {"prompt_token_count": 100, "cached_content_token_count": 70}},
            {"prompt_tokens": 100, "prompt_cache_hit_tokens": 70, "prompt_cache_miss_tokens": 30},
            {"prompt_tokens": 100, "cached_tokens": 70},
            {"inputTokens": 100, "outputTokens": 5, "cachedInputTokens": 70},
            {"input": 100, "output": 5, "cached": 70, "thoughts": 2},
        ],
    )
    def test_has_what_was_read_from_the_cache(self, data: dict[str, Any]) -> None:  # X11
        """Providers without a price for cache writes report only the reading."""
        found = read_usage(data)
        assert found is not None
        assert (found.input_tokens, found.cached_tokens, found.cache_write_tokens) == (100, 70, 0)

    @pytest.mark.parametrize(
        "data",
        [
            {"tokens": 3},
            {"usageMetadata": 5},
            {"input_tokens": -1},
            {"input_tokens": "3"},
            {"input_tokens": True},
            {"input_tokens": 100_000_001},
            {"input_tokens": 1, "output_tokens": 10**12},
        ],
    )
    def test_is_refused_if_invalid(self, data: dict[str, Any]) -> None:
        """The error names the field. More tokens than any model accepts are refused, too."""
        with pytest.raises(Invalid) as caught:
            read_usage(data)
        assert caught.value.details[0]["field"].startswith("usage")

    @pytest.mark.parametrize(
        "data",
        [
            {
                "prompt_tokens": 9,
                "completion_tokens": 7,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}},
            {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5},
            {"input_tokens": 9, "output_tokens": 7, "output_token_details": {"reasoning": 5}},
            {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 5}},
        ],
    )
    def test_excludes_reasoning_from_the_next_call(self, data: dict[str, Any]) -> None:  # X11
        """Reasoning is an output, but it is sent again only if the answer contains it."""
        thought = Message("assistant", (Reasoning("hm"), Text("ok")))
        alone, with_them = read_usage(data), read_usage(data, [thought])
        assert alone is not None
        assert with_them is not None
        assert (alone.output_tokens, alone.answer_tokens, alone.reasoning_tokens) == (7, 2, 5)
        assert with_them.answer_tokens == 7

    def test_may_be_missing(self) -> None:
        """Missing usage is no error."""
        assert read_usage(None) is None
        assert read_usage({}) is None
