"""From estimates to what the provider counts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens import InputReport, judge_report
from scoring.tokens.calibration import (
    MOST_EXTRA,
    PRIOR_CALLS,
    SAMPLES,
    Calibration,
    absorbed,
    after_compaction,
    after_rewind,
    after_unreported_call,
    counted_for,
    expecting,
    observe,
    split,
    total,
)

UNSEEN = 18_000


def called(
    known: Calibration,
    estimate: int,
    new: int,
    factor: float,
    own: int = 100,
    hidden: int = 0,
    name: str = "",
) -> tuple[Calibration, int]:
    """The next call: `new` estimated tokens came in, which really are `factor` times as many, and something hidden.

    The answer is estimated at `own` tokens and reported as it is. Gives the state and the estimate behind the answer.
    """
    before = estimate + new
    last = known.anchor_real if known.anchor_real is not None else UNSEEN
    real = round(last + factor * new + hidden)
    return observe(known, real, round(factor * own), before, own, call=name or str(real)), before + own


def followed(steps: int, factor: float, new: int = 1_000, hidden: int = 0) -> tuple[Calibration, int]:
    """A session of so many calls."""
    known, estimate = Calibration(), 0
    for _ in range(steps):
        known, estimate = called(known, estimate, new, factor, hidden=hidden)
    return known, estimate


class TestTheTotal:
    """The total between two calls."""

    def test_is_estimated_before_the_first_call(self) -> None:  # X11
        """Without real usage the estimate stands, and says so."""
        assert total(Calibration(), 1_234) == (1_234, "estimated")

    def test_has_what_other_sessions_taught_before_the_first_call(self) -> None:  # X11
        """Overheads of earlier sessions are added, and it is still an estimate."""
        assert total(Calibration(unseen=UNSEEN), 1_000) == (UNSEEN + 1_000, "estimated")

    def test_is_exact_right_behind_a_call(self) -> None:  # X11
        """Input and output as reported, and nothing else."""
        known = observe(Calibration(), 20_000, 300, 1_500, 250)
        assert total(known, 1_750) == (20_300, "exact")

    def test_adds_what_came_after_to_the_last_real_total(self) -> None:  # X11
        """Once the factor is learned, growth is counted with it and the total is called calibrated."""
        known, estimate = followed(12, 1.3)
        assert known.anchor_real is not None
        said, certainty = total(known, estimate + 1_000)
        assert abs(said - (known.anchor_real + 1_300)) <= 5
        assert certainty == "calibrated"

    def test_falls_with_what_leaves_the_context(self) -> None:
        """A smaller context is smaller by the factor."""
        known, estimate = followed(12, 1.3)
        here, _ = total(known, estimate)
        less, certainty = total(known, estimate - 1_000)
        assert abs(here - less - 1_300) <= 5
        assert certainty == "calibrated"

    def test_leaves_what_stays_its_share_where_nothing_else_is_in_the_context(self) -> None:  # X11
        """A context that really is nine tenths of its messages' estimates is so afterwards, too."""
        known = observe(Calibration(), 900, 90, 1_000, 100)
        assert [total(known, estimate)[0] for estimate in (1_100, 550, 110, 0)] == [990, 495, 99, 0]

    def test_is_never_negative(self) -> None:
        """It stays at 0 or above, however much is taken away."""
        known = observe(Calibration(), 100, 10, 90, 10)
        assert total(known, -100_000)[0] == 0


