"""The plan of a prune."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.errors import InvalidSettings
from scoring.messages import Message, has_own_words, units_of
from scoring.planning.plan import OverBudget, PrunePlan, plan_prune
from scoring.settings import BLUEPRINT, FORESIGHT, STRATEGY_NAMES, Settings
from tests.scoring.builders import (
    BALANCED,
    any_messages,
    calls,
    history_of,
    in_letters,
    model,
    results,
    system,
    user,
)


def planned(messages: list[Message], tokens: int, settings: Settings = BLUEPRINT, **more: Any) -> PrunePlan:
    """A plan for bare messages."""
    return plan_prune(history_of(messages, settings), settings, tokens, **more)


class TestWhatAlwaysStays:
    """Protected messages."""

    def test_is_kept_above_the_budget_and_flagged(self) -> None:  # B7
        """The flag has the numbers; nothing is dropped silently and nothing raised."""
        plan = planned([system("x" * 400), user(), user("y" * 400)], 50)
        assert plan.kept == (0, 2)
        assert plan.over_budget == OverBudget(protected_tokens=200, max_tokens=50)
        assert str(plan.over_budget) == (
            "what is always kept takes 200 tokens, 150 more than the budget of 50"
        )

    def test_is_the_fresh_tail_at_a_budget_of_zero(self) -> None:  # M4, B7
        """A tail of 3 over a budget of zero keeps all 3, flagged."""
        plan = planned(in_letters("uauau"), 0, replace(BLUEPRINT, fresh_tail=3))
        assert plan.kept == (2, 3, 4)
        assert plan.over_budget is not None

    def test_is_kept_as_the_list_begins_and_ends(self) -> None:  # B7, B8
        """System and 100 users to 1,000 tokens: the system message stays first, the last stays last."""
        plan = planned([system(), *(user("x" * 100) for _ in range(100))], 1_000)
        assert (plan.kept[0], plan.kept[-1]) == (0, 100)
        assert plan.tokens_after <= 1_000

    def test_is_empty_for_an_empty_history(self) -> None:
        """An empty history gives an empty plan."""
        plan = planned([], 0)
        assert (plan.kept, plan.removed, plan.tokens_before, plan.over_budget) == ((), (), 0, None)


class TestChoicesByTheUser:
    """Pins, spared and dropped messages, messages that go first."""

    def test_pins_a_unit(self) -> None:  # B7, X5
        """A pinned result keeps its call."""
        history = history_of([calls("1"), results("1"), user("x" * 400), user()])
        history.pinned.add(1)
        plan = plan_prune(history, BLUEPRINT, 30)
        assert [plan.cause(i) for i in range(4)] == ["pinned", "pinned", "no_room", "last_unit"]

    def test_spares_in_this_plan(self) -> None:  # X5
        """A spared message stays, with that as its reason."""
        plan = planned([user("x" * 40), user(), user()], 13, spare={0})
        assert plan.fate(0) == "protected"
        assert plan.reason(0) == "protected: spared in this plan"

    def test_drops_in_this_plan_even_if_it_fits(self) -> None:  # X5
        """A message that the user drops goes, though there is room, with its whole unit."""
        plan = planned([calls("1"), results("1"), user()], 1_000, drop={1})
        assert plan.removed == (0, 1)
        assert plan.cause(0) == "dropped"

    def test_cannot_drop_a_system_message_or_the_last_unit(self) -> None:  # B7
        """They stay even if the user drops them."""
        assert planned(in_letters("suau"), 1_000, drop={0, 3}).removed == ()

    def test_spares_rather_than_drops(self) -> None:
        """A unit that is both spared and dropped stays."""
        assert planned(in_letters("uuu"), 1_000, spare={0}, drop={0}).removed == ()

    def test_lets_marked_messages_go_before_all_others(self) -> None:  # X5
        """A marked message goes before any other, whatever it scores."""
        history = history_of([user(), model(), user("ERROR: failed"), model(), user()])
        history.drop_first.add(2)
        plan = plan_prune(history, BLUEPRINT, 13)
        assert plan.removed == (2,)
        assert plan.reason(2) == "dropped: marked to drop first"

    def test_drops_a_marked_message_that_is_dropped_by_hand(self) -> None:  # X5
        """A mark to go first does not protect from a drop by hand."""
        history = history_of(in_letters("uau"))
        history.drop_first.add(0)
        assert plan_prune(history, BLUEPRINT, 1_000, drop={0}).removed == (0,)

    def test_keeps_marked_messages_while_everything_fits(self) -> None:  # X5
        """Marked messages stay if everything fits."""
        history = history_of(in_letters("uau"))
        history.drop_first.add(0)
        assert plan_prune(history, BLUEPRINT, 1_000).removed == ()

    def test_keeps_marked_messages_that_still_fit(self) -> None:  # X5
        """If only marked messages have to go, the strategy chooses among them."""
        history = history_of([user(), user("x" * 400), model(), user()])
        history.drop_first |= {0, 1}
        plan = plan_prune(history, BLUEPRINT, 12)
        assert plan.removed == (1,)
        assert plan.cause(0) == "score"


class TestUserWords:
    """The user's own words."""

    SETTINGS = replace(BALANCED, fresh_tail=0, guarded_percent=0.0, counting="four_characters")

    def test_are_kept_before_what_scores_higher(self) -> None:  # X8
        """An instruction survives errors and long outputs."""
        messages = [
            user("never push to main"),
            *(model("ERROR: failed " + "x" * 500) for _ in range(10)),
            user(),
        ]
        plan = planned(messages, 600, self.SETTINGS)
        assert plan.reason(0) == "protected: the user's words"

    @pytest.mark.parametrize(("budget", "kept"), [(40_000, 12), (66_000, 19), (100_000, 20), (400_000, 20)])
    def test_are_kept_up_to_the_lesser_of_20_000_tokens_and_30_percent(
        self, budget: int, kept: int
    ) -> None:  # X8
        """These are the defaults, and the last message counts, too; each message here takes 1,000 tokens."""
        rules = replace(FORESIGHT, fresh_tail=0, guarded_percent=0.0, counting="four_characters")
        talk = [message for n in range(100) for message in (user("x" * 4_000), *[model("y" * 4_000)] * 4)]
        plan = planned(talk, budget, rules)
        spoken = range(0, len(talk), 5)
        assert [i for i in spoken if plan.fate(i) == "protected"] == [0, *spoken[1 - kept :]]

    def test_are_kept_up_to_the_cap_newest_first(self) -> None:  # X8
        """30 % of the budget holds the first and the newest; what is above a quarter of the budget is passed over."""
        messages = [user("x" * 40)] * 10 + [model("x" * 400)] * 3 + [user("x" * 40)]
        plan = planned(messages, 100, self.SETTINGS)
        words = [i for i in range(14) if plan.cause(i) == "user_words"]
        assert words == [0, 9]
        longer = [user("x" * 44)] * 10 + [model("x" * 400)] * 3 + [user("x" * 44)]
        assert [
            i for i, _ in enumerate(longer) if planned(longer, 100, self.SETTINGS).cause(i) == "user_words"
        ] == [0]
        assert planned([user("x" * 120), *messages], 100, self.SETTINGS).cause(0) != "user_words"

    def test_never_make_a_plan_exceed_its_budget(self) -> None:  # X8, B7
        """They are protected only as far as there is room beside what is always kept."""
        plan = planned([system("x" * 360), user("x" * 80), model(), user()], 100, self.SETTINGS)
        assert plan.over_budget is None
        assert plan.fate(1) == "goes"

    def test_are_like_any_others_in_blueprint(self) -> None:  # B6, X8
        """A cap of 0 protects none."""
        assert planned(in_letters("uaaau"), 9).cause(0) == "below_cut"


