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
    ],
)  # fmt: skip
def test_a_model_is_found_by_the_names_that_people_use(spelled: str, row: str) -> None:  # B13
    """Each with a source that says what is not confirmed."""
    found = find_model(spelled)
    assert (found.name, found.known) == (row, True)
    assert found.source
    assert found.date
