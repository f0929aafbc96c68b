"""Recognising a session's task type, and what follows from it."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from scoring.formats import decode
from scoring.history import Features
from scoring.history.history import History
from scoring.history.task_recognition import (
    TOOLS_KEPT,
    TaskCounts,
    recognise,
    settings_for,
    task_type_of,
    type_of_tool,
)
from scoring.lists import score_context_importance
from scoring.messages import Message, Text, ToolCall, ToolResult
from scoring.planning import plan_prune
from scoring.settings import BLUEPRINT, FORESIGHT, lexicon_of
from scoring.settings.task_types import DEFAULT_TASK_TYPES
from tests.scoring.builders import model, system, user
from tests.shared import shared_data

POLICY = (
    "You are an airline agent. Policy: customers may cancel a reservation or get a refund only if eligible. "
    "Confirm each booking and payment with the passenger before you transfer the customer."
)


def used(*tools: str) -> list[Message]:
    """Calls of tools, each with its output."""
    out = []
    for n, tool in enumerate(tools):
        out.append(Message("assistant", (ToolCall(f"{tool}-{n}", tool, "{}"),)))
        out.append(Message("tool", (ToolResult(f"{tool}-{n}", "plain words", name=tool),)))
    return out


def talk(turns: int, *words: str) -> list[Message]:
    """User and agent in turn, who say these words."""
    said = " ".join(words) or "plain words"
    return [message for _ in range(turns) for message in (user(said), model(said))]


def looks(messages: list[Message]) -> tuple[str, str]:
    """Return what a list of messages looks like, and why."""
    return recognise(History.of(messages).task_counts)


class TestRecognisedType:
    """The recognised task type of a session."""

    def test_is_coding_where_files_are_edited_and_commands_run(self) -> None:  # B18
        """The tools decide; the reason names the share of tool outputs and the most used tools."""
        name, reason = looks(
            [user("fix it"), *used("Read", "Edit", "Edit", "Bash", "mystery"), model("done")]
        )
        assert name == "coding"
        assert (
            reason
            == "looks like coding: 42 % of its messages are tool outputs, most of them of Edit, Bash and Read"
        )

    def test_is_coding_without_tools_where_the_talk_is_of_files(self) -> None:  # B18
        """Agents that write commands into their text are recognised by the files that they name."""
        name, reason = looks([*talk(3, "look at src/billing/refunds.py"), *talk(2)])
        assert (name, reason) == (
            "coding",
            "looks like coding: 60 % of its messages name files; no tool was used",
        )

    def test_is_research_where_the_web_is_read(self) -> None:  # B18
        """More than half of the calls are searches and fetches."""
        name, reason = looks([user("find out"), *used("WebSearch", "WebFetch", "WebFetch", "Bash")])
        assert name == "research"
        assert "WebFetch and WebSearch" in reason

    def test_is_support_where_tools_are_about_orders(self) -> None:  # B18
        """The words in the names of tools decide."""
        assert looks([*talk(3), *used("get_order_details", "think")])[0] == "support"

    def test_is_support_where_the_system_prompt_has_rules_for_customers(self) -> None:  # B18
        """A system prompt decides if tools do not, but not for a programmer's tools."""
        assert looks([system(POLICY), *talk(3)])[0] == "support"
        assert looks([system(POLICY), *talk(3), *used("think", "calculate")])[0] == "support"
        assert looks([system(POLICY), *talk(3), *used("Bash", "Edit")])[0] == "coding"

    def test_is_chat_where_hardly_any_tool_was_used(self) -> None:  # B18
        """One search in a long conversation is not research."""
        assert looks(talk(3)) == ("chat", "looks like chat: no tool was used")
        name, reason = looks([*talk(30), *used("WebSearch")])
        assert (name, reason) == ("chat", "looks like chat: hardly any tool was used (1 in 62 messages)")

    def test_is_none_of_them_where_tools_say_nothing(self) -> None:
        """The common settings apply, and the reason names the tools."""
        name, reason = looks([user("go"), *used("frobnicate", "twiddle")])
        assert name == "any"
        assert "frobnicate and twiddle" in reason

    def test_shows_where_a_long_name_is_cut(self) -> None:
        """A name of 60 characters is whole, and the end of a longer one is an ellipsis."""
        whole, long = "frob_" + 55 * "a", "frob_" + 56 * "a"
        assert f"of {whole} and frob_{54 * 'a'}…" in looks([user("go"), *used(whole, whole, long)])[1]

    def test_is_none_of_them_before_anything_was_said(self) -> None:
        """A few messages are not enough to recognise a type."""
        assert recognise(TaskCounts())[0] == "any"
        assert looks([system(POLICY), *talk(1)])[0] == "any"

    @pytest.mark.parametrize(
        ("tool", "kind"),
        [
            ("Read", "coding"), ("read_email", "any"), ("run_shell_command", "coding"), ("apply_patch", "coding"),
            ("google_web_search", "research"), ("webfetch", "research"), ("search", "research"),
            ("update_reservation_flights", "support"), ("TodoWrite", "coding"), ("calculate", "any"),
        ],
    )  # fmt: skip
    def test_goes_by_the_words_in_a_tools_name(self, tool: str, kind: str) -> None:
        """`read_email` is not a tool that reads files, however its words are joined; `Read` is."""
        assert type_of_tool(tool) == kind

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("airline", "support"),
            ("coding", "coding"),
            ("swe", "coding"),
            ("swe-text", "coding"),
            ("meetings", "chat"),
        ],
    )
    def test_is_right_for_public_sessions(self, kind: str, expected: str) -> None:  # B18
        """Every whole session of the retention data is recognised correctly."""
        with gzip.open(shared_data("retention", f"{kind}.jsonl.gz"), "rt", encoding="utf-8") as lines:
            sessions = [json.loads(line) for _, line in zip(range(12), lines, strict=False)]
        found = {s["id"]: looks(list(decode(s["messages"], "openai").messages)) for s in sessions}
        assert {name for name, _ in found.values()} == {expected}, found


