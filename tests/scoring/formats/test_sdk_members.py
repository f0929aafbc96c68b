"""The SDKs' own lists of blocks and items: a new release fails here if it has one that no decoder knows."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
from anthropic.types.beta import BetaContentBlockParam
from openai.types.chat import ChatCompletionAssistantMessageParam, ChatCompletionContentPartParam
from openai.types.responses import ResponseOutputItem
from openai.types.responses.response_input_param import ResponseInputItemParam

from scoring.formats import FORMATS, is_sure
from scoring.formats.blocks import block_parts

# Types that several formats have.
SHARED = {"text", "image", "document", "message", "item_reference"}


def kinds_of(union: Any) -> set[str]:
    """Return the values of `type` of the members of a union, which may be annotated."""
    found: set[str] = set()
    for member in get_args(union):
        hints = get_type_hints(member) if hasattr(member, "__required_keys__") else {}
        if hasattr(member, "model_fields"):
            hints = {name: field.annotation for name, field in member.model_fields.items()}
        found |= words_of(hints["type"]) if "type" in hints else kinds_of(member)
    return found


def words_of(literal: Any) -> set[str]:
    """Return the strings that a literal, which may be optional, allows."""
    inner = get_args(literal)
    return {literal} if isinstance(literal, str) else {word for one in inner for word in words_of(one)}


BLOCKS = sorted(kinds_of(BetaContentBlockParam) - SHARED)
ITEMS = sorted((kinds_of(ResponseInputItemParam) | kinds_of(ResponseOutputItem)) - SHARED)


@pytest.mark.parametrize("kind", BLOCKS)
def test_block_of_anthropic_is_known(kind: str) -> None:  # X11
    """A list with one is recognised, and it can be read."""
    items = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": kind}]}]
    assert is_sure(items, "anthropic")


@pytest.mark.parametrize("kind", ITEMS)
def test_item_of_responses_is_known(kind: str) -> None:  # X11
    """It is recognised by itself."""
    assert FORMATS["responses"].recognise([{"type": kind}]) > 0.9


@pytest.mark.parametrize("kind", sorted(kinds_of(ChatCompletionContentPartParam)))
def test_part_of_chat_is_known(kind: str) -> None:  # X11
    """It is a text or a medium, by the field that is named like its type."""
    content = "data" if kind == "text" else {"url": "https://a", "data": "QUJD", "file_data": "QUJD"}
    assert len(block_parts({"type": kind, kind: content})) == 1


def test_message_of_chat_has_no_other_field() -> None:  # X11
    """All its fields are read."""
    known = {"role", "audio", "content", "function_call", "name", "refusal", "tool_calls"}
    assert set(get_type_hints(ChatCompletionAssistantMessageParam)) <= known
