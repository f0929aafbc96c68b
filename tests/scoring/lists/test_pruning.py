"""A prune carried out on a list: exact numbers, within the budget, in the list's format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import load
from langchain_core.messages import messages_from_dict

from scoring.formats import FORMATS, decode, encode, validate
from scoring.history import History
from scoring.lists.functions import auto_manage_context, get_context_stats, prune_context
from scoring.lists.pruning import Pruning, prune
from scoring.messages import Message
from scoring.settings import BLUEPRINT, FORESIGHT, STRATEGY_NAMES, Settings
from tests.scoring.builders import any_messages, calls, model, results, user
from tests.scoring.lists.talks import talks

PLAIN = replace(FORESIGHT, user_words_tokens=0, counting="four_characters")
OUTPUT = "\n".join(f"row {n} says something about file_{n}.py" for n in range(200))
SAID = [user("go"), model("parse_rows"), calls("1"), results("1", text=OUTPUT), user("on")]


ANY_SETTINGS = st.builds(
    lambda preset, strategy, outputs, tail: replace(
        preset, strategy=strategy or preset.strategy, stage_outputs=outputs, fresh_tail=tail
    ),
    st.sampled_from([FORESIGHT, BLUEPRINT]),
    st.sampled_from(["", *STRATEGY_NAMES]),
    st.sampled_from(["off", "shorten", "clear"]),
    st.sampled_from([0, 4]),
)


def pruned(messages: list[Message], budget: int, factor: int, settings: Settings = PLAIN) -> Pruning:
    """Return messages pruned with a counter that counts shortened outputs `factor` times as much as the plan."""
    history = History.of(messages, settings=settings)
    return prune(history, messages, settings, budget, count=lambda m: factor * len(m.text) // 4 + 4)


def forty_fold(message: Message) -> int:
    """Return 40 tokens for each character of a shortened output."""
    return 40 * len(message.text)


class TestAListThatIsPruned:
    """Lists pruned by the functions for bare lists."""

    @given(talks(), ANY_SETTINGS, st.sampled_from(sorted(FORMATS)), st.floats(0, 1))
    def test_takes_what_is_said_and_is_valid(
        self, messages: list[Message], settings: Settings, name: str, share: float
    ) -> None:  # B7, B8, B9, X6, X7
        """Decoded and counted independently, the list has the reported tokens, within the budget or flagged."""
        listed = encode(messages, name)
        budget = int(get_context_stats(listed, settings=settings).tokens * share)
        result = prune_context(listed, budget, settings=settings)
        final = result.stats["final"]
        assert get_context_stats(result.pruned, settings=settings).tokens == final
        assert final <= budget or result.over_budget is not None
        assert result.stats["itemsRemoved"] + result.stats["itemsKept"] == len(listed)
        if not validate(listed, name, ready=False) and not result.problems:
            assert validate(result.pruned, name, ready=False) == []

    @given(talks(), st.sampled_from([FORESIGHT, BLUEPRINT]), st.sampled_from(sorted(FORMATS)))
    def test_by_itself_takes_what_is_said(
        self, messages: list[Message], preset: Settings, name: str
    ) -> None:  # B12
        """Automatic management reports the tokens of its list too."""
        settings = replace(preset, target_percent=0.2, aim_percent=0.1, windows="blueprint")
        result = auto_manage_context(encode(messages, name), settings=settings)
        final = result.stats["final"]
        assert get_context_stats(result.pruned, settings=settings).tokens == final
        assert final <= 200 or result.over_budget is not None


def _dumped(role: str, text: str) -> dict[str, object]:
    return {"type": role, "data": {"type": role, "content": text}}


def _constructed(role: str, text: str) -> dict[str, object]:
    path = ["langchain", "schema", "messages", f"{'AI' if role == 'ai' else role.title()}Message"]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"type": role, "content": text}}


class TestASummary:
    """The message that a prune adds to a list."""

    @pytest.mark.filterwarnings("ignore:The function `load` is in beta")
    @pytest.mark.parametrize("shape", [_dumped, _constructed])
    def test_has_the_shape_of_the_list(self, shape: Callable[[str, str], dict[str, object]]) -> None:
        """LangChain reads a whole list in one shape only."""
        said = [
            shape(role, f"{role} {n} says row_{n}.py " * 20) for n in range(20) for role in ("human", "ai")
        ]
        found = prune_context(said, 900, settings=replace(PLAIN, strategy="summarise"))
        [added] = [one for one in found.pruned if one not in said]
        text = f"{found.summary}"
        assert added == shape("human", text)
        loaded = (
            messages_from_dict(found.pruned)
            if shape is _dumped
            else load(found.pruned, allowed_objects="messages")
        )
        assert [one.content for one in loaded].count(text) == 1


def test_a_shortened_message_keeps_its_own_format() -> None:
    """A message of another format than the list's can hold several results."""
    asked = [{"type": "tool_use", "id": i, "name": "read", "input": {}} for i in "ab"]
    answers = [{"type": "tool_result", "tool_use_id": i, "content": OUTPUT} for i in "ab"]
    listed = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": asked},
        {"role": "user", "content": answers},
        {"role": "assistant", "content": "parse_rows"},
        {"role": "user", "content": "on"},
    ]
    typed = decode(listed, "anthropic").messages
    history = History.of(typed, settings=PLAIN)
    made = prune(history, typed, PLAIN, 2_500, wire_format="openai")
    assert set(made.fitted.replaced) == {2}
    there = made.wire(typed, "openai", listed)[made.fitted.kept.index(2)]
    assert [block["tool_use_id"] for block in there["content"]] == ["a", "b"]


