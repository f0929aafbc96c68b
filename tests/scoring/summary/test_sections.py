"""The summary that needs no model."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given

from scoring.formats import decode
from scoring.messages import Message, ToolCall, ToolResult, message
from scoring.summary.sections import SECTIONS, in_brief, in_full, ranked_lines, sections_of, word_count
from scoring.summary.summary import Summary, Surroundings
from scoring.tokens import ESTIMATOR
from tests.scoring.builders import any_messages, model, user
from tests.shared import shared_data

ALONE = Surroundings()


def summary_of(
    items: Sequence[Message | Summary], most_words: int = 600, around: Surroundings = ALONE
) -> str:
    """Return the five sections of these items."""
    return in_full(ranked_lines(items, around), most_words)


WORK = [
    user("Fix the login page. Don't touch the database because it is shared. The ticket is AUTH-77."),
    message("assistant", "Let me look.", ToolCall("1", "read_file", '{"path": "src/login.py"}')),
    message("tool", "", ToolResult("1", "def login(): ...\nTIMEOUT_SECONDS=30")),
    message("assistant", "", ToolCall("2", "edit_file", '{"path": "src/login.py", "new": "x"}')),
    message("tool", "", ToolResult("2", "The file has been updated successfully.")),
    message("assistant", "", ToolCall("3", "bash", '{"command": "pytest"}')),
    message("tool", "", ToolResult("3", "FAILED tests/test_login.py::test_ok\nKeyError: 'user_id'")),
    model("The test fails. Next, I'll fix the key. We still need to update the docs."),
]


class TestSnapshot:
    """Five sections of what stands in the messages."""

    def test_fills_the_five_sections_with_what_is_verbatim(self) -> None:  # S4
        """Paths, refusals with reasons, values, errors, the next step, what is open."""
        found = sections_of(summary_of(WORK))
        assert tuple(found) == SECTIONS
        assert found["Files Modified"] == ["src/login.py (edited)"]
        assert "User: Don't touch the database because it is shared." in found["Key Decisions"]
        assert {"KeyError: 'user_id'", "AUTH-77", "TIMEOUT_SECONDS=30"} <= set(found["Important Values"])
        assert found["Current State"][0].startswith('Last action: bash {"command": "pytest"} -> ')
        assert "Next step: Next, I'll fix the key." in found["Current State"]
        assert found["Pending Tasks"] == ["We still need to update the docs."]

    def test_does_not_use_bare_confirmations(self) -> None:  # S4
        """A file that was updated successfully is in its section already."""
        assert "successfully" not in summary_of(WORK)

    def test_announces_nothing_that_was_done_since(self) -> None:  # S4
        """The next step is that of the agent's last words."""
        said = [
            user("Draw it."),
            model("I'll draw the chart next."),
            user("Well?"),
            model("The chart is drawn."),
        ]
        assert "Next step" not in summary_of(said)
        assert "Next step: I'll draw the chart next." in summary_of(said[:2])

    def test_says_where_there_is_nothing(self) -> None:
        """An empty section has its heading all the same."""
        assert summary_of([]).count("(none)") == 5

    @given(any_messages)
    def test_is_within_its_words_and_always_the_same(self, messages: list[Message]) -> None:  # S4, P9
        """On anything."""
        assert word_count(summary_of(messages)) <= 600
        assert word_count(summary_of(messages, 60)) <= 60
        assert summary_of(messages) == summary_of(list(messages))

    def test_of_real_sessions_is_within_its_words(self) -> None:  # S4
        """Six hundred, on recorded agents."""
        for path in shared_data("transcripts", "openai-chat").glob("*.json"):
            messages = decode(json.loads(path.read_text())).messages
            assert 40 < word_count(summary_of(messages)) <= 600

    def test_of_summaries_says_what_they_said(self) -> None:  # C7
        """A summary of summaries keeps their lines where there is room."""
        above = summary_of([Summary("s", summary_of(WORK)), user("Use port 8080 for it.")])
        assert "src/login.py (edited)" in above
        assert "Don't touch the database because it is shared." in above
        assert "port 8080" in above

    def test_of_a_summary_keeps_its_decisions_before_new_requests(self) -> None:  # S4
        """A decision stays, whatever is asked for afterwards."""
        first = summary_of([user("Decision: keep the old endpoint.")])
        asked = [
            user(f"Please look at page {n} of the manual and tell me what it says there.") for n in range(80)
        ]
        above = sections_of(summary_of([Summary("s", first), *asked]))
        assert above["Key Decisions"][0] == "User: Decision: keep the old endpoint."

    def test_quotes_whole_sentences(self) -> None:  # S4
        """A long request is quoted by the sentences that fit, with an ellipsis; none of them is cut."""
        state = sections_of(summary_of([user("Please rename the table of all orders at once. " * 20)]))[
            "Current State"
        ]
        assert state == ["Last request: " + "Please rename the table of all orders at once. " * 6 + "…"]