class TestValidity:
    """Rules that every list has to follow."""

    def test_keeps_the_last_user_message(self) -> None:  # X6
        """The task stays, however much the agent did since."""
        plan = planned([user("the task"), *[model("ERROR: failed " * 9)] * 20], 200)
        assert plan.reason(0) == "protected: the last user message"

    def test_says_when_the_last_user_message_has_no_room(self) -> None:  # X6
        """It is dropped rather than exceed the budget, and the plan names the problem."""
        plan = planned([user("x" * 4_000), model(), model()], 10)
        assert plan.problems == (
            "the last user message takes 1,000 tokens and does not fit beside what is always kept",
        )
        assert plan.tokens_after <= 10

    def test_opens_with_the_user_if_the_format_requires_it(self) -> None:  # X6
        """The user message before what stays is put back if it fits."""
        messages = [user(), model("ERROR: failed"), user()]
        plain, opened = (planned(messages, 8, wire_format=name) for name in ("openai", "anthropic"))
        assert plain.kept == (1, 2)
        assert opened.kept == (2,)
        assert opened.reason(1) == "dropped: the list has to begin with a user message"
        roomy = planned([user("x" * 400), user(), *messages[1:]], 11, wire_format="anthropic")
        assert roomy.kept == (1, 2, 3)

    def test_says_when_it_cannot_open_with_the_user(self) -> None:  # X6
        """The plan names the problem if there is neither room for a line nor a user message."""
        assert "cannot begin" in planned([model(), model()], 5, wire_format="anthropic").problems[0]
        pinned = planned([model(), model("x" * 400), user()], 10, spare={0}, wire_format="anthropic")
        assert pinned.problems == ("a protected message stands before the first user message that stays",)

    @pytest.mark.parametrize("tokens", [-1, 1.5, True, None, "9", float("nan")])
    def test_refuses_an_invalid_budget(self, tokens: Any) -> None:
        """The error asks for a whole number of at least 0."""
        with pytest.raises(InvalidSettings, match="max_tokens: expected a whole number of tokens"):
            planned([user()], tokens)

    def test_refuses_an_unknown_strategy(self) -> None:
        """The error lists the valid strategies."""
        with pytest.raises(
            InvalidSettings, match=r'expected one of foresight, score, newest_first, .*, got "luck"'
        ):
            planned([user()], 1, strategy="luck")

    @pytest.mark.parametrize("name", ["spare", "drop"])
    @pytest.mark.parametrize("position", [2, 5, -1, -2, True, 0.0, None])
    def test_refuses_a_position_that_does_not_exist(self, name: str, position: Any) -> None:
        """Negative positions are refused too, and the error names the field."""
        got = json.dumps(position)
        wanted = rf"^{name}: expected positions in a list of 2 messages, counted from 0, got {got}"
        positions: dict[str, Any] = {name: [position]}
        with pytest.raises(InvalidSettings, match=wanted):
            planned([user(), model()], 100, **positions)


