"""Sentences with decisions, next steps and open tasks."""

from __future__ import annotations

import json

import pytest

from scoring.messages import REMINDER, Message, Text, ToolCall, message
from scoring.summary.sentences import (
    REQUEST_WEIGHT,
    decisions,
    is_confirmation,
    next_steps,
    open_tasks,
    quoted,
    said_by,
    sentences,
)
from tests.scoring.builders import model, user


class TestConfirmations:
    """Confirmations without content."""

    @pytest.mark.parametrize(
        "text",
        [
            "ok",
            "Done.",
            "Great, thanks!",
            "The file /a.py has been updated successfully.",
            "",
            "(no output)",
            "exit code: 0",
        ],
    )
    def test_are_known(self, text: str) -> None:  # S4
        """Bare ones."""
        assert is_confirmation(text)

    @pytest.mark.parametrize(
        "text", ["done: 14 of 20 rows differ", "ok but port 80 is taken", "42", "build failed"]
    )
    def test_are_not_what_carries_data(self, text: str) -> None:  # S4
        """A sentence with a number or an error is not a mere phrase."""
        assert not is_confirmation(text)


class TestDecisions:
    """Decisions and refusals."""

    def test_come_with_their_reason(self) -> None:  # S4
        """In the sentence itself or in the one behind it."""
        said = user("Use SQLite instead of Postgres. Because it needs no server. The sky is blue.")
        assert [text for _, text in decisions([said])] == [
            "User: Use SQLite instead of Postgres. Because it needs no server."
        ]

    def test_of_the_user_weigh_more_and_refusals_most(self) -> None:  # S4
        """They survive where there is little room."""
        weights = [
            weight
            for weight, _ in decisions(
                [model("I chose the second one here."), user("No, don't deploy on Fridays.")]
            )
        ]
        assert weights == [1.0, 4.0]

    @pytest.mark.parametrize(
        "said",
        ["ERROR: connection refused at 10.0.0.5:6379", "ValueError: the key was rejected by the server"],
    )
    def test_are_no_error_messages(self, said: str) -> None:  # S4
        """A program refuses there, and nobody decides."""
        assert not list(decisions([model(said)]))

    def test_are_no_questions(self) -> None:
        """Asking is not deciding."""
        assert not list(decisions([model("Should we use the cache instead of the disk?")]))

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("Bitte ändere nicht die API. Danke dir.", "User: Bitte ändere nicht die API."),
            ("Prends mardi. N'utilise pas mon adresse.", "User: N'utilise pas mon adresse."),
            ("Zrób kopię. Nie używaj tutaj rsync.", "User: Nie używaj tutaj rsync."),
            (
                "直してください。データベースは変更しないでください。",
                "User: データベースは変更しないでください。",
            ),
            ("改端口。不要动数据库设置，因为生产环境在用。", "User: 不要动数据库设置，因为生产环境在用。"),
            ("फ़ोन नंबर मत हटाना क्योंकि HR को चाहिए। ठीक है।", "User: फ़ोन नंबर मत हटाना क्योंकि HR को चाहिए।"),
        ],
    )
    def test_are_found_in_other_languages(self, text: str, line: str) -> None:  # S4
        """The sentence alone, also where no blank follows it, weighs more than a request."""
        [(weight, said)] = decisions([user(text)])
        assert said == line
        assert weight > REQUEST_WEIGHT

    def test_of_the_agent_come_with_their_reason_in_other_languages(self) -> None:  # S4
        """An agent's "not" describes something, its reason for a choice is a decision."""
        text = "Zdecydowałem użyć aws, ponieważ rsync jest niedozwolony. To nie działa."
        assert [line for _, line in decisions([model(text)])] == [
            "Agent: Zdecydowałem użyć aws, ponieważ rsync jest niedozwolony."
        ]

    def test_are_no_explanations(self) -> None:  # S4
        """A "because" of the agent that says what nobody does."""
        assert list(decisions([model("Because the square root of a negative number is not real.")])) == []
        assert list(decisions([model("Because it arrived broken, we refund the whole amount.")]))

    def test_are_quoted_without_the_dash_of_their_list(self) -> None:
        """The dash belongs to the list."""
        assert [line for _, line in decisions([user("Rules:\n- Never change prices.")])] == [
            "User: Never change prices."
        ]

    def test_keep_what_the_user_asked_for(self) -> None:
        """A request without a word of deciding is one all the same, at the lowest weight."""
        assert list(decisions([user("Add a button to the page.")])) == [
            (0.5, "User: Add a button to the page.")
        ]


