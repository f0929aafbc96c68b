"""The cost of texts, messages and tool definitions in tokens.

A caller with a tokenizer passes it as a `TokenCounter`; without one the script-aware estimator counts. Content
is counted by characters, never by bytes or by its JSON encoding. The tokens that a provider adds around the content
are in the table below. All results are whole tokens, 0 or more, and depend on the content alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Protocol

from scoring.messages import (
    FileReference,
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    parsed_json,
)
from scoring.tokens.estimator import estimate
from scoring.tokens.families import PAGE, Family

MESSAGE_OVERHEAD = 4  # role and delimiters: OpenAI's chat format takes 3, and 1 for the role
CALL_OVERHEAD = 6  # the call's type and the frame around its id, name and arguments
RESULT_OVERHEAD = 4  # the frame around a result and its state
TOOL_OVERHEAD = 8  # the frame around a tool's name, description and schema
# Signatures and encrypted reasoning: base64 that the provider turns back into tokens of its own.
OPAQUE_CHARS_PER_TOKEN = 8
# A flat cost for each item. Anthropic bills at most about 1,600 for an image, OpenAI up to 1,445, Gemini 258 a tile;
# sound is 25-32 tokens a second, a page of a document about an image and its text. A counter that knows its model
# uses the family's rules for images, by their size, and for documents, by their pages (`scoring.tokens.families`).
MEDIA_TOKENS: Mapping[str, int] = {
    "image": 1_600,
    "audio": 2_000,
    "video": 5_000,
    "document": 3_000,
    "definition": 500,
}
# The kind of a "medium" that is a tool's definition: a result of tool search names it, the provider inserts it.
DEFINITION = "definition"
# The kind of a "medium" that is an encrypted part of a result, which only the provider reads: Codex estimates it at 9
# bytes for 16 characters, and 4 bytes per token.
ENCRYPTED = "encrypted"
_ENCRYPTED_TOKENS = 9 / 64
# The fields of a tool's definition with the schema of its arguments, by provider, or with the grammar of free text.
_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema", "format")
# The fields of a definition of several tools.
_LISTS = ("functionDeclarations", "function_declarations", "tools")
OTHER_MEDIA_TOKENS = 1_600


class TokenCounter(Protocol):
    """Counts the tokens of plain text."""

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`, 0 for the empty text."""
        ...


class Estimator:
    """Counts without a tokenizer, within some 15 % of o200k on prose, code, and scripts of all kinds."""

    def count(self, text: str) -> int:
        """Return the estimated number of tokens in `text`."""
        return estimate(text)