budgets = st.integers(0, 4_000)
presets = st.sampled_from(
    [BLUEPRINT, replace(BALANCED, fresh_tail=3), replace(BALANCED, user_words_tokens=0)]
)
positions = st.frozensets(st.integers(0, 24), max_size=4)


@st.composite
def any_plans(draw: st.DrawFn) -> tuple[list[Message], dict[str, frozenset[int]], PrunePlan]:
    """A plan over any list, with pins, mentions, spared and dropped messages, by any strategy."""
    messages = draw(any_messages)
    settings = draw(presets)
    hand = {
        name: frozenset(p for p in draw(positions) if p < len(messages))
        for name in ("pinned", "drop_first", "spare", "drop")
    }
    history = history_of(messages, settings)
    history.pinned |= hand["pinned"]
    history.drop_first |= hand["drop_first"]
    plan = plan_prune(
        history,
        settings,
        draw(budgets),
        strategy=draw(st.sampled_from(STRATEGY_NAMES)),
        spare=hand["spare"],
        drop=hand["drop"],
        wire_format=draw(st.sampled_from(["", "anthropic", "gemini"])),
    )
    return messages, hand, plan


class TestEveryPlan:
    """Invariants for any list, any budget and any strategy."""

    @given(any_plans())
    def test_accounts_for_every_message(self, made: tuple[Any, Any, PrunePlan]) -> None:  # B8
        """Kept + shortened + removed are all, each once and in order, and the fates agree."""
        messages, _, plan = made
        assert sorted(plan.kept + plan.shortened + plan.removed) == list(range(len(messages)))
        assert all(list(p) == sorted(p) for p in (plan.kept, plan.shortened, plan.removed))
        fates = [plan.fate(i) for i in range(len(messages))]
        assert {i for i, fate in enumerate(fates) if fate == "goes"} == set(plan.removed)
        assert all(plan.reason(i) and plan.cause(i) for i in range(len(messages)))
        going = [plan.reason(i).startswith(("dropped", "summarised")) for i in range(len(messages))]
        assert going == [fate == "goes" for fate in fates]

    @given(any_plans())
    def test_keeps_units_whole(self, made: tuple[list[Message], Any, PrunePlan]) -> None:  # P4, X6
        """No call is parted from its results."""
        messages, _, plan = made
        gone = set(plan.removed)
        assert all(gone.isdisjoint(unit) or gone.issuperset(unit) for unit in units_of(messages))

    @given(any_plans())
    def test_keeps_what_is_protected(self, made: tuple[list[Message], Any, PrunePlan]) -> None:  # B7, X5
        """System messages, the last message, what is pinned and what is spared always stay."""
        messages, hand, plan = made
        gone = set(plan.removed)
        systems = {i for i, m in enumerate(messages) if m.role == "system"}
        assert gone.isdisjoint(systems | {len(messages) - 1} | hand["spare"] | hand["pinned"])

    @given(any_plans())
    def test_stays_within_its_budget_or_says_so(self, made: tuple[Any, Any, PrunePlan]) -> None:  # B7, C5
        """Above the budget only with the flag, and then with nothing but what is always kept."""
        _, _, plan = made
        if plan.over_budget is None:
            assert plan.tokens_after <= plan.max_tokens
        else:
            assert plan.tokens_after == plan.over_budget.protected_tokens > plan.max_tokens

    @given(any_plans())
    def test_keeps_the_last_user_message_or_says_so(self, made: tuple[Any, Any, PrunePlan]) -> None:  # X6
        """If it is dropped, the plan names the problem."""
        messages, _, plan = made
        spoken = [i for i, m in enumerate(messages) if has_own_words(m)]
        assert not spoken or spoken[-1] not in plan.removed or plan.problems

    @given(
        any_messages,
        budgets,
        presets,
        st.sampled_from(STRATEGY_NAMES),
        st.sampled_from(["anthropic", "gemini"]),
    )
    def test_opens_as_required_or_says_so(
        self, messages: list[Message], tokens: int, settings: Settings, strategy: str, name: str
    ) -> None:  # X6
        """A changed list begins with a user message, an opening line or a summary, or the plan names the problem."""
        plan = plan_prune(
            history_of(messages, settings), settings, tokens, strategy=strategy, wire_format=name
        )
        stays = [messages[i] for i in sorted((*plan.kept, *plan.shortened)) if messages[i].role != "system"]
        opened = not stays or (stays[0].role == "user" and not stays[0].results)
        unchanged = not plan.removed and not plan.shortened
        assert opened or unchanged or plan.opening_tokens or plan.summary or plan.problems

    @given(any_messages, budgets, presets)
    def test_is_equal_for_equal_input(
        self, messages: list[Message], tokens: int, settings: Settings
    ) -> None:  # X1
        """Equal input gives an equal plan, down to the reasons."""
        first, second = (planned(messages, tokens, settings) for _ in range(2))
        assert first.kept == second.kept
        assert first.scores == second.scores
        assert [first.reason(i) for i in range(len(messages))] == [
            second.reason(i) for i in range(len(messages))
        ]

    @given(any_messages, presets)
    def test_removes_nothing_if_everything_fits(
        self, messages: list[Message], settings: Settings
    ) -> None:  # B8
        """A budget as large as the list removes nothing."""
        history = history_of(messages, settings)
        assert plan_prune(history, settings, sum(history.tokens)).removed == ()

    def test_outlives_the_growth_of_its_history(self) -> None:
        """A plan's reasons do not change when messages come in after it."""
        history = history_of([calls("1"), user(), user(), user()])
        plan = plan_prune(history, BLUEPRINT, 6)
        before = [(plan.fate(i), plan.reason(i)) for i in range(4)]
        for one in history_of([calls("2"), results("1", "2"), user("x" * 99)]).features:
            history.append(one)
        assert [(plan.fate(i), plan.reason(i)) for i in range(4)] == before


