"""Cues of what is said in words."""

from __future__ import annotations

import pytest

from scoring.history.cues.speech import MACHINE_MADE, RULE, SHORT, STATEMENT, STRICT, cues_of_speech


class TestRules:
    """Sentences that are rules."""

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
        """Sentences that forbid or order something permanently."""
        assert STRICT in cues_of_speech("user", said)

    @pytest.mark.parametrize(
        "said",
        ["Use only the standard library for that.", "Fix it without changing the public names, please."],
    )
    def test_bind_those_who_work_for_somebody(self, said: str) -> None:
        """Softer words are rules for an agent with tools, but not in a conversation."""
        assert cues_of_speech("user", said) == RULE

    def test_are_laid_down_by_users_alone(self) -> None:
        """The model's own words are not rules."""
        assert (
            cues_of_speech("assistant", "Never push to main, says the guide that I have read here, twice.")
            == STATEMENT
        )


class TestSpeakers:
    """Messages of role user: written by a person or by a program."""

    @pytest.mark.parametrize(
        "said",
        [
            "<returncode>0</returncode>\n<output>\nmain.py\n</output>",
            "OBSERVATION:\nmain.py",
            "Execution result of [ls]:\nmain.py",
            "[File: /repo/main.py (120 lines total)]\n1:import os",
            "main.py\n(Current directory: /repo)\nbash-$",
            "<system-reminder>The file was changed.</system-reminder>",
            "# AGENTS.md instructions for /repo\n\nUse tabs.",
            "# HOUSE-RULES.md\n\nUse tabs.",
        ],
    )
    def test_may_be_a_program(self, said: str) -> None:
        """Outputs, notices and a project's instructions arrive in the role of the user."""
        assert cues_of_speech("user", said) == MACHINE_MADE

    @pytest.mark.parametrize(
        "said",
        [
            "<pr_description>\nFix the parser.\n</pr_description>",
            "Error: the app shows a white page when I log in",
            "File upload is broken\nsince yesterday, on all machines",
            "# README.md\n\nMake this shorter.",
        ],
    )
    def test_are_users_otherwise(self, said: str) -> None:
        """Tasks in tags, pasted errors and documents are the user's."""
        assert MACHINE_MADE not in cues_of_speech("user", said)

    def test_answer_in_few_words(self) -> None:
        """A short answer is stored with its question, because it says nothing without it."""
        assert SHORT in cues_of_speech("user", "yes, the second one")
        assert SHORT not in cues_of_speech("user", "yes, take the second one and then send it to both")


class TestWordsThatAreLookedForFirst:
    """The quick search for single words finds every sentence that the expressions find."""

    @pytest.mark.parametrize(
        "words",
        """you may not|you cannot ever|you can't ever|under no circumstances|from now on|at all times|no matter what
        as a standing rule|niemals|nie wieder|auf keinen Fall|ab jetzt|ab sofort|du darfst|ne pousse jamais
        de ahora en adelante|bitte immer|nunca toques|siempre usa""".replace("\n", "|").split("|"),
    )
    def test_find_what_binds_in_any_conversation(self, words: str) -> None:
        """Every order and ban is found, in capitals too."""
        assert STRICT in cues_of_speech("user", f"{words.strip().upper()} this there")

    @pytest.mark.parametrize(
        "words",
        """mustn't|no longer|not allowed|forbidden|prohibited|required to|unbedingt|darfst|musst|verboten|dois|doit
        toujours|interdit|debes|prohibido|dont|should not|only|avoid|without|make sure|ensure|instead|unless|except|stop
        refrain|leave it alone|rather than|prefer|keep it|no more than|at most|exactly|nur|keine|ohne|statt|vermeiden
        stattdessen|bitte nicht|achte|sans|seulement|au lieu|sauf|sin|solo|evita|en vez|salvo|excepto""".replace(
            "\n", "|"
        ).split("|"),
    )
    def test_find_what_binds_those_who_work(self, words: str) -> None:
        """Every softer rule is found, in capitals too."""
        assert RULE in cues_of_speech("user", f"Push {words.strip().upper()} this there")