class TestFacts:
    """The counts that recognition uses."""

    def test_can_be_taken_back(self) -> None:
        """A message that is extended counts as if it had arrived whole."""
        whole, parted = TaskCounts(), TaskCounts()
        features = History.of([*used("Bash", "Edit"), *talk(2, "a/b.py")]).features
        for one in features:
            whole.add(one)
            parted.add(one)
        parted.add(features[0], -1)
        parted.add(features[0])
        assert parted == whole

    def test_are_the_same_for_one_message_and_for_many(self) -> None:
        """Features that were stored hold only that a text names a file."""
        one, many, features = TaskCounts(), TaskCounts(), Features("user", 1, names_file=True)
        one.add(features)
        many.extend([features])
        assert one == many

    def test_survive_json_and_share_nothing_with_their_copies(self) -> None:
        """The stored form is read back equal; counting on a copy does not change the original."""
        counts = History.of([system(POLICY), *used("Bash"), *talk(1, "a/b.py")]).task_counts
        again = TaskCounts.from_dict(json.loads(json.dumps(counts.to_dict())))
        assert again == counts.copy() == counts
        again.tools["Bash"] += 1
        assert counts.tools == {"Bash": 1}
        assert TaskCounts.from_dict(None) == TaskCounts()

    def test_are_bounded(self) -> None:
        """The thirtieth tool and all further ones share one count."""
        counts = History.of(used(*(f"tool_{n}" for n in range(TOOLS_KEPT + 20)))).task_counts
        assert len(counts.tools) == TOOLS_KEPT
        assert counts.others == 20

    def test_do_not_count_system_messages(self) -> None:
        """System prompts are the same for all sessions of an agent."""
        assert History.of([system(), system(), user()]).task_counts.messages == 1


