"""Pruning, summarising and measuring plain message lists."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from scoring.assembly import AssemblyConfig, build
from scoring.errors import MalformedMessage, ScoringError, UnknownFormat
from scoring.formats import validate
from scoring.lists.functions import (
    auto_manage_context,
    get_context_stats,
    prune_context,
    score_context_importance,
    summarize_context,
)
from scoring.settings import BLUEPRINT

Wire = dict[str, Any]
FORMER = replace(BLUEPRINT, strategy="newest_first")
AT_SIXTY = replace(FORMER, target_percent=0.06, aim_percent=0.06)


def said(role: str, text: str) -> Wire:
    """A message in the chat format."""
    return {"role": role, "content": text}


def called(call_id: str) -> Wire:
    """A tool call in the chat format."""
    function = {"name": "read", "arguments": '{"path": "a.py"}'}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def answered(call_id: str, text: str = "fine") -> Wire:
    """Its result."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def gemini(role: str, text: str) -> Wire:
    """A content of Gemini's."""
    return {"role": role, "parts": [{"text": text}]}


USERS = [said("user", "x" * 100) for _ in range(100)]


class TestPruning:
    """`prune_context`."""

    def test_cuts_to_the_budget(self) -> None:  # B7, B8
        """100 messages of 100 characters to 500 tokens: final <= 500; system first, last stays last."""
        result = prune_context(list(USERS), 500)
        assert result.stats == {"original": 2_500, "final": 500, "itemsRemoved": 80, "itemsKept": 20}
        system = said("system", "be brief")
        result = prune_context([system, *USERS], 1_000)
        assert result.pruned[0] is system
        assert result.pruned[-1] is USERS[-1]
        assert result.stats["final"] <= 1_000

    @pytest.mark.parametrize("tokens", [500, 6])
    def test_keeps_the_error(self, tokens: int) -> None:  # B4
        """Of [hello, ERROR: Failed, goodbye] the error stays at any budget with room for two."""
        history = [said("user", text) for text in ("hello", "ERROR: Failed", "goodbye")]
        assert history[1] in prune_context(history, tokens).pruned

    def test_gives_back_the_same_objects_in_order(self) -> None:  # B8
        """Kept and removed messages together are the list, as the same objects."""
        history = [
            said("system", "s"),
            *(said("user", f"message {i}") for i in range(20)),
            called("1"),
            answered("1"),
        ]
        result = prune_context(history, 20)
        places = {id(m): i for i, m in enumerate(history)}
        assert sorted(places[id(m)] for m in result.pruned + result.removed) == list(range(len(history)))
        assert [places[id(m)] for m in result.pruned] == sorted(places[id(m)] for m in result.pruned)

    def test_places_a_summary_if_the_settings_ask_for_one(self) -> None:  # S4, C2, B8
        """The summary is at the place of the first message it covers; the rest are the same objects."""
        history = [
            said("system", "be brief"),
            *(said("user", f"{i} " + "words of it " * 60) for i in range(30)),
        ]
        settings = replace(BLUEPRINT, strategy="summarise")
        result = prune_context(history, 3_000, settings=settings)
        assert result.pruned[1]["content"] == result.summary
        assert result.summary.startswith(f"[Summary: depth 1, {len(result.removed)} messages]")
        assert [*result.pruned[:1], *result.removed, *result.pruned[2:]] == history
        assert result.stats["itemsKept"] + result.stats["itemsRemoved"] == len(history)
        assert result.stats["final"] <= 3_000
        assert result.stats["final"] == get_context_stats(result.pruned).tokens

    @pytest.mark.parametrize("last", [False, True])
    def test_places_a_summary_after_the_compaction_of_the_provider(self, last: bool) -> None:  # C2, C7
        """The provider ignores what comes before it. Also an assembly, which makes such a summary for one list."""
        compacted = {"type": "compaction", "id": "c", "encrypted_content": "gAAA" * 50}
        turn = [{"type": "message", "role": "user", "content": "go on " * 40},
                {"type": "message", "role": "assistant", "content": "done " * 80}]  # fmt: skip
        listed = [*turn * 20, compacted] if last else [*turn * 3, compacted, *turn * 20]
        rules = replace(BLUEPRINT, strategy="summarise")
        for sent in (
            prune_context(listed, 1_500, settings=rules).pruned,
            build(listed, config=AssemblyConfig(settings=rules, usable=1_500)).messages,
        ):
            assert "[Summary" in sent[sent.index(compacted) + 1]["content"]

    def test_begins_with_the_user_before_a_compaction(self) -> None:  # C2, X6
        """The summary, which is in the user's role, stands after the compaction."""
        compacted = {"role": "assistant", "content": [{"type": "compaction", "content": "What was done."}]}
        listed = [*[said("user", "go on " * 40), said("assistant", "done " * 80)] * 2, compacted]
        listed += [said("user", "go on " * 40), said("assistant", "done " * 80)] * 20
        rules = replace(BLUEPRINT, strategy="summarise")
        sent = prune_context(listed, 1_500, settings=rules, format="anthropic").pruned
        assert "[Summary" in str(sent[sent.index(compacted) + 1]["content"])
        assert sent[0]["role"] == "user"
        assert validate(sent, "anthropic", ready=False) == []

    def test_returns_the_list_itself_if_nothing_has_to_go(self) -> None:  # B8, B12
        """A list that ends in a system message is returned with that message once."""
        history = [said("user", "hello"), said("system", "be brief")]
        result = prune_context(history, 1_000)
        assert result.pruned is history
        assert result.removed == []
        assert result.stats["itemsKept"] == 2

    def test_takes_zero_as_zero(self) -> None:  # B9
        """A budget of 0 keeps only protected messages, and the result has the numbers."""
        result = prune_context([said("user", "x" * 40), said("user", "y" * 40)], 0)
        assert len(result.pruned) == 1
        assert result.over_budget is not None
        assert (result.over_budget.protected_tokens, result.over_budget.max_tokens) == (10, 0)

    @pytest.mark.parametrize(
        ("model", "limit"), [("default", 80_000), ("claude-sonnet-4-5", 160_000), ("gpt-5", 102_400)]
    )
    def test_cuts_to_eighty_percent_by_default(self, model: str, limit: int) -> None:  # B9, B13
        """The aim of the preset is 80 % of the model's window."""
        history = [said("user", "x" * 40_000) for _ in range(30)]
        final = prune_context(history, model=model).stats["final"]
        assert limit - 10_000 < final <= limit

    def test_keeps_calls_with_their_results(self) -> None:  # P4, X6
        """A result is removed together with its call."""
        history = [said("user", "x" * 80), called("1"), answered("1", "y" * 400), said("user", "z")]
        result = prune_context(history, 60)
        assert result.removed == history[1:3]

    def test_opens_with_the_user_where_the_format_asks(self) -> None:  # X6
        """A Gemini list never begins with the model, whatever the scores are."""
        history = [gemini("user", "hi"), gemini("model", "ERROR: failed"), gemini("user", "x" * 8)]
        assert prune_context(history, 6).pruned == history[2:]

    @pytest.mark.parametrize("model", ["claude-sonnet-4-6", "gemini-2.5-pro"])
    def test_opens_with_the_user_where_the_model_asks(self, model: str) -> None:  # X6
        """A list of LangChain or of chat completions is sent in the order that it has."""
        for kinds in (("human", "ai", "type"), ("user", "assistant", "role")):
            asks, answers, key = kinds
            turn = [{key: asks, "content": "go " * 400}, {key: answers, "content": "done"}]
            listed = [*turn * 8, {key: asks, "content": "next"}]
            assert prune_context(listed, 60, model=model, settings=FORMER).pruned[0][key] == asks
            assert prune_context(listed, 60, model="gpt-5", settings=FORMER).pruned[0][key] == answers
            built = build(listed, model, config=AssemblyConfig(settings=FORMER, usable=400))
            assert built.messages[0][key] == asks

    def test_works_on_an_empty_list(self) -> None:
        """An empty list gives an empty list."""
        history: list[Wire] = []
        assert prune_context(history, 10).pruned is history
        assert score_context_importance([]) == []

    def test_has_frozen_results(self) -> None:  # B9
        """A result cannot be changed."""
        with pytest.raises(FrozenInstanceError):
            prune_context([], 1).stats = {}  # type: ignore[misc]

    @pytest.mark.parametrize("history", [[3], ["x"], [None], [{"role": "user"}, 7]])
    def test_says_what_it_cannot_read(self, history: list[Any]) -> None:
        """The error is one of ours, and says what cannot be read."""
        with pytest.raises(ScoringError):
            prune_context(history, 10)

    def test_names_the_message_it_cannot_read(self) -> None:
        """The error has the index, counted from 0."""
        with pytest.raises(MalformedMessage, match="message 1"):
            prune_context([said("user", "a"), {"role": "user", "content": 3}], 10)


