"""Guards: the messages that they find, and their protection."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message, ToolCall, message
from scoring.planning import PrunePlan, plan_prune
from scoring.planning.guards import Guards, find
from scoring.planning.protection import protect
from scoring.planning.strategies import STRATEGIES
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from tests.scoring.builders import model, results, system, user
from tests.scoring.planning.stages.sessions import sessions

SAID = "I have looked at the parser and found where the limit is read; it is read twice."
UNGUARDED = replace(FORESIGHT, guarded_percent=0.5, user_words_tokens=0)
NOISE = "\n".join(f"chatter of the build, part {n}, and no more" for n in range(60))


def act(number: str, name: str, output: str = "done", **arguments: Any) -> list[Message]:
    """A call and its output."""
    call = ToolCall(number, name, json.dumps(arguments))
    return [message("assistant", "", call), results(number, text=output)]


def work(count: int, first: int = 100) -> list[Message]:
    """Calls with long outputs."""
    return [
        one
        for n in range(first, first + count)
        for one in act(str(n), "bash", NOISE, command=f"make part{n}")
    ]


def found(*messages: Message) -> Guards:
    """Return the guards of some messages."""
    return find(History.of(messages))


def planned(messages: list[Message], share: float, settings: Settings = FORESIGHT) -> PrunePlan:
    """A plan for a share of what messages take."""
    history = History.of(messages, settings=settings)
    return plan_prune(history, settings, int(sum(history.tokens) * share))


def plan_of(*states: str) -> dict[str, Any]:
    """Return the arguments of a call that writes a plan."""
    return {"todos": [{"content": f"step {n}", "status": state} for n, state in enumerate(states)]}


class TestFinding:
    """Guards are found by the content of messages, not by the names of tools."""

    def test_the_task_stands_before_the_first_reply(self) -> None:
        """After a demonstration, or after notices of programs."""
        demonstration = user("Here is a demonstration of how to answer: first look, then act.")
        assert found(demonstration, user("Fix the parser."), *work(3)).task[0] == 1
        notice = user("<command-name>/clear</command-name>")
        assert found(notice, model("ok"), user("Fix the parser."), *work(3)).task == [2, 0]

    def test_rules_are_the_users(self) -> None:
        """Strict ones first; in a conversation without tools those alone."""
        talk = [user("Use only tabs."), model(SAID), user("Never push to main."), model(SAID)]
        assert found(*talk, *work(3), user("on")).rules == [2, 0]
        assert found(*talk, user("and the only thing I saw was a boat")).rules == [2]

    def test_an_error_is_open_until_the_same_succeeds(self) -> None:
        """A look that finds nothing is no error."""
        failed = act("1", "bash", "FAILED test_a\n1 failed", command="pytest tests")
        passed = act("2", "bash", "3 passed", command="pytest tests -q")
        looked = act("3", "bash", "exit code 1", command="grep -rn foo src")
        assert found(user("go"), *failed, *looked, user("on")).errors == [2]
        assert found(user("go"), *failed, *passed, user("on")).errors == []

    def test_of_plans_the_newest_counts(self) -> None:
        """The newest plan counts, and later changes of its single steps do, too."""
        plans = [*act("1", "TodoWrite", **plan_of("pending")), *act("2", "TodoWrite", **plan_of("completed"))]
        guards = found(user("go"), *plans, *act("3", "TaskUpdate", id=1, status="done"), user("on"))
        assert (guards.plan, guards.old_plans, guards.steps) == (3, [(1, 3)], [5])

    def test_a_plan_replaces_only_those_of_the_same_tool(self) -> None:
        """A list with states that another tool writes leaves the plan standing."""
        other = act("2", "crm", steps=[{"title": "a", "status": "pending"}])
        guards = found(user("go"), *act("1", "TodoWrite", **plan_of("pending")), *other)
        assert guards.old_plans == []

    def test_a_list_that_was_only_acknowledged_is_replaced_by_the_newest(self) -> None:
        """Under a name of any kind; a call that failed, or that was answered at length, replaces nothing."""
        first = act("1", "agenda_put", "stored", agenda=["run the export", "check"])
        second = act("2", "agenda_put", "stored", agenda=["freeze it", "report"])
        assert found(user("go"), *first, *second, user("on")).old_plans == [(2, 4)]
        for output in ("Traceback (most recent call last):\nValueError: no agenda", NOISE):
            other = act("2", "agenda_put", output, agenda=["freeze it", "report"])
            assert found(user("go"), *first, *other, user("on")).old_plans == []

    def test_the_last_statement_stands_before_the_last_unit(self) -> None:
        """The message about to be answered stays anyway."""
        assert found(user("go"), model(SAID), *work(2), user("on")).statement == 1


class TestResolvedFailures:
    """Failures of an act that later ended well."""

    FAILED, PASSED = "FAILED test_limits_of_lexer.py\n1 failed", "3 passed"

    def test_have_the_newest_outcome(self) -> None:
        """Commands that failed again in the end are not among them, nor a look that found nothing."""
        runs = [act(str(n), "bash", text, command="pytest tests") for n, text in
                enumerate((self.FAILED, self.PASSED, self.FAILED, self.PASSED))]  # fmt: skip
        looks = [act(str(n), "bash", text, command="grep -rn foo src") for n, text in
                 enumerate(("exit code 1", "src/foo.py"), 4)]  # fmt: skip
        said = [user("go"), *chain(*runs, *looks)]
        assert found(*said).resolved == {2: 8, 6: 8}
        assert found(*said, *act("9", "bash", self.FAILED, command="pytest tests")).resolved == {}

    @given(sessions(), st.floats(0.02, 0.9))
    def test_stay_only_beside_it(self, said: list[Message], share: float) -> None:  # X23
        """A failure stays only beside its newest outcome, however little can stay."""
        history = History.of(said, settings=FORESIGHT)
        budget = int(sum(history.tokens) * share)
        plan, protection = plan_prune(history, FORESIGHT, budget), protect(history, FORESIGHT, budget)
        left = {history.units.head[p] for p in (*plan.kept, *plan.shortened)}
        for older, newer in protection.outdated.items():
            assert older not in left or left.issuperset(newer) or older in protection.causes

    def test_go_with_it(self) -> None:
        """The names of the failure are worth more, but alone it would read as the state of things."""
        said = [user("go on"), *act("1", "bash", self.FAILED, command="pytest tests"),
                *act("2", "bash", self.PASSED + NOISE * 3, command="pytest tests"),
                model("see test_limits_of_lexer.py"), *work(8), user("on")]  # fmt: skip
        plans = [planned(said, share / 100, UNGUARDED) for share in range(2, 90, 2)]
        assert any(1 in plan.kept for plan in plans)
        assert any("something newer" in plan.reason(1) for plan in plans)
        assert all({3, 4} <= {*plan.kept, *plan.shortened} for plan in plans if 1 in plan.kept)


class TestKeeping:
    """Protected within a share of the budget, whatever the strategy."""

    SESSION = (
        user("Fix the parser in src/parser.py."),
        *work(6, 100),
        user("Never touch src/lexer.py."),
        *act("1", "TodoWrite", **plan_of("completed", "pending")),
        model(SAID),
        user("Good, and does it work by now, or is there still something to do?"),
        *act("2", "bash", f"{NOISE}\nE   ValueError: no limit\n1 failed, 3 passed", command="pytest tests"),
        *work(30, 200),
        user("go on with it, please, as you think best, and tell me when it works"),
    )

    def test_keeps_what_would_mislead_if_it_were_lost(self) -> None:  # X8, X23
        """At a tenth of the tokens, with the reason in words."""
        plan = planned(list(self.SESSION), 0.1)
        reasons = {plan.cause(p): plan.reason(p) for p in (*plan.kept, *plan.shortened)}
        assert {"task", "rule", "plan", "error", "statement"} <= reasons.keys()
        assert all(reasons[cause].startswith("protected: ") for cause in ("task", "rule", "plan", "error"))

    def test_keeps_it_under_other_strategies(self) -> None:
        """Whole units are kept, as far as they fit."""
        plan = planned(list(self.SESSION), 0.2, replace(FORESIGHT, strategy="newest_first"))
        causes = {plan.cause(p) for p in plan.kept}
        assert {"task", "rule", "plan", "statement"} <= causes

    def test_shows_the_error_in_an_output_that_is_cut(self) -> None:  # X7
        """The error and the end of the run stay, and the reason says so."""
        plan = planned(list(self.SESSION), 0.07)
        error = next(p for p in plan.shortened if plan.cause(p) == "error")
        text = plan.shortenings[error].apply(self.SESSION[error]).text
        assert "E   ValueError: no limit" in text
        assert "1 failed, 3 passed" in text
        assert "; shortened to " in plan.reason(error)

    def test_keeps_to_its_share(self) -> None:
        """Rules beyond it go as other messages do."""
        rules = [user(f"Never use the word number {n} of the list that I sent you.") for n in range(200)]
        said = [one for rule in rules for one in (rule, model("All right, I will keep to that."))]
        plan = planned([system(), *said, *work(1), user("on with it")], 0.25)
        assert 0 < sum(plan.cause(p) == "rule" for p in plan.kept) < 100
        assert plan.over_budget is None

    def test_keeps_a_rule_however_long_the_task(self) -> None:
        """Rules have the share for themselves: one that fits into it does not depend on what the task takes."""
        task = user("I would like to move my flight of Tuesday, with the same seats, to Wednesday. " * 3)
        rule = user("I do not want to fly before eleven, and never over Oslo, as the air there makes me ill.")
        said = [system(), task, model(SAID), rule, *work(8), user("go on")]
        history = History.of(said, settings=FORESIGHT)
        always = history.tokens[0] + history.tokens[-1]
        plan = plan_prune(history, FORESIGHT, always + round(history.tokens[3] * 100 / 14.5))
        assert history.tokens[1] > history.tokens[3]
        assert (plan.fate(3), plan.cause(3)) == ("protected", "rule")

    @pytest.mark.parametrize("share", [0.5, 0.25])
    def test_keeps_the_correction_of_a_task(self, share: float) -> None:
        """The task stays, so without its correction the context would be false."""
        task = user("My order arrived broken, please send the replacement to 12 Elm Street, Leeds.")
        fixed = user("Sorry, I gave you the wrong address. We moved to York, it is 98 Oak Lane.")
        talk = [
            one
            for n in range(40)
            for one in (
                user(f"And what does part number {n} of it cost?"),
                model(
                    f"Part number {n} of the machine costs {n + 3} pounds, and {n + 5} pounds with its filter."
                ),
            )
        ]
        said = [
            task,
            model("It is on its way."),
            *talk[:40],
            fixed,
            model("I have corrected that."),
            *talk[40:],
        ]
        plan = planned([*said, user("Thanks. Please send me a summary.")], share)
        assert 0 in plan.kept
        assert (plan.fate(42), plan.cause(42)) == ("protected", "correction")

    def test_keeps_rules_before_what_users_lack(self) -> None:
        """A newer sentence that only has the words of a rule does not take the room of one."""
        lacks = [user(f"I don't have number {n} of the list that you ask for with me.") for n in range(40)]
        rule = user("Use only the library that comes with the language, as said in the guide of the team.")
        talk = [one for lack in lacks for one in (lack, model(SAID))]
        plan = planned([system(), user("go"), *work(20), rule, model(SAID), *talk, user("on with it")], 0.1)
        assert (plan.fate(42), plan.cause(42)) == ("protected", "rule")

    @pytest.mark.parametrize("strategy", sorted(STRATEGIES))
    def test_keeps_rules_through_prunes_in_a_row(self, strategy: str) -> None:
        """They stay by any strategy and in any language; each prune works on what the one before left."""
        rules = [
            user("Every public function needs a docstring."),
            user("Fass die Datei billing.py nicht an."),
            user("No toques las migraciones, las comparten todos."),
            user("Не трогай миграции, пожалуйста, ими пользуются все."),
            user("删除任何东西之前先问我。"),
        ]
        messages = [system(), user("Fix the parser."), *work(4, 900)]
        for n, rule in enumerate(rules):
            messages += [rule, model(SAID), *work(8, 100 * n)]
        for number in range(3):
            messages += [
                *work(12, 1000 * (number + 1)),
                user("go on with it, please, and tell me how it went"),
            ]
            plan = planned(messages, 0.35, replace(FORESIGHT, strategy=strategy, user_words_tokens=0))
            assert plan.over_budget is None
            messages = [messages[p] for p in sorted((*plan.kept, *plan.shortened))]
        assert all(rule in messages for rule in rules)

    def test_guards_softer_rules_before_the_first_call(self) -> None:
        """A customer's request that no tool was used for yet has a task and rules, unlike a chat."""
        policy = system(
            "Policy: as an agent for a customer, confirm each refund, cancel a reservation or booking on request."
        )
        said = [
            user("I would like to move my flight."),
            model(SAID),
            user("Only non-stop flights."),
            model(SAID),
            user("go"),
        ]
        assert found(policy, *said).rules == [3]
        assert found(*said).rules == []

    def test_keeps_an_error_however_much_users_laid_down(self) -> None:
        """Rules that take the whole share leave room for what failed last."""
        rules = [user(f"Never use word {n}.") for n in range(300)]
        failed = act("1", "bash", f"{NOISE}\nValueError: no limit is set", command="make check")
        history = History.of([system(), *rules, *failed, *work(30), user("on with it")], settings=FORESIGHT)
        budget = sum(history.tokens) // 4
        protection = protect(history, FORESIGHT, budget)
        assert "error" in protection.guarded.values()
        assert protection.guarded_room > 0.2 * (budget - protection.always_tokens)

    def test_keeps_a_failed_call_larger_than_the_share(self) -> None:
        """In a small context the newest failure has up to twice the share: alone, a call and its error exceed it."""
        failed = act("1", "book", "Error: not enough balance on the card", order="order " * 90)
        said = [system(), user("go"), *failed, *work(8), user("on with it")]
        history = History.of(said, settings=FORESIGHT)
        last = history.tokens[0] + history.tokens[-1]
        share = history.unit_tokens[2] / 1.8
        budget = last + round(share * 100 / FORESIGHT.guarded_percent)
        plan = plan_prune(history, FORESIGHT, budget)
        assert (plan.fate(3), plan.cause(3)) == ("protected", "error")

    @pytest.mark.parametrize(("part", "cause"), [(0.22, "task"), (0.3, "")])
    def test_keeps_a_task_of_up_to_a_quarter_of_the_room(self, part: float, cause: str) -> None:
        """In a dialogue whose system prompt takes most of the budget, a short task exceeds the share of it."""
        task = user("I would like to move my flight of Tuesday to Wednesday, with the same seats.")
        asked = (model("Which of them?"), user("The one to Oslo."))
        history = History.of([system(), task, *asked, *work(8), user("go on")], settings=FORESIGHT)
        always = history.tokens[0] + history.tokens[-1]
        plan = plan_prune(history, FORESIGHT, always + round(history.tokens[1] / part))
        assert (plan.cause(1) if plan.fate(1) == "protected" else "") == cause

    def test_keeps_the_last_that_users_wrote_themselves(self) -> None:
        """An agent that gets outputs as user messages has its task, even if that takes most of the budget."""
        task = user("Preserve the cookie's attribute when it is deleted. " * 40)
        looks = [
            one
            for n in range(12)
            for one in (model(f"I look at part {n} of it."), user(f"<returncode>0</returncode>\n{NOISE}"))
        ]
        history = History.of([system(), task, *looks], settings=FORESIGHT)
        always = history.tokens[0] + history.tokens[-1]
        plan = plan_prune(history, FORESIGHT, always + round(1.3 * history.tokens[1]))
        assert (plan.fate(1), plan.cause(1)) == ("protected", "last_user")
        assert plan.over_budget is None

    def test_is_off_in_blueprint(self) -> None:
        """That preset keeps nothing but what it kept."""
        plan = planned(list(self.SESSION), 0.1, BLUEPRINT)
        assert not {"task", "rule", "plan", "error", "statement"} & {
            plan.cause(p) for p in range(len(self.SESSION))
        }


