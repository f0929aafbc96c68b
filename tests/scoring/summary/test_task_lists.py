"""The task list that an agent keeps by tool calls."""

from __future__ import annotations

import json

import pytest

from scoring.messages import Message, ToolCall, ToolResult, message
from scoring.summary.task_lists import open_titles


def called(
    n: int, name: str, answer: str = "", *, is_error: bool = False, **arguments: object
) -> list[Message]:
    """A call and its result."""
    return [
        message("assistant", "", ToolCall(f"{n}", name, json.dumps(arguments))),
        message("tool", "", ToolResult(f"{n}", answer, is_error=is_error)),
    ]


CREATED = [
    *called(1, "TaskCreate", "Task #4 created successfully: Read part 2", subject="Read part 2"),
    *called(2, "TaskCreate", "Task #5 created successfully: Write it", subject="Write it"),
]


class TestSingleSteps:
    """A list that is kept one task at a time."""

    def test_are_created_and_finished(self) -> None:  # S4
        """A task is known by the number in the answer to its creation, not by one in its title."""
        assert open_titles(CREATED) == ["Read part 2", "Write it"]
        begun = called(3, "TaskUpdate", taskId="4", status="in_progress")
        assert open_titles([*CREATED, *begun]) == ["Read part 2", "Write it"]
        done = called(4, "TaskUpdate", taskId="4", status="completed")
        assert open_titles([*CREATED, *begun, *done]) == ["Write it"]

    def test_are_renamed(self) -> None:
        """The last title counts."""
        assert open_titles([*CREATED, *called(3, "TaskUpdate", taskId="5", subject="Test it")]) == [
            "Read part 2",
            "Test it",
        ]

    def test_that_failed_are_none(self) -> None:
        """A refused call changes nothing."""
        assert open_titles(called(1, "TaskCreate", "denied", is_error=True, subject="x")) == []

    def test_are_numbered_in_order_without_an_answer(self) -> None:
        """The result may be missing."""
        made = [
            message("assistant", "", ToolCall(f"{n}", "add_todo", json.dumps({"text": f"t{n}"})))
            for n in (1, 2)
        ]
        assert open_titles([*made, *called(3, "complete_todo", todo_id=1, status="done")]) == ["t2"]


class TestWholeLists:
    """A list that is written as a whole each time."""

    @pytest.mark.parametrize("key", ["content", "step", "title"])
    def test_are_replaced(self, key: str) -> None:  # S4
        """The last one counts, whatever its tool is called."""
        first = [{key: "a", "status": "pending"}, {key: "b", "status": "pending"}]
        then = [{key: "a", "status": "completed"}, {key: "b", "status": "in_progress"}]
        assert open_titles([*called(1, "update_plan", plan=first), *called(2, "update_plan", plan=then)]) == [
            "b"
        ]

    @pytest.mark.parametrize("arguments", ["{broken", "[1, 2]", '"status"', "{}", '{"status": 1}'])
    def test_are_not_seen_in_anything_else(self, arguments: str) -> None:
        """Free text and other arguments."""
        assert open_titles([message("assistant", "", ToolCall("1", "task", arguments))]) == []
