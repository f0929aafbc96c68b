"""The files that were read and changed."""

from __future__ import annotations

import json

import pytest

from scoring.messages import ToolCall, message
from scoring.summary.files import described, files_touched, touches


def call(name: str, **arguments: object) -> ToolCall:
    """A call with JSON arguments."""
    return ToolCall("1", name, json.dumps(arguments))


class TestTouches:
    """Files touched by one call."""

    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (call("Read", file_path="/a.py"), [("/a.py", "read")]),
            (call("Write", file_path="/a.py", content="x"), [("/a.py", "written")]),
            (call("str_replace_based_edit_tool", command="create", path="/a.py"), [("/a.py", "created")]),
            (call("str_replace_based_edit_tool", command="view", path="/a.py"), [("/a.py", "read")]),
            (call("str_replace_based_edit_tool", command="str_replace", path="/a.py"), [("/a.py", "edited")]),
            (call("delete_file", path="/a.py"), [("/a.py", "deleted")]),
            (
                call("Bash", command="echo hi > out/log.txt && rm -rf build"),
                [("out/log.txt", "written"), ("build", "deleted")],
            ),
            (call("shell", command=["bash", "-c", "sed -i s/a/b/ src/a.py"]), [("src/a.py", "edited")]),
            (call("Bash", command="ls 2>/dev/null; git mv a.py b.py"), [("b.py", "moved")]),
            (call("search", query="path"), []),
            (ToolCall("1", "Read", "{broken"), []),
        ],
    )
    def test_come_from_its_arguments(self, made: ToolCall, expected: list[tuple[str, str]]) -> None:  # S4
        """Editors, shells, and tools that touch nothing."""
        assert list(touches(made)) == expected

    def test_come_from_a_patch(self) -> None:  # S4
        """Each file it names."""
        patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: b.md\n+x\n*** End Patch"
        assert list(touches(call("apply_patch", input=patch))) == [
            ("src/a.py", "edited"),
            ("b.md", "created"),
        ]


class TestFilesTouched:
    """Files touched in a conversation."""

    def test_are_in_the_order_of_their_last_change(self) -> None:  # S4
        """With how often each was touched in which way."""
        made = [
            call("Read", path="a"),
            call("Edit", path="b"),
            call("Edit", path="a"),
            call("Edit", path="a"),
        ]
        found = files_touched([message("assistant", "", one) for one in made])
        assert list(found) == ["b", "a"]
        assert described("a", found["a"]) == "a (edited 2 times)"
        assert described("c", {"read": 1}) == "c (read)"
