"""Cues of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.history.content.hashes import hashes_of
from scoring.history.cues.calls import LIST, LOOK, OTHER, PLAN, RUN, STEP, CallCue, Edit, cue_of_call

OLD, NEW = "limit = old_limit_of(window)", "limit = new_limit_of(window)"


def cue(name: str, **arguments: Any) -> CallCue:
    """Return the cues of a call."""
    return cue_of_call(name, json.dumps(arguments), arguments)


class TestLists:
    """Calls that give a list of texts, which a later call of the same tool can replace."""

    def test_are_known_by_their_shape(self) -> None:
        """A list of texts, of objects with one text, or of numbered lines, whatever the tool and the argument."""
        assert cue("agenda_put", agenda=["freeze", "run the export", "check"]).kind == LIST
        assert cue("outline.write", outline=[{"title": "the storm"}, {"title": "home"}]).kind == LIST
        assert cue("next_moves", moves="1. open the ledger\n2. close it").kind == LIST

    def test_are_the_same_act_with_other_texts(self) -> None:
        """Another value beside the list makes it another one's list."""
        lists = [cue("agenda_put", day="Monday", agenda=[f"run {n}", "check"]).act for n in (1, 2)]
        assert lists[0] == lists[1] != cue("agenda_put", day="Friday", agenda=["run 1", "check"]).act

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("open_tickets", {"ids": ["T-81", "T-82"]}),
            ("send_letters", {"to": ["Ana Lee", "Bo Chen"]}),
            ("search", {"queries": ["bolts in stock", "felt"]}),
            ("agenda_put", {"agenda": ["only one thing"]}),
            ("agenda_put", {"agenda": ["run 1", "check"], "guests": ["Ana Lee", "Bo Chen"]}),
            ("note", {"text": "I saw the harbour.\nIt was raining."}),
        ],
    )
    def test_are_no_codes_gifts_or_searches(self, name: str, arguments: dict[str, Any]) -> None:
        """A single text, two lists and free text are none either: a later one leaves those as they are."""
        assert cue(name, **arguments).kind != LIST


class TestPlans:
    """Calls that write down a plan."""

    def test_are_known_by_their_shape(self) -> None:
        """Steps with a status are a plan, whatever the tool's name."""
        steps = [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]
        assert cue("TodoWrite", todos=steps).kind == PLAN
        assert cue("roadmap", items=[{"text": "read", "done": True}]).kind == PLAN
        assert cue("update_plan", text="- [x] read\n- [ ] write").kind == PLAN
        assert cue("search", filters=[{"name": "a"}]).kind != PLAN

    @pytest.mark.parametrize(
        "arguments",
        [
            {"tickets": [{"id": "T-81", "status": "closed"}, {"id": "T-82", "status": "open"}]},
            {"devices": [{"name": "pump_9", "state": "off"}, {"name": "arm_3", "state": "on"}]},
            {"orders": [{"title": "Lamp", "status": "shipped"}]},
            {"servers": [{"name": "db1", "status": 200}]},
        ],
    )
    def test_are_no_records_with_a_state(self, arguments: dict[str, Any]) -> None:
        """Tickets, devices and orders have states, too, but no steps or other states than those."""
        assert cue("update_records", **arguments).kind == OTHER

    def test_are_lists_of_words_in_a_tool_for_plans(self) -> None:
        """Words in other tools and other arguments are only words."""
        assert cue("write_plan", steps=["read", "write"]).kind == PLAN
        assert cue("set_plan", plan="1. read\n2. write").kind == PLAN
        assert cue("search", terms=["read", "write"]).kind not in (PLAN, STEP)
        assert cue("Task", prompt="1. read\n2. write").kind != PLAN

    def test_change_single_steps(self) -> None:
        """Tools that change one step at a time are recognised."""
        assert cue("TaskUpdate", id=3, status="completed").kind == STEP

    def test_may_have_a_name_that_is_no_text(self) -> None:
        """A lone surrogate, which JSON can contain, does not stop the reading."""
        assert cue("todo_write\ud800", todos=[{"status": "pending"}]).kind == PLAN


