"""The growth of a context explained: regions over time, and the cause of each step."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import pytest

from scoring.messages import Message, ToolCall, ToolResult
from webapp.services.catalog.growth import (
    LABEL_CHARS,
    GrowthMessage,
    GrowthOperation,
    Step,
    label_of,
    regions_at,
    steps_at,
)
from webapp.services.session.cards import card_of
from webapp.store.log import MessageRow
from webapp.store.usage import Sample


def sample(n: int, no: int, at: int | None = None) -> Sample:
    """Return sample `n`, after message `no`."""
    return Sample(n, at, no, None, 0)


class TestRegions:
    """The parts of a context at each sample of the chart."""

    LOG = (
        GrowthMessage(1, 10, "user"),
        GrowthMessage(2, 50, "tool"),
        GrowthMessage(3, 5, "assistant"),
        GrowthMessage(4, 7, "user"),
    )
    BEFORE = ({"user": 10}, {"user": 10, "tool": 50}, {"user": 10, "tool": 50, "assistant": 5})
    # It shortened the output of the second message after the third one.
    PRUNE = GrowthOperation(9, 3, 3, {"user": 10, "tool": 20, "assistant": 5}, None)

    def test_follow_messages_and_operations(self) -> None:  # X19
        """A sample of an operation is not confused with the one before it, of the same message."""
        samples = [sample(0, 1), sample(1, 2), sample(2, 3), sample(3, 3, at=9), sample(4, 4)]
        assert regions_at(samples, self.LOG, [self.PRUNE]) == [
            *self.BEFORE,
            {"user": 10, "tool": 20, "assistant": 5},
            {"user": 17, "tool": 20, "assistant": 5},
        ]

    def test_return_with_an_undo(self) -> None:  # X19, X2
        """An operation counts until its undo, with what came meanwhile."""
        samples = [sample(2, 3), sample(3, 3, at=9), sample(4, 4, at=10), sample(5, 4, at=11)]
        undone = self.PRUNE._replace(undone_at=11)
        assert regions_at(samples, self.LOG, [undone]) == [
            {"user": 10, "tool": 50, "assistant": 5},
            {"user": 10, "tool": 20, "assistant": 5},
            {"user": 17, "tool": 20, "assistant": 5},
            {"user": 17, "tool": 50, "assistant": 5},
        ]

    def test_are_those_after_an_operation_that_followed_an_undo(self) -> None:  # X19, X2
        """The regions after it have the undo in them already."""
        undone, later = self.PRUNE._replace(undone_at=11), GrowthOperation(12, 4, 6, {"user": 17}, None)
        assert regions_at([sample(3, 3, at=9), sample(6, 4, at=12)], self.LOG, [undone, later])[-1] == {
            "user": 17
        }

    def test_are_summed_between_samples(self) -> None:  # X19
        """Of messages and operations between two samples only the result is in the second."""
        assert regions_at([sample(0, 1), sample(4, 4)], self.LOG, [self.PRUNE]) == [
            {"user": 10},
            {"user": 17, "tool": 20, "assistant": 5},
        ]

    def test_include_what_is_sent_beside_messages(self) -> None:  # X19
        """Tool definitions are in the context from the beginning."""
        assert regions_at([sample(0, 1)], self.LOG, outside_messages={"tools": 3}) == [
            {"tools": 3, "user": 10}
        ]


class TestSteps:
    """The message that a step is named by."""

    def test_are_named_by_their_largest_message(self) -> None:  # X19
        """A step without messages has no largest message."""
        log = [GrowthMessage(n, tokens, "tool") for n, tokens in enumerate((5, 9, 7, 0), 1)]
        assert steps_at(log, [3, 3, 4]) == [Step(2, 9), None, None]


def label(name: str, arguments: dict[str, object]) -> str:
    """Return the label of a message that calls a tool."""
    message = Message("assistant", (ToolCall("c1", name, json.dumps(arguments)),))
    row = SimpleNamespace(no=1, role="assistant", kind="message", card=card_of(message, {}))
    return label_of(cast("MessageRow", row), {})


class TestLabels:
    """The name of a step: short, with the file or the command."""

    @pytest.mark.parametrize(
        ("name", "arguments", "said"),
        [
            ("Read", {"file_path": "/home/u/docs/spec.md"}, "Read spec.md"),
            (
                "Bash",
                {"command": "mix test test/web/live/review_test.exs --trace"},
                "mix test review_test.exs",
            ),
            ("Bash", {"command": "cd /srv/app && git log --oneline -20"}, "git log"),
            ("Bash", {"command": "FOO=1 timeout 30 npm run build 2>&1 | tail -5"}, "npm run"),
            ("Bash", {"command": 'claude -p "What tools are there? List them all, please" | head'}, "claude"),
            (
                "shell",
                {"command": ["bash", "-lc", "sed -n '1,200p' lib/models/llm-list.ts"]},
                "sed llm-list.ts",
            ),
            ("shell", {"command": ["bash", "-lc", "cat 'LM Studio setup.md'"]}, "cat LM Studio setup.md"),
            (
                "shell",
                {
                    "command": [
                        "bash",
                        "-lc",
                        "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a/b.ts\n@@ x",
                    ]
                },
                "apply_patch b.ts",
            ),
            ("run_shell_command", {"command": "ls -la ~/.config/"}, "ls .config"),
            (
                "Task",
                {"description": "Explore how zip files are processed here"},
                "Task Explore how zip files a…",
            ),
            ("ExitPlanMode", {"plan": "# Plan: add tar support"}, "ExitPlanMode"),
            ("TodoWrite", {"todos": [{"content": "Create it"}]}, "TodoWrite"),
            ("get_user", {"user_id": "sofia_7287"}, "get_user sofia_7287"),
            ("mcp__tracker__get_issue", {"id": 17}, "get_issue 17"),
        ],
    )
    def test_name_the_file_or_the_command(
        self, name: str, arguments: dict[str, object], said: str
    ) -> None:  # X19
        """Neither the shell around a command nor its flags, quotations and pipes."""
        assert label(name, arguments) == said

    def test_have_a_maximum_length(self) -> None:  # X19
        """A long name is cut."""
        assert len(label("Read", {"path": "a" * 200 + ".md"})) == LABEL_CHARS

    def test_call_a_result_without_its_call_a_tool_result(self) -> None:  # X19
        """A transcript that begins in the middle has results without their calls."""
        message = Message("tool", (ToolResult("gone", "1 line"),))
        row = SimpleNamespace(no=1, role="tool", kind="message", card=card_of(message, {}))
        assert label_of(cast("MessageRow", row), {}) == "tool result"
