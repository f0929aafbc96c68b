"""Assembled lists, with the numbers of conformance examples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from scoring.assembly.assembly import build
from scoring.assembly.snapshot import BY_BUDGET, AssemblyConfig, Item, Snapshot
from scoring.budget import TokenBudget
from scoring.errors import UnknownFormat
from scoring.formats import FORMATS
from scoring.messages import FileReference, Message, Reasoning, ToolCall, ToolResult, message
from scoring.settings import Settings
from scoring.summary import Summary
from scoring.tokens import estimate_tool_tokens
from tests.scoring.builders import BALANCED, calls, model, results, system, user


class Words:
    """Counts one token a word and nothing for a message, so that budgets can be written down exactly."""

    message_overhead = call_overhead = result_overhead = 0

    def count(self, text: str) -> int:
        """The words of a text."""
        return len(text.split())


def words(count: int, word: str = "w") -> str:
    """A text of so many tokens."""
    return " ".join([word] * count)


def cleared_ids(messages: Sequence[Message]) -> set[str]:
    """Return the calls whose output is cleared."""
    return {r.call_id for m in messages for r in m.results if "cleared" in r.text}


def by(budget: TokenBudget) -> AssemblyConfig:
    """The rules of a bare budget, counted in words."""
    return AssemblyConfig(BY_BUDGET, budget=budget, counter=Words())


def bare(total: int, tail: int = 0) -> AssemblyConfig:
    """A budget without reserves and shares."""
    return by(TokenBudget(total, 0, 0, 0, 0, tail))


def numbered(count: int, each: int = 10) -> list[Item | Summary]:
    """A conversation of so many messages, numbered from 1, each of so many tokens."""
    made = (user(words(each)) if n % 2 else model(words(each)) for n in range(1, count + 1))
    return [Item(str(n), m) for n, m in enumerate(made, start=1)]


class TestTheBudget:
    """The budget, divided among the parts of a context."""

    def test_is_shared_out(self) -> None:  # M1
        """30,000 less two reserves is available; 15 % go to memories, 5 % to learnings, the rest to history."""
        budget = TokenBudget(30_000, 2_000, 2_000, 0.15, 0.05, 16)
        assert (budget.memory, budget.learnings, budget.history) == (3_900, 1_300, 20_800)

    @pytest.mark.parametrize(("old", "stay"), [(99, 2), (100, 1)])
    def test_counts_the_new_message_first(self, old: int, stay: int) -> None:  # M1
        """Conformance example 7: beside a new message of one token, 99 tokens fit into 100 and 100 do not."""
        snapshot = Snapshot((Item("1", user(words(old))),), new_message=user("hi"))
        assert len(build(snapshot, config=bare(100)).messages) == stay

    def test_of_reserves_alone_leaves_only_the_new_message(self) -> None:  # M1, M2
        """Conformance example 7: reserves equal to the total are accepted."""
        snapshot = Snapshot(tuple(numbered(5)), new_message=user("hi"))
        made = build(snapshot, config=by(TokenBudget(100, 50, 50, 0, 0, 0)))
        assert made.messages == (user("hi"),)
        assert made.over_budget is not None

    def test_gives_history_what_memory_does_not_use(self) -> None:  # M1
        """If no memory was found, history may use the memory's share too."""
        made = build(numbered(10), config=by(TokenBudget(100, 0, 0, 0.15, 0.05, 0)))
        assert made.token_estimate == 100

    def test_counts_the_real_prompt(self) -> None:  # M3
        """A prompt above its reserve takes the excess from history."""
        made = build(numbered(10), "default", words(50), by(TokenBudget(100, 20, 0, 0, 0, 0)))
        assert made.raw_message_tokens == 50
        assert made.token_estimate == 100

    def test_comes_from_the_window_otherwise(self) -> None:  # C5
        """Without a budget of its own it is the window less the output reserve and the buffer."""
        made = build([user()], "claude-3-opus")
        assert made.budget.total == 200_000 - 4_096 - 20_000

    def test_of_a_window_without_usable_tokens_is_zero_and_reported(self) -> None:  # C5
        """The result reports it instead of failing."""
        made = build([user()], config=AssemblyConfig(replace(BALANCED, response_reserve=10_000_000)))
        assert made.budget.total == 0
        assert made.over_budget is not None
        assert "nothing of the window is usable" in made.notes[0]

    def test_gives_the_room_of_memories_to_what_is_always_kept(self) -> None:  # M1, C5
        """If the protected messages need that room, memories are left out and the budget is kept."""
        said = [Item(str(n), user(words(10))) for n in range(4)]
        memories = ["m"]
        config = AssemblyConfig(replace(BALANCED, fresh_tail=4), usable=46, counter=Words())
        with_room = build(Snapshot(said, memories), "default", "Be brief.", replace(config, usable=400))
        without = build(Snapshot(said, memories), "default", "Be brief.", config)
        assert (with_room.memories, without.memories) == (1, 0)
        assert without.over_budget is None
        assert "memories and learnings are left out" in without.notes[-1]


