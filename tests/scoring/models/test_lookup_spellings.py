"""Spellings of models: those of hosts and local servers, and the short names of agents."""

from __future__ import annotations

import pytest

from scoring.models import find_model


@pytest.mark.parametrize(
    ("spelled", "row"),
    [
        ("sonnet", "claude-sonnet-5-5"), ("opus", "claude-opus-5-5"), ("haiku", "claude-haiku-5-5"),
        ("sonnet[1m]", "claude-sonnet-5-5"), ("gpt-35-turbo", "gpt-3.5-turbo"), ("azure/gpt-35-turbo", "gpt-3.5-turbo"),
        ("z-ai/glm-4.5-air:free", "glm-4.5-air"), ("zai-org/GLM-4.6", "glm-4.6"), ("GLM-5", "glm-5"),
        ("glm-5.3-flash", "glm-5.3-flash"), ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-0905"),
        ("kimi-k2-0711-preview", "kimi-k2"), ("kimi-k2.6", "kimi-k2.6"), ("MiniMaxAI/MiniMax-M2", "minimax-m2"),
        ("MiniMax-M2.7", "minimax-m2.7"), ("qwen3-coder", "qwen3-coder"), ("qwen3:32b", "qwen3"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder"), ("qwen3-coder-plus", "qwen3-coder-plus"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b-2507"), ("llama3.1:8b", "llama-3.1"),
        ("ollama/llama3.3:70b", "llama-3.3"), ("gemma3:27b", "gemma-3"), ("google/gemma-4-31b-it", "gemma-4"),
        ("gpt-oss:20b", "gpt-oss"), ("openai/gpt-oss-120b", "gpt-oss"), ("amazon.nova-pro-v1:0", "nova-pro"),
        ("global.amazon.nova-2-lite-v1:0", "nova-2-lite"), ("deepseek-v3.2", "deepseek-v3.2"),
        ("qwen2.5-coder:32b", "qwen2.5"), ("Qwen/Qwen2.5-72B-Instruct", "qwen2.5"),
        ("qwen/qwen-2.5-7b-instruct", "qwen-2.5"),
        ("qwq:32b", "qwq"), ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl"), ("qwen3-next:80b", "qwen3-next"),
        ("mistral-nemo", "mistral-nemo"), ("mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo"),
        ("open-mistral-nemo", "mistral-nemo"), ("mixtral:8x7b", "mixtral-8x7b"), ("phi4:14b", "phi-4"),
        ("microsoft/phi-4-mini-instruct", "phi-4-mini"), ("cohere/command-r-plus-08-2024", "command-r"),
        ("deepseek-coder:6.7b", "deepseek-coder"), ("deepseek-coder-v2:16b", "deepseek-coder-v2"),
        ("glm-4-9b-chat", "glm-4-9b"), ("google/gemma-3n-E4B-it", "gemma-3n"),
    ],
)  # fmt: skip
def test_a_model_is_found_by_the_names_that_people_use(spelled: str, row: str) -> None:  # B13
    """Each with a source that says what is not confirmed."""
    found = find_model(spelled)
    assert (found.name, found.known) == (row, True)
    assert found.source
    assert found.date


@pytest.mark.parametrize(
    "name",
    [
        "nova-2-pro", "amazon.nova-2-pro-v1:0", "claude-opus-4-9", "claude-opus-6", "gpt-5-turbo", "gpt-5.4-image-2",
        "grok-3-fast", "GLM-4.7-FlashX", "kimi-k2-turbo-preview", "minimax-m2.1-highspeed", "o3-deep-research",
        "gpt-4o-mini-realtime-preview", "mistral-large-2411", "claude-opus-4-6-fast", "gemini-2.5-flash-tts",
        "ft:gpt-4o-mini-2024-07-18:team::1",
    ],
)  # fmt: skip
def test_another_generation_or_variant_has_no_price(name: str) -> None:  # B13
    """Its limits are assumed to be those of the family, but a price would be a guess."""
    found = find_model(name)
    prices = (found.input_price, found.cached_price, found.cache_write_price, found.output_price)
    assert prices == (None, None, None, None)
    if found.known:
        assert "prices unknown" in found.source


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("claude-opus-4-5-20251101", 5), ("claude-3-5-sonnet-latest", 3), ("claude-sonnet-4-0", 3),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", 1), ("claude-sonnet-4@20250514", 3), ("gpt-4o-2024-08-06", 2.5),
        ("gpt-4-0613", 30), ("gpt-3.5-turbo-0125", 0.5), ("gpt-3.5-turbo-1106", 1), ("o3-2025-04-16", 2),
        ("gemini-2.5-flash-preview-05-20", 0.3), ("gemini-2.5-flash-lite-preview-09-2025", 0.1),
        ("gemini-2.0-flash-001", 0.1), ("grok-4-0709", 3), ("grok-4-fast-non-reasoning", 0.2),
        ("deepseek-r1-0528", 0.55), ("kimi-k2-0711-preview", 0.6),
        ("mistral-large-2512", 0.5), ("muse-spark-1.2", 1.25), ("claude-sonnet-4-5[1m]", 3),
    ],
)  # fmt: skip
def test_a_date_or_a_state_behind_the_name_leaves_the_price(name: str, price: float) -> None:  # B13
    """They name a snapshot of the same model."""
    assert find_model(name).input_price == price
