"""Statements that later ones of the same speaker replace, and what a plan makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scoring.history import History
from scoring.messages import Message
from scoring.planning.guards import find
from scoring.planning.plan import plan_prune
from scoring.planning.replaced_statements import lifted_rules, replaced_statements
from scoring.settings import FORESIGHT
from tests.scoring.builders import model, user

CAUSE = "The importer loses rows because the lock is released too early, in lock_release_4711."
REVISED = "I was wrong about the rows that the importer loses: the clock jumps, see clock_jump_0815."
PLAN = "For the report cache: first the export, then warm_up_4711, and a check in the end."
NEWER_PLAN = "The report cache needs another way: first a snapshot, then cold_start_0815."
BAN = "Never restart the importer while billing_4711 is running."
LIFTED = "The importer can be restarted whenever you like, handover_0815 takes over."


def history(*said: Message) -> History:
    """Return the history of some messages."""
    return History.of(said, settings=FORESIGHT)


def replaced(*said: Message) -> list[tuple[int, int]]:
    """Return the replaced statements of the model."""
    return list(replaced_statements(history(*said)))


def lifted(*said: Message) -> list[tuple[int, int]]:
    """Return the lifted rules."""
    made = history(*said)
    return list(lifted_rules(made, made.own_words))


def talk(count: int) -> list[Message]:
    """A conversation about other things."""
    return [
        one
        for n in range(count)
        for one in (
            user(f"Tell me about bridge number {n} in the valley of the river, please."),
            model(f"Bridge number {n} has {n + 3} arches of sandstone; masons_{n}_{n * 7919} built it. " * 3),
        )
    ]


class TestStatementsOfTheModel:
    """Pairs of a statement and the newest one that replaces it."""

    def test_a_finding_is_replaced_by_one_that_revises_it(self) -> None:
        """It shares its topic, and has a word of revising."""
        assert replaced(user("go"), model(CAUSE), user("and?"), model(REVISED)) == [(1, 3)]

    def test_a_plan_is_replaced_by_another_plan(self) -> None:
        """Both tell steps in an order."""
        newer = "Report cache: first a snapshot, then cold_start_0815."
        assert replaced(user("go"), model(PLAN), user("and?"), model(newer)) == [(1, 3)]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (
                "Die Ursache beim Importer ist die Sperre.",
                "Beim Importer lag ich falsch, die Ursache ist die Uhr.",
            ),
            ("La causa en el importador es el bloqueo.", "La causa real en el importador es el reloj."),
            (
                "La cause pour l'importateur est le verrou.",
                "La vraie cause pour l'importateur est l'horloge.",
            ),
            ("A causa no importador é o bloqueio.", "A causa verdadeira no importador é o relógio."),
            ("Причина в импорте — блокировка.", "На самом деле причина в импорте — часы."),
            ("取込処理の原因はロックです。", "取込処理の本当の原因は時計です。"),
            ("导入程序的原因是锁。", "导入程序真正的原因是时钟。"),
        ],
    )
    def test_are_compared_in_other_languages(self, old: str, new: str) -> None:
        """Their topics are compared, not their phrases."""
        assert replaced(user("go"), model(old), user("and?"), model(new)) == [(1, 3)]

    def test_of_several_the_newest_replaces(self) -> None:
        """All older ones stay only beside it."""
        said = [
            user("go"),
            model(CAUSE),
            model(REVISED),
            model("It is really the importer whose clock loses rows."),
        ]
        assert replaced(*said) == [(2, 3), (1, 3)]

    @pytest.mark.parametrize(
        "newer",
        [
            "I was wrong about the title of the second chapter, which is longer.",
            "The importer loses rows when the disk is full, too.",
            "Which rows does the importer lose, and am I wrong about the lock?",
        ],
    )
    def test_nothing_is_replaced_without_the_same_topic_and_a_cue(self, newer: str) -> None:
        """A finding about something else, and one that adds to it, leave it as it is."""
        found = replaced(user("go"), model(CAUSE), user("and?"), model(newer))
        assert found == ([(1, 3)] if "Which" in newer else [])

    def test_a_long_report_is_not_replaced(self) -> None:
        """Most of it stays true."""
        assert replaced(user("go"), model(CAUSE + " It is a long story." * 90), model(REVISED)) == []

    def test_an_act_is_not_replaced(self) -> None:
        """A program answers the commands of an agent that acts through text."""
        output = user("<returncode>0</returncode>\n<output>\nrows\n</output>")
        assert replaced(user("go"), model(CAUSE), output, model(REVISED)) == []


class TestRules:
    """Rules of users that a later message lifts."""

    def test_are_lifted_by_a_permission_about_the_same(self) -> None:
        """It need not name the rule."""
        assert lifted(user(BAN), model("ok"), user(LIFTED), model("ok")) == [(0, 2)]

    @pytest.mark.parametrize(
        "later",
        [
            "You may paint the fence whenever you like.",
            "The importer is a large program.",
            "Never stop the importer, whatever you do.",
        ],
    )
    def test_are_not_lifted_by_anything_else(self, later: str) -> None:
        """A permission for something else, what is no permission, and another rule."""
        assert lifted(user(BAN), model("ok"), user(later), model("ok")) == []

    def test_are_none_among_people(self) -> None:
        """Nobody sets rules for a model that never answers."""
        assert lifted(user(BAN), user(LIFTED)) == []

    def test_what_lifts_them_is_guarded_like_a_correction(self) -> None:
        """The ban would mislead alone."""
        assert find(history(user("go"), user(BAN), model("ok"), user(LIFTED), model("ok"))).corrections == [3]


class TestPlans:
    """A replaced statement stays only beside the one that replaces it, at any budget."""

    @staticmethod
    def kept(said: Sequence[Message], wire_format: str = "") -> list[set[int]]:
        """Return the positions that stay at many budgets."""
        made = history(*said)
        budgets = [int(sum(made.tokens) * share / 100) for share in range(4, 96, 4)]
        plans = [plan_prune(made, FORESIGHT, budget, wire_format=wire_format) for budget in budgets]
        return [{*plan.kept, *plan.shortened} for plan in plans]

    @pytest.mark.parametrize(("old", "new"), [(CAUSE, REVISED), (PLAN, NEWER_PLAN)])
    @pytest.mark.parametrize("wire_format", ["openai", "anthropic", "gemini"])
    def test_of_a_statement(self, old: str, new: str, wire_format: str) -> None:  # X23
        """The older one is named in the last question, and is relevant to it; some plans keep both."""
        ask = user("What about lock_release_4711 and warm_up_4711?")
        said = [user("go"), model(old), *talk(6), user("Go on with it."), model(new), *talk(9), ask]
        stays = self.kept(said, wire_format)
        at = next(position for position, one in enumerate(said) if one.text == new)
        assert any({1, at} <= kept for kept in stays)
        assert all(at in kept for kept in stays if 1 in kept)

    def test_of_a_question_that_a_short_answer_needs(self) -> None:
        """The statement that replaces the question comes along."""
        said = [
            user("Look after the importer."),
            model(CAUSE),
            user("Yes, do that."),
            *talk(1),
            model(REVISED),
        ]
        work = [
            one for n in range(12) for one in (model(f"step {n} of the walls is done, see wall_{n}_77."),) * 3
        ]
        stays = self.kept([*said, *work, user("Carry on.")])
        assert all(5 in kept for kept in stays if {1, 2} <= kept)
