"""*Foresight*: its choice, and the effect of each weight on it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import FORMATS, decode, encode, validate
from scoring.formats.repairs import repair
from scoring.history import Features, History
from scoring.messages import Message, message, units_of
from scoring.planning.plan import PrunePlan, plan_prune
from scoring.planning.score import HIGHEST
from scoring.settings import FORESIGHT, STRATEGY_NAMES, Settings
from tests.scoring.builders import any_messages, calls, left_by, model, results, system, user

PLAIN = replace(FORESIGHT, user_words_tokens=0, counting="four_characters")
FILLER = "some words of no consequence whatever " * 10


def planned(messages: list[Message], tokens: int, settings: Settings = PLAIN) -> PrunePlan:
    """Return a plan for messages."""
    return plan_prune(History.of(messages, settings=settings), settings, tokens)


def weights(**changes: float) -> Settings:
    """The preset with some weights changed."""
    return replace(PLAIN, weights=type(PLAIN.weights)({**PLAIN.weights, **changes}))


class TestTheChoice:
    """The messages that stay."""

    def test_is_the_one_place_of_a_name_that_the_task_mentions(self) -> None:  # B18, X3
        """Neither the newest nor the longest message is kept, but the one with the name."""
        said = [
            user("find out why config/prod.yaml is wrong"), model("let me look"),
            model(f"in config/prod.yaml the port is set by deploy_hook {FILLER}"),
            *(model(f"{FILLER} part {n}") for n in range(6)), user("go on"),
        ]  # fmt: skip
        plan = planned(said, 200)
        assert 2 in plan.kept
        assert (
            plan.reason(2) == "kept: the only message that names `deploy_hook`, which the agent itself named"
        )

    def test_covers_instead_of_repeating(self) -> None:
        """Of five copies one stays, and what is new comes before the second copy."""
        copies = [model(f"the rows of parse_rows are in utils_b.py {FILLER}") for _ in range(5)]
        plan = planned([*copies, model(f"the columns are in columns_c.py {FILLER}"), user("go on")], 230)
        assert 5 in plan.kept
        assert len(plan.kept) == 3
        gone = [plan.cause(i) for i in plan.removed]
        assert set(gone) == {"covered"}

    def test_is_what_answers_a_question_in_a_chat(self) -> None:  # B18
        """In a conversation without tools, relevance to the last question counts most."""
        facts = [f"we talked about the weather, day {n}, and it rained a lot" for n in range(30)]
        facts[11] = "my sister Clara moved to Lisbon last spring"
        said = [user(fact) if n % 2 == 0 else model(fact) for n, fact in enumerate(facts)]
        plan = planned([*said, user("Where did my sister move?")], 120)
        assert 11 in plan.kept
        assert plan.cause(11) == "relevant"

    def test_passes_over_what_does_not_fit(self) -> None:
        """One huge message never stops small ones."""
        huge = model("find deploy_hook in prod.yaml and utils_b.py: " + "x" * 4_000)
        plan = planned([user("look"), huge, model("columns_c.py has it"), user("go on")], 60)
        assert plan.cause(1) == "too_large"
        assert 2 in plan.kept

    def test_takes_the_newer_of_equals(self) -> None:
        """Ties go to the newer at any weights; it is the order of the strategy, not of recency."""
        said = [*(model(f"nothing to see in here, part {n}") for n in "abcdefgh"), user("go on")]
        plan = planned(said, 50, weights(recency=0, keywords=0, role=0, length=0, relevance=0))
        assert plan.kept == tuple(range(9 - len(plan.kept), 9))
        assert len(plan.kept) > 2

    def test_uses_the_room_there_is(self) -> None:
        """No row and no unit that fits and adds something is left out."""
        output = "\n".join(f"row {n} says something about file_{n}.py" for n in range(100))
        whole = History.of([calls("1"), results("1", text=output), user()], settings=PLAIN)
        budget = sum(whole.tokens) - 60
        plan = plan_prune(whole, PLAIN, budget)
        assert plan.shortened == (1,)
        assert budget - 40 < plan.tokens_after <= budget

    def test_prefers_many_small_units_where_little_can_stay(self) -> None:  # B18
        """A long message with 110 names stays in three fifths of the tokens; in a quarter, short ones do."""
        long = f"see {' '.join(f'part_{n}' for n in range(110))} {'words of no consequence ' * 40}"
        said = [
            model(long),
            *(model(f"look at step_{n} and item_{n} now") for n in range(200)),
            user("go on"),
        ]
        history = History.of(said, settings=PLAIN)
        most, few = (plan_prune(history, PLAIN, int(sum(history.tokens) * share)) for share in (0.6, 0.25))
        assert 0 in most.kept
        assert few.max_tokens > history.tokens[0]
        assert 0 not in few.kept


class TestShortening:
    """Outputs cut to their most valuable rows."""

    OUTPUT = "\n".join(
        "FAILED tests/test_parser.py" if n == 50 else f"chatter of the build, part {n}, and no more"
        for n in range(100)
    )

    def test_keeps_the_call_and_the_row_that_is_named(self) -> None:  # X7
        """The output is shortened; the call is not."""
        said = [
            user("fix it"),
            calls("1"),
            results("1", text=self.OUTPUT),
            model("tests/test_parser.py"),
            user("on"),
        ]
        plan = planned(said, 150)
        assert plan.shortened == (2,)
        assert 1 in plan.kept
        short = plan.shortenings[2].apply(said[2]).results[0].text
        assert "FAILED tests/test_parser.py" in short
        assert short.endswith("[… 49 lines]")
        assert plan.reason(2).startswith("shortened to ")
        assert plan.fate(2) == "shortened"

    def test_leaves_everything_but_outputs_alone(self) -> None:  # X7
        """Messages of the user and the model stay in full or go."""
        plan = planned([user(self.OUTPUT), model(self.OUTPUT), user("on")], 150)
        assert plan.shortened == ()

    def test_leaves_outputs_with_media_alone(self) -> None:  # X6
        """An image stays with its message."""
        from scoring.messages import Media, ToolResult

        result = Message("tool", (ToolResult("1", self.OUTPUT, media=(Media("image"),)),))
        assert planned([calls("1"), result, user("on")], 150).shortened == ()


class TestASliderAtZero:
    """A signal without weight has no effect."""

    SAID = (
        *(
            user("please look at parser_a.py"),
            model("deploy_hook is in utils_b.py"),
            user("and columns_c.py too"),
        ),
        *(
            model("see HAT271 and parser_a.py again"),
            user(f"rows_d.py is long {FILLER}"),
            model("old_e.py old_e.py"),
        ),
        user("now go on with the parser"),
    )

    def kept(self, messages: tuple[Message, ...], settings: Settings) -> tuple[int, ...]:
        """Return what stays at a third of the tokens."""
        history = History.of(messages, settings=settings)
        return plan_prune(history, settings, sum(history.tokens) // 3).kept

    def test_of_role_makes_speakers_equal(self) -> None:
        """Without its weight the speaker makes no difference; with it the speaker does."""
        other = tuple(replace(m, role="assistant") if m.role == "user" else m for m in self.SAID[:-1])
        swapped = (*other, self.SAID[-1])
        assert self.kept(self.SAID, weights(role=0)) == self.kept(swapped, weights(role=0))

    def test_of_recency_makes_ages_equal(self) -> None:
        """Rates do not change when old and new change places."""
        settings = weights(recency=0, relevance=0)
        one, other = (plan_prune(History.of(said, settings=settings), settings, 40) for said in
                      (list(self.SAID), [self.SAID[1], self.SAID[0], *self.SAID[2:]]))  # fmt: skip
        assert one.scores[5] == other.scores[5]
        assert {self.SAID[i] for i in one.kept} == {
            [self.SAID[1], self.SAID[0], *self.SAID[2:]][i] for i in other.kept
        }

    def test_of_relevance_makes_questions_equal(self) -> None:
        """The last question makes no difference."""
        other = (*self.SAID[:-1], user("Where is the sister of them"))
        settings = weights(relevance=0)
        assert self.kept(self.SAID, settings) == self.kept(other, settings)
        assert set(planned(list(other), 60, settings).parts["relevance"]) == {0.0}

    def test_of_length_makes_sizes_equal(self) -> None:
        """A unit with ten times as many words, none of which is a name, has the same score."""
        long = (*self.SAID[:1], model("deploy_hook is in utils_b.py " + "so " * 9), *self.SAID[2:])
        short, longer = (planned(list(said), 10_000, weights(length=0)) for said in (self.SAID, long))
        assert short.scores[0] == longer.scores[0]
        rates = [planned(list(said), 10_000).parts["length"][1] for said in (self.SAID, long)]
        assert rates[0] > rates[1]

    def test_of_keywords_makes_repetition_equal(self) -> None:
        """A name that comes often is worth one that came once and last at the same place."""
        settings = weights(keywords=0)
        best = model("third_name fourth_name fifth_name")
        once = [user("go"), user("first_name"), model("other_name"), best, user("on")]
        twice = [user("go"), user("other_name"), model("other_name"), best, user("on")]
        a, b = (planned(said, 10_000, settings).scores[2] for said in (once, twice))
        assert a == b
        a, b = (planned(said, 10_000).scores[2] for said in (once, twice))
        assert a < b

    @pytest.mark.parametrize("name", ["recency", "role", "keywords", "length", "relevance"])
    def test_gives_no_points(self, name: str) -> None:  # X3
        """Neither to a score nor to a part."""
        plan = planned(list(self.SAID), 60, weights(**{name: 0}))
        assert set(plan.parts[name]) == {0.0}


class TestScores:
    """The shown scores of messages."""

    @given(any_messages, st.sampled_from([0.2, 0.6, 2.0]))
    def test_are_the_weighted_sum_of_their_parts(self, messages: list[Message], share: float) -> None:  # X3
        """Contributions add up, parts are 0...1, scores 0...100."""
        history = History.of(messages, settings=PLAIN)
        plan = plan_prune(history, PLAIN, int(sum(history.tokens) * share))
        for i, score in enumerate(plan.scores):
            parts = {name: column[i] for name, column in plan.parts.items()}
            assert all(0.0 <= part <= 1.0 for part in parts.values())
            assert sum(PLAIN.weights[name] * part for name, part in parts.items()) == pytest.approx(score)
            assert 0.0 <= score <= HIGHEST

    def test_are_there_when_everything_fits(self) -> None:  # X3
        """The page shows scores even if nothing has to be dropped."""
        plan = planned([user("see main.py"), model("utils_b is in main.py"), model(), user("on")], 10_000)
        assert plan.scores[1] > plan.scores[2]
        assert plan.reason(1) == "kept: everything fits"

    def test_of_what_was_never_looked_into_are_zero(self) -> None:
        """Features without content make a plan, newest first."""
        history = History.of_features([Features("user", 10, own_words=True) for _ in range(5)])
        plan = plan_prune(history, PLAIN, 30)
        assert plan.kept == (2, 3, 4)
        assert set(plan.scores) == {0.0}


class TestEveryPlan:
    """Invariants of every strategy, on any list."""

    @given(any_messages, st.sampled_from(STRATEGY_NAMES), st.integers(0, 400))
    def test_is_valid(self, messages: list[Message], strategy: str, budget: int) -> None:  # X6, B7, B8
        """Units are whole, system messages and the last unit stay, each position occurs once, an excess is flagged."""
        settings = replace(PLAIN, strategy=strategy)
        plan = planned(messages, budget, settings)
        stays = sorted((*plan.kept, *plan.shortened))
        assert sorted((*stays, *plan.removed)) == list(range(len(messages)))
        for unit in units_of(messages):
            assert len(set(unit) & set(stays)) in (0, len(unit))
        assert all(i in stays for i, m in enumerate(messages) if m.role == "system")
        assert not messages or len(messages) - 1 in stays
        assert plan.over_budget or plan.tokens_after <= budget
        assert all(plan.reason(i) and plan.cause(i) for i in range(len(messages)))
        assert not any(re.search(r"\d tokens", plan.reason(i)) for i in range(len(messages)))

    @given(
        any_messages, st.sampled_from(sorted(FORMATS)), st.sampled_from(STRATEGY_NAMES), st.integers(0, 400)
    )
    def test_leaves_a_list_that_its_format_accepts(
        self, messages: list[Message], name: str, strategy: str, budget: int
    ) -> None:  # X6
        """A valid list stays valid in every wire format."""
        said, _ = repair([system("be brief"), user("begin"), *messages, user("go on")])
        try:
            listed = encode(said, name, {})
            if validate(listed, name, ready=False):
                return
            back = list(decode(listed, name).messages)
        except ValueError:
            return
        history = History.of(back, settings=PLAIN)
        plan = plan_prune(history, PLAIN, budget, strategy=strategy, wire_format=name)
        if plan.problems or plan.summary:
            return
        assert validate(encode(left_by(plan, back), name, {}), name, ready=False) == []

    @given(any_messages, st.integers(0, 300))
    def test_is_the_same_twice(self, messages: list[Message], budget: int) -> None:
        """From bare messages and from stored features, to the last digit."""
        history = History.of(messages, settings=PLAIN)
        stored = [Features.from_dict(json.loads(json.dumps(f.to_dict()))) for f in history.features]
        one, other = (plan_prune(h, PLAIN, budget) for h in (history, History.of_features(stored)))
        assert (one.kept, one.shortened, one.scores) == (other.kept, other.shortened, other.scores)
        assert list(map(one.reason, range(len(messages)))) == list(map(other.reason, range(len(messages))))

    def test_is_not_changed_by_what_is_said_later(self) -> None:
        """A history may grow while a plan is looked at."""
        history = History.of([user("see main.py"), model("utils_b " + FILLER), user("on")], settings=PLAIN)
        plan = plan_prune(history, PLAIN, 40)
        before = [(plan.reason(i), plan.scores[i], plan.parts["recency"][i]) for i in range(3)]
        again = plan_prune(history, PLAIN, 40)
        history.append(
            History.of([message("user", "utils_b and main.py once more")], settings=PLAIN).features[0]
        )
        assert [(again.reason(i), again.scores[i], again.parts["recency"][i]) for i in range(3)] == before


class TestSections:
    """Fields that occur in several sections of an output."""

    HOSTS: ClassVar = {"staging": "pg-stage-1.lan", "production": "pg-prod-7.lan", "retired": "pg-old-3.lan"}
    OTHERS = "  level of the log = info, for all workers\n  region of the store = near the sea\n"
    NOTES = "\n".join(
        f"# note {number}: kept for the auditors of the year {1900 + number}" for number in range(40)
    )

    @pytest.mark.parametrize("form", ["[{0}]\n{2}host = {1}\npool = 5", "{0}:\n{2}  host: {1}\n  pool: 5"])
    def test_stay_only_below_their_own_heading(self, form: str) -> None:  # X23
        """This holds at any budget; in some plans the output is cut."""
        sections = "\n".join(form.format(site, host, self.OTHERS) for site, host in self.HOSTS.items())
        text = f"{self.NOTES}\n{sections}\n{self.NOTES.replace('19', '18')}"
        said = [user("Look after the hosts."), calls("1"), results("1", text=text)]
        said += [model("I ask pg-prod-7.lan and pg-old-3.lan."), user(FILLER), model(FILLER), user("Go on.")]
        cut = 0
        for tokens in range(100, 1_000, 50):
            plan = planned(said, tokens)
            shown = plan.shortenings[2].apply(said[2]).results[0].text if 2 in plan.shortened else ""
            cut += "pg-" in shown
            for site, host in self.HOSTS.items():
                assert host not in shown or form.partition("\n")[0].format(site) in shown
        assert cut
