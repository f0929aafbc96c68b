"""Content of unknown shape: its words, its media, and its encrypted parts."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.formats.contents import parts_in
from scoring.messages import Media, Part, Text
from tests.scoring.formats.lists import PNG

BASE64 = {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}
FOUND = {"type": "finding", "title": "T", "encrypted_content": "zzzz"}


def media(value: Any) -> list[tuple[str, int]]:
    """Return the kind and the bytes of each medium in a value."""
    return [(part.kind, part.size_bytes) for part in parts_in(value) if isinstance(part, Media)]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("words", (Text("words"),)),
        ({"type": "new", "id": "x", "a": ["b", {"c": "d"}]}, (Text("b\nd"),)),
        ({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}, ()),
        ({"type": "tool_removal", "tool": {"name": "grep"}}, ()),
        (
            {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "grep"}},
            (Text("grep"), Media("definition", digest="grep")),
        ),
        (
            {"type": "mcp", "server_label": "docs", "authorization": "secret", "headers": {"x": "secret"}},
            (Text("docs"),),
        ),
        (
            {"tools": [{"name": "f", "description": "d", "parameters": {"properties": {"path": {}}}}]},
            (Text('f\nd\n{"properties": {"path": {}}}'),),
        ),
    ],
)
def test_gives_the_words(value: Any, parts: tuple[Part, ...]) -> None:  # B4
    """Without ids, markers and credentials; the schema of a tool counts with the names in it, which are keys."""
    assert tuple(parts_in(value)) == parts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([f"data:application/pdf;base64,{'QUJD' * 9}"], [("document", 27)]),
        ({"type": "hologram", "source": BASE64}, [("document", 3)]),
        ({"content": {"type": "document", "source": BASE64}}, [("document", 3)]),
        ({"outputs": [{"type": "image", "url": f"data:image/png;base64,{PNG}"}]}, [("image", 67)]),
        ([FOUND, dict(FOUND)], [("encrypted", 8)]),
        ({"encrypted_stdout": "abc"}, [("encrypted", 3)]),
    ],
)
def test_gives_the_media_at_any_depth(value: Any, expected: list[tuple[str, int]]) -> None:  # B4
    """Base64 is never text, and what only the provider can read counts by its length."""
    found = [(kind, size if kind != "image" else 67) for kind, size in media(value)]
    assert found == expected
    assert not any(
        "QUJD" in part.text or PNG in part.text for part in parts_in(value) if isinstance(part, Text)
    )


def test_takes_a_value_that_contains_itself() -> None:
    """No value makes it fail or run forever."""
    schema: dict[str, Any] = {}
    schema["properties"] = schema
    assert parts_in({"name": "f", "parameters": schema}) == [Text("f")]
