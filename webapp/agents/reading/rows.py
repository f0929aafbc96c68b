"""Values of JSON rows, for every decoder: parsing a line, times, short titles, media.

Parsing never raises: it returns a dict, or the reason why the line is not one. Half a surrogate pair, written by agents
that cut a text in the middle, becomes U+FFFD, so that the row can be used.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from unicodedata import category

import orjson

from scoring.formats import DETAILS, Source, json_text, media_of
from scoring.messages import Media

TITLE_CHARS = 200
# Controls, characters of no width, and blanks; and letters that are drawn as nothing.
_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))
_EMPTY_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

_SURROGATES = re.compile(
    rb"\\(?:\\|u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
_NO_NUMBER = re.compile(rb"[:,\[]\s*(NaN|-?Infinity)\s*[,}\]]")


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason a text is not the JSON that was expected."""

    reason: str


def parse(line: bytes) -> dict[str, Any] | str:
    """Return the JSON object on the line, or the reason it is not one (lower case, no line number)."""
    row, _ = parse_value(line)
    if isinstance(row, Fault):
        return row.reason
    if not isinstance(row, dict):
        return f"expected a JSON object, got {_kind(row)}"
    return row


def is_json_document(head: bytes) -> bool:
    """Return whether a file is one JSON value over several lines, or a list, instead of rows."""
    head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return head[:1] == b"[" or (head[:1] == b"{" and isinstance(parse(head.partition(b"\n")[0]), str))


def parse_value(text: bytes) -> tuple[Any, str | None]:
    """Return the JSON value or a `Fault`, and what was corrected: half surrogate pairs and stray NUL bytes."""
    try:
        return orjson.loads(text), None
    except orjson.JSONDecodeError as error:
        return _second_try(text, error)


def _second_try(text: bytes, error: orjson.JSONDecodeError) -> tuple[Any, str | None]:
    stripped = text.strip(b"\x00")
    if not text.strip():
        return Fault("nothing, no JSON"), None
    if not stripped:
        return Fault("only NUL bytes, no JSON"), None
    if b"\\u" in stripped or len(stripped) != len(text):
        fixed = mend_halves(stripped)
        try:
            what = (
                "half a surrogate pair; read as \ufffd"
                if fixed != stripped
                else "NUL bytes around it; left out"
            )
            return orjson.loads(fixed), what
        except orjson.JSONDecodeError as second:
            error = second
    return Fault(_why(text, error)), None


def mend_halves(text: bytes) -> bytes:
    """Return a JSON text with U+FFFD for each lone half of a surrogate pair."""
    return _SURROGATES.sub(lambda m: b"\\ufffd" if m[1] else m[0], text) if b"\\u" in text else text


def _why(line: bytes, error: orjson.JSONDecodeError) -> str:
    if b"\x00" in line:
        return "binary data, no JSON"
    try:
        line.decode()
    except UnicodeDecodeError as bad:
        return f"not valid UTF-8 at byte {bad.start + 1}, no JSON"
    text = str(error)
    if "depth" in text or "ecursion" in text:
        return "JSON nested too deeply"
    if line.lstrip()[:1] not in (b"{", b"["):
        return "not JSON"
    if found := _NO_NUMBER.search(line):
        return f"{found[1].decode()} is not a number in JSON; write null or a string"
    return "broken JSON: " + re.sub(r": line \d+ column (\d+).*", r" at character \1", text)


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def when(value: Any) -> datetime | None:
    """Return the time of an ISO 8601 string or of milliseconds (or seconds) since 1970; None for anything else."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def text_of(value: Any) -> str:
    """Return the value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def object_of(value: Any) -> dict[str, Any]:
    """Return the value if it is a JSON object, else {}."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return the value if it is a JSON list, else []."""
    return value if isinstance(value, list) else []


def count_of(value: Any) -> int:
    """Return the value if it is a whole number above 0, else 0: broken or negative token counts count as 0.

    Some gateways write every number with a decimal point: 900.0 is whole.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53 else 0


def uncounted_cache(usage: Mapping[str, Any], *known: str) -> Iterator[str]:
    """Yield the fields of a usage report, as text for the user, that may hold cached tokens which are not counted.

    These are counts with "cache" in an unknown name, if the report lacks one of the `known` ones: a newer version of
    the agent may have renamed it, and the input would silently be too small.
    """
    if not all(name in usage for name in known):
        for name, value in usage.items():
            if "cache" in name.lower() and name not in known and count_of(value):
                yield f"usage with {name[:40]}"


def lacking(row: Mapping[str, Any], *fields: str, kind: str = "") -> Iterator[str]:
    """Yield each required field that a row lacks, as text for the user. Names joined by "|" are alternatives.

    A newer version of the agent may have renamed it, and its content would silently be missing.
    """
    for field in fields:
        names = field.split("|")
        if row.keys().isdisjoint(names):
            yield f"{kind or text_of(row.get('type')) or 'row'} without {' or '.join(names)}"


def uncounted_input(usage: Mapping[str, Any], field: str) -> Iterator[str]:
    """Yield why the input in a usage report cannot be read, as text for the user; nothing if it can, or is null."""
    yield from lacking(usage, field, kind="usage")
    value = usage.get(field)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"usage with {field} that is no number"


def optional(value: Any) -> str | None:
    """Return the value if it is a non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def dumps(value: Any) -> str:
    """Return the value as compact JSON text, at any depth."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        return json_text(value)


def is_blank(text: str) -> bool:
    """Return whether a text has only blanks, controls and other characters that nobody sees."""
    return all(category(character) in _UNSEEN or character in _EMPTY_LETTERS for character in text)


def short_title(text: str) -> str | None:
    """Return one line of at most `TITLE_CHARS` characters; None if there are no words."""
    line = " ".join(text[: TITLE_CHARS * 20].split())
    if len(line) > TITLE_CHARS:
        line = line[: TITLE_CHARS - 1].rstrip() + "…"
    return None if is_blank(line) else line


def digest(data: bytes, size: int = 16) -> str:
    """Return a hash of the bytes in hex, `size` bytes of it."""
    return hashlib.blake2b(data, digest_size=size).hexdigest()


def media_from_base64(data: str, mime: str, kind: str = "") -> Media:
    """Return media from base64 text; other text is hashed unchanged."""
    kind = kind or (mime.partition("/")[0] if mime[:5] in ("image", "audio", "video") else "document")
    return media_of(Source(kind, mime, data))


def media_from_url(url: str, kind: str = "image", mime: str = "", detail: str = "") -> Media:
    """Return the media at a URL; a data URL contains the bytes. `detail` is the one that an image was sent with."""
    detail = detail if detail in DETAILS else ""
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        return replace(media_from_base64(data, mime or head[5:].partition(";")[0], kind), detail=detail)
    return media_of(Source(kind, mime, url=url, detail=detail))
