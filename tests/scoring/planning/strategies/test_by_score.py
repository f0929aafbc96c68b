"""The strategy *score*: the highest first, skipping units that do not fit."""

from __future__ import annotations

from dataclasses import replace

from scoring.history import History
from scoring.planning.plan import plan_prune
from scoring.settings import BLUEPRINT, FORESIGHT
from tests.scoring.builders import calls, history_of, in_letters, model, results, system, user
from tests.scoring.planning.stages.sessions import ran


class TestTheWorkedExample:
    """[system, user1, model1, user2, model2, user3] with room for four."""

    def test_keeps_system_user2_model2_user3(self) -> None:  # B6
        """The message with the lowest score goes."""
        plan = plan_prune(history_of(in_letters("suauau")), BLUEPRINT, 4 * 3)
        assert plan.kept == (0, 3, 4, 5)

    def test_says_which_scores_are_below_the_cut(self) -> None:  # X3
        """Reasons contain the scores and the cut."""
        plan = plan_prune(history_of(in_letters("suauau")), BLUEPRINT, 4 * 3)
        assert plan.reason(1) == "dropped: score 20 below the cut at 34"
        assert plan.reason(3) == "kept: score 36, the cut is at 34"
        assert [plan.cause(i) for i in range(6)] == [
            *("system", "below_cut", "below_cut", "score", "score", "last_unit"),
        ]


class TestByScore:
    """The units that it keeps."""

    def test_skips_units_that_do_not_fit(self) -> None:  # B8
        """One enormous message in the middle does not stop older small ones from being kept."""
        messages = [user("old"), user("older"), model("x" * 40_000), user("new")]
        plan = plan_prune(history_of(messages), BLUEPRINT, 100)
        assert plan.kept == (0, 1, 3)
        assert plan.cause(2) == "too_large"
        assert plan.reason(2) == "dropped: score 35, but it did not fit beside higher scores"

    def test_keeps_the_newer_of_two_equals(self) -> None:
        """Among equal scores recency decides, also where its weight is 0."""
        settings = BLUEPRINT.from_dict({"weights": {"recency": 0}}, BLUEPRINT)
        plan = plan_prune(history_of([user()] * 4), settings, 6)
        assert plan.kept == (2, 3)

    def test_says_when_there_was_no_room_at_all(self) -> None:  # X3
        """If protected messages leave no room, there is no cut."""
        plan = plan_prune(history_of([system("x" * 400), user(), user()]), BLUEPRINT, 104)
        assert plan.cause(1) == "no_room"
        assert plan.reason(1) == "dropped: does not fit beside the protected"

    def test_says_whose_score_decides_over_a_call_with_its_results(self) -> None:  # X3
        """The best score of the unit is named as that, because each of its messages is shown with its own."""
        messages = [*([user()] * 3), calls("c"), results("c", text="error: it failed"), *([user()] * 5)]
        plan = plan_prune(history_of(messages), BLUEPRINT, 6)
        assert [round(plan.scores[i]) for i in (3, 4)] == [22, 41]
        below = "best score 41 of its call and results below the cut at 52"
        assert [plan.reason(i) for i in (3, 4)] == [f"dropped: {below}"] * 2
        wider = plan_prune(history_of(messages), BLUEPRINT, 28)
        assert wider.reason(3) == "kept: best score 41 of its call and results, the cut is at 40"

    def test_tells_close_scores_apart(self) -> None:  # X3
        """A score below the cut never reads as equal to it."""
        messages = [user() for _ in range(1_000)]
        plan = plan_prune(history_of(messages), BLUEPRINT, 1_500)
        assert plan.reason(plan.removed[-1]) == "dropped: score 39.96 below the cut at 40.00"


class TestOutdatedUnits:
    """A failure, replaced by a later run of the same command that passed."""

    def test_stay_only_beside_what_replaces_them(self) -> None:  # X23
        """Alone the failure would read as the state of things, however high its score is."""
        settings = replace(FORESIGHT, strategy="score", guarded_percent=0.5, user_words_tokens=0)
        failed, passed = "ValueError: the build failed", "3 passed" + "\nand so on" * 90
        said = [user("go"), *ran("0", "make", "line " * 900), *ran("1", "pytest tests", failed),
                *ran("2", "pytest tests", passed), user("on")]  # fmt: skip
        history = History.of(said, settings=settings)
        plans = [
            plan_prune(history, settings, sum(history.tokens) * share // 100) for share in range(10, 100, 2)
        ]
        assert any(3 in plan.kept for plan in plans)
        assert all(5 in plan.kept for plan in plans if 3 in plan.kept)
        assert any("something newer" in plan.reason(3) for plan in plans)
