"""Tool names in a format that does not allow their characters, and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import FORMATS, decode, encode
from scoring.formats.base import TOOL_NAMES
from scoring.formats.tool_names import allowed_name, original_name
from scoring.messages import ToolCall, ToolResult, message
from tests.scoring.builders import user


def names_in(value: Any) -> set[str]:
    """Return every name that stands in wire objects."""
    if isinstance(value, dict):
        own = {value["name"]} if isinstance(value.get("name"), str) else set()
        return own.union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


class TestToolNames:
    """One name, written and read back."""

    @given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9).filter(str.isprintable))
    def test_come_back_as_they_were(self, name: str) -> None:
        """Any printable name is read back, unless it looks like an escaped one itself."""
        allowed = allowed_name(name, TOOL_NAMES)
        assert TOOL_NAMES.fullmatch(allowed)
        assert original_name(allowed) == name or "_x" in name

    @pytest.mark.parametrize("name", ["install_x64_driver", "build_x86_image", "a_xd800_b", "x_x31_y"])
    def test_are_left_alone_where_nothing_was_escaped(self, name: str) -> None:
        """Letters, digits within a name, and characters that cannot be printed are never escaped."""
        assert original_name(name) == name

    def test_are_cut_with_a_digest_where_they_are_too_long(self) -> None:
        """Two long names with the same beginning stay different."""
        long = [allowed_name("a" * 80 + end, TOOL_NAMES) for end in "bc"]
        assert len(set(long)) == 2
        assert all(TOOL_NAMES.fullmatch(name) for name in long)

    @pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "responses"])
    def test_are_allowed_in_a_list_of_another_format(self, name: str) -> None:
        """A list of another format gets allowed names; read back they are the agent's own."""
        messages = [
            user("read it"),
            message("assistant", "", ToolCall("c1", "mcp.files/read it", "{}")),
            message("tool", "", ToolResult("c1", "text", "mcp.files/read it")),
        ]
        listed = encode(messages, name)
        allowed = FORMATS[name].tool_names
        assert allowed is not None
        assert names_in(json.loads(json.dumps(listed)))
        assert all(allowed.fullmatch(found) for found in names_in(listed))
        assert [c.name for m in decode(listed, name).messages for c in m.calls] == ["mcp.files/read it"]