class TestWhatStaysAround:
    """The state is told as it is read: beside the messages that stay."""

    ASKED = (user("Can you fix it?"), model("Yes."), user("Then run all of the tests."), model("They pass."))

    def state(self, around: Surroundings) -> list[str]:
        """Return the current state of the same messages."""
        return sections_of(summary_of(self.ASKED, around=around))["Current State"]

    def test_has_the_task_only_if_nothing_was_asked_before(self) -> None:  # S4
        """If the task itself stays above, the first request that is covered is not the task."""
        assert "Task: Can you fix it?" in self.state(ALONE)
        assert not any(line.startswith("Task") for line in self.state(Surroundings(asked_before=True)))

    def test_has_the_last_request_only_if_none_that_stays_is_later(self) -> None:  # S4
        """A request that stays right below may be the later one."""
        assert "Last request: Then run all of the tests." in self.state(ALONE)
        assert not any(line.startswith("Last req") for line in self.state(Surroundings(older_below=True)))

    def test_is_found_from_positions(self) -> None:  # M7, C2
        """Above are requests before the first that is covered, below is what is older than the last."""
        asks = {0, 3}.__contains__
        assert Surroundings.of([1, 2], [0, 5], asks) == Surroundings(asked_before=True)
        assert Surroundings.of([0, 1, 4], [3, 5], asks) == Surroundings(older_below=True)
        assert Surroundings.of([2, 4], [1, 5], asks) == ALONE
        assert Surroundings.of([], [0], asks) == ALONE


class TestWhatNobodySaid:
    """Text of a program, and requests taken back, are not quoted as the user's."""

    @pytest.mark.parametrize(
        "text",
        [
            "<returncode>1</returncode>\n<output>\nTraceback: never use this\n</output>",
            "Observation: total 172, always the same",
            "OBSERVATION:\n147  # formfield_overrides because kwargs is more specific",
        ],
    )
    def test_outputs_of_a_text_protocol(self, text: str) -> None:  # S4
        """Neither a decision nor a request."""
        found = sections_of(
            summary_of([user("Fix it, please, today."), model("ls -l"), user(text), model("So.")])
        )
        assert found["Key Decisions"] == ["User: Fix it, please, today."]
        assert not any(
            line.startswith("Last request") and text[:9] in line for line in found["Current State"]
        )

    def test_a_request_that_was_interrupted_at_once(self) -> None:  # S4
        """The user took it back."""
        said = [
            user("Rename the table, please."),
            model("It is renamed."),
            user("Now commit these changes."),
            user("[Request interrupted by user]"),
            user("Show me the diff first, please."),
            model("Here it is."),
        ]
        text = summary_of(said)
        assert "commit" not in text
        assert "Last request: Show me the diff first, please." in text

    def test_the_agents_own_summary_is_the_agents(self) -> None:  # S4
        """It begins a new context in the role of the user."""
        said = (
            "This session is being continued from a previous one. We chose SQLite because it needs no server."
        )
        found = sections_of(summary_of([user(said), model("I continue."), user("Good, add an index to it.")]))
        assert "Agent: We chose SQLite because it needs no server." in found["Key Decisions"]
        assert found["Current State"][-2:] == [
            "Last request: Good, add an index to it.",
            "Last said: I continue.",
        ]


class TestFailedCalls:
    """A call that failed changed nothing."""

    def test_are_no_changes(self) -> None:  # S4
        """A refused edit is not listed among the changed files."""
        edit = ToolCall("1", "edit_file", '{"path": "a.py"}')
        refused = message("tool", "", ToolResult("1", "File has not been read yet", is_error=True))
        found = sections_of(summary_of([user("Fix it."), message("assistant", "", edit), refused]))
        assert found["Files Modified"] == []


class TestBriefSnapshot:
    """Only lines that fit."""

    def test_has_whole_lines_from_every_section_that_fits(self) -> None:  # C9
        """Values as well as decisions."""
        whole = ranked_lines(WORK, ALONE)
        brief = in_brief(whole, 150)
        found = sections_of(brief)
        assert ESTIMATOR.count(brief) <= 150
        assert all(line in lines for lines, kept in zip(whole, found.values(), strict=True) for line in kept)
        assert found["Key Decisions"]
        assert found["Important Values"]

    def test_quotes_whole_words_where_no_line_fits(self) -> None:  # C9
        """The words are those of the first decision; nothing is quoted if not even these fit."""
        lines = ranked_lines(
            [user("Please fix the login page of the shop before the sale begins on Monday")], ALONE
        )
        assert in_brief(lines, 18) == "## Key Decisions\n- User: Please fix the login page of the …"
        assert in_brief(lines, 5) == ""
