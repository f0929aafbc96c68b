"""System prompts that a request body has beside its list."""

from __future__ import annotations

from typing import Any

from scoring.formats.system_prompts import place_system
from scoring.formats.table import FORMATS


class TestPlaceSystem:
    """The system prompt in the envelope of each format."""

    def test_adds_to_what_is_there_in_its_shape(self) -> None:
        """A list of blocks gets a block, a string a paragraph, a Gemini instruction a part; each only once."""
        envelopes: list[tuple[str, str, Any, Any]] = [
            (
                "anthropic",
                "system",
                [{"type": "text", "text": "a"}],
                [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            ),
            ("anthropic", "system", "a", "a\n\nb"),
            ("responses", "instructions", None, "b"),
            (
                "gemini",
                "systemInstruction",
                {"parts": [{"text": "a"}]},
                {"parts": [{"text": "a"}, {"text": "b"}]},
            ),
            (
                "gemini",
                "systemInstruction",
                {"parts": {"text": "a"}},
                {"parts": [{"text": "a"}, {"text": "b"}]},
            ),
            ("gemini", "systemInstruction", ["a"], {"parts": [{"text": "a"}, {"text": "b"}]}),
        ]
        for name, key, before, after in envelopes:
            envelope = {key: before}
            for _ in range(2):
                assert place_system(envelope, FORMATS[name], ["b"]) == []
            assert envelope == {key: after}

    def test_knows_both_spellings_of_gemini(self) -> None:
        """The prompt stays under the key it came with."""
        envelope: dict[str, Any] = {"system_instruction": {"parts": [{"text": "a"}]}}
        place_system(envelope, FORMATS["gemini"], ["b"])
        assert envelope == {"system_instruction": {"parts": [{"text": "a"}, {"text": "b"}]}}

    def test_moves_a_foreign_prompt(self) -> None:
        """It moves from one format's key to another's, or into the list."""
        envelope: dict[str, Any] = {"instructions": "a", "model": "m"}
        assert place_system(envelope, FORMATS["anthropic"], []) == []
        assert envelope == {"model": "m", "system": "a"}
        assert place_system(envelope, FORMATS["openai"], ["b"]) == ["a", "b"]
        assert envelope == {"model": "m"}