class TestSettingsFor:
    """The settings of a session with the weights and keywords of its type."""

    def test_take_what_the_type_has_of_its_own(self) -> None:  # B18
        """The weights and keywords of the recognised type replace the common ones; the result names no type."""
        counts = History.of([system(POLICY), *talk(3)]).task_counts
        assert task_type_of(FORESIGHT, counts) == "support"
        found = settings_for(FORESIGHT, counts)
        assert found.weights == DEFAULT_TASK_TYPES.support.weights
        assert found.keywords == DEFAULT_TASK_TYPES.support.keywords
        assert settings_for(found, TaskCounts()) is found
        assert (
            replace(found, weights=FORESIGHT.weights, keywords=FORESIGHT.keywords, task_type="auto")
            == FORESIGHT
        )

    def test_follow_the_common_ones_where_the_type_has_none(self) -> None:  # B18
        """A change of the common weights applies to these types too."""
        mine = replace(FORESIGHT, weights=BLUEPRINT.weights, task_type="coding")
        assert settings_for(mine, TaskCounts()).weights == BLUEPRINT.weights
        assert settings_for(mine, TaskCounts()).keywords == FORESIGHT.keywords

    def test_prefer_a_chosen_type_to_what_it_looks_like(self) -> None:  # B18
        """The chosen type takes precedence over the recognised one."""
        counts = History.of([system(POLICY), *talk(3)]).task_counts
        chosen = replace(FORESIGHT, task_type="research")
        assert task_type_of(chosen, counts) == "research"
        assert settings_for(chosen, counts).keywords == DEFAULT_TASK_TYPES.research.keywords

    def test_leave_blueprint_as_it_is(self) -> None:  # B6, B18
        """*Blueprint* has no types: its settings are returned unchanged."""
        counts = History.of([system(POLICY), *talk(3)]).task_counts
        assert settings_for(BLUEPRINT, counts) is BLUEPRINT


class TestPlans:
    """Plans and scores of a session with a type."""

    def test_use_the_weights_of_the_type(self) -> None:  # B18
        """A plan with the recognised type equals a plan with its weights set for all sessions."""
        messages = [
            system(POLICY),
            *[m for n in range(30) for m in (user(f"order-{n} " * n), model(f"B-{n % 7}00"))],
        ]
        own = DEFAULT_TASK_TYPES.support.weights
        assert own is not None
        known = plan_prune(messages, FORESIGHT, 400)
        same = plan_prune(messages, replace(FORESIGHT, task_type="any", weights=own), 400)
        other = plan_prune(messages, replace(FORESIGHT, task_type="any"), 400)
        assert known.kept == same.kept
        assert known.scores == same.scores
        assert known.scores != other.scores

    def test_rate_the_words_of_the_type(self) -> None:  # B18, B4
        """A bare list is rated by the keywords of its recognised type."""
        messages = [system(POLICY), user("a refund please"), model("confirmed"), *talk(2), user("Traceback")]
        settings = replace(FORESIGHT, strategy="score")
        plan = plan_prune(messages, settings, 10_000)
        rating = lexicon_of(DEFAULT_TASK_TYPES.support.keywords or ()).rate
        assert list(plan.parts["keywords"])[1:3] == [rating("a refund please"), rating("confirmed")]
        assert plan.parts["keywords"][-1] == 0.0

    def test_look_at_what_messages_say_to_recognise_a_type(self) -> None:
        """The content is analysed for the type even if no signal needs it."""
        deaf = replace(FORESIGHT, strategy="score", weights=BLUEPRINT.weights)
        assert recognise(History.of([system(POLICY), *talk(3)], settings=deaf).task_counts)[0] == "support"

    def test_are_not_rated_again_for_foresight(self) -> None:
        """*Foresight* reads no keyword ratings, so they are not computed."""
        lexicon = lexicon_of(FORESIGHT.keywords)
        history = History.of([system(POLICY), *talk(3)])
        assert {features.lexicon for features in history.features} == {lexicon.digest}

    def test_score_lists_from_outside_by_their_type(self) -> None:  # B18
        """`score_context_importance` uses the recognised type as plans do."""
        wire = [{"role": "system", "content": POLICY}]
        wire += [{"role": role, "content": "a refund"} for role in ("user", "assistant") * 3]
        settings = replace(FORESIGHT, strategy="score")
        own = settings_for(settings, History.of(decode(wire).messages).task_counts)
        assert score_context_importance(wire, settings=settings) == score_context_importance(
            wire, settings=own
        )
        assert score_context_importance(wire, settings=settings) != score_context_importance(
            wire, settings=replace(settings, task_type="any")
        )


def test_only_text_alone_counts_as_talk() -> None:
    """Text that arrives beside tool results counts as an output."""
    mixed = Message("user", (ToolResult("a", "plain"), Text("and a/b.py")))
    counts = History.of([*used("x")[:1], mixed]).task_counts
    assert (counts.outputs, counts.talk, counts.files) == (1, 0, 0)