class TestTheOrder:
    """Summaries and messages as they happened."""

    def test_is_that_of_the_session(self) -> None:  # M7
        """The order is the enriched system prompt, summaries in their places, messages, and the new message."""
        items = [Summary("s", words(3)), *numbered(4)]
        snapshot = Snapshot(items, memories=["remember this"], new_message=user("new"))
        made = build(snapshot, "default", "You are.", by(TokenBudget(1_000, 100, 0)))
        assert made.system_prompt.startswith("You are.\n\n## Relevant Memory")
        assert [m.text.split()[0] for m in made.messages] == ["[Summary:", "w", "w", "w", "w", "new"]

    def test_has_a_summary_at_the_place_of_what_it_covers(self) -> None:  # C2, M7
        """The summary is between the messages before and after those it covers."""
        first, *rest = numbered(3)
        made = build([first, Summary("s", "short"), *rest], config=bare(1_000))
        assert made.messages[1].text == "[Summary: depth 1, 0 messages]\nshort"

    def test_heads_a_summary_with_what_it_covers(self) -> None:  # M6
        """The heading gives depth, number of messages and days."""
        summary = Summary("s", "text", 2, 45, "2024-01-15T08:00:00Z", "2024-01-16T09:00:00Z")
        assert summary.heading == "[Summary: depth 2, 45 messages, covers 2024-01-15 to 2024-01-16]"


class TestTheFreshTail:
    """The most recent messages."""

    def test_is_filled_up_with_the_newest_first(self) -> None:  # M4, M5
        """Conformance example 21: of 40, 25 to 40 are the tail, 12 to 24 fill it, 1 to 11 go."""
        made = build(numbered(40), config=bare(290, tail=16))
        assert made.oldest_included_message_id == "12"
        assert len(made.messages) == 29
        assert made.left_out == tuple(str(n) for n in range(1, 12))

    def test_over_a_budget_of_zero_stays_and_is_flagged(self) -> None:  # M4, B7
        """Conformance example 8: all three messages and the new one are sent, and the excess is reported."""
        snapshot = Snapshot(tuple(numbered(6)), new_message=user("hi"))
        made = build(snapshot, config=bare(0, tail=3))
        assert len(made.messages) == 4
        assert made.over_budget is not None
        assert made.over_budget.protected_tokens == 31

    def test_never_begins_with_an_orphan_result(self) -> None:  # M4, P4
        """If the tail would begin with a result, the whole unit with its call is protected."""
        items = [
            *numbered(6),
            Item("c", calls("1", "2")),
            Item("r", results("1")),
            Item("q", results("2")),
            Item("u", user()),
        ]
        made = build(items, config=bare(12, tail=2))
        assert [m.role for m in made.messages][-4:] == ["assistant", "tool", "tool", "user"]
        assert made.messages[-4].calls

    def test_holds_at_least_the_recent_messages_of_the_settings(self) -> None:  # S2
        """A fresh tail smaller than `min_recent_messages` is extended."""
        config = AssemblyConfig(replace(BALANCED, fresh_tail=2, min_recent_messages=8))
        assert config.tail == 8


