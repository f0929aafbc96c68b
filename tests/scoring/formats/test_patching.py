"""Changed parts written back into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scoring.formats.patching import patch_blocks
from scoring.messages import Part, Text, ToolCall


def read(block: dict[str, Any]) -> list[Part]:
    """A call where there is an id, a text where there is one, else nothing."""
    if "id" in block:
        return [ToolCall(block["id"], "f", block["text"])]
    return [Text(block["text"])] if block.get("text") else []


def rewrite(block: dict[str, Any], part: Part) -> dict[str, Any]:
    """The same block with other words."""
    return {**block, "text": part.arguments if isinstance(part, ToolCall) else getattr(part, "text", "")}


def build(part: Part) -> dict[str, Any] | None:
    """Texts can be built, calls have no place."""
    return {"text": part.text, "new": True} if isinstance(part, Text) else None


def woven(blocks: Sequence[Any], *parts: Part) -> list[Any]:
    """The blocks for these parts."""
    return patch_blocks(blocks, parts, read=read, rewrite=rewrite, build=build)


A, B = {"text": "a", "k": 1}, {"text": "b", "k": 2}
CALL = {"id": "c", "text": "{}", "k": 3}


class TestWeave:
    """Blocks that are kept, rewritten, dropped or built."""

    def test_keeps_what_did_not_change(self) -> None:
        """Unchanged blocks are the same objects, also those without a part."""
        empty: dict[str, Any] = {"text": ""}
        out = woven([A, empty, B], Text("a"), Text("b"))
        assert all(x is y for x, y in zip(out, [A, empty, B], strict=True))

    def test_rewrites_by_place_and_by_id(self) -> None:
        """A text is identified by its position, a call by its id."""
        assert woven([A, B], Text("a"), Text("x")) == [A, {"text": "x", "k": 2}]
        assert woven([A, CALL], Text("x"), ToolCall("c", "f", "y")) == [
            {"text": "x", "k": 1},
            {"id": "c", "text": "y", "k": 3},
        ]

    def test_drops_what_is_gone(self) -> None:
        """The block of a missing part goes, wherever it is."""
        assert woven([A, B], Text("b")) == [B]
        assert woven([A, CALL], Text("a")) == [A]
        assert woven([A, B]) == []

    def test_builds_what_is_new_where_it_stands(self) -> None:
        """New parts are placed before, between and after; those that cannot be built are left out."""
        new = {"text": "x", "new": True}
        assert woven([A, B], Text("x"), Text("a"), Text("b")) == [new, A, B]
        assert woven([A], Text("a"), Text("x"), ToolCall("z", "f", "")) == [A, new]

    @given(st.lists(st.sampled_from("abc"), max_size=4), st.lists(st.sampled_from("abcd"), max_size=4))
    def test_always_says_the_new_parts(self, before: list[str], after: list[str]) -> None:
        """The result is read as exactly the new parts, whatever was changed."""
        blocks = [{"text": t} for t in before]
        out = woven(blocks, *map(Text, after))
        assert [p for b in out for p in read(b)] == [Text(t) for t in after]