class FourCharacters:
    """Counts four characters per token and adds nothing for a message: the preset *Blueprint*."""

    message_overhead = 0
    call_overhead = 0
    result_overhead = 0

    def count(self, text: str) -> int:
        """Return a quarter of the characters, rounded up."""
        return -(-len(text) // 4)


class ModelCounter:
    """Counts as one model does: a tokenizer's tokens times `factor`, plus the overheads of its family.

    `factor` is the model's `token_factor`.
    """

    def __init__(self, counter: TokenCounter, family: Family, factor: float = 1.0) -> None:
        self._counter, self._factor, self.family = counter, factor, family
        self.message_overhead = round(factor * family.message)
        self.calls_overhead = round(factor * family.calls)
        self.call_overhead = round(factor * CALL_OVERHEAD)
        self.counts_ids = family.ids
        self.argument_overhead = round(factor * family.argument)
        self.result_overhead = round(factor * RESULT_OVERHEAD)

    def count(self, text: str) -> int:
        """Return the number of tokens the model makes of `text`."""
        return round(self._factor * self._counter.count(text))

    def media(self, media: Media) -> int:
        """Return the tokens of one item of media, by the provider's rule where it has one for the size."""
        if media.kind == DEFINITION:
            return round(self._factor * self.family.definition)
        if media.kind == "document" and media.pages:
            return media.pages * self.family.page
        if media.kind != "image":
            return media_tokens(media)
        return self.family.image_tokens(media.width, media.height, media.detail)

    def sealed(self, chars: int) -> int:
        """Return the tokens of reasoning with an encrypted copy of `chars` characters."""
        return round(self._factor * self.family.sealed(chars))


ESTIMATOR = Estimator()
FOUR_CHARACTERS = FourCharacters()


def estimate_tokens(text: str, counter: TokenCounter | None = None) -> int:
    """Return the tokens of a plain text."""
    return (counter or ESTIMATOR).count(text)


def estimate_text_tokens(text: str, counter: TokenCounter | None = None) -> int:
    """Return the tokens of a message that consists of one text."""
    counter = counter or ESTIMATOR
    overhead: int = getattr(counter, "message_overhead", MESSAGE_OVERHEAD)
    return overhead + (counter.count(text) if text else 0)


def estimate_message_tokens(message: Message, counter: TokenCounter | None = None) -> int:
    """Return the tokens a message takes in a context: its parts, and the overhead of a message.

    A counter may set its own `message_overhead`, `call_overhead` and `result_overhead`.
    """
    counter = counter or ESTIMATOR
    total: int = getattr(counter, "message_overhead", MESSAGE_OVERHEAD)
    with_calls: int | None = getattr(counter, "calls_overhead", None)
    if with_calls is not None and message.calls:
        total = with_calls
    if message.name:
        total += counter.count(message.name)
    for part in message.parts:
        total += counter.count(part.text) if type(part) is Text else part_tokens(part, counter)
    return total


def part_tokens(part: Part, counter: TokenCounter) -> int:
    """Return the tokens of one part."""
    if isinstance(part, Text):
        return counter.count(part.text)
    if isinstance(part, ToolResult):
        overhead: int = getattr(counter, "result_overhead", RESULT_OVERHEAD)
        said = _id(part.call_id, counter) + counter.count(part.name) + counter.count(part.text)
        return overhead + said + (sum([_media(m, counter) for m in part.media]) if part.media else 0)
    if isinstance(part, ToolCall):
        overhead = getattr(counter, "call_overhead", CALL_OVERHEAD)
        said = _id(part.id, counter) + counter.count(part.name) + counter.count(part.arguments)
        return overhead + _arguments(part, counter) + said
    if isinstance(part, Reasoning):
        return _reasoning(part, counter)
    if isinstance(part, FileReference):
        return counter.count(part.block)  # the reference in the context, not the file itself
    return _media(part, counter)


def _id(text: str, counter: TokenCounter) -> int:
    """Return the tokens of a call's id; some families are not shown it."""
    return counter.count(text) if getattr(counter, "counts_ids", True) else 0


def _arguments(call: ToolCall, counter: TokenCounter) -> int:
    """Return the tokens added for the arguments of a call."""
    each: int = getattr(counter, "argument_overhead", 0)
    if not each:
        return 0
    arguments = parsed_json(call.arguments)
    return each if arguments is None else each * len(arguments)


def _reasoning(part: Reasoning, counter: TokenCounter) -> int:
    """Return the tokens of reasoning.

    The readable text is often only a summary, or empty; a counter that knows its model takes the larger of its tokens
    and those of the encrypted copy.
    """
    if isinstance(counter, ModelCounter):
        return max(counter.count(part.text), counter.sealed(part.opaque_chars))
    return counter.count(part.text) + ceil(part.opaque_chars / OPAQUE_CHARS_PER_TOKEN)


def _media(media: Media, counter: TokenCounter) -> int:
    return counter.media(media) if isinstance(counter, ModelCounter) else media_tokens(media)


def media_tokens(media: Media) -> int:
    """Return the flat cost of one image or sound; an encrypted part costs by its length, a document by its pages."""
    if media.kind == ENCRYPTED:
        return ceil(media.size_bytes * _ENCRYPTED_TOKENS)
    if media.kind == "document" and media.pages:
        return media.pages * PAGE
    return MEDIA_TOKENS.get(media.kind, OTHER_MEDIA_TOKENS)


def estimate_tool_tokens(tools: Sequence[Mapping[str, Any]], counter: TokenCounter | None = None) -> int:
    """Return the tokens of tool definitions in any wire format: name, description and schema of each."""
    counter = counter or ESTIMATOR
    return sum(TOOL_OVERHEAD + counter.count(text) for tool in tools for text in _definitions(tool))


def schema_of(tool: Mapping[str, Any]) -> Any:
    """Return the schema of the arguments in a tool's definition, or the grammar of its free text; None without one."""
    return next((tool[name] for name in _SCHEMAS if tool.get(name) is not None), None)


def _definitions(tool: Mapping[str, Any]) -> list[str]:
    """Return the texts of a definition, one for each tool: Gemini and namespaces list several tools in one."""
    lists = [tool[name] for name in _LISTS if isinstance(tool.get(name), list | tuple)]
    listed = [_definition(one) for tools in lists for one in tools if isinstance(one, Mapping)]
    return listed if listed and not tool.get("name") else [_definition(tool), *listed]


def _definition(tool: Mapping[str, Any]) -> str:
    body = next((tool[k] for k in ("function", "custom") if isinstance(tool.get(k), Mapping)), tool)
    schema = schema_of(body)
    spelled = (
        "" if schema is None else json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=str)
    )
    return f"{body.get('name', '')}\n{body.get('description') or ''}\n{spelled}"
