"""The stages before dropping, one after the other, and the plans that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import FORMATS, decode, encode, validate
from scoring.history import History, reads_traces
from scoring.lists import prune
from scoring.messages import Message, ToolCall, units_of
from scoring.planning.fit import fit
from scoring.planning.plan import PrunePlan, plan_prune
from scoring.planning.stages import STAGES
from scoring.settings import BLUEPRINT, STRATEGY_NAMES, Settings
from scoring.tokens import estimate_message_tokens
from tests.scoring.builders import any_messages, left_by, model, user
from tests.scoring.planning.stages.sessions import OFF, file_text, ran, read, sessions, wrote
from tests.scoring.planning.stages.sessions import STAGES as ANY_STAGES

SAME = file_text("the log")
BOTH = replace(OFF, stage_duplicates=True, stage_superseded=True, user_words_tokens=0)
NEWEST = replace(BOTH, strategy="newest_first")


def planned(messages: list[Message], less: int, settings: Settings = NEWEST, **more: Any) -> PrunePlan:
    """Return a plan that has to free this many tokens."""
    history = History.of(messages, settings=settings)
    for name in ("pinned", "drop_first"):
        getattr(history, name).update(more.pop(name, ()))
    return plan_prune(history, settings, sum(history.tokens) - less, **more)


class TestTheOrder:
    """The order of the stages, and where it ends."""

    SAID = (
        user("go on"), *ran("1", "make", SAME), *read("2", "a.py", file_text("old")), *ran("3", "make", SAME),
        *read("4", "a.py"), model("done"), user("and now?"),
    )  # fmt: skip

    def test_is_that_of_the_table(self) -> None:  # X7
        """Duplicates, superseded reads, then old outputs; dropping comes last."""
        assert list(STAGES) == ["duplicates", "superseded", "outputs"]

    @pytest.mark.parametrize("name", STAGES)
    def test_needs_the_traces_of_messages(self, name: str) -> None:  # X7
        """The history has them if any stage is enabled: its setting has its name."""
        value = "shorten" if isinstance(getattr(OFF, f"stage_{name}"), str) else True
        changed: dict[str, Any] = {f"stage_{name}": value}
        enabled = replace(OFF, **changed)
        assert STAGES[name].is_enabled(enabled)
        assert (reads_traces(OFF), reads_traces(enabled)) == (False, True)

    def test_ends_with_nothing_where_everything_fits(self) -> None:  # X7
        """No output is replaced if everything fits."""
        assert planned(list(self.SAID), 0).shortened == ()

    def test_ends_with_the_first_stage_that_suffices(self) -> None:  # X7
        """If clearing a superseded read is enough, later stages do nothing."""
        plan = planned(list(self.SAID), 20)
        assert (plan.shortened, plan.removed) == ((2,), ())
        assert plan.reason(2) == "cleared: message 7 holds the same output"
        assert plan.reason(1) == "kept: everything fits, with outputs shortened"

    def test_goes_on_to_the_next(self) -> None:  # X7
        """The second stage frees the tokens that the first did not."""
        history = History.of(list(self.SAID))
        plan = planned(list(self.SAID), history.tokens[2])
        assert (plan.shortened, plan.removed) == ((2, 4), ())
        assert plan.reason(4) == "cleared: a.py is read again in message 9"

    def test_ends_with_dropping(self) -> None:  # X7
        """If the stages do not suffice, the strategy drops messages, with the reduced costs."""
        most = planned(list(self.SAID), History.of(list(self.SAID)).tokens[2])
        assert most.removed == ()
        plan = planned(list(self.SAID), most.freed + 1)
        assert (plan.shortened, plan.removed) == ((4,), (1, 2))
        assert plan.tokens_after <= plan.max_tokens

    def test_replaces_no_more_old_outputs_than_necessary(self) -> None:  # X7
        """The oldest outputs go first."""
        said = [m for n in range(4) for m in ran(str(n), "make", file_text(f"log {n}"))] + [user(), user()]
        settings = replace(OFF, stage_outputs="clear", tool_outputs_keep_turns=0, tool_outputs_keep_tokens=0)
        assert planned(said, 20, settings).shortened == (1,)
        assert planned(said, History.of(said).tokens[1], settings).shortened == (1, 3)

    def test_leaves_blueprint_as_it_is(self) -> None:  # X7, B6
        """*Blueprint* has no stages."""
        plan = planned(list(self.SAID), 20, BLUEPRINT)
        assert plan.shortened == ()
        assert plan.removed


class TestChoicesByTheUser:
    """Pins, spared messages, marks to go first and exempt tools come before the stages."""

    def test_keeps_what_is_pinned_or_spared_whole(self) -> None:  # X7, X5
        """A pinned or spared output stays, even if it is repeated."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), user(), user()]
        assert planned(said, 20, spare={1}).shortened == ()
        assert planned(said, 20, pinned={1}).shortened == ()

    def test_relies_on_nothing_that_goes_first(self) -> None:  # X7, X5
        """A message marked to drop first goes before outputs are replaced, and makes no other redundant."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), user(), user()]
        plan = planned(said, 20, drop_first={2})
        assert (plan.shortened, plan.removed) == ((), (2, 3))

    def test_leaves_exempt_tools_alone(self) -> None:  # X7, C8
        """Outputs of exempt tools are never cleared."""
        said = [
            *ran("1", "make", SAME),
            *read("2", "a.py"),
            *ran("3", "make", SAME),
            *read("4", "a.py"),
            user(),
        ]
        exempt = replace(NEWEST, tool_outputs_exempt=("Bash",))
        assert planned(said, 20, exempt).shortened == (3,)


class TestReasons:
    """The reasons of replaced outputs."""

    def test_say_if_the_other_message_goes(self) -> None:  # X3, X7
        """If the newer copy goes because its call scores low, the reason of the older one says so."""
        said = [*ran("1", "ERROR: failed UPDATE: done", SAME), *ran("2", "make", SAME), user(), user()]
        words = type(OFF.weights)({**dict.fromkeys(OFF.weights, 0.0), "keywords": 100.0})
        by_score = replace(BOTH, strategy="score", weights=words)
        plan = planned(said, History.of(said).tokens[3] + 60, by_score)
        assert (plan.shortened, plan.removed) == ((1,), (2, 3))
        assert plan.reason(1) == "cleared: message 4 had the same output, and goes as well"

    def test_say_if_the_other_message_is_shortened(self) -> None:  # X3, X7
        """The reason says that the newest copy is superseded and shortened too."""
        said = [*read("1", "a.py"), *read("2", "a.py"), *wrote("3", "a.py"), user(), user()]
        plan = planned(said, sum(History.of(said).tokens[:2]))
        assert plan.shortened == (1, 3)
        assert plan.reason(1) == "cleared: message 4 had the same output, and is shortened too"
        assert plan.reason(3) == "cleared: a.py is rewritten in message 5"

    def test_name_messages_by_their_numbers(self) -> None:  # X3
        """The numbers are those of the list, not positions in the context."""
        said = [*ran("1", "make", SAME), *ran("2", "make", SAME), user(), user()]
        history = History.of(said)
        history.numbers = [11, 12, 13, 14, 15, 16]
        plan = plan_prune(history, NEWEST, sum(history.tokens) - 20)
        assert plan.reason(1) == "cleared: message 14 holds the same output"

    def test_count_what_else_is_replaced_in_the_message(self) -> None:  # X3
        """A message with several outputs has one reason, with the count of the others."""
        together = [*ran("a", "x", SAME), *ran("b", "y", file_text("y"))]
        both = Message("tool", (*together[1].parts, *together[3].parts))
        said = [
            together[0],
            together[2],
            both,
            *ran("c", "x", SAME),
            *ran("d", "y", file_text("y")),
            user(),
            user(),
        ]
        plan = planned(said, 100)
        assert plan.shortened == (2,)
        assert (
            plan.reason(2)
            == "cleared: message 5 holds the same output, and 1 other output of it is replaced too"
        )


class TestEveryPlan:
    """Promises that hold for any session, any strategy and any stages."""

    @given(sessions(), ANY_STAGES, st.sampled_from(STRATEGY_NAMES), st.floats(0, 1))
    def test_keeps_every_promise_of_a_plan(
        self, messages: list[Message], settings: Settings, strategy: str, share: float
    ) -> None:  # X7, X6, B7, B8
        """Each message once, in order, units whole, protected messages unchanged, within the budget or flagged."""
        history = History.of(messages, settings=settings)
        plan = plan_prune(history, settings, int(sum(history.tokens) * share), strategy=strategy)
        assert sorted((*plan.kept, *plan.shortened, *plan.removed)) == list(range(len(messages)))
        stays = {*plan.kept, *plan.shortened}
        assert all(len(stays & set(unit)) in (0, len(unit)) for unit in units_of(messages))
        assert len(messages) - 1 in plan.kept
        assert plan.over_budget or plan.tokens_after <= plan.max_tokens
        for position in plan.shortened:
            shortening = plan.shortenings[position]
            # One in which lines are only marked counts as whole until its text is made.
            marked_alone = shortening.changed and not shortening.rows
            assert shortening.tokens < history.tokens[position] + bool(marked_alone)
            assert not plan.reason(position).startswith("dropped")

    @given(sessions(), ANY_STAGES, st.sampled_from(STRATEGY_NAMES), st.floats(0, 1))
    def test_never_replaces_what_a_call_was_asked_with(
        self, messages: list[Message], settings: Settings, strategy: str, share: float
    ) -> None:  # X7
        """The arguments of all calls stay as they were, in the plan and in the fitted list."""
        history = History.of(messages, settings=settings)
        plan = plan_prune(history, settings, int(sum(history.tokens) * share), strategy=strategy)
        fitted = fit(plan, history, messages.__getitem__, estimate_message_tokens)
        for position in plan.shortened:
            for short in (
                plan.shortenings[position].apply(messages[position]),
                fitted.replaced.get(position),
            ):
                if short is not None:
                    assert _but_outputs(short) == _but_outputs(messages[position])
                    assert [r.call_id for r in short.results] == [
                        r.call_id for r in messages[position].results
                    ]

    @given(
        sessions(),
        ANY_STAGES,
        st.sampled_from(sorted(FORMATS)),
        st.sampled_from(STRATEGY_NAMES),
        st.floats(0, 1),
    )
    def test_leaves_a_list_that_its_format_accepts(
        self, messages: list[Message], settings: Settings, name: str, strategy: str, share: float
    ) -> None:  # X7, X6
        """A valid list stays valid in every wire format, and no longer than before."""
        listed = encode(messages, name, {})
        if validate(listed, name, ready=False):
            return
        back = list(decode(listed, name).messages)
        history = History.of(back, settings=settings)
        budget = int(sum(history.tokens) * share)
        plan = plan_prune(history, settings, budget, strategy=strategy, wire_format=name)
        if plan.problems or plan.summary:
            return
        assert validate(encode(left_by(plan, back), name, {}), name, ready=False) == []

    @given(sessions(), ANY_STAGES, st.sampled_from(STRATEGY_NAMES), st.floats(0, 1))
    def test_fits_as_it_is_counted_in_the_end(
        self, messages: list[Message], settings: Settings, strategy: str, share: float
    ) -> None:  # X7, C5
        """Fitted to exact numbers, the plan is within its budget too."""
        settings = replace(settings, strategy=strategy)
        history = History.of(messages, settings=settings)
        done = prune(history, messages, settings, int(sum(history.tokens) * share))
        assert done.over_budget or done.tokens <= done.max_tokens

    @given(any_messages, ANY_STAGES, st.sampled_from(STRATEGY_NAMES), st.integers(0, 4_000))
    def test_is_made_of_any_list(
        self, messages: list[Message], settings: Settings, strategy: str, budget: int
    ) -> None:  # X7
        """Orphans, reused ids, broken arguments and empty messages give a plan."""
        plan = plan_prune(History.of(messages, settings=settings), settings, budget, strategy=strategy)
        assert all(plan.reason(i) and plan.cause(i) for i in range(len(messages)))


def _but_outputs(message: Message) -> list[Any]:
    """Return the parts of a message other than tool outputs."""
    return [part for part in message.parts if isinstance(part, ToolCall) or not hasattr(part, "call_id")]
