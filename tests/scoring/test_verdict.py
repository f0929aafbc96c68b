"""The verdict on a session: one sentence, one action, no alarm without need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoring.verdict import Clearing, Price, Situation, Verdict, verdict_of


def situation(share: float = 66, **given: Any) -> Situation:
    """A managed session that is `share` percent full, of 200,000 tokens, with a target of 80 % and an aim of 60 %."""
    tokens = round(2_000 * share)
    usual = Situation(tokens, 200_000, 160_000, 120_000, 10_000, pruned=tokens)
    return replace(usual, **given)


def verdict(share: float = 66, **given: Any) -> Verdict:
    """The verdict on such a session."""
    return verdict_of(situation(share, **given))


def reads(count: int = 9, freed: int = 41_200, calls: int | None = 4) -> Clearing:
    """A plan that clears superseded reads of spec.md."""
    return Clearing({"spec.md": count}, 0, Price(freed, calls), max_tokens=90_000)


class TestBelowTheTarget:
    """Nothing is needed, unless clearing what is redundant is worth its price."""

    def test_says_how_long_that_lasts_at_this_pace(self) -> None:  # X18
        """The sentence of the specification, without an action."""
        found = verdict(growth=700)
        assert found.text == "66 % full. Nothing needed: about 40 turns left to the target at this pace"
        assert (found.kind, found.action, found.safety) == ("fine", None, "")

    @pytest.mark.parametrize(
        ("growth", "words"),
        [
            (None, "66 % full. Nothing needed"),
            (0, "66 % full. Nothing needed"),
            (-900, "66 % full. Nothing needed"),
            (14, "66 % full. Nothing needed: many turns left to the target at this pace"),
            (1_400, "66 % full. Nothing needed: about 20 turns left to the target at this pace"),
            (9_000, "66 % full. Nothing needed: 3 turns left to the target at this pace"),
            (28_000, "66 % full. Nothing needed: 1 turn left to the target at this pace"),
            (50_000, "66 % full. Nothing needed yet: above the target at the next turn"),
        ],
    )
    def test_claims_no_more_than_is_known(self, growth: int | None, words: str) -> None:  # X18
        """No pace, no turns; a long time is "many", a short one exact."""
        assert verdict(growth=growth).text == words

    @pytest.mark.parametrize(
        ("tokens", "share"),
        [
            (197_000, "98 %"), (199_000, "99.5 %"), (199_990, "99.9 %"), (199_999, "99.9 %"), (200_000, "100 %"),
            (200_001, "100.0 %"), (201_000, "100.5 %"), (203_000, "102 %"),
        ],
    )  # fmt: skip
    def test_calls_only_a_full_context_100_percent_full(self, tokens: int, share: str) -> None:  # X18
        """Rounding fills it no sooner."""
        assert verdict_of(Situation(tokens, 200_000, 200_000, 120_000, 10_000, activity="ended")).text == (
            f"{share} full. Nothing needed: it has ended"
        )

    def test_leaves_it_to_automatic_pruning(self) -> None:  # X9, X18
        """A session that prunes automatically says so."""
        assert verdict(automatic=True, growth=700).text == (
            "66 % full. Nothing needed: it prunes automatically above the target"
        )

    def test_names_redundant_reads_with_the_price_of_clearing_them(self) -> None:  # X18
        """The sentence of the specification, its plan, and that it can be undone."""
        found = verdict(growth=700, clear=reads())
        assert (
            found.text
            == "9 superseded reads of spec.md hold 41k tokens: clearing them pays back after 4 calls"
        )
        assert (found.kind, found.action, found.max_tokens) == ("clear", "clear", 90_000)
        assert found.safety == "Can be undone."

    def test_says_that_the_agent_is_untouched(self) -> None:  # X18
        """Of a followed session, only the pruned view changes."""
        found = verdict(growth=700, clear=reads(), followed=True)
        assert found.safety == "Can be undone; the agent is untouched until you resume it."

    def test_says_no_such_thing_where_a_prune_reaches_the_agent(self) -> None:  # X18
        """The proxy sends the next turn pruned: nothing is to be resumed."""
        found = verdict(growth=700, clear=reads(), followed=True, resumable=False, reaches_agent=True)
        assert (found.kind, found.safety) == ("clear", "Can be undone.")
        waits = verdict(tokens=170_000, pruned=90_000, followed=True, reaches_agent=True)
        assert (waits.kind, waits.action) == ("fine", None)
        assert waits.text == (
            "85 % full, its pruned view 45 %. Nothing needed: the prune reaches the agent with its next turn"
        )

    def test_compares_the_price_with_the_calls_left_at_this_pace(self) -> None:  # X18
        """Forty calls are left: thirty pay back in time, fifty do not; where a turn makes two calls, they do."""
        assert verdict(growth=700, clear=reads(calls=30)).kind == "clear"
        assert verdict(growth=700, clear=reads(calls=50)).kind == "fine"
        assert verdict(growth=700, clear=reads(calls=50), calls_per_turn=2).kind == "clear"

    def test_believes_no_pace_for_longer_than_a_hundred_calls(self) -> None:  # X18
        """That is the most that is promised, however slowly the context grows."""
        assert verdict(growth=1, clear=reads(calls=150)).kind == "fine"

    def test_asks_for_nothing_that_gains_little(self) -> None:  # X9, X18
        """The least gain of automatic pruning holds here too."""
        assert verdict(growth=700, clear=reads(freed=9_000)).kind == "fine"

    def test_asks_for_nothing_that_cannot_be_used(self) -> None:  # X18
        """A followed session that no agent resumes from stays as it is."""
        assert verdict(clear=reads(), followed=True, resumable=False).kind == "fine"

    @pytest.mark.parametrize(
        ("clear", "words"),
        [
            (reads(1), "1 superseded read of spec.md holds 41k tokens"),
            (
                Clearing({"a": 3, "b": 2}, 0, Price(41_200, 4), 1),
                "5 superseded reads of 2 files hold 41k tokens",
            ),
            (Clearing({}, 2, Price(41_200, 4), 1), "2 repeated outputs hold 41k tokens"),
            (
                Clearing({"a": 3}, 2, Price(41_200, 4), 1),
                "5 superseded reads and repeated outputs hold 41k tokens",
            ),
        ],
    )
    def test_words_what_is_redundant(self, clear: Clearing, words: str) -> None:  # X18
        """One file is named; several are counted."""
        assert verdict(clear=clear).text.partition(":")[0] == words

    @pytest.mark.parametrize(
        ("calls", "words"),
        [(0, "clearing them pays back at once"), (None, "clearing them makes every call smaller")],
    )
    def test_states_no_price_that_is_not_known(self, calls: int | None, words: str) -> None:  # X9, X18
        """A cold cache costs nothing; without prices there is no break-even."""
        assert verdict(clear=reads(calls=calls)).text.endswith(words)


class TestAWarmCache:
    """Advice waits for the moment at which it costs nothing, unless the window runs out first."""

    def test_makes_a_prune_wait(self) -> None:  # X26
        """Both prices are named, and the session is not urgent."""
        found = verdict(88, growth=700, prune=Price(56_000, 9), cache_is_warm=True)
        assert found.text == (
            "88 % full, above the target of 80 %: pruning to 60 % frees about 56k tokens and pays back after 9 calls "
            "now, at once when the provider's cache is cold"
        )
        assert (found.kind, found.action) == ("wait", "prune")
        assert found.urgency < verdict(88, growth=700, prune=Price(56_000, 9)).urgency

    def test_makes_clearing_wait(self) -> None:  # X26
        """Redundant outputs are named all the same."""
        found = verdict(clear=reads(), growth=700, cache_is_warm=True)
        assert found.text == (
            "9 superseded reads of spec.md hold 41k tokens: clearing them pays back after 4 calls now, at once when "
            "the provider's cache is cold"
        )
        assert (found.kind, found.action) == ("wait", "clear")

    def test_makes_a_resume_wait(self) -> None:  # X26, X22
        """The copy is there; going on from it now would write it to the cache again."""
        found = verdict(88, growth=700, followed=True, pruned=116_000, cache_is_warm=True)
        assert found.text == (
            "Resume from a pruned copy when the provider's cache is cold: it is 58 % full, the agent's own context "
            "88 %"
        )
        assert (found.kind, found.action) == ("wait", "resume")

    @pytest.mark.parametrize(
        ("share", "given", "kind"),
        [
            (88, {"growth": 7_000, "prune": Price(56_000, 9)}, "now"),
            (101, {"prune": Price(56_000, 9)}, "now"),
            (88, {"growth": 7_000, "followed": True, "pruned": 116_000}, "resume"),
        ],
    )
    def test_is_broken_when_the_window_runs_out(
        self, share: float, given: dict[str, Any], kind: str
    ) -> None:  # X26
        """A few turns before the end nothing waits."""
        assert verdict(share, **given, cache_is_warm=True).kind == kind

    @pytest.mark.parametrize("calls", [0, None])
    def test_holds_nothing_back_that_breaks_no_cache(self, calls: int | None) -> None:  # X26
        """The prefix is broken anyway, or no price is known."""
        assert verdict(88, prune=Price(56_000, calls), cache_is_warm=True).kind == "above"
        assert verdict(clear=reads(calls=calls), cache_is_warm=True).kind == "clear"


class TestAboveTheTarget:
    """Something has to be done, the sooner the fewer turns are left."""

    def test_is_urgent_when_few_turns_are_left(self) -> None:  # X18
        """The sentence of the specification."""
        found = verdict(88, growth=7_000)
        assert found.text == "Prune now: 3 turns left"
        assert (found.kind, found.action) == ("now", "prune")

    def test_names_the_share_that_the_plan_leaves(self) -> None:  # X18
        """A plan that always clears redundant outputs ends below the aim, which is named before there is a plan."""
        assert "pruning to 60 % frees about 56k tokens" in verdict(88).text
        assert "pruning to 41 % frees about 94k tokens" in verdict(88, prune=Price(94_000, 8)).text

    def test_names_the_price_once_it_is_known(self) -> None:  # X18
        """In the same sentence."""
        assert verdict(88, growth=7_000, prune=Price(56_000, 2)).text == (
            "Prune now: 3 turns left, and freeing about 56k tokens pays back after 2 calls"
        )

    def test_is_urgent_when_it_is_full(self) -> None:  # X18
        """At and above the limit, whatever the pace."""
        assert verdict(103).text == "Prune now: 103 % full"
        assert verdict(99, growth=7_000).text == "Prune now: the next turn may not fit"

    def test_says_how_much_a_prune_frees(self) -> None:  # X18
        """Without alarm while there is time."""
        found = verdict(88, growth=1_000)
        assert found.text == "88 % full, above the target of 80 %: pruning to 60 % frees about 56k tokens"
        assert (found.kind, found.action) == ("above", "prune")

    def test_judges_the_price_by_the_calls_left(self) -> None:  # X18
        """Twenty-four turns are left before it is full."""
        paid = verdict(88, growth=1_000, prune=Price(56_000, 2)).text
        assert paid.endswith("frees about 56k tokens and pays back after 2 calls")
        not_paid = verdict(88, growth=1_000, prune=Price(56_000, 30)).text
        assert not_paid.endswith("but pays back after 30 calls, more than are left before it is full")

    def test_shows_a_tenth_next_to_the_target(self) -> None:  # X18
        """Rounded, it would say that 80 % is above the target of 80 %."""
        assert verdict(80.4).text.startswith("80.4 % full, above the target of 80 %")

    def test_shows_a_tenth_of_a_target_that_is_not_whole(self) -> None:  # X10, X18
        """A cap makes a target of 3.2 %, which a context of 3.1 % is below."""
        found = verdict(3.3, target=6_420, aim=4_815)
        assert found.text.startswith("3.3 % full, above the target of 3.2 %: pruning to 2.4 %")

    def test_calls_only_an_empty_context_0_percent_full(self) -> None:  # X18
        """The gauge beside it says 0.2 %."""
        assert verdict(0.2).text == "Under 1 % full. Nothing needed"
        found = verdict(66, growth=100, followed=True, pruned=400)
        assert found.text.startswith("66 % full, its pruned view under 1 %. Nothing needed")
        assert verdict(0.6).text == "1 % full. Nothing needed"

    def test_admits_that_nothing_can_go(self) -> None:  # B7, X18
        """A plan that frees nothing is no advice to prune."""
        found = verdict(88, growth=1_000, prune=Price(0, None))
        assert found.text == (
            "88 % full, above the target of 80 %, and all that is left is protected; a model with a larger window helps"
        )

    def test_goes_on_to_resume_after_a_prune(self) -> None:  # X18, X22
        """A followed session whose pruned view fits needs no second prune."""
        found = verdict(88, growth=7_000, followed=True, pruned=116_000)
        assert found.text == "Resume from a pruned copy: it is 58 % full, the agent's own context 88 %"
        assert (found.kind, found.action) == ("resume", "resume")
        assert found.safety == "Writes a new transcript; the agent's own file is untouched."

    def test_offers_the_export_where_no_agent_resumes(self) -> None:  # X13, X18
        """The one use that the pruned view then has."""
        found = verdict(88, followed=True, resumable=False, pruned=116_000)
        assert found.text == "88 % full: the pruned view, 58 % full, can be exported"
        assert found.action == "export"

    def test_lets_a_sub_agent_finish(self) -> None:  # X18
        """Nobody can prune it, and it ends with its task."""
        found = verdict(88, growth=7_000, followed=True, resumable=False, sub_agent=True)
        assert (found.text, found.action) == (
            "88 % full. Nothing needed: a sub-agent ends with its task",
            None,
        )


class TestWhatIsAlwaysKept:
    """A prune ends at what is always kept, even if that is more than the aim: no verdict promises more."""

    def test_says_how_far_a_prune_reaches(self) -> None:  # B7, X18
        """Eight percent above the aim, where that still frees enough."""
        found = verdict(88, growth=1_000, prune=Price(40_000, 2, over=16_000))
        assert found.text == (
            "88 % full, above the target of 80 %: pruning to 68 % frees about 40k tokens and pays back after 2 calls"
        )
        assert verdict(88, growth=7_000, prune=Price(40_000, 2, over=16_000)).text == (
            "Prune now: 3 turns left, and freeing about 40k tokens, down to 68 %, pays back after 2 calls"
        )

    def test_advises_no_prune_that_frees_little(self) -> None:  # B7, X18
        """It would be above the target again at the next turn."""
        found = verdict(80.02, prune=Price(628, 0, over=39_412))
        assert found.text == (
            "80.0 % full, above the target of 80 %: pruning frees only about 628 tokens, to 79.7 %; a model with a "
            "larger window helps"
        )
        assert (found.kind, found.action, found.label) == ("above", "prune", "See why…")

    @pytest.mark.parametrize(
        ("share", "price", "words"),
        [
            (
                110,
                Price(628, 0, over=99_372),
                "pruning frees only about 628 tokens; an emergency prune helps",
            ),
            (
                150,
                Price(90_000, 0, over=90_000),
                "pruning frees only about 90k tokens, to 105 %; an emergency prune helps",
            ),
        ],
    )
    def test_advises_no_prune_that_leaves_it_full(
        self, share: float, price: Price, words: str
    ) -> None:  # B7, X18
        """The emergency path cuts what is always kept, too."""
        found = verdict(share, prune=price, emergency=True)
        assert found.text == f"{share} % full, above the target of 80 %: {words}"
        assert found.kind == "now"

    def test_advises_a_resume_where_the_copy_is_smaller(self) -> None:  # X18, X22
        """An earlier prune helps the agent, even if nothing more can go."""
        given = {"followed": True, "pruned": 170_000, "prune": Price(628, 0, over=49_372)}
        assert verdict(110, **given).text == (
            "Resume from a pruned copy: it is 85 % full, the agent's own context 110 %"
        )
        assert verdict(110, **given, resumable=False).action == "prune"


class TestAfterAPrune:
    """A prune of a followed session changes what a resume sends, not what the agent holds: both are said."""

    @pytest.mark.parametrize(
        ("share", "pruned", "text"),
        [
            (
                67,
                100_000,
                "67 % full, its pruned view 50 %. Nothing needed: many turns left to the target at this pace",
            ),
            (103, 180_000, "Prune now: 103 % full, its pruned view 90 %"),
            (67, 133_900, "67 % full. Nothing needed: many turns left to the target at this pace"),
        ],
    )
    def test_says_both_sizes_where_they_differ(
        self, share: float, pruned: int, text: str
    ) -> None:  # X18, X22
        """The share of the pruned view follows that of the agent's context."""
        assert verdict(share, growth=100, followed=True, pruned=pruned).text == text

    def test_says_one_size_where_nobody_resumes(self) -> None:  # X18
        """A pruned view that no agent takes is not mentioned below the target."""
        found = verdict(66, growth=100, followed=True, resumable=False, pruned=100_000)
        assert found.text == "66 % full. Nothing needed: many turns left to the target at this pace"


