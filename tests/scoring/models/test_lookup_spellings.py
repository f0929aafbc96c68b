"""Spellings of models: those of hosts and local servers, and the short names of agents."""

from __future__ import annotations

import pytest

from scoring.models import find_model, name_at


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
        ("qwen.qwen3-coder-480b-a35b-v1:0", "qwen3-coder"), ("mistral.mistral-large-2407-v1:0", "mistral-large"),
        ("Qwen/Qwen3.5-397B-A17B", "qwen3.5"), ("zai-org/GLM-4.5V", "glm-4.5v"),
    ],
)  # fmt: skip
def test_a_model_is_found_by_the_names_that_people_use(spelled: str, row: str) -> None:  # B13
    """The source of each says what is not confirmed."""
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
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", 1), ("claude-sonnet-4@20250514", 3),
        ("gpt-4o-2024-08-06", 2.5),
        ("gpt-4-0613", 30), ("gpt-3.5-turbo-0125", 0.5), ("gpt-3.5-turbo-1106", 1), ("o3-2025-04-16", 2),
        ("gemini-2.5-flash-preview-05-20", 0.3), ("gemini-2.5-flash-lite-preview-09-2025", 0.1),
        ("gemini-2.0-flash-001", 0.1), ("grok-4-0709", 3), ("grok-4-fast-non-reasoning", 0.2),
        ("deepseek-r1-0528", 0.55), ("kimi-k2-0711-preview", 0.6),
        ("mistral-large-2512", 0.5), ("muse-spark-1.2", 1.25), ("claude-sonnet-4-5[1m]", 3),
    ],
)  # fmt: skip
def test_a_date_or_a_state_behind_the_name_leaves_the_price(name: str, price: float) -> None:  # B13
    """Such a name is that of a snapshot of the same model."""
    assert find_model(name).input_price == price


@pytest.mark.parametrize(
    ("name", "row", "window"),
    [
        ("gpt-5.7", "gpt-5.6", 1_050_000), ("gpt-5.7-mini", "gpt-5.4-mini", 400_000),
        ("claude-opus-4-9@20260801", "claude-opus-4-8", 1_000_000), ("glm-5.4", "glm-5.3", 1_000_000),
        ("moonshotai/kimi-k2.8", "kimi-k2.6", 262_144), ("qwen3.9-plus", "qwen3.7-plus", 1_000_000),
        ("deepseek/deepseek-v4.2-flash", "deepseek-v4.1-flash", 1_048_576), ("qwen3.6:27b", "qwen3.5", 262_144),
        ("grok-4.8", "grok-4.7", 500_000), ("llama-3.4-70b", "llama-3.3", 128_000),
    ],
)  # fmt: skip
def test_a_version_without_a_row_has_the_limits_of_the_version_before(
    name: str, row: str, window: int
) -> None:
    """With each of 151 rows left out in turn, 98 windows are right; by the family's first version, 81 are."""
    found = find_model(name)
    assert (found.name, found.window, found.assumed) == (row, window, True)


@pytest.mark.parametrize(
    "name", ["claude-sonnet-6", "gpt-7", "deepseek-v5", "grok-5", "kimi-k4", "o5", "gpt-4o-2024-08-06"]
)
def test_another_generation_and_a_date_take_no_other_version(name: str) -> None:
    """Generations have had smaller windows than those before them."""
    assert find_model(name).name in ("default", "gpt-4o")


@pytest.mark.parametrize(
    ("name", "assumed"),
    [
        ("gpt-5.4-2026-03-05", False), ("claude-sonnet-4-5@20250929", False), ("qwen3.5:27b", False),
        ("unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M", False), ("qwen2.5:0.5b", False),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", False), ("gpt-oss:20b", False),
        ("gpt-5.5-codex", True), ("gpt-oss-safeguard-20b", True), ("deepseek-r1-distill-llama-70b", True),
        ("nvidia/llama-3.3-nemotron-super-49b-v1.5", True), ("ft:gpt-4.1-2025-04-14:acme:claude-style:x", True),
        ("gpt-6-mini", True), ("claude-2.1", True), ("my-company-model", True), ("gpt-4o-2024-08-06", False),
    ],
)  # fmt: skip
def test_limits_of_a_name_nobody_lists_are_assumed(name: str, assumed: bool) -> None:  # X10
    """A date, a size or a packing does not make another model."""
    assert find_model(name).assumed is assumed


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("us.anthropic.claude-opus-5-5-20260901-v1:0", 4.4), ("anthropic.claude-haiku-4-5-20251001-v1:0", 1.1),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-5-v1:0", 2.2),
        ("global.anthropic.claude-opus-5-5", 4), ("us.anthropic.claude-sonnet-4-20250514-v1:0", 3),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", 3), ("us.amazon.nova-premier-v1:0", 2.5),
        ("openai.gpt-5.4", 2.75), ("us.openai.gpt-5.6-sol", 4.4), ("global.openai.gpt-5.6-sol", 4),
        ("us.amazon.nova-2-lite-v1:0", 0.33), ("global.amazon.nova-2-lite-v1:0", 0.3),
    ],
)  # fmt: skip
def test_a_region_of_bedrock_costs_a_tenth_more_from_sonnet_4_5_on(name: str, price: float) -> None:
    """From GPT-5.4 and Nova 2 on, too. The prices are those of genai-prices for regional and global names."""
    assert find_model(name).input_price == price


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("us.deepseek.r1-v1:0", None), ("deepseek-r1", 0.55), ("deepseek/deepseek-r1", 0.55),
        ("together_ai/deepseek-ai/DeepSeek-V3", None), ("zai-org/GLM-4.6", 0.6), ("novita/zai-org/glm-4.6", None),
        ("glm-4.6:cloud", None), ("qwen3-coder:480b-cloud", None), ("qwen3-coder:30b", 0),
        ("azure_ai/mistral-large-2512", None),
        ("openrouter/anthropic/claude-sonnet-4.5", 3),
    ],
)  # fmt: skip
def test_of_a_model_that_others_host_only_the_makers_price_is_known(name: str, price: float | None) -> None:
    """Hosts of open models have prices of their own: R1 costs 0.55 at its maker and 1.35 on Bedrock."""
    assert find_model(name).input_price == price


