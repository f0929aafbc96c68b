"""Thoughts that hold only for the history before them."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.formats import decode, encode
from scoring.formats.thoughts import has_bound_thoughts, is_bound_to_history, without_bound_thoughts

TEXT = {"type": "text", "text": "so"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s" * 40}
REDACTED = {"type": "redacted_thinking", "data": "d" * 40}
STANDARD = {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s" * 40}}
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e" * 40}


def answer(name: str, *blocks: Any) -> Any:
    """Return an answer with these blocks of content in a format."""
    if name == "anthropic":
        return {"role": "assistant", "content": list(blocks)}
    return {"type": "ai", "data": {"content": list(blocks), "type": "ai"}}


class TestLeavingOut:
    """`without_bound_thoughts`."""

    @pytest.mark.parametrize(
        ("name", "thought"),
        [
            ("anthropic", THOUGHT),
            ("anthropic", REDACTED),
            ("langchain", THOUGHT),
            ("langchain", REDACTED),
            ("langchain", STANDARD),
        ],
    )
    def test_leaves_the_rest_of_the_object(self, name: str, thought: Any) -> None:  # X6
        """Only the thoughts are missing from the object that is sent."""
        [message] = decode([answer(name, thought, TEXT, THOUGHT)], name).messages
        assert is_bound_to_history(message)
        bare = without_bound_thoughts(message)
        assert encode([bare], name) == [answer(name, TEXT)]
        assert without_bound_thoughts(bare) is bare

    def test_leaves_reasoning_that_holds_for_any_history(self) -> None:
        """OpenAI's encrypted reasoning, also in LangChain's list, is the same object."""
        [inside] = decode([answer("langchain", SEALED, TEXT)], "langchain").messages
        [item] = decode([SEALED], "responses").messages
        assert without_bound_thoughts(inside) is inside
        assert without_bound_thoughts(item) is item

    def test_is_possible_in_some_formats_only(self) -> None:
        """A format that is not known yet could be one of them."""
        assert has_bound_thoughts("anthropic")
        assert has_bound_thoughts("")
        assert not has_bound_thoughts("openai")
