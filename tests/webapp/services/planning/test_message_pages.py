"""Messages in pages."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scoring.messages import Message
from tests.webapp.building import call, conversation, entry, followed, mid, result, said, user
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody, SessionChange
from webapp.errors import Invalid, NotFound
from webapp.services.planning.planning import Planning


def walk(app: App, **by: Any) -> list[int]:
    """Return the numbers of the messages of all pages."""
    numbers: list[int] = []
    after = None
    while True:
        page = app.messages.page("s", MessagesQuery(after=after, limit=7, **by))
        numbers += [m.number for m in page.messages]
        after = page.next
        if after is None:
            assert len(numbers) == page.total
            return numbers


def uneven_outputs() -> list[Message]:
    """Return turns whose outputs differ in their rows, so that the estimate of a shortened one is inexact."""
    rnd = random.Random(39)
    messages = []
    for n in range(12):
        words, rows = rnd.choice((1, 3, 8, 30)), rnd.choice((3, 10, 40))
        text = "\n".join(" ".join(f"word{rnd.randrange(99)}" for _ in range(words)) for _ in range(rows))
        messages += [user(f"ask {n}"), call(f"c{n}"), result(f"c{n}", text), said(f"done {n}")]
    return messages


class TestPage:
    """Pages by cursor."""

    @pytest.mark.parametrize("sort", ["newest", "oldest", "score", "tokens"])
    def test_contain_every_message_once(self, app: App, sort: str) -> None:
        """Pages keep the requested order and include pruned messages."""
        followed(app, *conversation(8))
        app.prunes.apply("s", PruneBody(max_tokens=400))
        numbers = walk(app, sort=sort)
        assert sorted(numbers) == list(range(1, 33))
        if sort in ("newest", "oldest"):
            assert numbers == sorted(numbers, reverse=sort == "newest")

    def test_continue_correctly_after_new_messages(self, app: App) -> None:
        """New messages cause neither repeats nor gaps."""
        followed(app, *conversation(5))
        first = app.messages.page("s", MessagesQuery(limit=7))
        app.ingest.append_records("s", [entry(99, user("more"))])
        second = app.messages.page("s", MessagesQuery(limit=7, after=first.next))
        assert [m.number for m in first.messages + second.messages] == list(range(20, 6, -1))

    def test_filter_by_role_fate_and_words(self, app: App) -> None:
        """Filters work alone and together, and each fate has its count."""
        followed(app, *conversation(10))
        app.prunes.apply("s", PruneBody(max_tokens=600))
        counts = app.messages.page("s").counts
        for fate in ("kept", "protected", "goes", "out", "errors"):
            assert len(walk(app, fate=fate)) == counts[fate]
        assert counts["kept"] + counts["protected"] + counts["goes"] + counts["out"] == counts["all"] == 40
        assert walk(app, role="tool", fate="errors") == [39, 19]
        assert walk(app, q="answer 7") == [32]
        assert set(walk(app, role="user")) == set(range(1, 41, 4))

    @pytest.mark.parametrize("sort", ["newest", "oldest", "score", "tokens"])
    def test_start_at_any_offset(self, app: App, sort: str) -> None:
        """The middle of 100,000 rows is read without the rows above it."""
        followed(app, *conversation(8))
        rows = walk(app, sort=sort)
        for offset in (0, 5, 29, 32, 90):
            page = app.messages.page("s", MessagesQuery(sort=sort, offset=offset, limit=7))
            assert [m.number for m in page.messages] == rows[offset : offset + 7]
            assert page.total == 32

    def test_filter_by_range_tool_and_changes_of_a_plan(self, app: App) -> None:  # X19
        """Both ends of a range are included; a tool's calls are listed with its results."""
        followed(app, *conversation(8), user("end"))
        assert walk(app, first=5, last=9) == [9, 8, 7, 6, 5]
        assert walk(app, last=3, role="user") == [1]
        assert walk(app, first=40) == []
        rows = app.messages.page("s").messages
        [tool] = {m.tool for m in rows} - {None}
        used = [m.number for m in rows if m.tool == tool or tool in {call.name for call in m.calls}]
        assert len(used) == 16
        assert walk(app, tool=tool) == used
        assert walk(app, tool="none of them") == []
        plan = app.prunes.plan("s", PlanBody(max_tokens=400))
        changed = {m.number for m in (*plan.removed, *plan.shortened)}
        assert set(walk(app, fate="changes", plan_id=plan.plan_id)) == changed != set()

    def test_count_and_list_the_changes_that_the_plan_has(self, app: App) -> None:  # X1
        """A plan estimates what it shortens and keeps what does not get shorter; lists say the same as the plan."""
        followed(app, *uneven_outputs())
        app.sessions.patch("s", SessionChange(window=20_000, settings={"aim_percent": 24}))
        page, plan = app.messages.page("s", MessagesQuery(limit=100)), app.prunes.plan("s", PlanBody())
        assert (page.counts["goes"], page.counts["shortened"]) == (plan.removed_count, plan.shortened_count)
        shortened = {m.number for m in plan.shortened}
        assert {m.number for m in page.messages if m.fate == "shortened"} == shortened != set()
        rows = app.messages.by_number("s", range(1, len(page.messages) + 1))
        assert {m.number for m in rows if m.fate == "shortened"} == shortened
        assert {
            n for n in shortened if app.messages.one("s", mid(app, "s", n)).fate == "shortened"
        } == shortened

    def test_show_new_messages_before_a_plan(self, app: App) -> None:
        """New messages are pending until a plan includes them."""
        followed(app, *conversation(8))
        assert [m.fate for m in app.messages.by_number("s", [31, 32], at_once=True)] == ["pending", "pending"]
        planned = app.messages.by_number("s", [31, 32])
        assert app.messages.by_number("s", [31, 32], at_once=True) == planned

    def test_can_be_read_before_a_plan(self, app: App) -> None:
        """Rows come from the log and pruned ones have their reason; after a plan the page is complete."""
        followed(app, *conversation(8))
        app.prunes.apply("s", PruneBody(max_tokens=400))
        row = app.store.sessions.get("s")
        app.histories.drop(row.key)
        pending = app.messages.at_once("s", MessagesQuery(limit=7, role="user"))
        assert (pending.pending, pending.total, pending.counts["all"]) == (True, 8, 32)
        whole = app.messages.page("s", MessagesQuery(limit=7, role="user"))
        assert [m.id for m in pending.messages] == [m.id for m in whole.messages]
        assert (pending.next, whole.pending) == (whole.next, False)
        for early, late in zip(pending.messages, whole.messages, strict=True):
            assert early.in_context == late.in_context
            assert early.fate == ("pending" if early.in_context else "out")
            assert early.in_context or early == late
        assert app.messages.at_once("s", MessagesQuery(limit=7, role="user")) == whole

    @pytest.mark.parametrize("fate", ["in", "out", "errors", None])
    def test_sorted_by_tokens_need_no_plan(
        self, app: App, monkeypatch: pytest.MonkeyPatch, fate: str | None
    ) -> None:
        """The log has the tokens of messages, so the order is that of a plan."""
        followed(app, *conversation(8))
        app.prunes.apply("s", PruneBody(max_tokens=400))
        whole = app.messages.page("s", MessagesQuery(sort="tokens", fate=fate, limit=7))
        app.histories.drop(app.store.sessions.get("s").key)
        monkeypatch.setattr(Planning, "make", lambda *_: pytest.fail("planned for a list that needs no plan"))
        early = app.messages.at_once("s", MessagesQuery(sort="tokens", fate=fate, limit=7))
        assert early.pending
        assert [m.id for m in early.messages] == [m.id for m in whole.messages]
        assert early.total == whole.total

    def test_sorted_by_tokens_rank_a_shortened_output_by_what_is_sent(self, app: App) -> None:  # X7
        """The sizes on the rows descend, with and without a plan."""
        long = call("long"), result("long", "a line of output\n" * 400)
        followed(app, *conversation(4, words=300), *long, user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=10**9, shorten=[mid(app, "s", 18)]))
        app.prunes.apply("s", PruneBody(plan_id=plan.plan_id))
        page = app.messages.page("s", MessagesQuery(sort="tokens"))
        app.histories.drop(app.store.sessions.get("s").key)
        early = app.messages.at_once("s", MessagesQuery(sort="tokens"))
        assert early.pending
        for rows in (page.messages, early.messages):
            assert [m.number for m in rows if m.shortened] == [18]
            assert [m.tokens for m in rows] == sorted((m.tokens for m in rows), reverse=True)

    @pytest.mark.parametrize("asked", [MessagesQuery(fate="goes"), MessagesQuery(sort="score")])
    def test_wait_for_a_plan_if_they_need_scores(self, app: App, asked: MessagesQuery) -> None:
        """An order by score and the fate of a message need a plan."""
        followed(app, *conversation(8))
        assert not app.messages.at_once("s", asked).pending

    def test_use_the_fates_of_the_shown_plan(self, app: App) -> None:  # X1
        """The page has the id of the plan whose fates it shows, or none if that plan is stale."""
        followed(app, *conversation(8), user("end"))
        plan = app.prunes.plan("s", PlanBody(max_tokens=400))
        page = app.messages.page("s", MessagesQuery(fate="goes", plan_id=plan.plan_id, limit=500))
        assert {m.id for m in page.messages} == {m.id for m in plan.removed}
        app.ingest.append_records("s", [entry(99, user("more"))])
        later = app.messages.page("s", MessagesQuery(fate="goes", plan_id=plan.plan_id, limit=500))
        assert (page.plan_id, later.plan_id) == (plan.plan_id, None)
        assert later.messages == app.messages.page("s", MessagesQuery(fate="goes", limit=500)).messages == []

    @pytest.mark.parametrize("by", [{"fate": "doomed"}, {"after": "x"}, {"after": "-1"}])
    def test_refuse_invalid_parameters(self, app: App, by: dict[str, Any]) -> None:
        """The error names the wrong parameter."""
        followed(app, user("hi"))
        with pytest.raises(Invalid):
            app.messages.page("s", MessagesQuery(**by))

    def test_of_an_empty_session_are_empty(self, app: App) -> None:
        """An empty session is not an error."""
        app.ingest.ensure("s", "claude-code")
        page = app.messages.page("s")
        assert (page.messages, page.total, page.next) == ([], 0, None)


class TestOne:
    """Reading one message in full."""

    def test_has_all_its_parts(self, app: App) -> None:
        """Parts of any length are returned in full."""
        followed(app, result("c", "x" * 10_000))
        one = app.messages.one("s", mid(app, "s", 1))
        assert one.parts[0]["text"] == "x" * 10_000
        assert len(one.text) <= 400

    @pytest.mark.parametrize("wrong", ["1", "1-00", "99-00", "", "abc"])
    def test_is_found_by_its_whole_id_only(self, app: App, wrong: str) -> None:
        """A number alone or a wrong hash is not found."""
        followed(app, user("hi"))
        with pytest.raises(NotFound):
            app.messages.one("s", wrong)