class TestPlanOfAGrowingHistory:
    """A plan depends only on the history at the time when it was made."""

    @pytest.mark.parametrize("strategy", STRATEGY_NAMES)
    @given(before=any_messages, after=any_messages, budget=st.integers(0, 3_000))
    @example(
        before=[user("look at alpha.py"), calls("1"), user("and beta.py"), user()],
        after=[results("1", text="gamma_1.py delta_2.py " * 9)],
        budget=60,
    )
    def test_reads_no_later_message(
        self, strategy: str, before: list[Message], after: list[Message], budget: int
    ) -> None:  # X1, X3
        """Scores, parts and reasons are computed on access; an append in between changes none of them."""
        history, alone = history_of(before, FORESIGHT), history_of(before, FORESIGHT)
        plan = plan_prune(history, FORESIGHT, budget, strategy=strategy)
        history.extend(history_of(after, FORESIGHT).features)
        expected = plan_prune(alone, FORESIGHT, budget, strategy=strategy)
        assert list(plan.scores) == list(expected.scores)
        assert {name: list(column) for name, column in plan.parts.items()} == {
            name: list(column) for name, column in expected.parts.items()
        }
        assert [plan.reason(p) for p in range(len(before))] == [
            expected.reason(p) for p in range(len(before))
        ]