class TestAtRest:
    """Sessions in which nobody works raise no alarm."""

    def test_nothing_is_said_of_an_empty_session(self) -> None:  # X18
        """It has no numbers yet."""
        assert verdict(0).text == "The context is empty"

    @pytest.mark.parametrize(
        ("activity", "days", "why"),
        [
            ("ended", 1, "it has ended"),
            ("unused", 1, "not used for a day"),
            ("unused", 6, "not used for 6 days"),
            ("unused", 13, "not used for a week"),
            ("unused", 14, "not used for 2 weeks"),
            ("unused", 45, "not used for a month"),
            ("unused", 364, "not used for 12 months"),
            ("unused", 365, "not used for a year"),
            ("unused", 800, "not used for 2 years"),
        ],
    )
    def test_nothing_is_asked_of_a_session_that_is_over(
        self, activity: str, days: int, why: str
    ) -> None:  # X18
        """That holds however full it is; the time since its last use is given in the largest unit."""
        found = verdict(97, growth=9_000, activity=activity, days_unused=days, clear=reads())
        assert (found.text, found.action) == (f"97 % full. Nothing needed: {why}", None)

    def test_a_pause_takes_the_haste_out(self) -> None:  # X18
        """The same advice, for when it goes on."""
        found = verdict(88, growth=7_000, activity="resting")
        assert found.text == "Prune before you go on: 3 turns left"
        assert found.urgency < verdict(88, growth=1_000).urgency


class TestTheOrder:
    """The order of the overview, in which the greatest need comes first."""

    def test_ranks_sessions_by_their_need(self) -> None:  # X18
        """A session with few turns left comes first, and one that needs nothing comes last."""
        found = [
            verdict(88, growth=7_000),
            verdict(88, followed=True, pruned=100_000),
            verdict(88),
            verdict(88, activity="resting"),
            verdict(clear=reads()),
            verdict(),
            verdict(97, activity="ended"),
        ]
        order = [one.urgency for one in found]
        assert order == sorted(order, reverse=True)
        assert len(set(order)) == len(order)


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(840, "840"), (9_840, "9.8k"), (41_234, "41k"), (412_345, "410k"), (999_700, "1M"), (1_234_000, "1.2M")],
)
def test_tokens_have_two_leading_digits(tokens: int, words: str) -> None:  # X11, X18
    """No more precision than a sentence needs."""
    clear = Clearing({"a": 2}, 0, Price(tokens, 1), 1)
    assert f"hold {words} tokens" in verdict(clear=clear, least_gain=1).text
