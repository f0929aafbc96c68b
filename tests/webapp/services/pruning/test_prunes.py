"""Pruning: plans, applied exactly as shown and refused if stale."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scoring.errors import InvalidSettings
from scoring.formats import FORMATS, decode
from scoring.tokens import estimate_message_tokens
from tests.webapp.building import (
    call,
    context_numbers,
    conversation,
    entries,
    entry,
    followed,
    heard,
    managed,
    mid,
    result,
    said,
    usage,
    user,
    wire,
)
from webapp.agents.records import UsageReport
from webapp.agents.view import ViewMessage
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody, SessionChange
from webapp.errors import Conflict, StalePlan
from webapp.events import ContextPruned
from webapp.services.context.transcript_view import places
from webapp.services.session.session import Session
from webapp.store.context import PRUNED

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cGljdHVyZQ=="}}


class TestPlan:
    """The plan of a prune."""

    def test_stores_nothing(self, app: App) -> None:  # X1
        """A preview leaves the session unchanged."""
        followed(app, *conversation(8))
        app.messages.page("s")  # the first read of a session stores the contents of its messages
        before = list(app.store.dump.records(app.store.sessions.get("s")))
        app.prunes.plan("s", PlanBody(max_tokens=300, settings={"fresh_tail": 2}, compare=True))
        assert list(app.store.dump.records(app.store.sessions.get("s"))) == before

    def test_has_consistent_numbers(self, app: App) -> None:
        """Groups, rows, messages and tokens agree."""
        followed(app, *conversation(10), user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=1_300))
        assert sum(g.messages for g in plan.groups) == plan.removed_count == len(plan.removed) > 0
        assert plan.before.messages - plan.removed_count == plan.after.messages == len(plan.kept)
        assert plan.before.tokens - plan.freed == plan.after.tokens <= 1_300
        assert plan.nothing_to_do is None
        assert {m.fate for m in plan.removed} == {"goes"}

    @pytest.mark.parametrize("most", range(300, 1_400, 100))
    def test_adds_up_where_parts_are_rounded(self, app: App, most: int) -> None:  # X11
        """Its groups free what it frees and saves, to the token, if the model's tokens are not the counted ones."""
        followed(app, *conversation(10), user("end"), model="gpt-5.1")
        app.sessions.patch("s", SessionChange(model="claude-opus-4-7"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=most))
        assert plan.before.tokens - plan.after.tokens == plan.freed == plan.cache.saved_per_call
        assert sum(group.tokens for group in plan.groups) == plan.freed

    @pytest.mark.parametrize("strategy", ["foresight", "newest_first", "half_of_turns"])
    def test_keeps_what_the_provider_compacted(self, app: App, strategy: str) -> None:
        """An item that no one can read, but without which the model knows nothing of what was before it."""
        compaction = {"type": "compaction", "id": "c", "encrypted_content": "g" * 400}
        talk = [
            {"role": role, "content": f"{role} says " + "one more word " * 20}
            for role in ("user", "assistant")
        ]
        session = managed(app, *talk * 4, compaction, *talk * 12, talk[0], format="responses")
        plan = app.prunes.plan(session, PlanBody(max_tokens=500, strategy=strategy))
        assert plan.removed_count > 4
        assert 9 in {one.number for one in plan.kept}

    def test_keeps_its_budget_where_messages_are_counted_as_too_many(self, app: App) -> None:  # X11
        """Nothing but messages is sent, and they take nine tenths of their estimates; so does what stays of them."""
        said_all = [wire(one.role, one.text) for one in conversation(30) if one.text]
        session = managed(app, *said_all)
        real = int(0.9 * app.sessions.get(session).pruned.tokens)
        app.ingest.append_messages(
            session, [wire("assistant", "the end")], {"prompt_tokens": real, "completion_tokens": 3}
        )
        plan = app.prunes.plan(session, PlanBody(max_tokens=real // 5))
        kept, listed = plan.kept, app.messages.page(session).messages
        assert sum(m.tokens for m in listed) == pytest.approx(plan.before.tokens, abs=len(listed))
        assert sum(m.tokens for m in kept) == pytest.approx(plan.after.tokens, abs=len(kept))
        assert 0 < plan.after.tokens <= plan.max_tokens

    def test_spares_and_drops_chosen_units(self, app: App) -> None:  # X1
        """A chosen message stands for its whole unit."""
        followed(app, *conversation(10), user("end"))
        first = app.prunes.plan("s", PlanBody(max_tokens=500))
        spared = first.removed[0]
        second = app.prunes.plan("s", PlanBody(max_tokens=500, spare=[spared.id], drop=[mid(app, "s", 38)]))
        removed = {m.number for m in second.removed}
        assert spared.number not in removed
        assert {38, 39} <= removed

    def test_counts_an_agents_summary_in_its_region(self, app: App) -> None:
        """An agent's summary counts in the region of summaries, whatever its role."""
        followed(app)
        summary = entry(0, user("what was said before " * 100), kind="compaction_summary")
        app.ingest.append_records("s", [summary, *entries(*conversation(10), user("end"), start=1)])
        plan = app.prunes.plan("s", PlanBody(max_tokens=100, drop=[mid(app, "s", 1)]))
        assert "compaction_summary" in {m.kind for m in plan.removed}
        after = {r.name: r.tokens for r in plan.regions_after}
        assert after.get("summary", 0) == 0 < after["user"]

    def test_names_its_weights_and_tail(self, app: App) -> None:  # X4
        """Tried weights replace those of the session's task type."""
        followed(app, *conversation(12), user("end"))
        app.sessions.patch("s", SessionChange(settings={"task_type": "support", "fresh_tail": 1}))
        saved = app.prunes.plan("s", PlanBody())
        assert (saved.weights_of, saved.fresh_tail) == ("support", 1)
        assert saved.own_settings == ["fresh_tail", "task_type"]
        weights = {**saved.weights, "recency": 99.0}
        unread = app.prunes.plan("s", PlanBody(settings={"weights": weights}))
        assert unread.weights == saved.weights
        tried = {"task_types": {"support": {"weights": weights}}, "fresh_tail": 5}
        plan = app.prunes.plan("s", PlanBody(settings=tried))
        assert (plan.weights, plan.fresh_tail) == (weights, 5)
        app.sessions.patch("s", SessionChange(settings={"task_type": "coding"}))
        assert app.prunes.plan("s", PlanBody()).weights_of is None

    def test_counts_the_fates_that_tried_settings_change(self, app: App) -> None:  # X4
        """The comparison is with the plan of the saved settings at the same cut."""
        followed(app, *conversation(12), user("end"))
        app.sessions.patch("s", SessionChange(settings={"cap_tokens": 1_000, "guarded_percent": 0}))
        same = app.prunes.plan("s", PlanBody(compare=True))
        other = app.prunes.plan("s", PlanBody(compare=True, settings={"strategy": "score", "fresh_tail": 2}))
        assert same.changed == 0
        assert other.changed > 0
        deep = app.prunes.plan("s", PlanBody(compare=True, max_tokens=500))
        assert (deep.changed, deep.removed_count > same.removed_count) == (0, True)

    def test_reports_protected_messages_over_the_budget(self, app: App) -> None:  # B7
        """The plan has the numbers, and drops nothing."""
        session = managed(app, wire("system", "rules " * 500), wire("user", "hi"))
        plan = app.prunes.plan(session, PlanBody(max_tokens=100))
        assert plan.over_budget.protected_tokens > plan.over_budget.max_tokens == 100
        assert plan.removed_count == 0
        assert plan.nothing_to_do == "everything in the context is protected"

    def test_says_what_is_usable_where_no_message_would_fit(self, app: App) -> None:  # B7, X11
        """Never more than the window; the emergency path is not offered for what is in no message."""
        followed(app, user("hi " * 300), model="claude-haiku-4-5")
        answer = entry(2, said("fine"), usage=usage(219_990), call_key="k")
        app.ingest.append_records("s", [answer])
        over, budget = app.prunes.plan("s", PlanBody()).over_budget, app.context.get("s").budget
        assert over.usable == budget.usable < 200_000
        assert not over.emergency

    def test_says_that_nothing_needs_pruning(self, app: App) -> None:
        """The context is within its budget, or empty."""
        followed(app, user("hi"))
        assert "within" in app.prunes.plan("s", PlanBody()).nothing_to_do
        app.ingest.ensure("empty", "claude-code")
        assert app.prunes.plan("empty", PlanBody()).nothing_to_do == "the context is empty"

    @pytest.mark.parametrize("wish", [{"strategy": "luck"}, {"settings": {"fresh_tail": -1}}])
    def test_refuses_an_unknown_strategy_or_invalid_setting(self, app: App, wish: dict[str, Any]) -> None:
        """The error names every wrong field."""
        followed(app, user("hi"))
        with pytest.raises(InvalidSettings):
            app.prunes.plan("s", PlanBody(**wish))


class TestApply:
    """Exactly the plan that was shown is applied."""

    def test_changes_exactly_the_planned_messages(self, app: App) -> None:  # X1
        """The same messages go, the same tokens stay, and the log keeps all messages."""
        followed(app, *conversation(10), user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=500))
        events = heard(app)
        applied = app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert set(context_numbers(app, "s")) == {k.number for k in plan.kept}
        assert applied.session.pruned.tokens == plan.after.tokens == applied.operation.tokens_after
        assert applied.operation.freed == plan.freed
        assert app.sessions.get("s").messages == 41
        [event] = [e for e in events if isinstance(e, ContextPruned)]
        assert set(event.removed_ids) == {m.id for m in plan.removed}
        assert applied.event is not None
        assert applied.event.tokenReduction == plan.freed
        assert list(app.verify()) == []

    def test_refuses_a_plan_for_an_older_state(self, app: App) -> None:  # X1
        """A stale plan changes nothing."""
        followed(app, *conversation(10))
        plan = app.prunes.plan("s", PlanBody(max_tokens=500))
        app.ingest.append_records("s", [entry(99, user("more"))])
        with pytest.raises(StalePlan, match="changed"):
            app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert len(context_numbers(app, "s")) == 41

    def test_refuses_a_plan_of_another_session(self, app: App) -> None:
        """A plan's id applies to its own session only."""
        followed(app, *conversation(10))
        followed(app, *conversation(10), session_id="t")
        plan = app.prunes.plan("s", PlanBody(max_tokens=500))
        with pytest.raises(StalePlan):
            app.prunes.apply("t", PruneBody(plan_id=plan.plan_id))

    def test_refuses_a_plan_of_a_deleted_session_of_the_same_id(self, app: App) -> None:  # X1
        """Neither when it is chosen, nor if the session comes back while its summary is written."""
        followed(app, *conversation(10))
        plan = app.prunes.plan("s", PlanBody(max_tokens=500))
        planned = app.prunes._shown_plans.recall(plan.plan_id, Session.load(app.environment, "s"))
        app.sessions.delete("s")
        app.ingest.ensure("s", "claude-code", asked=True)
        followed(app, *conversation(10))
        with pytest.raises(StalePlan, match="no longer known"):
            app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        with pytest.raises(StalePlan, match="changed"):
            app.prunes.apply_plan(planned, None, "user")

    def test_refuses_to_prune_nothing(self, app: App) -> None:
        """An empty plan is refused, and no operation is stored."""
        followed(app, user("hi"))
        with pytest.raises(Conflict, match="within"):
            app.prunes.apply("s", PruneBody())
        assert app.operations.list("s") == []

    def test_accepts_a_budget_of_zero(self, app: App) -> None:  # B9
        """With a budget of 0 only protected messages stay."""
        followed(app, *conversation(10))
        app.sessions.patch("s", SessionChange(settings={"fresh_tail": 0, "user_words_tokens": 0}))
        app.prunes.apply("s", PruneBody(max_tokens=0))
        assert context_numbers(app, "s") == [40]

    def test_keeps_calls_with_their_results(self, app: App) -> None:  # P4
        """Repeated prunes never separate a call from its result."""
        followed(app, *conversation(10), user("end"))
        app.sessions.patch("s", SessionChange(settings={"fresh_tail": 0, "user_words_tokens": 0}))
        for _ in range(5):
            tokens = app.sessions.get("s").pruned.tokens
            app.prunes.apply("s", PruneBody(max_tokens=tokens // 2))
            assert list(app.verify()) == []


class TestShortening:
    """Tool outputs that a plan shortens."""

    def chatter(self, start: int) -> str:
        """Return lines that no later message mentions."""
        return "".join(f"info: some chatter of the build, part {n}\n" for n in range(start, start + 100))

    def session(self, app: App) -> None:
        """Create a session in which a later message mentions one line of a long output."""
        long = self.chatter(0) + "FAILED tests/test_parser.py::test_empty_rows\n" + self.chatter(100)
        followed(
            app, user("please fix the build"), call("c-1"), result("c-1", long), said("looking"),
            call("c-2"), result("c-2", long.replace("parser", "writer")), said("tests/test_parser.py fails"),
            user("go on"),
        )  # fmt: skip

    def exported(self, app: App) -> str:
        """Return the exported message list with real line ends."""
        return b"".join(app.exporting.export("s", "openai")[2]).decode().replace("\\n", "\n")

    def test_is_planned_applied_exported_and_undone(self, app: App) -> None:  # X7, X3
        """The mentioned line stays, and undo restores every character."""
        self.session(app)
        plan = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        assert plan.shortened_count == len(plan.shortened) > 0
        assert {m.fate for m in plan.shortened} == {"shortened"}
        assert any("test_empty_rows" in m.reason for m in plan.shortened)
        assert app.messages.page("s", MessagesQuery(fate="shortened", plan_id=plan.plan_id)).total == len(
            plan.shortened
        )
        whole = app.context.get("s", "openai").messages
        assert self.chatter(0) in self.exported(app)
        done = app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert done.session.pruned.tokens <= 1_000
        sent = app.context.get("s", "openai").messages
        outputs = [m["content"] for m in sent if m["role"] == "tool"]
        assert any("py::test_empty_rows" in text for text in outputs)
        assert all("[… " in text for text in outputs)
        [shown] = [m for m in app.messages.page("s").messages if m.shortened][:1]
        assert shown.reason == "its output was shortened by an earlier prune"
        full = app.messages.one("s", shown.id)
        assert full.sent_parts is not None
        assert len(full.sent_parts[0]["text"]) < len(full.parts[0]["text"])
        assert self.chatter(0) not in self.exported(app)
        assert "py::test_empty_rows" in self.exported(app)
        app.operations.undo("s", done.operation.n)
        assert app.context.get("s", "openai").messages == whole

    def test_has_the_tokens_afterwards(self, app: App) -> None:  # X1
        """Each row has its tokens before and after, and the regions afterwards agree with them."""
        self.session(app)
        regions = {r.name: r.tokens for r in app.sessions.get("s").pruned.regions}
        plan = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        assert all(0 < (m.tokens_after or 0) < m.tokens for m in plan.shortened)
        assert [m.tokens_after for m in plan.removed] == [None] * plan.removed_count
        after = {r.name: r.tokens for r in plan.regions_after}
        assert sum(after.values()) == plan.after.tokens
        gone = sum(m.tokens for m in plan.removed if m.role == "tool")
        less = sum(m.tokens - (m.tokens_after or 0) for m in plan.shortened)
        assert regions["tool"] - after["tool"] == gone + less > 0
        assert after["user"] == regions["user"]
        assert sum(group.tokens for group in plan.groups) == plan.freed
        assert sum(g.messages for g in plan.groups if g.fate == "shortened") == plan.shortened_count

    @pytest.mark.parametrize("sent", [None, 9_000])
    @pytest.mark.parametrize("strategy", ["foresight", "tool_outputs_first", "newest_first"])
    def test_promises_what_applying_it_has(self, app: App, sent: int | None, strategy: str) -> None:  # X1
        """To the token, in all and in each region, whether real usage is known or not."""
        self.session(app)
        if sent is not None:
            later = [entry(90, said("tests/test_writer.py fails too")), entry(91, user("go on then"))]
            app.ingest.append_records("s", [UsageReport(usage(sent), None, "call"), *later])
        whole = app.sessions.get("s").pruned.tokens
        plan = app.prunes.plan("s", PlanBody(max_tokens=whole * 2 // 3, strategy=strategy))
        done = app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        after = app.sessions.get("s").pruned
        assert plan.freed > 0
        assert plan.after.tokens == done.operation.tokens_after == after.tokens
        assert [(r.name, r.tokens) for r in plan.regions_after] == [(r.name, r.tokens) for r in after.regions]

    @pytest.mark.parametrize("by_hand", [False, True])
    def test_has_no_image_left(self, app: App, *, by_hand: bool) -> None:  # X1
        """The list has the tokens that are shown: the image of a replaced output is in no format."""
        shots: list[Any] = []
        for n in range(4):
            asked = {"id": f"c{n}", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
            seen = [{"type": "text", "text": f"page {n} " * 900}, IMAGE]
            shots += [
                {"role": "assistant", "content": None, "tool_calls": [asked]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": seen},
            ]
        app.new_sessions.create(id="s", model="gpt-5.1", format="openai")
        app.ingest.append_messages("s", [wire("user", "Look."), *shots, wire("user", "Well?")])
        rules = {"tool_outputs_keep_turns": 0, "tool_outputs_keep_tokens": 0, "tool_outputs_minimum_gain": 0}
        wanted = PlanBody(
            max_tokens=5_000, strategy="tool_outputs_first", settings={**rules, "fresh_tail": 0}
        )
        if by_hand:
            wanted = PlanBody(max_tokens=90_000, shorten=[mid(app, "s", n) for n in (3, 5, 7, 9)])
        plan = app.prunes.plan("s", wanted)
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert (plan.removed_count, plan.shortened_count) == (0, 4)
        session = Session.of(app.environment, app.store.sessions.get("s"))
        sent = decode(app.context.get("s").messages, "openai").messages
        assert session.pruned.estimate == sum(estimate_message_tokens(m, session.counter) for m in sent)
        for name in FORMATS:
            assert "cGljdHVyZQ" not in str(app.context.get("s", name).messages)

    def test_leaves_the_other_outputs_of_a_message_as_they_are(self, app: App) -> None:  # X1
        """They keep their images, in the list and in what agents are told to replace."""
        asked: list[Any] = [
            {"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ("long", "shot")
        ]
        image = {"type": "base64", "media_type": "image/png", "data": "cGljdHVyZQ=="}
        shown = [{"type": "text", "text": "page"}, {"type": "image", "source": image}]
        results = [
            {"type": "tool_result", "tool_use_id": "long", "content": "line of a file\n" * 900},
            {"type": "tool_result", "tool_use_id": "shot", "content": shown},
        ]
        app.new_sessions.create(id="s", model="claude-opus-4-5", format="anthropic")
        listed = [wire("user", "Look."), {"role": "assistant", "content": asked}, wire("user", "Well?")]
        app.ingest.append_messages("s", [*listed[:2], {"role": "user", "content": results}, listed[2]])
        plan = app.prunes.plan("s", PlanBody(max_tokens=90_000, shorten=[mid(app, "s", 3)]))
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        [sent] = [one for one in app.context.get("s").messages if "tool_use_id" in str(one)][-1:]
        assert sent["content"][1] == results[1]
        replaced = [
            set(one.results)
            for one in places(app.store, app.store.sessions.get("s"), PRUNED)
            if isinstance(one, ViewMessage) and one.results
        ]
        assert replaced == [{"long"}]

    def test_is_counted_apart_from_dropped_messages(self, app: App) -> None:
        """The history and its description count shortened and dropped messages separately."""
        self.session(app)
        plan = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        done = app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        [listed] = app.operations.list("s")
        changes = [item.change for item in app.operations.one("s", 1).items]
        assert (listed.removed, listed.shortened) == (changes.count("out"), changes.count("shortened"))
        assert listed.removed + listed.shortened == listed.messages
        assert listed.shortened > 0
        assert f"{listed.shortened} " in done.message
        assert "shortened" in done.message

    def test_can_be_shortened_again(self, app: App) -> None:  # X7
        """A second plan counts and cuts the shortened text, not the original."""
        self.session(app)
        app.prunes.apply("s", PruneBody(max_tokens=2_500))
        before = app.sessions.get("s").pruned.tokens
        plan = app.prunes.plan("s", PlanBody(max_tokens=300))
        assert plan.before.tokens == before <= 2_500
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        assert app.sessions.get("s").pruned.tokens <= 300

    def test_reads_messages_of_an_earlier_version(self, app: App) -> None:
        """Messages stored without their content are read again, and the plan is the same."""
        self.session(app)
        expected = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        row = app.store.sessions.get("s")
        with app.store.write():
            for message in app.store.log.messages(row.key, range(1, row.next_no)).values():
                bare = re.sub(r',"content":\{[^}]*\}', "", message.features)
                app.store.log.put_messages(row.key, [message._replace(features=bare)])
        app.prunes._histories.drop(row.key)
        again = app.prunes.plan("s", PlanBody(max_tokens=1_000))
        assert [m.reason for m in again.shortened] == [m.reason for m in expected.shortened]
        assert again.after == expected.after