@pytest.mark.parametrize(
    ("name", "assumed"),
    [
        ("groq/llama-4-maverick-17b-128e-instruct", True), ("cerebras/gemma-4-31b", True),
        ("fireworks_ai/accounts/fireworks/models/deepseek-v3-0324", True), ("qwen.qwen3-coder-480b-a35b-v1:0", True),
        ("huggingface_novita/Qwen/Qwen3-Next-80B-A3B-Instruct", True), ("ollama/llama3.2:1b", True),
        ("github-copilot/claude-opus-5", True), ("github_copilot/gpt-5.5", True),
        ("deepseek/deepseek-v3", False), ("Qwen/Qwen3-Next-80B-A3B-Instruct", False),
        ("openrouter/anthropic/claude-opus-4.7", False), ("us.anthropic.claude-opus-5-5-v1:0", False),
    ],
)  # fmt: skip
def test_the_window_is_assumed_where_a_host_has_one_of_its_own(name: str, assumed: bool) -> None:  # X10
    """Groq gives Llama 4 Maverick 131,072 of a million tokens, Copilot gives Claude Opus 5 264,000."""
    assert find_model(name).assumed is assumed


@pytest.mark.parametrize(
    ("provider", "model", "name"),
    [
        ("github-copilot", "claude-opus-5", "github-copilot/claude-opus-5"), ("ollama", "qwen3:8b", "ollama/qwen3:8b"),
        ("openrouter", "openrouter/auto", "openrouter/auto"), ("anthropic", "claude-opus-5", "claude-opus-5"),
        ("", "claude-opus-5", "claude-opus-5"), ("ollama", "", ""),
    ],
)  # fmt: skip
def test_a_host_with_windows_of_its_own_is_part_of_the_name(provider: str, model: str, name: str) -> None:
    """An agent that records both would else show the maker's window."""
    assert name_at(provider, model) == name


@pytest.mark.parametrize(
    ("name", "factor", "encoding"),
    [
        ("claude-sonnet-6", 1.5, "o200k_base"), ("claude-haiku-5", 1.5, "o200k_base"), ("claude", 1.5, "o200k_base"),
        ("claude-2.1", 1.15, "o200k_base"), ("claude-instant-1.2", 1.15, "o200k_base"),
        ("gemini-5", 1.08, "o200k_base"),
        ("us.anthropic.claude-opus-6-20270101-v1:0", 1.5, "o200k_base"), ("grok-2", 1.1, "o200k_base"),
        ("gpt-7", 1.0, "o200k_base"), ("gpt-3-davinci", 1.0, "cl100k_base"), ("my-company-model", 1.0, "o200k_base"),
    ],
)  # fmt: skip
def test_an_unknown_model_is_counted_with_its_makers_tokenizer(
    name: str, factor: float, encoding: str
) -> None:  # P8
    """That of the last version before it, or of the first one."""
    found = find_model(name)
    assert (found.known, found.token_factor, found.encoding) == (False, factor, encoding)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("moonshot-v1-128k", 128_000), ("moonshot-v1-8k", 8_000), ("phi3:14b-medium-128k-instruct-q4_0", 128_000),
        ("gradientai/Llama-3-8B-Instruct-Gradient-1048k", 1_048_000), ("gpt-3.5-turbo-16k", 16_385),
        ("gpt-4-32k", 32_768), ("kimi-k2", 131_072), ("my-own-2k", 100_000),
    ],
)  # fmt: skip
def test_a_name_may_give_its_own_window(name: str, window: int) -> None:  # X10
    """It is still assumed, unless the table has it. Nothing would be usable of less than 8,000 tokens."""
    assert find_model(name).window == window


@pytest.mark.parametrize(
    ("name", "window", "price", "above"),
    [
        ("gpt-4-0125-preview", 128_000, 10, None), ("gpt-4-vision-preview", 128_000, 10, None),
        ("gpt-3.5-turbo-0301", 4_096, 1.5, None), ("gemma3:1b", 32_768, 0, None),
        ("claude-sonnet-4-5-20250929[1m]", 1_000_000, 3, 200_000), ("grok-4-fast-reasoning", 2_000_000, 0.2, 128_000),
    ],
)  # fmt: skip
def test_a_snapshot_or_size_with_other_limits_has_its_own(
    name: str, window: int, price: float, above: int | None
) -> None:  # B13
    """GPT-4 of January 2024 is GPT-4 Turbo, and Sonnet 4.5 costs twice as much above 200,000 tokens."""
    found = find_model(name)
    assert (found.window, found.input_price, found.dearer_above) == (window, price, above)