class TestTheOutput:
    """The output of a call, which is input of the next one."""

    def test_counts_as_reported_with_thinking_that_nobody_sees(self) -> None:  # X11
        """Reported output above the visible text's estimate is taken as it is."""
        known = observe(Calibration(), 20_000, 4_000, 1_500, 200)
        assert total(known, 1_700)[0] == 24_000

    def test_is_not_believed_where_it_is_less_than_its_own_text(self) -> None:  # X11
        """Writers keep partial figures; then the text's estimate counts, and the total is not called exact."""
        known = observe(Calibration(), 20_000, 3, 1_500, 800)
        assert total(known, 2_300) == (20_800, "calibrated")

    def test_that_comes_in_later_is_not_counted_twice(self) -> None:
        """Text of an answer whose output was reported before it adds nothing."""
        known = absorbed(observe(Calibration(), 20_000, 500, 1_500, 0), 450)
        assert total(known, 1_950) == (20_500, "exact")
        assert absorbed(Calibration(), 450) == Calibration()

    @pytest.mark.parametrize(("later", "tokens"), [(0, 2_300), (299, 2_300), (400, 2_400)])
    def test_that_a_later_row_reports_smaller_stays(self, later: int, tokens: int) -> None:  # X11
        """Some rows of a call repeat an earlier figure, or 0; another call has its own."""
        known = observe(Calibration(), 2_000, 300, 1_000, 100, call="a")
        assert total(observe(known, 2_000, later, 1_000, 110, call="a"), 1_110) == (tokens, "exact")
        assert total(observe(known, 2_500, 5, 1_110, 5, call="b"), 1_115) == (2_505, "exact")

    def test_of_a_call_reported_row_by_row_counts_once(self) -> None:  # X11
        """Rows of one call that come one by one say the same as all at once, whatever came between them."""
        known, estimate = followed(5, 1.1)
        before, real = estimate + 500, (known.anchor_real or 0) + 550
        at_once = observe(known, real, 900, before, 700, call="a")
        first = observe(known, real, 2, before, 300, call="a")
        rows = observe(
            observe(first, real, 2, before + 60, 500, call="a"), real, 900, before + 90, 700, call="a"
        )
        assert rows == at_once
        assert rows.calls == known.calls + 1


class TestLearning:
    """Factor and hidden additions, from the session's own calls."""

    def test_finds_the_factor_within_a_few_calls(self) -> None:  # X11
        """Three calls of a thousand tokens outweigh the assumption that the estimate is right."""
        assert abs(followed(8, 1.4)[0].factor - 1.4) < 0.02
        assert abs(followed(8, 0.8)[0].factor - 0.8) < 0.02

    def test_measures_what_is_not_in_the_transcript_at_the_first_call(self) -> None:  # X11
        """First real input less estimate."""
        assert observe(Calibration(), 26_450, 50, 60, 40).unseen == 26_390
        assert observe(Calibration(), 500, 50, 9_000, 40).unseen == 0

    def test_finds_what_is_hidden_in_every_call(self) -> None:
        """A reminder that comes with each call is expected with the next one."""
        known, estimate = followed(2 * PRIOR_CALLS + 4, 1.0, new=400, hidden=120)
        said, _ = total(known, estimate + 400)
        assert known.anchor_real is not None
        assert abs(said - known.anchor_real - 520) <= 60

    def test_expects_what_came_hidden_with_two_calls_running(self) -> None:  # X11
        """A mode of the agent, such as planning, says the same with each call while it lasts."""
        known, estimate = followed(6, 1.0)
        usual = known.extra
        for hidden, expected in ((860, usual), (870, 860), (865, 865)):
            said, _ = total(known, estimate + 100)
            known = observe(known, said - known.extra + hidden, 50, estimate + 100, 50, call=f"plan {hidden}")
            estimate += 150
            assert known.extra == pytest.approx(expected, abs=12)
        known = observe(
            known, total(known, estimate + 100)[0] - known.extra, 50, estimate + 100, 50, call="off"
        )
        assert known.extra == pytest.approx(usual, abs=12)

    def test_does_not_expect_what_came_once(self) -> None:
        """A value that came once is not expected again, nor are two values that have little in common."""
        known, estimate = followed(6, 1.0)
        for hidden in (2_000, 200, 2_000):
            said, _ = total(known, estimate + 100)
            known = observe(
                known, said - known.extra + hidden, 50, estimate + 100, 50, call=f"c{hidden}{estimate}"
            )
            estimate += 150
            assert known.extra < 50

    def test_is_not_moved_by_outliers(self) -> None:  # X11
        """An image, a hidden page and a tool definition leave the factor where it was."""
        known, estimate = followed(10, 1.2)
        for hidden in (1_600, 9_000, 0, 30_000, 0):
            known, estimate = called(known, estimate, 900, 1.2, hidden=hidden)
        assert abs(known.factor - 1.2) < 0.02
        assert known.extra == 0

    def test_is_bounded_whatever_comes(self) -> None:
        """Factor and extra stay within their limits, however absurd the reports."""
        known, _ = followed(30, 40.0)
        assert known.factor == 2.5
        assert followed(30, 1.0, new=0, hidden=50_000)[0].extra == MOST_EXTRA

    def test_takes_nothing_from_a_change_of_model(self) -> None:
        """The new model counts the whole context differently, which is not growth."""
        known, estimate = followed(8, 1.1)
        named = observe(known, (known.anchor_real or 0) + 110, 50, estimate + 100, 40, call="a", model="one")
        other = observe(named, 3 * (named.anchor_real or 0), 50, estimate + 240, 40, call="b", model="two")
        assert other.samples == named.samples
        assert other.factor == named.factor

    def test_takes_nothing_from_a_call_after_a_rewind(self) -> None:
        """Messages that left are no growth; the anchor stays."""
        known, estimate = followed(8, 1.1)
        back = after_rewind(known)
        said, certainty = total(back, estimate - 2_000)
        assert abs((known.anchor_real or 0) - 2_200 - said) <= 3
        assert certainty == "calibrated"
        after = observe(back, said, 50, estimate - 2_000, 40, call="next")
        assert after.samples == known.samples
        assert total(after, estimate - 1_960) == (said + 50, "exact")

    def test_expects_at_the_second_call_what_other_sessions_had_there(self) -> None:
        """Some agents put their lists into the second call; once it has passed, it is no longer expected."""
        known = observe(Calibration(unseen=UNSEEN, second=2_500), UNSEEN, 50, 100, 50, call="1")
        assert total(known, 350)[0] == UNSEEN + 50 + 200 + 2_500
        known = observe(known, UNSEEN + 50 + 200 + 2_400, 50, 350, 50, call="2")
        assert known.second == 2_400
        assert total(known, 600)[0] == UNSEEN + 50 + 200 + 2_400 + 50 + 200

    def test_takes_nothing_from_the_second_call_for_the_factor(self) -> None:
        """The additions of the second call do not change the factor."""
        known = observe(Calibration(unseen=UNSEEN), UNSEEN, 50, 100, 50, call="1")
        after = observe(known, UNSEEN + 50 + 200 + 2_400, 50, 350, 50, call="2")
        assert (after.second, after.factor, after.samples) == (2_400, 1.0, ())


