"""Cues of what is said in words."""

from __future__ import annotations

import pytest

from scoring.history.cues.speech import MACHINE_MADE, RULE, SHORT, STATEMENT, STRICT, cues_of_speech


class TestRules:
    """Sentences that bind."""

    @pytest.mark.parametrize(
        "said",
        [
            "Never push to main.",
            "Looks good. Please do not touch the migrations, they are shared.",
            "From now on answer in German.",
            "I am allergic to walnuts, so never put any into a recipe for me.",
            "Bitte nie auf den Server schreiben, ich mache das selbst.",
            "我对核桃过敏，做菜千万不要放。",
            "私はくるみアレルギーなので、料理には入れないでください。",
        ],
    )
    def test_forbid_in_any_conversation(self, said: str) -> None:
        """Sentences that forbid or order something for good."""
        assert STRICT in cues_of_speech("user", said)

    @pytest.mark.parametrize(
        "said",
        ["Use only the standard library for that.", "Fix it without changing the public names, please."],
    )
    def test_bind_those_who_work_for_somebody(self, said: str) -> None:
        """Less strict words do, too, but in talk they bind nobody."""
        assert cues_of_speech("user", said) == RULE

    def test_are_laid_down_by_users_alone(self) -> None:
        """A model's own words bind nobody."""
        assert (
            cues_of_speech("assistant", "Never push to main, says the guide that I have read here, twice.")
            == STATEMENT
        )


class TestSpeakers:
    """The author of a message of role user: a person or a program."""

    @pytest.mark.parametrize(
        "said",
        [
            "<returncode>0</returncode>\n<output>\nmain.py\n</output>",
            "OBSERVATION:\nmain.py",
            "Execution result of [ls]:\nmain.py",
            "[File: /repo/main.py (120 lines total)]\n1:import os",
            "main.py\n(Current directory: /repo)\nbash-$",
            "<system-reminder>The file was changed.</system-reminder>",
        ],
    )
    def test_may_be_a_program(self, said: str) -> None:
        """Outputs and notices pass for a user's."""
        assert cues_of_speech("user", said) == MACHINE_MADE

    @pytest.mark.parametrize(
        "said",
        [
            "<pr_description>\nFix the parser.\n</pr_description>",
            "Error: the app shows a white page when I log in",
            "File upload is broken\nsince yesterday, on all machines",
        ],
    )
    def test_are_users_otherwise(self, said: str) -> None:
        """A task in tags and a pasted error are theirs."""
        assert MACHINE_MADE not in cues_of_speech("user", said)

    def test_answer_in_few_words(self) -> None:
        """Such an answer says nothing without its question."""
        assert SHORT in cues_of_speech("user", "yes, the second one")
        assert SHORT not in cues_of_speech("user", "yes, take the second one and then send it to both")
