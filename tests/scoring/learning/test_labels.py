"""Labels of needed content."""

from __future__ import annotations

from scoring.learning.labels import (
    AHEAD,
    LEAST_BEFORE,
    LONGEST,
    case_at,
    case_of_judgements,
    cuts_of,
    needed_names,
)
from tests.scoring.builders import calls, model, results, user
from tests.scoring.learning.talks import features_of

READ = '{"path": "src/parser_rules.py"}'


class TestNeededNames:
    """Names in the agent's next messages that it could only know from earlier messages."""

    def test_are_names_that_stand_before_the_cut(self) -> None:  # X15
        """Names that are new could not have been kept from before."""
        features = features_of(user("see parse_rules"), model("parse_rules calls fold_rows"))
        assert needed_names(features, 1) == (frozenset({"parse_rules"}),)

    def test_are_not_what_was_said_again_in_between(self) -> None:  # X15
        """A name said again counts as known from the later message, of any role."""
        features = features_of(
            *(user("parse_rules, fold_rows"), model("first parse_rules")),
            *(user("now fold_rows"), model("parse_rules and fold_rows")),
        )
        assert needed_names(features, 1) == (frozenset({"parse_rules"}),)

    def test_are_the_agents_alone(self) -> None:
        """Names that a user or a tool repeats do not count."""
        features = features_of(user("parse_rules"), calls("1"), results("1", text="parse_rules"))
        assert needed_names(features, 1) == ()

    def test_end_after_ten_of_its_messages(self) -> None:
        """Messages further away say little about this cut."""
        later = [model("well") for _ in range(AHEAD)]
        features = features_of(user("parse_rules"), *later, model("parse_rules"))
        assert needed_names(features, 1) == ()
        assert needed_names([*features[:1], *features[2:]], 1) == (frozenset({"parse_rules"}),)

    def test_make_a_case_of_what_lies_before(self) -> None:
        """A cut where nothing was needed gives no case."""
        features = features_of(user("parse_rules"), model("parse_rules"), model("fine"))
        found = case_at("s", features, 1)
        assert found is not None
        assert (found.session, len(found.history)) == ("s", 1)
        assert case_at("s", features, 2) is None


class TestCuts:
    """The positions at which contexts are cut."""

    def test_lie_before_answers_of_the_agent(self) -> None:
        """They follow a user's words or results, some of each, and none is too early."""
        talk = [m for n in range(40) for m in (user("go"), calls(str(n)), results(str(n)), model("done"))]
        features = features_of(*talk)
        cuts = cuts_of(features, 4)
        assert len(cuts) == 4
        assert all(cut >= LEAST_BEFORE and features[cut].role == "assistant" for cut in cuts)
        assert sorted(features[cut - 1].role for cut in cuts) == ["tool", "tool", "user", "user"]

    def test_are_taken_from_what_there_is(self) -> None:
        """A chat has no results to cut after; a short one has no cut."""
        chat = features_of(*(m for _ in range(15) for m in (user("go"), model("done"))))
        assert cuts_of(chat, 4)
        assert cuts_of(chat[: LEAST_BEFORE - 1], 4) == []

    def test_lie_within_bounds(self) -> None:
        """The number of cuts is limited, whatever the length of the session."""
        features = features_of(user("go"), model("done")) * LONGEST
        assert max(cuts_of(features, 4)) <= LONGEST


class TestJudged:
    """Messages that people judged."""

    def test_counts_both_ways(self) -> None:  # X15
        """Needed and not needed messages count, by position."""
        found = case_of_judgements("s", features_of(user(), model(), user()), {0}, {1})
        assert found is not None
        assert (sorted(found.needed), sorted(found.unneeded)) == ([0], [1])

    def test_leaves_out_what_was_judged_both_ways(self) -> None:
        """A message judged both ways is left out; without any other there is no case."""
        assert case_of_judgements("s", features_of(user(), model()), {1}, {1}) is None
        assert case_of_judgements("s", features_of(user(), model()), (), ()) is None