class TestWhatIsForetold:
    """Tokens that an agent's own rules predict."""

    def test_comes_with_the_next_message(self) -> None:  # X11
        """Right behind a call the total is exact; with what comes next it is there."""
        known, estimate = followed(8, 1.0)
        waiting = expecting(known, 130)
        assert total(waiting, estimate) == total(known, estimate)
        assert total(waiting, estimate + 40)[0] == total(known, estimate + 40)[0] + 130

    def test_teaches_nothing_and_is_gone_once_it_came(self) -> None:
        """A call that has it is no larger than was said; the next is expected without."""
        known, estimate = followed(8, 1.0)
        after, behind = called(expecting(known, 130), estimate, 1_000, 1.0, hidden=130, name="next")
        assert after.waiting == 0
        assert after.samples[-1] == (1_000, 1_000)
        assert total(after, behind + 500)[0] == (after.anchor_real or 0) + 500

    def test_may_be_less_than_nothing(self) -> None:
        """Content that is written twice may be sent once."""
        known, estimate = followed(8, 1.0)
        assert total(expecting(known, -400), estimate + 900)[0] == total(known, estimate + 500)[0]

    def test_leaves_with_a_compaction(self) -> None:
        """The new context has none of it."""
        known, _ = followed(8, 1.0)
        assert after_compaction(expecting(known, 130)) == after_compaction(known)

    def test_stays_where_the_call_reports_no_usage(self) -> None:
        """It is in the context, whether the last real total is known or none is."""
        known, estimate = followed(8, 1.0)
        for state in (known, Calibration(unseen=500)):
            there = after_unreported_call(expecting(state, 130), 130)
            assert total(there, estimate)[0] == total(state, estimate)[0] + 130
            assert there.waiting == 0