class TestSteps:
    """Next steps and open tasks."""

    def test_next_are_what_the_agent_announces(self) -> None:  # S4
        """Announcements by the user are not among them."""
        assert next_steps(model("That works. Next, I'll run the tests.")) == ["Next, I'll run the tests."]
        assert next_steps(user("I'll wait.")) == []

    def test_open_are_unchecked_boxes_and_what_is_left(self) -> None:  # S4
        """The latest first; a box that was checked later is done."""
        said = [
            model("- [ ] write docs\n- [ ] add tests"),
            model("We still need to bump the version."),
            model("- [x] add tests"),
        ]
        assert list(open_tasks(said)) == ["We still need to bump the version.", "write docs"]

    @pytest.mark.parametrize(
        "text", ["Offen ist noch die Dokumentation.", "Il reste à acheter le timbre.", "还需要更新文档。"]
    )
    def test_open_are_found_in_other_languages(self, text: str) -> None:  # S4
        """Every language has words for what is left to do."""
        assert list(open_tasks([model(text)])) == [text]

    def test_open_are_no_headings(self) -> None:  # S4
        """The text behind a colon can be a task, the line before it cannot."""
        assert list(open_tasks([model("The remaining branches are:")])) == []

    @pytest.mark.parametrize(
        "text",
        ["Let me read all the remaining call sites first.", "Added clearing of PendingPromptAttribution."],
    )
    def test_open_is_not_what_only_sounds_like_it(self, text: str) -> None:  # S4
        """The agent does at once what it announces; a name in code says nothing."""
        assert list(open_tasks([model(text)])) == []

    def test_open_are_those_of_a_todo_list(self) -> None:  # S4
        """Its latest state, whatever the tool is called."""
        first = [{"content": "a", "status": "pending"}, {"content": "b", "status": "pending"}]
        then = [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]
        said = [
            message("assistant", "", ToolCall(str(n), "TodoWrite", json.dumps({"todos": t})))
            for n, t in enumerate((first, then))
        ]
        assert list(open_tasks(said)) == ["b"]


class TestSentences:
    """Dividing texts into sentences."""

    def test_leave_code_blocks_out(self) -> None:
        """Code is no sentence."""
        assert sentences("First. Second!\n```\nx = 1. y\n```\nThird") == ["First.", "Second!", "Third"]

    def test_of_a_long_text_are_those_of_its_ends(self) -> None:
        """The cost is bounded by a number of characters."""
        found = sentences("start. " + "middle. " * 10_000 + "end.")
        assert (found[0], found[-1]) == ("start.", "end.")
        assert len(found) < 4_000

    def test_are_quoted_verbatim_up_to_a_length(self) -> None:
        """Longer ones say that they go on."""
        assert quoted("short one") == "short one"
        assert quoted("word " * 100).endswith("word …")

    @pytest.mark.parametrize(
        "text",
        [
            "<local-command-stdout>Set model to \x1b[1mopus\x1b[22m, never mind</local-command-stdout>",
            "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>",
            "<system-reminder>Do not mention this because it is a notice.</system-reminder>",
            "Caveat: The messages below were generated by the user while running local commands. DO NOT respond.",
        ],
    )
    def test_of_a_program_are_not_the_user_s(self, text: str) -> None:  # S4
        """Text that an agent's program adds to a user's message is no decision."""
        assert said_by(user(text)) == []
        assert said_by(user(f"{text}\nNever touch prod.")) == ["Never touch prod."]

    def test_keep_what_only_looks_like_a_terminal(self) -> None:
        """A list in brackets, a box, a tag of HTML."""
        for text in ("[1, 2] and [x] stay", "<b>bold</b> stays", "see [1m] below"):
            assert said_by(user(text)) == [text]

    def test_of_a_program_are_not_said_by_the_user(self) -> None:  # S4
        """Hooks, lists of skills and notes of an interruption come in the user's role."""
        listed = Message("user", (Text("Never invoke it for one task. Next, complete a review."),), REMINDER)
        assert said_by(listed) == next_steps(listed) == list(open_tasks([listed])) == []
        assert list(decisions([listed])) == []
        for note in ("[Request interrupted by user]", "[Request interrupted by user for tool use]"):
            assert said_by(user(f"{note}\nUse tabs instead.")) == ["Use tabs instead."]

    def test_of_a_tool_are_not_said_by_anybody(self) -> None:
        """Only user and agent speak."""
        assert said_by(message("tool", "We must use tabs.")) == []

    @pytest.mark.parametrize(
        ("text", "parted"),
        [
            ("**Do it now. Never touch master.**", ["Do it now.", "Never touch master."]),
            ("**Never** touch it. Use **two", ["**Never** touch it.", "Use two"]),
            ("- **Rule:** never. **", ["- **Rule:** never."]),
        ],
    )
    def test_leave_no_half_of_a_pair_of_stars(self, text: str, parted: list[str]) -> None:  # S4
        """Stress that goes over several sentences is left out of each; a pair within one stays."""
        assert sentences(text) == parted