class TestAPrune:
    """Prunes whose exact counts differ from the plan's estimates."""

    def test_follows_its_first_plan_where_that_fits(self) -> None:
        """Outputs are cut further before any message is dropped."""
        for factor in (1, 2):
            done = pruned(SAID, 600, factor)
            assert (done.plan.max_tokens, done.fitted.kept) == (600, (0, 1, 2, 3, 4))
            assert done.tokens <= 600

    def test_drops_what_it_must(self) -> None:
        """Protected messages stay; the result reports the requested budget."""
        done = pruned(SAID, 60, 40)
        assert 4 in done.fitted.kept
        assert 3 not in done.fitted.kept
        assert done.tokens <= done.max_tokens == 60
        assert done.over_budget is None

    def test_says_what_is_over_as_of_the_budget_asked_for(self) -> None:  # B7
        """If the protected messages alone exceed it, the plan is not made again."""
        done = pruned([*SAID[:4], user("x" * 400)], 60, 40)
        assert done.over_budget is not None
        assert (done.tokens, done.over_budget.protected_tokens, done.over_budget.max_tokens) == (100, 100, 60)

    @pytest.mark.parametrize("name", ["anthropic", "gemini"])
    def test_stays_valid_where_it_plans_again(self, name: str) -> None:  # X6
        """The messages dropped by the second plan follow the rules of the format too."""
        rounds = ([user(f"ask {n}"), calls(f"{n}"), results(f"{n}", text=OUTPUT), model()] for n in range(6))
        said = [message for one in rounds for message in one]
        messages = list(decode(encode([*said, user("on")], name), name).messages)
        history = History.of(messages, settings=PLAIN)
        dropped = 0
        for budget in range(100, 1_500, 100):
            done = prune(history, messages, PLAIN, budget, wire_format=name, count=forty_fold)
            dropped += done.plan.max_tokens < budget
            assert done.tokens <= budget
            assert validate(done.wire(messages, name), name, ready=False) == []
        assert dropped

    @given(any_messages, st.integers(0, 500), st.integers(1, 5))
    def test_keeps_units_whole_and_the_budget(
        self, messages: list[Message], budget: int, factor: int
    ) -> None:  # X6
        """The counter may give any number for shortened outputs."""
        done = pruned(messages, budget, factor)
        history = History.of(messages, settings=PLAIN)
        for members in history.units.members.values():
            assert len(set(members) & set(done.fitted.kept)) in (0, len(members))
        assert done.tokens == sum(done.fitted.costs.get(i, history.tokens[i]) for i in done.fitted.kept)
        assert done.over_budget or done.tokens <= budget
