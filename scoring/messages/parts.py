"""Messages as values.

A message has a role, which says who speaks, and parts, which hold its content. It has no id, time, tokens or place in
the log: two messages with equal content are equal. `wire` keeps the object that a message was decoded from and takes no
part in equality, so that encoding a decoded list returns the original objects.

Rules: a message with content never has only empty text parts; only the call's id links a tool call to its results;
changing a part makes a new message (`with_result_text`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

Role = Literal["system", "user", "assistant", "tool"]
# The name of a message of role "user" that a program wrote, such as an agent's reminder.
REMINDER = "reminder"
# The format of an object that is not sent: it only holds the bytes of a message's media.
MEDIA_SOURCE = "transcript"
_JSON_BLANKS = " \t\n\r"
# `json.loads` without its search for blanks, which takes longer than parsing the arguments of most calls.
_read_json = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Text:
    """Text in the words of the speaker."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning of the model.

    `opaque_chars` is the length in characters of a signature or an encrypted copy that has to travel along;
    `text` may be empty when the writer stripped it.
    """

    text: str
    opaque_chars: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for. `arguments` is JSON text as sent (or plain text for free-form tools)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, sound or document. `digest` identifies the bytes; width and height are pixels, 0 if unknown.

    `detail` is how exactly a model is to look at an image: "low", "high" or "original"; "" leaves it to the provider.
    `pages` are those of a document, 0 if unknown. Both take no part in equality: messages that were stored before they
    were read have none.
    """

    kind: str
    mime: str = ""
    digest: str = ""
    size_bytes: int = 0
    width: int = 0
    height: int = 0
    detail: str = field(default="", compare=False)
    pages: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call. `name` is the tool's name where the format repeats it."""

    call_id: str
    text: str
    name: str = ""
    is_error: bool = False
    media: tuple[Media, ...] = ()

    def with_text(self, text: str) -> ToolResult:
        """Return the result with this text in place of its own and of its media; unchanged if it is its own."""
        return self if text == self.text else replace(self, text=text, media=())


@dataclass(frozen=True, slots=True)
class FileReference:
    """A reference to a file, in place of its content (C4). `tokens` is the size of the file."""

    path: str
    content_id: str = ""
    mime: str = ""
    tokens: int = 0
    summary: str = ""

    @property
    def block(self) -> str:
        """Return the text that represents the file in the context."""
        facts = [
            ("id", self.content_id),
            ("type", self.mime),
            ("tokens", str(self.tokens) if self.tokens else ""),
        ]
        lines = [f"[FILE: {self.path}]", *(f"{k}: {v}" for k, v in facts if v), self.summary, "[/FILE]"]
        return "\n".join(line for line in lines if line)


Part = Text | Reasoning | ToolCall | ToolResult | Media | FileReference


class Wire(NamedTuple):
    """The object a message was decoded from, and the name of the format it is written in."""

    format: str
    value: Any


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `name` is the speaker's name where the format has one.

    `at` is the time at which it came (ISO 8601), "" if that is unknown. `wire` and `at` take no part in equality.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    name: str = ""
    wire: Wire | None = field(default=None, compare=False, repr=False)
    at: str = field(default="", compare=False, repr=False)

    @property
    def text(self) -> str:
        """Return the text of text parts and tool results, one after the other, without reasoning."""
        return "\n".join(p.text for p in self.parts if isinstance(p, Text | ToolResult))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the tool calls this message makes, in order."""
        return tuple([p for p in self.parts if isinstance(p, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the tool results this message carries, in order."""
        return tuple([p for p in self.parts if isinstance(p, ToolResult)])

    @property
    def reasoning(self) -> tuple[Reasoning, ...]:
        """Return the reasoning parts, in order."""
        return tuple([p for p in self.parts if isinstance(p, Reasoning)])

    @property
    def media(self) -> tuple[Media, ...]:
        """Return all media of the message, those inside tool results included."""
        own = [p for p in self.parts if isinstance(p, Media)]
        return tuple(own + [m for r in self.results for m in r.media])

    def with_result_text(self, call_id: str, text: str) -> Message:
        """Return the same message with one tool result replaced by a text; its media go, all else stays, `wire` too.

        Encoders compare parts with `wire` and write the new text into a copy of it.
        """
        parts = tuple(
            p.with_text(text) if isinstance(p, ToolResult) and p.call_id == call_id else p for p in self.parts
        )
        return replace(self, parts=parts)

    def to_rewrite(self) -> Message:
        """Return the same message without its wire object, which stays only as the source of its media."""
        source = Wire(MEDIA_SOURCE, self.wire.value) if self.wire is not None and self.media else None
        return replace(self, wire=source)


def message(role: Role, text: str = "", *parts: Part) -> Message:
    """Return a message of plain text, followed by the other parts."""
    return Message(role, ((Text(text),) if text else ()) + parts)


def parsed_json(text: str) -> Any:
    """Return the JSON object or list that a text is; None if it is cut off, free-form or nested too deeply."""
    text = text.strip(_JSON_BLANKS)
    if not text.startswith(("{", "[")):
        return None
    try:
        value, end = _read_json(text)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


_KINDS: dict[str, type] = {
    "text": Text,
    "reasoning": Reasoning,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "media": Media,
    "file": FileReference,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}


def part_to_dict(part: Part) -> dict[str, Any]:
    """Return a part as JSON-ready data: its `type`, and the fields that differ from their defaults."""
    out: dict[str, Any] = {"type": _NAMES[type(part)]}
    for name, spec in type(part).__dataclass_fields__.items():
        value = getattr(part, name)
        if value == spec.default:
            continue
        out[name] = [part_to_dict(m) for m in value] if name == "media" else value
    return out


def part_from_dict(data: Mapping[str, Any]) -> Part:
    """Return the part that `part_to_dict` wrote.

    Raises:
        KeyError: the type is unknown.
    """
    fields = {k: v for k, v in data.items() if k != "type"}
    if "media" in fields:
        fields["media"] = tuple(part_from_dict(m) for m in fields["media"])
    part: Part = _KINDS[data["type"]](**fields)
    return part


def message_to_dict(message: Message) -> dict[str, Any]:
    """Return a message as JSON-ready data, without `wire`."""
    out: dict[str, Any] = {"role": message.role, "parts": [part_to_dict(p) for p in message.parts]}
    if message.name:
        out["name"] = message.name
    return out


def message_from_dict(data: Mapping[str, Any]) -> Message:
    """Return the message that `message_to_dict` wrote."""
    return Message(data["role"], tuple(part_from_dict(p) for p in data["parts"]), data.get("name", ""))