def thoughtful(turns: int) -> list[Wire]:
    """Return turns of Claude, each with a signed thought, and a last question."""
    listed: list[Wire] = []
    for n in range(turns):
        thought = {"type": "thinking", "thinking": "hm", "signature": "s" * 40}
        blocks = [thought, {"type": "text", "text": f"answer {n}"}]
        listed += [said("user", f"question {n} " + "words " * 100), {"role": "assistant", "content": blocks}]
    return [*listed, said("user", "next")]


def thinks(item: Wire) -> bool:
    """Return whether an object has a thought."""
    return any(block["type"] == "thinking" for block in item["content"] if isinstance(block, dict))


class TestThoughts:
    """Newer Claude models refuse a thought after any other history than its own."""

    def test_behind_a_change_are_left_out(self) -> None:  # X6, B9
        """Everything before it stays the same object; the numbers are those of the result."""
        listed = thoughtful(8)
        result = prune_context(listed, 1_000, settings=FORMER)
        assert result.removed
        assert not any(map(thinks, result.pruned))
        assert result.stats["final"] == get_context_stats(result.pruned, format="anthropic").tokens
        assert all(thinks(item) for item in listed if item["role"] == "assistant")

    def test_before_a_change_stay(self) -> None:  # B8
        """The largest message goes, which comes after the first thoughts."""
        listed = [*thoughtful(2), said("user", "large " * 2_000), said("assistant", "yes"), *thoughtful(2)]
        result = prune_context(listed, 1_500, settings=BLUEPRINT)
        assert result.pruned[:4] == listed[:4]
        assert [thinks(item) for item in result.pruned[:4]] == [False, True, False, True]
        assert not any(map(thinks, result.pruned[4:]))

    def test_are_left_out_behind_a_summary(self) -> None:  # B10
        """The kept messages follow a history that is not theirs any more."""
        listed = thoughtful(8)
        result = summarize_context(listed, 4)
        assert len(result.summarized) == 4
        assert not any(map(thinks, result.summarized))
        assert summarize_context(listed, 100).summarized == listed

    def test_are_left_out_of_an_assembly_that_leaves_messages_out(self) -> None:  # C2
        """One that leaves nothing out sends the same objects."""
        listed = thoughtful(8)
        assert build(listed, config=AssemblyConfig(usable=10_000)).messages == tuple(listed)
        cut = build(listed, config=AssemblyConfig(usable=600))
        assert 2 < len(cut.messages) < len(listed)
        assert not any(map(thinks, cut.messages))


