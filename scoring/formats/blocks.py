"""Content that is a string, null, or a list of typed blocks, as OpenAI, responses and LangChain write it.

A block of an unknown type counts as the strings, the media and the encrypted parts inside it, so that everything a
model reads has tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scoring.formats.contents import parts_in
from scoring.formats.media import media_in, source_of
from scoring.formats.patching import patch_blocks
from scoring.formats.reading import OPAQUE_FIELDS, Place
from scoring.messages import Media, Part, Reasoning, Text, ToolResult

# Block type -> the field that holds its text.
_TEXT_FIELDS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_THOUGHT_FIELDS = {
    "thinking": "thinking",
    "reasoning": "reasoning",
    "reasoning_text": "text",
    "summary_text": "text",
}
# Claude's thoughts. Newer models refuse them with any other history than the one they belong to.
BOUND_THOUGHTS = ("thinking", "redacted_thinking")


def is_bound_thought(block: Any) -> bool:
    """Return whether a content block is a thought that holds only for the history before it."""
    if not isinstance(block, Mapping):
        return False
    kind, extras = block.get("type"), block.get("extras")
    # LangChain's own form of a thought has the signature in its extras.
    signed = kind == "reasoning" and isinstance(extras, Mapping) and "signature" in extras
    return kind in BOUND_THOUGHTS or signed


def has_bound_thoughts(value: Mapping[str, Any]) -> bool:
    """Return whether the content of an object has thoughts that hold only for the history before it."""
    content = value.get("content")
    return isinstance(content, list) and any(map(is_bound_thought, content))


def content_parts(place: Place, content: Any) -> list[Part]:
    """Return the parts of a message's content; empty texts are left out."""
    if content is None or isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list | tuple):
        place.fail("content to be a string, a list of blocks or null", content)
    out: list[Part] = []
    for block in content:
        if not isinstance(block, Mapping | str):
            place.fail("a content block to be an object", block)
        out += block_parts(block, place)
    return out


def block_parts(block: Any, place: Place | None = None) -> list[Part]:
    """Return the parts of one block: one, or none if it is empty."""
    place = place or Place(0)
    if isinstance(block, str):
        return [Text(block)] if block else []
    kind = block.get("type")
    if not isinstance(kind, str | None):
        place.fail("a block's type to be a string", kind)
    if kind in _TEXT_FIELDS or (kind is None and "text" in block):
        text = place.text(block.get(_TEXT_FIELDS.get(kind or "text", "text")), f"the text of a {kind} block")
        return [Text(text)] if text else []
    if kind == "redacted_thinking":
        return [Reasoning("", len(place.text(block.get("data"), "data")))]
    if kind in _THOUGHT_FIELDS:
        signature = block.get("signature") or block.get("encrypted_content") or ""
        opaque = len(signature) if isinstance(signature, str) else 0
        return [
            Reasoning(place.text(block.get(_THOUGHT_FIELDS[kind]), f"the text of a {kind} block"), opaque)
        ]
    medium = media_in(block)
    if medium is not None:
        return [medium]
    return parts_in(block)


def rewrite_text(block: Any, part: Part) -> Any:
    """Return a copy of a block with the text of `part` in its text field."""
    if isinstance(part, Media):
        return block
    text = getattr(part, "text", "")
    if isinstance(block, str):
        return text
    kind = block.get("type")
    key = _TEXT_FIELDS.get(kind) or _THOUGHT_FIELDS.get(kind)
    if key is None and "text" not in block:  # an unknown type: a text block replaces it
        return {
            "type": "text",
            "text": text,
            **{k: v for k, v in block.items() if k in OPAQUE_FIELDS - {"type"}},
        }
    return {**block, key or "text": text}


def text_and_media(place: Place, content: Any) -> tuple[str, tuple[Media, ...]]:
    """Return the text and the media of a result's content."""
    if content is None or isinstance(content, str):
        return content or "", ()
    return said_and_shown(content_parts(place, content))


def said_and_shown(parts: Sequence[Part]) -> tuple[str, tuple[Media, ...]]:
    """Return the text and the media among parts, for a result."""
    return joined_text(parts), tuple(p for p in parts if isinstance(p, Media))


def joined_text(parts: Sequence[Part]) -> str:
    """Return the text parts joined by line feeds, for content that is a single string."""
    return "\n".join([p.text for p in parts if isinstance(p, Text)])


def text_or_blocks(blocks: list[Any]) -> Any:
    """Return the text of a single text block as a string, anything else as the list of blocks."""
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0].keys() == {"type", "text"} else blocks


def result_parts(result: ToolResult) -> list[Part]:
    """Return the text and the media of a result as parts."""
    return [*([Text(result.text)] if result.text else []), *result.media]


def result_content(content: Any, result: ToolResult, build: Callable[[Part], Any | None]) -> Any:
    """Return the content of a result with its current text, as a string or a list of blocks like before.

    The first text block takes the whole text; media that are still part of the result stay in their places.
    """
    if not isinstance(content, list):
        return result.text
    texts = [b for b in content if source_of(b) is None]
    media = [b for b in content if source_of(b) is not None]
    if result.text and joined_text([p for b in texts for p in block_parts(b)]) == result.text:
        return [
            *texts,
            *patch_blocks(media, result.media, read=block_parts, rewrite=rewrite_text, build=build),
        ]
    return patch_blocks(
        [*texts[:1], *media], result_parts(result), read=block_parts, rewrite=rewrite_text, build=build
    )