class TestActs:
    """Calls that repeat another call."""

    def test_are_the_same_for_a_command_that_is_run_again(self) -> None:
        """Options, folders and wrappers of a command make no difference."""
        again = cue("bash", command="cd /repo && uv run pytest -x tests/test_a.py")
        assert cue("bash", command="pytest tests/test_a.py -q --lf").act == again.act
        assert cue("bash", command="pytest tests/test_b.py").act != again.act

    def test_are_told_apart_when_a_command_is_a_list_of_words(self) -> None:
        """Only of `bash -c` the last word is the command."""
        whole, shell = cue("shell", command=["make", "-C", "build"]), ["bash", "-lc", "make -C build"]
        assert cue("shell", command=shell).act == cue("shell", command="make -C build").act == whole.act
        assert cue("shell", command=["ls", "-la", "build"]).act != whole.act

    @pytest.mark.parametrize(
        "command", ["grep -rn foo src", "cat a.py | head", "git diff", "sed -n 1,5p a.py", "ls > files.txt"]
    )
    def test_only_look(self, command: str) -> None:
        """Commands that only look are told from others, because a search without results has not failed."""
        assert cue("bash", command=command).kind == LOOK
        assert cue("bash", command="make").kind == RUN


class TestEdits:
    """Lines that an edit removes."""

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("Edit", {"file_path": "/repo/src/a.py", "old_string": OLD, "new_string": NEW}),
            ("str_replace", {"path": "src/a.py", "oldText": OLD, "newText": NEW}),
            ("multi", {"path": "a.py", "edits": [{"search": OLD, "replace": NEW}]}),
            (
                "apply",
                {"patch": f"*** Begin Patch\n*** Update File: src/a.py\n@@\n-{OLD}\n+{NEW}\n*** End Patch"},
            ),
            ("apply", {"diff": f"--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-{OLD}\n+{NEW}"}),
        ],
    )
    def test_are_found_in_any_shape(self, name: str, arguments: dict[str, Any]) -> None:
        """Pairs of old and new text, lists of pairs, and patches are recognised."""
        [edit] = cue(name, **arguments).edits
        assert (edit.file, frozenset(edit.gone), edit.whole) == ("a.py", frozenset(hashes_of(OLD)), False)

    def test_may_write_a_whole_file(self) -> None:
        """A tool or a shell command that writes the whole file counts too."""
        assert cue("Write", file_path="src/a.py", content=NEW).edits[0].whole
        assert cue("bash", command=f"cat > a.py <<'EOF'\n{NEW}\nEOF").edits[0].whole
        assert cue("bash", command="cat > a.py <<'EOF'\n>>> 1 + 1\nEOF").edits[0].whole
        assert cue("Write", file_path="src/a.py", content="*** note ***").edits[0].whole

    @pytest.mark.parametrize(
        ("more", "everywhere"),
        [({}, False), ({"replace_all": True}, True), ({"replaceAll": False}, False),
         ({"expected_replacements": 1}, False), ({"expected_replacements": 3}, True)],
    )  # fmt: skip
    def test_may_replace_every_occurrence(self, more: dict[str, Any], everywhere: bool) -> None:
        """If the call says so."""
        [edit] = cue("Edit", file_path="src/a.py", old_string=OLD, new_string=NEW, **more).edits
        assert edit.everywhere is everywhere

    def test_of_an_earlier_version_are_read(self) -> None:
        """They do not have the replaced text."""
        assert Edit.from_list(["a.py", [7], 0]) == Edit("a.py", (7,))

    def test_survive_being_stored(self) -> None:
        """The stored cue is read back as an equal value."""
        one = cue("Edit", file_path="src/a.py", old_string=OLD, new_string=NEW)
        assert CallCue.from_list(json.loads(json.dumps(one.to_list()))) == one