class TestSummaries:
    """Summaries in the assembled list."""

    def test_too_large_does_not_starve_the_others(self) -> None:  # M6
        """Conformance example 9: one huge early summary is left out, two small later ones are sent."""
        items = [Summary("a", words(500)), Summary("b", words(5)), Summary("c", words(5)), *numbered(4)]
        made = build(items, config=bare(70))
        assert made.summaries_left_out == ("a",)
        assert [m.text.split("\n")[-1] for m in made.messages[:2]] == [words(5), words(5)]
        assert "summary a does not fit and is left out" in made.notes

    def test_come_before_older_messages(self) -> None:  # M6
        """If there is room for one of the two, the summary is kept."""
        made = build([Summary("s", words(5)), *numbered(4)], config=bare(30, tail=1))
        assert made.has_summary
        assert made.raw_message_tokens <= 20

    def test_of_a_hundred_thousand_tokens_never_break_the_budget(self) -> None:  # C5, S2
        """Conformance example 13: the result fits the usable 36,000 tokens."""
        items = [Summary("s", words(100_000)), *numbered(20)]
        made = build(items, config=AssemblyConfig(BY_BUDGET, usable=36_000, counter=Words()))
        assert made.token_estimate <= 36_000
        assert not made.has_summary

    def test_above_their_share_are_left_out_and_reported(self) -> None:  # S2
        """Summaries may use 30 % of the available tokens; what is above is left out and reported."""
        config = AssemblyConfig(BY_BUDGET, usable=1_000, counter=Words())
        assert build([Summary("s", words(290)), *numbered(2)], config=config).has_summary
        made = build([Summary("s", words(300)), *numbered(2)], config=config)
        assert made.summaries_left_out == ("s",)

    def test_are_written_if_the_strategy_summarises(self) -> None:  # C2, C5
        """A summary is placed at the first message it covers; the same list gives the same bytes."""
        said = [Item(str(n), user(f"{n} " + "use src/parser.py for it " * 60)) for n in range(40)]
        rules = replace(BALANCED, fresh_tail=2, user_words_tokens=0)
        config = AssemblyConfig(rules, usable=6_000, strategy="summarise")
        made = build(said, config=config)
        assert made.has_summary
        assert made.token_estimate <= 6_000
        assert made.messages[0].text.startswith(f"[Summary: depth 1, {len(made.left_out)} messages]")
        assert f"a summary made for this list replaces {len(made.left_out)} messages" in made.notes
        assert build(said, config=config) == made


class TestOutputs:
    """Tool outputs in what the model is sent."""

    def test_that_repeat_are_cleared_before_messages_are_left_out(self) -> None:  # X7, C2
        """A repeated output is cleared before old messages are left out, in a bare list too."""
        said = [m for n in "123" for m in (calls(n), results(n, text=words(500)))]
        said += [user("on") for _ in range(9)]
        rules = replace(BALANCED, strategy="newest_first", fresh_tail=2, user_words_tokens=0)
        made = build(said, config=AssemblyConfig(rules, usable=1_000, counter=Words()))
        assert cleared_ids(made.messages) == {"1", "2"}
        assert len(made.messages) == len(said)
        off = replace(rules, stage_duplicates=False, stage_superseded=False)
        gone = build(said, config=AssemblyConfig(off, usable=1_000, counter=Words()))
        assert cleared_ids(gone.messages) == set()
        assert len(gone.messages) < len(said)


class TestTheNewestMessage:
    """The newest message is the only one that an assembly shortens."""

    def test_above_the_usable_budget_is_shortened_and_reported(self) -> None:  # C2, C5
        """Conformance example 13: it is shortened to the usable budget, and the result says so."""
        made = build(
            [*numbered(3), Item("new", user(words(50_000)))],
            config=AssemblyConfig(usable=36_000, counter=Words()),
        )
        assert made.newest_cut
        assert made.over_budget is None
        assert made.token_estimate <= 36_000
        assert "the newest message is cut from 50,000 to" in made.notes[0]
        assert len(made.messages) == 4

    def test_is_whole_if_it_fits(self) -> None:  # C2
        """It is kept whole even if no other message fits."""
        made = build([*numbered(20), Item("new", user(words(95)))], config=bare(100))
        assert made.messages == (user(words(95)),)
        assert not made.newest_cut


class TestToolOutputs:
    """Outputs that were cleared, and files by reference."""

    def test_that_are_compacted_are_replaced_by_a_tombstone(self) -> None:  # C3
        """Conformance example 12: the output is gone from the context, while its call keeps the arguments."""
        output = message("tool", "", ToolResult("1", words(300, "secret"), "read"))
        items = [
            Item("u", user()),
            Item("c", calls("1")),
            Item("r", output, compacted_at="2024-01-15T12:00:00Z"),
        ]
        made = build(items, config=bare(1_000))
        assert "secret" not in "".join(m.text for m in made.messages)
        assert "output of read cleared at 2024-01-15T12:00:00Z" in made.messages[2].text
        assert made.messages[1].calls == (ToolCall("1", "read", '{"path": "a.py"}'),)

    def test_before_a_summary_are_not_cleared(self) -> None:  # C8
        """Clearing never goes back beyond a summary."""

        def turn(n: int) -> list[Item | Summary]:
            output = message("tool", "", ToolResult(f"c{n}", words(900), "read"))
            said = (user(f"q{n}"), message("assistant", "", ToolCall(f"c{n}", "read", "{}")), output)
            return [Item(f"{n}.{i}", one) for i, one in enumerate(said)]

        rules = {"tool_outputs_keep_turns": 1, "tool_outputs_keep_tokens": 0, "tool_outputs_minimum_gain": 0}
        settings = Settings.from_dict({**rules, "strategy": "tool_outputs_first", "user_words_tokens": 0})
        config = AssemblyConfig(replace(settings, min_recent_messages=1), usable=3_000)
        late, early = (
            build([*turn(0), *turn(1), *turn(2), *turn(3)], config=config),
            build([*turn(0), *turn(1), Summary("s", "text"), *turn(2), *turn(3)], config=config),
        )
        assert cleared_ids(late.messages) == {"c0", "c1", "c2"}
        assert cleared_ids(early.messages) == {"c2"}

    def test_are_counted(self) -> None:  # C1
        """Outputs count among the tokens of messages."""
        made = build([user("a b"), calls("1"), results("1", text=words(7))], config=bare(1_000))
        assert made.tool_output_tokens == 8
        assert made.raw_message_tokens == 2 + 5 + 8 - 1

    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_files_are_in_whole_blocks(self, name: str) -> None:  # C4
        """Conformance example 12: path, content id, type, tokens and summary between both markers, in any format."""
        file = FileReference("src/a.py", "sha1:7", "text/x-python", 120, "It holds a parser.")
        made = build(Snapshot((Item("1", message("user", "look", file)),), format=name))
        fields = ("id: sha1:7", "type: text/x-python", "tokens: 120", "It holds a parser.")
        block = "\\n".join(("[FILE: src/a.py]", *fields, "[/FILE]"))
        assert block in json.dumps(made.messages[0])


