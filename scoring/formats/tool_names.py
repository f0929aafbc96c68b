"""Escape and restore tool names that a target format forbids.

`mcp.files:read` is `mcp_x2e_files_x3a_read` where only letters, digits, `_` and `-` are allowed. A name that is then
too long ends in a digest and cannot be read back.
"""

from __future__ import annotations

import hashlib
import re

_ESCAPED = re.compile(r"_x([0-9a-f]{2,6})_")
_DIGEST_CHARS = 8
MOST_CHARS = 64  # of a name, in every format that limits it


def allowed_name(name: str, pattern: re.Pattern[str] | None) -> str:
    """Return a tool's name unchanged if it matches `pattern`, else escaped; "unknown" for an empty name."""
    if pattern is None or pattern.fullmatch(name):
        return name
    escaped = "".join(c if pattern.fullmatch("a" + c) else f"_x{ord(c):02x}_" for c in name) or "unknown"
    if not pattern.match(escaped):  # its first character is allowed only after another
        escaped = f"_x{ord(escaped[0]):02x}_{escaped[1:]}"
    if len(escaped) <= MOST_CHARS:
        return escaped
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{escaped[: MOST_CHARS - _DIGEST_CHARS - 1]}_{digest}"


def original_name(name: str) -> str:
    """Return the name that `allowed_name` escaped; any other name unchanged, such as `build_x86_image`."""
    return _ESCAPED.sub(_character, name) if "_x" in name else name


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    character = chr(code) if code <= 0x10FFFF else ""
    # A digit is escaped only as the first character, a letter of ASCII never.
    plain = character.isascii() and (character.isalpha() or (character.isdigit() and match.start() > 0))
    return character if character.isprintable() and not plain else match[0]