class TestAReport:
    """Usage reports: which can be true, and what they tell of the context."""

    def test_cannot_name_fewer_tokens_than_a_fraction_of_what_was_sent(self) -> None:  # X11
        """At the first call, and later: cached tokens left out, or a title made on the side."""
        assert judge_report(Calibration(unseen=0), InputReport(12, 20_000, 20_000)) == ("foreign", 0)
        known, estimate = followed(6, 1.1)
        assert judge_report(known, InputReport(400, estimate, estimate)) == ("foreign", 0)

    def test_is_believed_where_an_answers_thoughts_were_not_sent_again(self) -> None:  # X11
        """The answer was reported with them; less than what it took out of the context is no false report."""
        known = observe(Calibration(unseen=0), 100, 5_200, 100, 200)
        assert judge_report(known, InputReport(350, 350, 350))[0] != "foreign"

    def test_is_believed_of_a_small_context(self) -> None:
        """It tells nothing, unless an agent made the call: it sends more than the text from the first one on."""
        assert judge_report(Calibration(unseen=0), InputReport(12, 150, 150, steady=True)) == ("fits", 0)
        assert judge_report(Calibration(unseen=0), InputReport(12, 150, 150)) == ("foreign", 0)

    def test_of_a_short_session_is_held_against_its_text_alone(self) -> None:  # X11
        """Most of it is not in the log, and may have become less."""
        known = observe(Calibration(unseen=0), 1_000, 40, 10, 90)
        assert judge_report(known, InputReport(400, 100, 100))[0] != "foreign"
        assert judge_report(known, InputReport(100, 600, 600)) == ("foreign", 0)

    @pytest.mark.parametrize(("less", "verdict"), [(400, "fits"), (2_000, "fell")])
    def test_tells_of_a_fall_that_nothing_explains(self, less: int, verdict: str) -> None:  # X24
        """The agent has taken something out of its context."""
        known, estimate = followed(6, 1.0)
        real = (known.input_real or 0) - less
        found, behind = judge_report(known, InputReport(real, estimate, estimate // 2))
        assert found == verdict
        assert behind == (total(known, estimate)[0] - real if verdict == "fell" else 0)

    @pytest.mark.parametrize(("grown", "verdict"), [(3_000, "behind"), (9_000, "fits")])
    def test_tells_of_growth_that_did_not_come(self, grown: int, verdict: str) -> None:  # X24
        """More than an estimate errs."""
        known, estimate = followed(6, 1.0)
        real = total(known, estimate)[0] + grown
        assert judge_report(known, InputReport(real, estimate + 10_000, 0))[0] == verdict

    def test_of_a_smaller_tokenizer_is_no_clearing(self) -> None:  # X24
        """Another model counts the same context as fewer tokens."""
        known, estimate = followed(6, 1.0)
        named = observe(known, total(known, estimate)[0], 50, estimate, 40, call="a", model="one")
        real = (named.input_real or 0) - 2_000
        assert judge_report(named, InputReport(real, estimate + 40, estimate // 2, model="one"))[0] == "fell"
        assert judge_report(named, InputReport(real, estimate + 40, estimate // 2, model="two")) == (
            "fits",
            0,
        )

    def test_that_teaches_nothing_moves_the_anchor(self) -> None:  # X24
        """A clearing is no growth to learn from."""
        known, estimate = followed(6, 1.1)
        after = observe(known, 4_000, 20, estimate, 10, call="a", learns=False)
        assert total(after, estimate + 10) == (4_020, "exact")
        assert (after.factor, after.samples) == (known.factor, known.samples)


class TestACompaction:
    """The agent replaces its context."""

    def test_takes_the_anchor_and_keeps_what_was_learned(self) -> None:  # X11
        """The new total is the unseen part and the new messages, by the factor."""
        known, _ = followed(12, 1.3)
        said, certainty = total(after_compaction(known), 3_000)
        assert abs(said - (known.unseen + 3_900)) <= 20
        assert certainty == "calibrated"

    def test_teaches_what_the_agent_puts_back(self) -> None:
        """Files read again, not written down, are expected at the next compaction."""
        known, _ = followed(12, 1.0)
        once = observe(after_compaction(known), known.unseen + 3_000 + 4_000, 50, 3_000, 50, call="c1")
        assert abs(once.restored - 4_000) <= 5
        assert once.unseen == known.unseen
        again, _ = total(after_compaction(once), 2_000)
        assert abs(again - (known.unseen + 6_000)) <= 5

    def test_teaches_what_comes_besides_what_was_foretold(self) -> None:  # X11
        """The files that the transcript names are known; only the rest is learned."""
        known, _ = followed(12, 1.0)
        waits = expecting(after_compaction(known), 4_000)
        assert total(waits, 3_000)[0] == known.unseen + 7_000
        once = observe(waits, known.unseen + 3_000 + 4_300, 50, 3_000, 50, call="c1")
        assert abs(once.restored - 300) <= 5

    def test_may_have_taken_what_was_in_no_message(self) -> None:  # X11
        """A document that the first call sent is gone too: a smaller report is true, and is what comes next time."""
        first = observe(Calibration(), 150_000, 2_000, 20, 2_000, call="c1")
        after = after_compaction(first)
        assert judge_report(after, InputReport(19_000, 30, 30)) == ("fits", 0)
        then = observe(after, 19_000, 50, 30, 50, call="c2")
        assert judge_report(then, InputReport(19_100, 100, 100)) == ("fits", 0)
        assert total(after_compaction(then), 30)[0] == 19_000

    def test_leaves_its_own_text_in_the_context(self) -> None:  # X11
        """A report of less than what is written down is false as before."""
        known, _ = followed(12, 1.0)
        assert judge_report(after_compaction(known), InputReport(900, 3_000, 3_000)) == ("foreign", 0)

    def test_is_no_growth(self) -> None:
        """The first call after it adds no sample."""
        known, _ = followed(12, 1.0)
        assert observe(after_compaction(known), 25_000, 50, 3_000, 50, call="c1").samples == known.samples


class TestMessagesCountedForAnotherModel:
    """Estimates that a change of model left in the unit of the model before."""

    def test_are_shown_as_the_new_model_counts(self) -> None:  # S11
        """Until usage is known the total is the estimate times the prior, which is kept within the range of factors."""
        assert total(counted_for(Calibration(), 1.5), 1_000) == (1_500, "estimated")
        assert total(counted_for(Calibration(), 1.0), 1_000) == (1_000, "estimated")
        assert total(counted_for(Calibration(), 9.0), 1_000) == (2_500, "estimated")

    def test_grow_by_the_prior_until_calls_show_another_factor(self) -> None:  # X11
        """The first call shows what is in no message; small growth alone does not bring the factor back to 1."""
        known, estimate = counted_for(Calibration(), 1.5), 0
        for _ in range(3):
            known, estimate = called(known, estimate, 200, 1.5)
        assert known.factor == 1.5
        assert counted_for(known, 1.0) == known
        for _ in range(SAMPLES):
            known, estimate = called(known, estimate, 2_000, 1.1)
        assert known.factor == pytest.approx(1.1)


class TestTheState:
    """The stored state."""

    def test_comes_back_from_json(self) -> None:
        """All of it; unknown keys and missing ones are no matter."""
        known, _ = followed(30, 1.2)
        assert Calibration.from_dict(json.loads(json.dumps(known.to_dict()))) == known
        assert Calibration.from_dict({"factor": 1.5, "first_real": 3}) == Calibration(factor=1.5)
        assert Calibration.from_dict(None) == Calibration()

    def test_does_not_grow_with_the_session(self) -> None:
        """A hundred calls take no more room than the last few."""
        assert len(followed(100, 1.2)[0].samples) == SAMPLES


class TestRegions:
    """The parts of the gauge."""

    @given(
        st.dictionaries(st.sampled_from(["system", "user", "assistant", "tool"]), st.integers(0, 90_000)),
        st.integers(0, 300_000),
        st.floats(0.5, 2.5),
    )
    def test_always_add_up_to_the_total(
        self, regions: dict[str, int], tokens: int, factor: float
    ) -> None:  # X11
        """Whole numbers, none negative, whatever the estimates say."""
        parts = split(Calibration(factor=factor, known=True), regions, tokens)
        assert sum(parts.values()) == tokens
        assert all(value >= 0 for value in parts.values())

    def test_leave_what_is_not_in_the_transcript_to_a_region_of_its_own(self) -> None:  # X11
        """The rest is `unseen`."""
        known = Calibration(factor=1.5, known=True)
        assert split(known, {"user": 100, "tool": 300}, 10_600) == {
            "user": 150,
            "tool": 450,
            "unseen": 10_000,
        }