class TestTheResult:
    """The result of an assembly as a value."""

    def test_is_in_the_format_that_came_in(self) -> None:  # C1
        """Unchanged messages are the same objects that were passed in."""
        given = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
        made = build(given, "gpt-5", "You are.")
        assert all(a is b for a, b in zip(made.messages, given, strict=True))
        assert made.oldest_included_message_id == "0"

    def test_takes_a_request_body_with_its_tools(self) -> None:  # P1
        """Tool definitions count, and are a region of their own."""
        tools = [{"name": "read", "input_schema": {"a": 1}}]
        made = build({"messages": [{"role": "user", "content": "hi"}], "tools": tools}, "claude-3-opus")
        assert made.token_estimate == estimate_tool_tokens(tools) + made.raw_message_tokens

    def test_of_the_same_state_is_the_same(self) -> None:  # P9
        """Two assemblies of the same state are equal in every field."""
        snapshot = Snapshot([Summary("s", "text"), *numbered(40)], memories=["one"], learnings=["two"])
        assert build(snapshot, config=bare(200, 4)) == build(snapshot, config=bare(200, 4))

    def test_of_an_empty_session_has_no_messages(self) -> None:
        """An empty session has a prompt and no messages."""
        made = build([], "gpt-5", "You are.")
        assert made.messages == ()
        assert made.oldest_included_message_id is None

    def test_refuses_items_that_are_not_messages(self) -> None:
        """A list whose items are not messages is an error."""
        with pytest.raises(UnknownFormat):
            build([1, 2, 3])


class TestRepairs:
    """Repairs of lists that are not valid."""

    def test_are_reported_and_leave_the_input_alone(self) -> None:  # P4, X6
        """Conformance example 18: an orphan, an open call and a second result are reported and repaired."""
        given = (
            user(),
            results("gone"),
            calls("1"),
            results("1"),
            results("1", text="again"),
            calls("2"),
            user(),
        )
        before = tuple(given)
        made = build(given)
        assert given == before
        assert len(made.notes) == 3
        assert [m.role for m in made.messages] == ["user", "assistant", "tool", "assistant", "tool", "user"]

    def test_begin_a_list_with_the_user_where_the_format_asks(self) -> None:  # X6
        """A list that lost its beginning gets an opening user message, if the format requires one."""
        made = build([model(), user()], config=AssemblyConfig(format="anthropic"))
        assert made.messages[0].role == "user"
        assert len(made.messages) == 3

    @pytest.mark.parametrize("left_out", [user(""), user("  "), Message("assistant", (Reasoning("hm"),))])
    def test_begin_a_list_by_what_is_written_of_it(self, left_out: Message) -> None:  # X6
        """Empty messages and thoughts of another format are left out, so the one behind them begins the list."""
        config = AssemblyConfig(format="anthropic")
        assert build([left_out, user(), model()], config=config).notes == ()
        assert len(build([left_out, model(), user()], config=config).notes) == 1

    def test_put_a_user_into_a_list_without_one(self) -> None:  # X6, P2
        """Providers require a user message; a missing system message is not added."""
        made = build([system(), model()])
        assert [m.role for m in made.messages] == ["system", "user", "assistant"]


def test_messages_can_be_typed() -> None:
    """A list of our own messages comes back as such."""
    made = build([user("hi")])
    assert isinstance(made.messages[0], Message)
