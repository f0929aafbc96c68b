"""Outputs that a program writes into user messages: none stays without the command that it answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message
from scoring.planning import PrunePlan, plan_prune, text_outputs
from scoring.planning.decision import Decision, decide
from scoring.planning.guards import commands_of
from scoring.planning.protection import protect
from scoring.planning.strategies import Choice, StrategyInput, Why
from scoring.planning.text_outputs import CHOICES, with_commands
from scoring.settings import BLUEPRINT, FORESIGHT, STRATEGY_NAMES, Settings
from tests.scoring.builders import calls, history_of, model, results, user

UNGUARDED = replace(FORESIGHT, guarded_percent=0.0, user_words_tokens=0)


def command(text: str) -> Message:
    """A message of the model with a command to run."""
    return model(f"THOUGHT: the next step\n\n```bash\n{text}\n```")


def output(text: str) -> Message:
    """The user message into which a program wrote what a command printed."""
    return user(f"<returncode>0</returncode>\n<output>\n{text}\n</output>")


def session(*outputs: str) -> list[Message]:
    """A task, and a command before each output."""
    pairs = [[command(f"sed -n 1,{n}p module_{n}.py"), output(text)] for n, text in enumerate(outputs)]
    return [user("Please mend the parser."), *(one for pair in pairs for one in pair)]


MANY = session(*(f"class Parser_{n}: limit_{n % 7} = {'x' * 40 * (n % 5)}" for n in range(40)))


def stays_of(plan: PrunePlan) -> list[int]:
    """The positions that stay, in order."""
    return sorted((*plan.kept, *plan.shortened))


# Outputs of a few words or many, that name what the next command names or nothing.
sessions = st.lists(
    st.builds(
        lambda name, lines: "\n".join([f"class {name}_{n}: pass" for n in range(lines)]),
        st.sampled_from(["Lexer", "Parser", "Token"]),
        st.integers(0, 40),
    ),
    min_size=2,
    max_size=12,
).map(lambda outputs: session(*outputs))


class TestCommandsOfOutputs:
    """They are found by the order of messages, because nothing links them."""

    def test_stand_before_their_outputs(self) -> None:
        """The task, a user's own words and notices before the first command answer nothing."""
        messages = [
            user("<system-reminder>Today is Friday."),
            *session("a", "b"),
            model(),
            user("No, the other."),
        ]
        assert commands_of(History.of(messages)) == {3: 2, 5: 4}

    @pytest.mark.parametrize("settings", [FORESIGHT, BLUEPRINT], ids=["Foresight", "Blueprint"])
    def test_are_known_whatever_is_analysed(self, settings: Settings) -> None:
        """*Blueprint* reads no contents."""
        assert commands_of(history_of(session("a"), settings)) == {2: 1}

    def test_are_none_where_tools_are_called(self) -> None:
        """Programs write only notices for users of such agents, and outputs have ids."""
        assert commands_of(History.of([*session("a"), calls("1"), results("1")])) == {}


class TestEveryPlan:
    """Plans for a session without calls."""

    @given(
        sessions,
        st.integers(0, 100),
        st.sampled_from(STRATEGY_NAMES),
        st.sampled_from(["", "anthropic", "gemini"]),
    )
    def test_keeps_no_output_of_a_dropped_command(
        self, messages: list[Message], percent: int, strategy: str, name: str
    ) -> None:  # X6, X23
        """Only a protected output stays, if its command does not fit beside what else is protected."""
        history = History.of(messages)
        budget = sum(history.tokens) * percent // 100
        plan = plan_prune(history, FORESIGHT, budget, strategy=strategy, wire_format=name)
        stays = stays_of(plan)
        alone = [o for o, c in commands_of(history).items() if o in stays and c not in stays]
        assert all(plan.fate(one) == "protected" for one in alone)
        assert plan.over_budget is not None or plan.tokens_after <= budget

    @given(sessions, st.integers(0, 100))
    def test_is_over_budget_no_more_often(self, messages: list[Message], percent: int) -> None:  # B7
        """A command joins what is always kept only where both fit."""
        history = History.of(messages)
        budget = sum(history.tokens) * percent // 100
        plan = plan_prune(history, FORESIGHT, budget)
        assert (plan.over_budget is None) == (history.tokens[-1] <= budget)
        assert not plan.problems or plan.over_budget is not None


class TestChoosing:
    """An output costs what it takes with its command."""

    @pytest.mark.parametrize("strategy", STRATEGY_NAMES)
    def test_shows_each_output_behind_its_command(self, strategy: str) -> None:  # X23
        """At half of the tokens something goes, and no output reads as the answer to another command."""
        history = History.of(MANY)
        stays = stays_of(plan_prune(history, UNGUARDED, 1_500, strategy=strategy))
        answers = commands_of(history)
        assert len(stays) < len(history)
        assert all(answers.get(later, before) == before for before, later in pairwise(stays) if before)

    def test_keeps_commands_without_their_outputs(self) -> None:
        """They name much and cost little."""
        long = "\n".join(f"plain words of the {n}th line" for n in range(200))
        messages = session(long, long, long, "done")
        plan = plan_prune(History.of(messages), UNGUARDED, 300)
        assert plan.removed == (2, 4, 6)

    def test_keeps_no_command_alone_where_the_model_does_not_speak_twice(self) -> None:  # X6
        """Two commands in a row would have to be separated by dropping one."""
        history = History.of(MANY)
        plan = plan_prune(history, UNGUARDED, 1_500, wire_format="gemini")
        stays = stays_of(plan)
        assert len(stays) < len(history)
        assert all((o in stays) == (c in stays) for o, c in commands_of(history).items())
        assert plan.problems == ()

    @pytest.mark.parametrize(("longest", "choices"), [(100, CHOICES + 2), (10, 3)])
    def test_joins_all_after_a_number_of_choices(
        self, longest: int, choices: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A strategy that wants another output each time is asked a few times; in a long history, hardly again."""
        monkeypatch.setattr(text_outputs, "LONG_MESSAGES", longest)
        history, asked = History.of(MANY), 0
        answers = commands_of(history)

        def one_more(given: StrategyInput) -> Choice:
            apart = [head for head in given.candidates if head in answers]
            return Choice(apart[:1], lambda head: Why("", ""))

        def chosen(joined: History) -> Decision:
            nonlocal asked
            asked += 1
            return decide(joined, UNGUARDED, 1_500, one_more, protect(joined, UNGUARDED, 1_500), ())

        units = with_commands(history, chosen).history.units
        assert asked == choices
        assert all(units.head[output] == command for output, command in answers.items())


class TestChoicesByTheUser:
    """Messages that the user spares, drops or pins."""

    def test_spares_the_command_with_its_output(self) -> None:  # X5
        """Without it the output would read as the answer to the task."""
        messages = session("a", *(f"class Parser_{n}: limit_{n}" for n in range(20)))
        history = History.of(messages)
        plan = plan_prune(history, UNGUARDED, sum(history.tokens) // 10, spare=[2])
        assert {1, 2} <= set(plan.kept)

    def test_drops_an_output_alone(self) -> None:  # X5
        """Its command is not taken out with it."""
        plan = plan_prune(History.of(session("a", "b", "c")), UNGUARDED, 10_000, drop=[4])
        assert plan.removed == (4,)

    def test_drops_the_output_with_a_command(self) -> None:  # X5
        """It would read as the answer to the command before."""
        plan = plan_prune(History.of(session("a", "b", "c")), UNGUARDED, 10_000, drop=[3])
        assert plan.removed == (3, 4)
