"""The made-up kinds of sessions that retention is measured on."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest

from benchmarks.retention import prune
from benchmarks.retention_agents import AGENTS
from benchmarks.retention_other_kinds import cases, labelled, load_tool
from benchmarks.retention_talk import CORRECTED, FACTS, OTHER_WORDS, SAME_WORDS, chat
from tests.shared import shared_path


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The retention benchmark's script."""
    return load_tool(shared_path("tools", "retention_bench.py"))


@pytest.fixture(scope="module")
def by_kind(tool: ModuleType) -> dict[str, list[Any]]:
    """All cases by their kind."""
    found: dict[str, list[Any]] = {}
    for case in cases(tool, tool.make_counter()):
        found.setdefault(case.dataset, []).append(case)
    return found


class TestChats:
    """Facts told once."""

    @pytest.mark.parametrize("language", FACTS)
    @pytest.mark.parametrize("asked", [SAME_WORDS, OTHER_WORDS])
    def test_hold_each_answer_at_one_place(self, language: str, asked: int) -> None:
        """The message that a question points to has its fact, and no other has."""
        messages, questions = chat(language, Random("x"), asked)
        facts = {
            fact[asked]: fact[0] for line in FACTS[language].strip().split("\n") if (fact := line.split("|"))
        }
        for question, place in questions:
            assert [n for n, m in enumerate(messages) if facts[question] in m["content"]] == [place]

    def test_are_the_same_each_time(self) -> None:
        """A figure can be measured again."""
        assert chat("German", Random("x"), SAME_WORDS) == chat("German", Random("x"), SAME_WORDS)

    def test_correct_after_they_told(self) -> None:
        """The newest statement is the answer."""
        messages, questions = chat("English", Random("x"), CORRECTED)
        for question, place in questions:
            if question == "When is the dentist?":
                assert any("half past four" in m["content"] for m in messages[:place])
                assert "Friday at ten" in messages[place]["content"]


class TestAgents:
    """Sessions with tools."""

    @pytest.mark.parametrize("kind", AGENTS)
    def test_name_later_what_only_the_past_has(self, tool: ModuleType, kind: str) -> None:
        """Something is needed after a cut in the middle, and each name of it stands before the cut."""
        messages = AGENTS[kind](Random("x")).messages
        cut = next(n for n in range(len(messages) // 2, len(messages)) if messages[n]["role"] == "assistant")
        steps = labelled(tool, messages, cut)
        before: set[str] = set().union(*(tool.identifiers(tool.message_text(m)) for m in messages[:cut]))
        assert all(set(step["hard"]) <= set(step["names"]) <= before for step in steps)

    def test_are_pruned_to_valid_lists(self, tool: ModuleType) -> None:
        """Each kind once, at each budget: nothing torn apart, nothing over the budget."""
        count = tool.make_counter()
        seen: dict[str, Any] = {case.dataset: case for case in cases(tool, count, sessions=1)}
        for case in seen.values():
            for budget in case.budgets.values():
                assert tool.run_case(case, prune, budget, count)[2] == set()

    @pytest.mark.parametrize("kind", [kind for kind in AGENTS if kind != "logs, any lines needed"])
    def test_keep_no_less_than_the_newest_messages(
        self, tool: ModuleType, by_kind: dict[str, list[Any]], kind: str
    ) -> None:  # X17
        """At 80, 50 and 25 %, where something other than chance decides what is needed."""
        count, some = tool.make_counter(), by_kind[kind]
        ours, newest = (tool.evaluate(some, one, count)[kind] for one in (prune, tool.recency_skip))
        for budget in (80, 50, 25):
            assert ours[budget]["recall"] >= newest[budget]["recall"]
