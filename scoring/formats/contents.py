"""Content of any shape as parts: its words, its media, and what only the provider can read.

New types of blocks and items appear often, and most of their fields are known ones inside. So a value is searched at
any depth: whatever the outer object is, an image in it is an image, and never counts as the text of its base64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from scoring.formats.media import inline_media, media_in, media_in_source
from scoring.formats.reading import OPAQUE_FIELDS, json_text, string
from scoring.messages import Media, Part, Text
from scoring.tokens import DEFINITION, ENCRYPTED, schema_of

# Fields with what the model reads and only the provider can decrypt.
_ENCRYPTED_FIELDS = ("encrypted_content", "encrypted_stdout")
# Blocks that are sent and not shown to the model: where another model went on, and which tools are no longer offered.
MARKERS = ("fallback", "tool_removal")


def parts_in(root: Any) -> list[Part]:
    """Return the strings in a value of unknown shape as one text, one per line, followed by its media (B4).

    Keys, ids and types are left out, but those in the schema of a tool. All encrypted fields together are one medium.
    """
    words: list[str] = []
    media: list[Media] = []
    hidden: list[str] = []
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            if (medium := inline_media(value)) is not None:
                media.append(medium)
            elif value:
                words.append(value)
        elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            todo.extend(reversed(_inner(value, media, hidden) if isinstance(value, Mapping) else value))
    if hidden:
        cipher = "".join(hidden).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(cipher, digest_size=16).hexdigest()
        media.append(Media(ENCRYPTED, digest=digest, size_bytes=len(cipher)))
    return [*([Text("\n".join(words))] if words else []), *media]


def _inner(value: Mapping[str, Any], media: list[Media], hidden: list[str]) -> list[Any]:
    """Return the values of an object that are left to search; add it to the media, or its ciphers to `hidden`."""
    kind, source = value.get("type"), value.get("source")
    if kind in MARKERS:
        return []
    medium = media_in(value) or media_in_source(value)
    if medium is not None:
        media.append(medium)
        return _about(value)
    if kind == "document" and isinstance(source, Mapping):
        return [*_about(value), source.get("data"), source.get("content")]
    if isinstance(value.get("name"), str) and isinstance(schema := schema_of(value), Mapping):
        # The model reads a tool's schema with the names in it, which are keys.
        return [value["name"], value.get("description"), _json(schema)]
    if kind == "mcp" and "server_label" in value:  # its other fields say how to reach it, with credentials
        return [value.get(name) for name in ("server_label", "server_description", "allowed_tools")]
    if kind == "tool_reference":  # the provider puts the tool's definition in its place
        media.append(Media(DEFINITION, digest=string(value.get("tool_name") or value.get("name"))))
    hidden += filter(None, (string(value.get(name)) for name in _ENCRYPTED_FIELDS))
    return [inner for name, inner in value.items() if name not in OPAQUE_FIELDS]


def _about(document: Mapping[str, Any]) -> list[Any]:
    """Return the title and the context of a document, which the model reads with it."""
    return [document.get("title"), document.get("context")] if document.get("type") == "document" else []


def _json(schema: Mapping[str, Any]) -> str:
    try:
        return json_text(schema)
    except ValueError:  # it contains itself, as no value from JSON does
        return ""
