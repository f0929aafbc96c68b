"""The growth of a context explained: regions over time, and the cause of each step."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import pytest

from scoring.messages import Message, ToolCall, ToolResult
from webapp.services.catalog.growth import LABEL_CHARS, MessageLifetime, Step, label_of, regions_at, steps_at
from webapp.services.session.cards import card_of
from webapp.store.log import MessageRow


class TestRegions:
    """The parts of a context after some of its messages."""

    def test_follow_added_and_removed_messages(self) -> None:  # X19
        """A message counts until the operation that removed it."""
        log = [
            MessageLifetime(1, 10, "user", None),
            MessageLifetime(2, 50, "tool", 3),
            MessageLifetime(3, 5, "assistant", None),
        ]
        assert regions_at(log, [1, 2, 3, 4]) == [
            {"user": 10},
            {"user": 10, "tool": 50},
            {"user": 10, "tool": 50, "assistant": 5},
            {"user": 10, "assistant": 5},
        ]

    def test_are_summed_between_samples(self) -> None:  # X19
        """A message removed before the next sample is not in it."""
        log = [MessageLifetime(n, 10, "user", 5 if n < 4 else None) for n in range(1, 11)]
        assert regions_at(log, [4, 10]) == [{"user": 40}, {"user": 70}]


class TestSteps:
    """The message that a step is named by."""

    def test_are_named_by_their_largest_message(self) -> None:  # X19
        """A step without messages has no largest message."""
        log = [MessageLifetime(n, tokens, "tool", None) for n, tokens in enumerate((5, 9, 7, 0), 1)]
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