class TestTheFormat:
    """The `format` of a list that could be in several."""

    TEXTS = [said("user", "x " * 200), *(said("assistant", f"ERROR: failed {n}") for n in range(6))]  # noqa: RUF012

    def test_is_followed_by_a_prune(self) -> None:  # X6
        """A list of plain texts named as Anthropic's begins with the user; the same list named as OpenAI's need not."""
        listed = [*self.TEXTS, said("user", "on")]
        guessed = prune_context(listed, 60, settings=FORMER)
        assert guessed.pruned[0]["role"] == "assistant"
        for result in (
            prune_context(listed, 60, settings=FORMER, format="anthropic"),
            auto_manage_context(listed, settings=AT_SIXTY, format="anthropic"),
        ):
            assert result.problems == ()
            assert validate(result.pruned, "anthropic", ready=False) == []
            assert result.stats["final"] <= 60

    def test_is_followed_by_an_assembly(self) -> None:  # X6, C2
        """An assembly follows the named format too."""
        listed = [*self.TEXTS, said("user", "on")]
        config = AssemblyConfig(replace(FORMER, min_recent_messages=1), usable=60)
        built = build(listed, config=config, format="anthropic")
        assert validate(list(built.messages), "anthropic", ready=False) == []
        assert built.token_estimate <= 60

    def test_is_accepted_by_all_functions(self) -> None:
        """Each function takes `format`, and refuses an unknown one."""
        for function in (
            prune_context, auto_manage_context, get_context_stats, score_context_importance, summarize_context, build,
        ):  # fmt: skip
            function(self.TEXTS, format="openai")
            with pytest.raises(UnknownFormat, match="morse"):
                function(self.TEXTS, format="morse")


