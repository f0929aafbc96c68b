"""Pairs of a reading and an edit: of the same file, or of two files of one name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.history import History
from scoring.messages import Message, ToolCall, ToolResult, message
from scoring.planning.changed_lines import changed_lines
from tests.scoring.builders import user

Call = tuple[str, dict[str, Any]]

KEPT, OLD, NEW = ("bucket_of_the_service = main", *(f"port_of_the_service = 80{n}0" for n in (1, 2)))
TEXT = f"{KEPT}\n{OLD}"
WRITTEN = f"{KEPT}\n{NEW}"


def tool(name: str, **arguments: Any) -> Call:
    """A call of a tool."""
    return name, arguments


def read(path: str, **more: Any) -> Call:
    """A reading."""
    return tool("Read", file_path=path, **more)


def edit(path: str, **more: Any) -> Call:
    """An edit."""
    return tool("Edit", file_path=path, old_string=OLD, new_string=NEW, **more)


def write(path: str, **more: Any) -> Call:
    """A file that is written as a whole."""
    return tool("Write", file_path=path, content=WRITTEN, **more)


def bash(command: str, **more: Any) -> Call:
    """A command in a shell."""
    return tool("bash", command=command, **more)


def patch(path: str, **more: Any) -> Call:
    """A patch."""
    text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{OLD}\n+{NEW}\n*** End Patch"
    return tool("apply_patch", input=text, **more)


def diff(path: str) -> Call:
    """A patch in the format of git."""
    return tool("apply_diff", diff=f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{OLD}\n+{NEW}")


def here(path: str) -> str:
    """A command that writes a file."""
    return f"cat > {path} <<'EOF'\n{WRITTEN}\nEOF"


# The last call changes what the first one read.
SAME: list[tuple[Call, ...]] = [
    (read("/repo/app/values.yaml"), edit("/repo/app/values.yaml")),
    (read("app/values.yaml"), edit("/repo/app/values.yaml")),
    (read("/repo/app/values.yaml"), edit("values.yaml")),
    (read("values.yaml"), write("/repo/app/values.yaml")),
    (read("/repo/./app/values.yaml"), write("/repo/lib/../app/values.yaml")),
    (read("/repo/app/values.yaml"), patch("app/values.yaml")),
    (read("/repo/app/values.yaml"), diff("app/values.yaml")),
    (bash("cd /repo && cat app/values.yaml"), edit("/repo/app/values.yaml")),
    (bash("cat values.yaml", workdir="/repo/app"), patch("app/values.yaml")),
    (bash("sed -n 1,9p app/values.yaml | head"), edit("/repo/app/values.yaml")),
    (read("/repo/app/values.yaml"), bash("cd /repo/app && " + here("values.yaml"))),
    (read("/repo/app/values.yaml"), bash(here("/repo/app/values.yaml"))),
    (read("~/app/values.yaml"), edit("/home/ana/app/values.yaml")),
    (read("../app/values.yaml"), edit("/repo/app/values.yaml")),
    (read("/a/values.yaml"), read("/b/values.yaml"), edit("/a/values.yaml")),
    (tool("mcp__fs__read_file", path="values.yaml"),
     tool("mcp__fs__edit_file", path="values.yaml", oldText=OLD, newText=NEW)),
    (tool("read_file", path="a.md", host="web1"),
     tool("edit", path="a.md", host="web1", old_string=OLD, new_string=NEW)),
    (bash("ssh web1 cat /etc/a.conf"), bash("ssh web1 " + here("/etc/a.conf"))),
    # edits of other shapes
    (read("a.ini"), tool("swap", path="a.ini", was=OLD, now=NEW)),
    (read("a.ini"), tool("amend", path="a.ini", **{"from": OLD, "to": NEW})),
    (read("a.ini"), tool("alter", path="a.ini", before=OLD, after=NEW)),
    (read("a.ini"), tool("alter", file="a.ini", find=OLD, replace=NEW)),
    (read("a.ini"), tool("alter", doc="a.ini", current=OLD, wanted=NEW)),
    (read("a.ini"), tool("alter", path="a.ini", note="As agreed.", target_text=OLD, replacement_text=NEW)),
    (read("a.ini"), tool("alter", path="a.ini", changes=[{"left": OLD, "right": NEW}])),
    (tool("look", doc="docs/a.ini"), tool("swap", doc="docs/a.ini", was=OLD, now=NEW)),
]  # fmt: skip

# The last call changes another file, or none, or one of several.
APART: list[tuple[Call, ...]] = [
    (read("deploy/production/values.yaml"), edit("deploy/staging/values.yaml")),
    (read("deploy/production/values.yaml"), write("deploy/staging/values.yaml")),
    (read("/left/values.yaml"), write("/right/values.yaml")),
    (read("/left/values.yaml"), patch("right/values.yaml")),
    (read("/left/values.yaml"), diff("right/values.yaml")),
    (read("/repo/values.yaml"), edit("/repo/app/values.yaml")),
    (read("/repo/values.yaml"), patch("app/values.yaml")),
    (bash("cat production/values.yaml"), write("/repo/staging/values.yaml")),
    (bash("cat values.yaml", workdir="/left"), edit("/right/values.yaml")),
    (bash("cd /left && cat values.yaml"), bash("cd /right && " + here("values.yaml"))),
    (read("a/values.yaml"), bash(here("b/values.yaml"))),
    (read("/a/values.yaml"), read("/b/values.yaml"), edit("/b/values.yaml")),
    (read("/a/values.yaml"), read("/b/values.yaml"), edit("values.yaml")),
    (read("xvalues.yaml"), edit("app/values.yaml")),
    (tool("mcp__prod__read_file", path="values.yaml"),
     tool("mcp__lab__edit_file", path="values.yaml", oldText=OLD, newText=NEW)),
    (tool("mcp__prod__read_file", path="/srv/a.md"), edit("/srv/a.md")),
    (read("a.md", host="web1"), edit("a.md", host="web2")),
    (read("a.md", ref="v1"), edit("a.md")),
    (tool("read_file", repo="acme/a", path="a.md"), tool("write_file", repo="acme/b", path="a.md", content=WRITTEN)),
    (bash("git show v1:src/a.md"), edit("src/a.md")),
    (bash("ssh web1 cat /etc/a.conf"), bash("ssh web2 " + here("/etc/a.conf"))),
    (bash("ssh web1 'cat /etc/a.conf'"), bash(here("/etc/a.conf"))),
    (bash("docker exec web cat /etc/a.conf"), edit("/etc/a.conf")),
    (bash("kubectl exec -n prod api -- cat /etc/a.conf"),
     bash("kubectl exec -n lab api -- " + here("/etc/a.conf"))),
    # no edits
    (read("a.ini"), tool("comment", path="a.ini", quote=OLD, remark="Is this port still in use?")),
    (read("a.ini"), tool("compare_text", path="a.ini", left=OLD, right=OLD)),
    (read("a.ini"), tool("find_text", path="a.ini", text=OLD, hint=NEW)),
    (read("a.ini"), tool("ask", path="a.ini", line=OLD, question="What is port_of_the_service there for?")),
]  # fmt: skip


def is_marked(calls: tuple[Call, ...]) -> bool:
    """Return whether lines of the first reading are marked as changed if the last call goes."""
    said: list[Message] = [user("go")]
    for number, (name, arguments) in enumerate(calls):
        said += [
            message("assistant", "", ToolCall(str(number), name, json.dumps(arguments))),
            message("tool", "", ToolResult(str(number), TEXT if number < len(calls) - 1 else "done")),
        ]
    stays = [1] * (len(said) - 2) + [0, 0]
    return 2 in changed_lines(History.of(said), stays)


class TestFilesOfOneName:
    """A reading whose lines a later edit of the same file removes."""

    @pytest.mark.parametrize("calls", SAME)
    def test_are_the_same_if_their_paths_may_be(self, calls: tuple[Call, ...]) -> None:  # X23
        """One path ends with the other, and nothing says that they are of two places."""
        assert is_marked(calls)

    @pytest.mark.parametrize("calls", APART)
    def test_are_two_in_folders_that_differ(self, calls: tuple[Call, ...]) -> None:  # X23
        """So are those of two hosts, servers or versions; a path that may be either of two is neither."""
        assert not is_marked(calls)
