"""The files of calls, by place and path."""

from __future__ import annotations

import json
from typing import Any

from scoring.history.cues.calls import CallCue, cue_of_call
from scoring.history.cues.file_names import own_name, same_files, with_files
from scoring.history.features import Features, analyse
from scoring.messages import ToolCall, message
from scoring.settings import lexicon_of

OLD, NEW = "limit = old_limit_of(window)", "limit = new_limit_of(window)"
PATCH = "\n".join(
    f"*** Update File: {path}\n@@\n-{OLD}\n+{NEW}" for path in ("left/a.py", "right/a.py", "left/a.py")
)


def cue(name: str, **arguments: Any) -> CallCue:
    """Return the cue of a call with its files."""
    text = json.dumps(arguments)
    return with_files(cue_of_call(name, text, arguments), name, text, arguments)


class TestFiles:
    """The files that a call shows and edits."""

    def test_have_their_folders(self) -> None:  # X23
        """The files of a tool, of a command in its folder, and of each part of a patch are named in order."""
        assert cue("Read", file_path="/repo/./src/a.py").reads == ("/repo/src/a.py",)
        assert cue("bash", command="cd /repo && grep -n x src/a.py b.py").reads == (
            "/repo/src/a.py",
            "/repo/b.py",
        )
        edits = cue("apply_patch", input=f"*** Begin Patch\n{PATCH}\n*** End Patch").edits
        assert [edit.file for edit in edits] == ["left/a.py", "right/a.py", "left/a.py"]

    def test_have_the_place_that_a_call_names(self) -> None:  # X23
        """Their own name is without it."""
        [file] = cue("Read", file_path="docs/a.md", repo="acme/app").reads
        assert (own_name(file), own_name("docs/a.md")) == ("a.md", "a.md")
        assert file != "docs/a.md"
        assert cue("bash", command="git show v1:docs/a.md").reads != ("docs/a.md",)

    def test_may_be_found_by_their_shape(self) -> None:  # X23
        """The only argument that reads as the path of a file is one."""
        assert cue("look", doc="docs/a.md", page=3).reads == ("docs/a.md",)
        assert cue("look", left="a.md", right="b.md").reads == ()
        assert cue("update_plan", text="- [x] read\n- [ ] write", of="a.md").reads == ()

    def test_are_stored_with_a_message(self) -> None:  # X23
        """The analysis of a message has them, and they survive JSON."""
        call = ToolCall("1", "Read", '{"file_path": "/repo/a.py", "host": "web1"}')
        found = analyse(message("assistant", "", call), 1, lexicon_of(()), content=True)
        assert found.cues.calls[0].reads == ("host=web1\t/repo/a.py",)
        assert Features.from_dict(json.loads(json.dumps(found.to_dict()))) == found


class TestSameFiles:
    """Names that mean one file."""

    def test_end_with_one_another(self) -> None:  # X23
        """The longest is the name of all."""
        same = same_files(["a.py", "src/a.py", "/repo/src/a.py", "src/b.py"])
        assert set(same.values()) == {"/repo/src/a.py", "src/b.py"}

    def test_are_not_those_of_two_folders(self) -> None:  # X23
        """A name that may be either is a third file."""
        names = ["left/a.py", "right/a.py", "a.py", "/a.py", "xright/a.py"]
        assert len(set(same_files(names).values())) == len(names)

    def test_are_of_one_place(self) -> None:  # X23
        """A path on another host is another file."""
        assert len(set(same_files(["src/a.py", "host=b\tsrc/a.py", "host=c\t/src/a.py"]).values())) == 3