class TestWhatStaysTogether:
    """Messages that mislead without another one."""

    def test_an_old_plan_goes_with_the_newest(self) -> None:
        """No plan is better than one that no longer holds."""
        long = {
            "todos": [{"content": f"step {n} " + "of the work " * 20, "status": "pending"} for n in range(40)]
        }
        said = [
            user("go"),
            *act("1", "TodoWrite", **plan_of("pending")),
            *act("2", "TodoWrite", "done", **long),
        ]
        plan = planned([*said, *work(8), user("on with it, as you think best")], 0.1)
        assert 3 in plan.removed
        assert 1 in plan.removed

    def test_a_short_answer_has_its_question(self) -> None:
        """No answer stays without its question, whatever is cut."""
        asked = [
            one for n in range(40) for one in (model(f"Shall I move item_{n} to the other list?"), user("no"))
        ]
        for share in (0.7, 0.5, 0.25, 0.1):
            plan = planned(
                [user("Sort my lists."), *asked, *work(4), user("thanks, that is all for now")], share
            )
            kept = set(plan.kept)
            assert all(p - 1 in kept for p in kept if 1 < p < 82 and p % 2 == 0)

    @pytest.mark.parametrize(
        "answer",
        [
            "Leave them where they are for the time being, that comes in May.",
            "这个版本先留在主机上，保管库要到五月才来，到时候我们再商量一次。",
        ],
    )
    def test_a_question_stays_only_beside_its_answer(self, answer: str) -> None:  # X23
        """Alone it would read as if it were still open."""
        said = [user("Bring the sites to release-5.2."), *work(4)]
        for n in range(12):
            said += [
                model(f"Should certificate_{n} move to vault-north?"),
                user(answer),
                *work(2, 200 + 2 * n),
            ]
        said.append(user("How far is certificate_3 in vault-north?"))
        for share in (0.5, 0.25, 0.1, 0.03):
            kept = set(planned(said, share).kept)
            asked = [p for p, one in enumerate(said) if one.text.startswith("Should")]
            assert [p for p in asked if p in kept and p + 1 not in kept] == []

    def test_the_last_statement_has_its_answer(self) -> None:
        """A question that is guarded brings the short answer to it."""
        question = "Before I go on with the certificates: should they move to vault-north or stay?"
        said = [user("Renew the certificates."), *work(2), model(question), user("They stay."), *work(20)]
        said.append(user("on with it, as you think best"))
        at = next(p for p, one in enumerate(said) if one.text == question)
        kept = set(planned(said, 0.1).kept)
        assert {at, at + 1} <= kept

    def test_a_newer_short_order_is_not_passed_over_for_an_older_one(self) -> None:
        """It stays with the message before it, in writing without blanks, too."""
        for old, new in (
            ("Ship the crates to dock A4.", "Ship them to dock C9 now."),
            ("箱子发到码头A4。", "箱子现在改发到码头C9，请照这个办。"),
        ):
            said = [user("Keep the inventory of the port."), *work(3), user(old), *work(5)]
            said += [model(SAID), user(new), *work(12), user("Carry on with the remaining shelves, please.")]
            at = {one.text: p for p, one in enumerate(said)}
            for share in (0.5, 0.25, 0.1):
                kept = set(planned(said, share).kept)
                assert at[new] in kept or at[old] not in kept

    @pytest.mark.parametrize("share", [0.5, 0.25, 0.1])
    def test_a_ban_does_not_stay_without_what_lifts_it(self, share: float) -> None:  # X23
        """In a chat, whose share has room for one sentence."""
        chat = [
            one
            for n in range(30)
            for one in (user(f"Tell me about tower {n}, please."), model(f"Tower {n}: " + "It stands. " * 20))
        ]
        ban, lift = (
            user("Never touch the cluster blue-7."),
            user("The freeze has ended: blue-7 is yours again."),
        )
        said = [*chat[:20], ban, model("Understood. " * 20), *chat[20:40], lift, model("Good."), *chat[40:]]
        said.append(user("Carry on with the next one, please."))
        kept = set(planned(said, share).kept)
        assert said.index(lift) in kept or said.index(ban) not in kept

    def test_a_short_answer_that_is_needed_brings_its_question(self) -> None:
        """Both are weighed as one, so that what was asked is not found missing when all room is taken."""
        question = model(
            "Could you tell me who you are, as the letter has it? " + "We ask so as to be sure. " * 4
        )
        said = [user("Please change my booking."), question, user("It is mia_li_3668")]
        for n in range(30):
            said += [
                model(f"part_{n} of it: {'there is nothing else to say. ' * 5}"),
                model(f"{'of no consequence ' * 200} mia_li_3668"),
            ]
        said += [user("well then, now go on and do it, and tell me when you have done so")]
        plan = planned(said, 0.035, replace(FORESIGHT, user_words_tokens=0))
        assert {1, 2} <= set(plan.kept)
        assert any("part_" in said[p].text for p in plan.removed)
        assert plan.reason(1).startswith("kept: ")
        assert plan.reason(2).startswith("kept: ")


class TestReplacedPlans:
    """A plan that a newer one replaces."""

    def test_go_with_a_reason(self) -> None:
        """The older plan is not weighed where the newer one stays; its reason needs no weight."""
        messages = [user("Fix the parser.")]
        for n in range(1, 5):
            messages += act(str(n), "TodoWrite", **plan_of(*["completed"] * n, "pending"))
            messages += [
                model(f"Part {n}: {' '.join(f'word{n}{i}' for i in range(400))}"),
                user(f"go on {n}"),
            ]
        plan = planned(messages, 0.02)
        assert 1 in plan.removed
        assert all(plan.reason(position).startswith("dropped: ") for position in plan.removed)