class TestScoring:
    """`score_context_importance`."""

    def test_is_the_worked_example_in_any_format(self) -> None:  # B1-B6
        """The scores are 70, 20, 18, 36, 34, 60 in every format; `model` is assistant."""
        roles = ("system", "user", "model", "user", "model", "user")
        chat = [said("assistant" if r == "model" else r, "plain") for r in roles]
        expected = [70.0, 20.0, 18.0, 36.0, 34.0, 60.0]
        assert score_context_importance(chat) == expected
        assert score_context_importance([gemini(r, "plain") for r in roles[1:]])[-1] == 60.0

    def test_reads_roles_by_their_other_names(self) -> None:  # B3
        """`developer` is system, `function` is tool."""
        function = {"role": "function", "name": "read", "content": "ok"}
        scores = score_context_importance([said("developer", "rules"), function, said("user", "hi")])
        assert scores[0] == 70.0
        assert scores[1] == 10.0

    def test_does_not_read_keys_as_words(self) -> None:  # B4
        """`tool_calls`, `function` and the keys of arguments are no words of a message."""
        assert score_context_importance([said("user", "a"), called("1"), said("user", "b")])[
            1
        ] == pytest.approx(40 / 3 + 10)


class TestMeasuring:
    """`get_context_stats` and `auto_manage_context`."""

    def test_of_a_short_history_is_above_zero(self) -> None:  # B11
        """A few characters of a large window are more than 0 %."""
        stats = get_context_stats([said("user", "hello")])
        assert (stats.items, stats.tokens, stats.limit, stats.needsPruning) == (1, 2, 100_000, False)
        assert stats.utilizationPercent == pytest.approx(0.002)

    def test_is_not_capped(self) -> None:  # B11
        """Three times the window is 300 %."""
        stats = get_context_stats([said("user", "x" * 1_200_000)])
        assert stats.utilizationPercent == 300
        assert stats.needsPruning

    def test_needs_pruning_above_the_target_only(self) -> None:  # B11, B12
        """80,000 tokens of 100,000 are not above a target of 80 %."""
        full = [said("user", "x" * 80_000) for _ in range(4)]
        assert not get_context_stats(full).needsPruning
        assert auto_manage_context(full).pruned is full
        assert auto_manage_context(full, settings=replace(BLUEPRINT, aim_percent=60)).pruned is full
        more = [*full, said("user", "more")]
        assert get_context_stats(more).needsPruning
        result = auto_manage_context(more)
        assert result.pruned is not more
        assert result.stats["final"] <= 80_000


class TestSummarising:
    """`summarize_context`."""

    def test_counts_what_it_stands_for(self) -> None:  # B10
        """30 messages with `max_items` 10: 20 are summarised, 10 kept."""
        history = [said("user" if i % 2 == 0 else "assistant", f"{i}") for i in range(30)]
        result = summarize_context(history)
        assert result.stats == {"summarizedItems": 20, "keptItems": 10}
        assert result.summary == "Previous 20 turns: 10 user messages, 10 model responses, 0 tool calls"
        assert result.summarized == history[20:]

    def test_is_worded_as_specified(self) -> None:  # B10
        """The words are `Previous 50 turns: 25 user messages, …`."""
        talk = [said("user", "a"), said("assistant", "b")] * 15
        work = [m for i in range(10) for m in (said("user", "do"), called(f"{i}"))]
        summary = summarize_context([*talk, *work, said("user", "last")], max_items=1).summary
        assert summary == "Previous 50 turns: 25 user messages, 25 model responses, 10 tool calls"

    def test_leaves_system_messages(self) -> None:  # B10
        """They stay and do not count."""
        history = [said("system", "s"), *(said("user", f"{i}") for i in range(5))]
        result = summarize_context(history, 2)
        assert result.summarized == [history[0], *history[4:]]
        assert result.stats == {"summarizedItems": 3, "keptItems": 2}

    def test_never_tears_a_unit_apart(self) -> None:  # B10, P4
        """The call of a kept result is kept."""
        history = [said("user", "a"), called("1"), answered("1"), said("user", "b")]
        assert summarize_context(history, 2).summarized == history[1:]

    @pytest.mark.parametrize("keep", [10, 3, 0])
    def test_of_a_short_list_is_empty(self, keep: int) -> None:  # B10
        """A list within `max_items` gives no summary; `max_items` of 0 summarises all."""
        history = [said("user", "a")]
        result = summarize_context(history, keep)
        assert (result.summary == "") == (keep > 0)
        assert summarize_context([], keep).stats == {"summarizedItems": 0, "keptItems": 0}
