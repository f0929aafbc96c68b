"""Made-up sessions in which something misleads when it is lost."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.harms_kinds import KINDS, Made, page, prohibition, pruned
from tests.shared import ROOT


def missing(made: Made, share: float) -> list[str]:
    """Return what cannot be read in what is left."""
    texts = [
        text
        for message in pruned(made.messages, share)
        for text in (
            message["content"] or "",
            *(call["function"]["arguments"] for call in message.get("tool_calls") or ()),
        )
    ]
    return [needed for needed in made.needed if not any(needed in text for text in texts)]


class TestEveryKind:
    """Half and a quarter of the tokens."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_can_be_read_without_being_misled(self, kind: str) -> None:  # X23
        """The needed message stays, in each of three sessions."""
        for number in range(3):
            made = KINDS[kind](Random(f"held out {kind} {number}"))
            assert missing(made, 0.5) == []
            assert missing(made, 0.25) == []


class TestPrunes:
    """One after another."""

    def test_do_not_add_up(self) -> None:  # X23
        """A prohibition stays through three of them."""
        made = prohibition(Random("three"))
        left = made.messages
        for _ in range(3):
            left = pruned(left, 0.6)
        assert any(made.needed[0] in (message["content"] or "") for message in left)


class TestThePage:
    """docs/pruned.md."""

    def test_is_what_the_code_makes(self) -> None:  # X23
        """It shows what is kept now, and not what an earlier version kept."""
        shown = (ROOT / "docs" / "pruned.md").read_text("utf-8")
        assert shown == page(), "run `python -m benchmarks.harms_kinds docs/pruned.md`"
