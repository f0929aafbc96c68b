"""Images, sound and documents inside messages, in the shapes of every wire format.

A `Source` says where the bytes are: inline as base64, at a URL, or under a provider's file id. A `Media` part has no
bytes, only their digest and measurements. To copy an image to another format, `sources_in` finds the bytes in the
wire object of its message.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scoring.formats.dimensions import dimensions
from scoring.formats.pages import pages
from scoring.formats.reading import string
from scoring.messages import Media

_LONGEST_HEAD = 200  # characters before the data of a data URL
DETAILS = ("low", "high", "original")  # OpenAI's; without one, or with "auto", the provider chooses


@dataclass(frozen=True, slots=True)
class Source:
    """The location of a medium's bytes: `data` is base64; at most one of data, url and file_id is set.

    `detail` is the detail that the program wishes for an image, as `Media` has it.
    """

    kind: str
    mime: str = ""
    data: str = ""
    url: str = ""
    file_id: str = ""
    name: str = ""
    detail: str = ""


def media_of(source: Source) -> Media:
    """Return the part for a source; the digest is of the bytes, or of the address if there are none."""
    if not source.data:
        address = source.url or source.file_id or source.name
        digest = _digest(address.encode("utf-8", "surrogatepass"))
        return Media(source.kind, source.mime, digest, detail=source.detail)
    try:
        raw = base64.b64decode(source.data, validate=False)
    except (binascii.Error, ValueError):
        raw = source.data.encode("utf-8", "surrogatepass")
    width, height = dimensions(raw) if source.kind == "image" else (0, 0)
    sheets = pages(raw) if source.kind == "document" else 0
    return Media(source.kind, source.mime, _digest(raw), len(raw), width, height, source.detail, sheets)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def source_of(block: Any) -> Source | None:
    """Return the source in a block of any wire format; None if the block is not a medium or is malformed."""
    if not isinstance(block, Mapping):
        return None
    for read in (_anthropic, _openai, _responses, _gemini, _langchain):
        found = read(block)
        if found is not None:
            return found
    return None


def media_in(block: Any) -> Media | None:
    """Return the part for a block that is a medium of any wire format; None for any other block."""
    source = source_of(block)
    return None if source is None else media_of(source)


def media_in_source(source: Mapping[str, Any]) -> Media | None:
    """Return the part for the `source` of a block with inline data of whatever kind; None for any other object."""
    if source.get("type") != "base64" or not isinstance(source.get("data"), str):
        return None
    mime = string(source.get("media_type"))
    return media_of(Source(_kind(mime), mime, data=source["data"]))


def inline_media(text: str) -> Media | None:
    """Return the part for a text that is a data URL; None for any other text."""
    head, _, data = text[:_LONGEST_HEAD].partition(",")
    if not (text.startswith("data:") and data and head.endswith(";base64")):
        return None
    mime = head[5:].partition(";")[0]
    return media_of(Source(_kind(mime), mime, data=text[len(head) + 1 :]))


def sources_in(root: Any) -> dict[str, Source]:
    """Return all media inside a wire object, by digest."""
    found: dict[str, Source] = {}
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if not isinstance(value, Mapping | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        source = source_of(value)
        if source is not None:
            found[media_of(source).digest] = source
        else:
            todo.extend(value.values() if isinstance(value, Mapping) else value)
    return found


def placeholder(media: Media) -> str:
    """Return the text in place of a medium that the target format cannot hold."""
    size = f" {media.width}x{media.height}" if media.width else ""
    return f"[{media.kind}{': ' + media.mime if media.mime else ''}{size}]"


def data_url(source: Source) -> str:
    """Return the URL of a source, or its bytes as a data URL."""
    return source.url or f"data:{source.mime or 'application/octet-stream'};base64,{source.data}"


def _from_address(kind: str, address: Any, name: str = "") -> Source | None:
    """Return a source from a URL that may be a data URL."""
    if not isinstance(address, str) or not address:
        return None
    if not address.startswith("data:"):
        return Source(kind, url=address, name=name)
    head, _, data = address[5:].partition(",")
    return Source(kind, mime=head.partition(";")[0], data=data, name=name)


def _with_detail(source: Source | None, detail: Any) -> Source | None:
    """Return a source of an image with the detail that its block wishes for; None without a source."""
    return replace(source, detail=detail) if source is not None and detail in DETAILS else source


def _inline_file(data: Any, name: str) -> Source | None:
    """Return a document from a data URL or from bare base64; None without data."""
    found = _from_address("document", data, name)
    return Source("document", data=found.url, name=name) if found is not None and found.url else found


def _anthropic(block: Mapping[str, Any]) -> Source | None:
    kind, source = block.get("type"), block.get("source")
    if kind == "container_upload":
        return Source("document", file_id=string(block.get("file_id")))
    if kind not in ("image", "document") or not isinstance(source, Mapping):
        return None
    name, mime = string(block.get("title")), string(source.get("media_type"))
    if source.get("type") == "base64":
        return Source(kind, mime, data=string(source.get("data")), name=name)
    if source.get("type") == "url":
        return Source(kind, mime, url=string(source.get("url")), name=name)
    if source.get("type") == "file":
        return Source(kind, mime, file_id=string(source.get("file_id")), name=name)
    return None  # plain text and content documents are text, not media


def _openai(block: Mapping[str, Any]) -> Source | None:
    image, audio, file = block.get("image_url"), block.get("input_audio"), block.get("file")
    if isinstance(image, Mapping):
        return _with_detail(_from_address("image", image.get("url")), image.get("detail"))
    if isinstance(audio, Mapping):
        return Source("audio", "audio/" + string(audio.get("format")), data=string(audio.get("data")))
    if block.get("type") == "file" and isinstance(file, Mapping):
        name = string(file.get("filename"))
        inline = _inline_file(file.get("file_data"), name)
        return inline or Source("document", file_id=string(file.get("file_id")), name=name)
    return None


def _responses(block: Mapping[str, Any]) -> Source | None:
    kind = block.get("type")
    if kind in ("input_image", "image_url", "computer_screenshot"):
        image = _from_address("image", block.get("image_url"))
        return _with_detail(
            image or Source("image", file_id=string(block.get("file_id"))), block.get("detail")
        )
    if kind == "image_generation_call" and isinstance(block.get("result"), str):
        mime = "image/" + (string(block.get("output_format")) or "png")
        return Source("image", mime, data=block["result"])
    if kind == "input_file":
        name = string(block.get("filename"))
        inline = _inline_file(block.get("file_data"), name)
        if inline is not None:
            return inline
        if isinstance(block.get("file_url"), str):
            return Source("document", url=block["file_url"], name=name)
        return Source("document", file_id=string(block.get("file_id")), name=name)
    return None


def _gemini(block: Mapping[str, Any]) -> Source | None:
    inline = block.get("inlineData", block.get("inline_data"))
    remote = block.get("fileData", block.get("file_data"))
    if isinstance(inline, Mapping):
        mime = string(inline.get("mimeType", inline.get("mime_type")))
        return Source(
            _kind(mime), mime, data=string(inline.get("data")), name=string(inline.get("displayName"))
        )
    if isinstance(remote, Mapping):
        mime = string(remote.get("mimeType", remote.get("mime_type")))
        return Source(_kind(mime), mime, url=string(remote.get("fileUri", remote.get("file_uri"))))
    return None


def _langchain(block: Mapping[str, Any]) -> Source | None:
    kind = block.get("type")
    if kind not in ("image", "audio", "video", "file"):
        return None
    kind = "document" if kind == "file" else kind
    mime = string(block.get("mime_type"))
    data = block.get("base64", block.get("data"))
    if isinstance(data, str):
        return Source(kind, mime, data=data)
    if isinstance(block.get("url"), str):
        found = _from_address(kind, block["url"])
        return found if found is None or not mime else Source(kind, mime, found.data, found.url)
    if isinstance(block.get("file_id"), str) or isinstance(block.get("id"), str):
        return Source(kind, mime, file_id=string(block.get("file_id", block.get("id"))))
    return None


def _kind(mime: str) -> str:
    head = mime.partition("/")[0]
    return head if head in ("image", "audio", "video") else "document"
