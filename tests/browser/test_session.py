"""The session page: messages, pruning, history and undo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from scoring.settings import STRATEGY_NAMES
from tests.browser.session_page import APPLY, copied, open_followed, open_session, row, tokens_shown
from tests.browser.waiting import holds, in_place, intercept, until
from tests.browser.writing import ClaudeFolder, Transcript, feed, managed, proxied, words
from tests.servers import Server
from webapp.bodies import MessagesQuery, PlanBody, PruneBody
from webapp.store.operations import Facts

EVIL = "<script>window.hurt = true</script><img src=x onerror='window.hurt = true'> & <b>bold</b>"

METERS = "meters => meters.map(meter => meter.getAttribute('aria-valuetext'))"


class TestPruning:
    """Pruning, from the verdict to the undo."""

    def test_applies_exactly_the_shown_plan_and_undoes_it(self, page: Page, server: Server) -> None:  # X1, X2
        """The prune drops the number of messages in the plan; after Undo the context has its earlier size."""
        session = managed(server, 60)
        open_session(page, server, session)
        expect(page.locator(".verdict")).to_contain_text("Prune now: ")
        before = tokens_shown(page)
        page.get_by_role("button", name="See the plan").click()
        button = page.get_by_role("button", name=re.compile(r"^Prune \d+ messages"))
        expect(button).to_be_visible()
        found = re.search(r"\d+", button.inner_text())
        assert found is not None
        going = int(found[0])
        expect(page.get_by_role("button", name=f"Goes {going}")).to_be_visible()
        button.click()
        toast = page.get_by_role("status").filter(has_text=f"{going} messages pruned")
        expect(toast).to_contain_text(re.compile(r", ~[\d,]+ tokens freed"))
        expect(page.locator(".verdict")).to_contain_text("Nothing needed")
        until(page, lambda: tokens_shown(page) <= 60_000)
        expect(page.get_by_role("button", name=f"Out {going}")).to_be_visible()
        toast.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status").filter(has_text=f"{going} messages back")).to_be_visible()
        expect(page.locator(".verdict")).to_contain_text("Prune now: ")
        until(page, lambda: tokens_shown(page) == before)

    def test_leaves_spared_messages_out_of_the_plan(self, page: Page, server: Server) -> None:  # X1, X4
        """A spared message leaves the plan, and returns to it when it is no longer spared."""
        open_session(page, server, managed(server, 60))
        page.get_by_role("button", name="See the plan").click()
        page.locator("button.group").first.click()
        first = page.locator(".group-rows li").first
        number = first.locator(".num").first.inner_text()
        first.get_by_role("button", name="Spare").click()
        chip = page.get_by_role("button", name=f"No longer spare message {number}")
        expect(chip).to_be_visible()
        expect(page.get_by_role("button", name=f"Spare message {number}", exact=True)).to_have_count(0)
        chip.click()
        expect(page.get_by_role("button", name=f"Spare message {number}", exact=True)).to_be_visible()

    def test_tries_another_aim(self, page: Page, server: Server) -> None:  # X4
        """Another aim shows another plan, and nothing is stored."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.keyboard.press("p")
        page.get_by_label("Cut to").fill("40")
        after = page.locator(".plan-bars b").nth(1)
        expect(after).to_have_text(re.compile(r"^3\d\.\d|^40\.0"))
        assert server.app.operations.list(session) == []

    def test_never_applies_a_stale_plan(self, page: Page, server: Server) -> None:  # X1
        """If the session grew since the plan was made, nothing is pruned, and a new plan is offered."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_role("button", name="See the plan").click()
        button = page.get_by_role("button", name=re.compile(r"^Prune \d+ messages"))
        button.hover()

        def meanwhile(route: Route) -> None:
            feed(server, session, 2, start=60)
            route.continue_()

        intercept(page, "**/prune", meanwhile)
        with page.expect_response("**/plan"):  # the note is there before the new plan is
            button.click()
        expect(page.locator(".note-box").first).to_contain_text("nothing was pruned")
        assert server.app.operations.list(session) == []
        page.unroute("**/prune")
        button.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()

    def test_works_from_the_keyboard(self, page: Page, server: Server) -> None:
        """The keys ? and p open the list of keys and the plan, j and k move, Enter applies, Escape closes."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Plan a prune")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        expect(page.locator(".m-open").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".msg-detail")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".msg-detail")).to_have_count(0)
        page.keyboard.press("p")
        expect(page.get_by_role("button", name=re.compile(r"^Prune \d+ messages"))).to_be_visible()
        page.locator("h1").click()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()

    def test_can_be_switched_to_automatic(self, page: Page, server: Server) -> None:  # X9
        """With the switch of the menu on, the next message causes a prune."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_label("More", exact=True).click()
        page.get_by_role("switch", name="Automatic pruning").check()
        expect(page.get_by_text("prunes automatically")).to_be_visible()
        feed(server, session, 1, start=60)
        expect(page.get_by_role("status").filter(has_text="Pruned automatically")).to_be_visible()
        expect(page.locator(".verdict")).to_contain_text("Nothing needed")

    def test_shows_the_saved_choices_after_a_failed_change(self, page: Page, server: Server) -> None:
        """A switch or a choice that the server did not take shows again what holds."""
        open_session(page, server, managed(server, 4, tokens=50))
        intercept(page, "**/api/sessions/*", lambda route: route.abort(), method="PATCH")
        page.get_by_label("More", exact=True).click()
        switch = page.get_by_role("switch", name="Automatic pruning")
        switch.click()
        expect(page.get_by_role("alert")).to_contain_text("Could not change automatic pruning: the server")
        expect(switch).not_to_be_checked()
        strategy = page.locator(".more").get_by_label("Strategy")
        strategy.select_option("summarise")
        expect(page.get_by_role("alert")).to_contain_text("Could not choose the strategy: the server")
        expect(strategy).to_have_value("")

    def test_of_the_proxy_can_be_sent_pruned(
        self, page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """The switch of the menu changes the setting for the proxy, and the page describes its effect."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        session = proxied(server, 12)
        open_session(page, server, session)
        page.get_by_label("More", exact=True).click()
        page.get_by_role("switch", name="Send pruned").check()
        expect(page.get_by_text("After the next prune, calls are sent pruned.")).to_be_visible()
        assert server.app.sessions.get(session).proxy.prunes
        page.get_by_role("switch", name="Send pruned").uncheck()
        expect(page.get_by_text("After the next prune, calls are sent pruned.")).to_be_hidden()
        assert not server.app.sessions.get(session).proxy.prunes

    def test_can_have_a_strategy_of_its_own(self, page: Page, server: Server) -> None:  # S4, B18
        """The menu offers every strategy; plans use the chosen one, and the common setting can be restored."""
        session = managed(server, 60)
        open_session(page, server, session)
        page.get_by_label("More", exact=True).click()
        own = page.locator(".more").get_by_label("Strategy")
        expect(own).to_be_visible()
        values = own.locator("option").evaluate_all("options => options.map(one => one.value)")
        assert values == ["", *STRATEGY_NAMES]
        own.select_option("summarise")
        expect(page.get_by_text("Plans of this session choose by “Summarise”.")).to_be_visible()
        assert server.app.prunes.plan(session, PlanBody(max_tokens=2_000)).strategy == "summarise"
        own.select_option(label="As in the settings: Foresight")
        expect(page.get_by_text("choose by “Foresight”")).to_be_visible()
        assert server.app.sessions.get(session).strategy.own is None


class TestMessages:
    """The message list."""

    def test_shows_markup_as_text(self, page: Page, server: Server) -> None:
        """Markup in a message is shown as text, folded and open, and never run."""
        session = managed(server, 1)
        server.app.ingest.append_messages(session, [{"role": "assistant", "content": EVIL}])
        open_session(page, server, session)
        expect(row(page, 2).locator(".what")).to_have_text(EVIL)
        row(page, 2).get_by_role("button").click()
        expect(page.locator(".part .prose")).to_have_text(EVIL)
        assert page.evaluate("window.hurt") is None

    def test_explains_a_score(self, page: Page, server: Server) -> None:  # X3
        """An open row shows the points of each signal, which add up to the score."""
        session = managed(server, 6, tokens=300)
        open_session(page, server, session)
        row(page, 4).get_by_role("button").click()
        total = float(page.locator(".signals .total td:nth-child(3)").inner_text())
        points = page.locator(".signals tr:not(.total) td:nth-child(3)").all_inner_texts()
        assert len(points) >= 4
        assert abs(sum(map(float, points)) - total) < 0.3

    def test_pins_drops_and_restores(self, page: Page, server: Server) -> None:  # X5, B15
        """Each takes one click and can be reversed."""
        session = managed(server, 30, tokens=300)
        open_session(page, server, session)
        row(page, 3).get_by_role("button").click()
        page.get_by_role("button", name="Pin: never prune").click()
        expect(row(page, 3).get_by_role("img", name="pinned")).to_be_visible()
        expect(row(page, 3).locator(".fate")).to_contain_text("pinned")
        page.get_by_role("button", name="Unpin", exact=True).click()
        expect(row(page, 3).get_by_role("img", name="pinned")).to_have_count(0)
        page.get_by_role("button", name="Drop now").click()
        expect(row(page, 3)).to_have_attribute("data-fate", "out")
        page.get_by_role("tab", name="Archive").click()
        page.get_by_role("button", name="Restore message 3").click()
        expect(row(page, 3)).not_to_have_attribute("data-fate", "out")
        expect(page.get_by_text("Every message is in the context.")).to_be_visible()

    def test_holds_new_rows_back_while_it_is_read(self, page: Page, server: Server) -> None:
        """New rows appear at the top; while the pointer is on the list they wait behind a button."""
        session = managed(server, 30, tokens=50)
        open_session(page, server, session)
        feed(server, session, 1, tokens=50, start=30)
        expect(row(page, 31)).to_be_visible()
        row(page, 25).scroll_into_view_if_needed()
        row(page, 25).hover()
        feed(server, session, 3, tokens=50, start=31)
        pill = page.get_by_role("button", name="3 new messages")
        expect(pill).to_be_visible()
        expect(row(page, 34)).to_have_count(0)
        pill.click()
        expect(row(page, 34)).to_be_visible()
        expect(pill).to_have_count(0)

    def test_filters_finds_and_sorts(self, page: Page, server: Server) -> None:
        """Role, words and order change the list, and an empty result is explained."""
        session = managed(server, 20, tokens=50)
        server.app.ingest.append_messages(
            session, [{"role": "user", "content": "a heron by the weir " + words(900)}]
        )
        open_session(page, server, session)
        page.get_by_label("Role", exact=True).select_option("assistant")
        expect(page.locator(".msg")).to_have_count(10)
        page.get_by_label("Role", exact=True).select_option("")
        page.get_by_label("Sort").select_option("tokens")
        expect(page.locator(".msg .m-number").first).to_have_text("21")
        page.get_by_label("Find in messages").fill("heron")
        expect(page.locator(".msg")).to_have_count(1)
        page.get_by_label("Find in messages").fill("nothing of the kind")
        expect(page.get_by_text("No message matches.")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        expect(page.locator(".msg")).to_have_count(21)

    def test_groups_a_call_with_its_result(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # P4
        """One bracket joins a call and its result, and the call shows its tool and target."""
        transcript = folder.transcript()
        transcript.user("Run the tests")
        transcript.call("Bash", {"command": "pytest -q"}, "41 passed")
        transcript.assistant("All pass.")
        open_followed(page, server, transcript)
        expect(row(page, 2)).to_have_attribute("data-bracket", "end")
        expect(row(page, 3)).to_have_attribute("data-bracket", "start")
        expect(row(page, 2)).to_contain_text("Bash pytest -q")


class TestANarrowList:
    """The messages on a phone."""

    def test_has_scores(self, page: Page, server: Server) -> None:
        """They stand beside the tokens, with their name, because no heads name the columns there."""
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{server.url}/sessions/{managed(server, 20)}")
        score = page.locator(".msg .m-score").first
        expect(score).to_be_visible()
        expect(score).to_have_text(re.compile(r"^\d+$"))
        assert "score" in score.evaluate("one => getComputedStyle(one, '::before').content")


class TestHistory:
    """The list of operations."""

    def test_shows_the_dropped_messages_and_reasons(self, page: Page, server: Server) -> None:  # X3
        """Compare lists the dropped messages with their reasons."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        open_session(page, server, session)
        page.get_by_role("tab", name="History").click()
        expect(page.locator(".operations li").first).to_contain_text("Pruned by you")
        page.get_by_role("button", name="Compare").click()
        inside = page.locator(".operations .group-rows li")
        expect(inside.first).to_contain_text("to make room for what matters more")

    def test_compares_an_operation_with_the_state_before(self, page: Page, server: Server) -> None:  # X3
        """Compare shows the two bars of the applied plan, by keyboard too, and after an undo."""
        session = managed(server, 60)
        open_session(page, server, session)
        apply = page.get_by_role("button", name=re.compile(r"^Prune \d+ messages"))
        expect(apply).to_be_visible()
        promised = page.locator(".plan-bars [role=meter]").evaluate_all(METERS)
        apply.click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()
        page.get_by_role("tab", name="History").click()
        compare = page.get_by_role("button", name="Compare")
        compare.focus()
        page.keyboard.press("Enter")
        region = page.get_by_role("region", name="Before and after operation 1")
        expect(region.get_by_role("meter")).to_have_count(2)
        assert region.get_by_role("meter").evaluate_all(METERS) == promised
        close = page.get_by_role("button", name="Close: Pruned, operation 1")
        expect(close).to_be_focused()
        page.get_by_role("button", name="Undo: Pruned, operation 1").click()
        expect(page.locator(".operations > li[data-undone=true]")).to_have_count(1)
        # The name alone is struck.
        expect(region.locator("b").first).to_have_css("text-decoration-line", "none")
        expect(region.get_by_role("meter")).to_have_count(2)
        assert region.get_by_role("meter").evaluate_all(METERS) == promised
        close.focus()
        page.keyboard.press("Enter")
        expect(region).to_have_count(0)

    def test_says_that_the_state_before_is_unknown(self, page: Page, server: Server) -> None:  # X3
        """An operation stored by an earlier version has no bars, but its messages are listed."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        made = server.app.store.operations.get(1, 1)
        assert made is not None
        made.n, made.facts = 2, Facts()
        with server.app.store.write():
            server.app.store.operations.add(1, made, server.app.store.operations.items(1, 1))
        open_session(page, server, session)
        page.get_by_role("tab", name="History").click()
        page.get_by_role("button", name="Compare").first.click()
        region = page.get_by_role("region", name="Before and after operation 2")
        expect(region).to_contain_text("without what the context held")
        expect(region.get_by_role("meter")).to_have_count(0)
        expect(region.locator(".group-rows li").first).to_be_visible()

    def test_names_the_later_operations_that_an_undo_includes(self, page: Page, server: Server) -> None:  # X2
        """Undoing an older operation asks first and names the later ones."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        listed = server.app.messages.page(session, MessagesQuery(limit=1)).messages
        server.app.by_hand.pin(session, listed[0].id)
        open_session(page, server, session)
        page.get_by_role("tab", name="History").click()
        page.locator(".operations > li").last.get_by_role("button", name="Undo").click()
        question = page.get_by_role("alert").filter(has_text="also undoes")
        expect(question).to_contain_text("pinned (2)")
        question.get_by_role("button", name="Undo 2").click()
        expect(page.locator(".operations > li[data-undone=true]")).to_have_count(2)


def worked(transcript: Transcript) -> Transcript:
    """Write a request, sixty calls with their outputs, and an answer; return the transcript."""
    transcript.user("Fix the login race")
    for i in range(60):
        transcript.call("Bash", {"command": f"step {i}"}, words(900), tokens=1_000 * (i + 1))
    transcript.assistant("Done.", tokens=64_000)
    return transcript


class TestFollowedSessions:
    """Sessions of agents, read from their transcripts."""

    def test_show_that_a_prune_leaves_the_agent_untouched(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12, X13
        """A prune changes the second bar only; the page says so and offers the transcript to resume from."""
        transcript = worked(folder.transcript())
        open_followed(page, server, transcript)
        expect(page.locator(".bar .figure")).to_have_text("64,020")
        expect(page.locator(".bar context-gauge")).to_have_count(1)
        expect(page.get_by_text("prunes leave the agent's own context as it is")).to_be_visible()
        agent = page.locator(".bar .figure").first.inner_text()
        page.keyboard.press("p")
        page.get_by_label("Cut to").fill("15")
        page.get_by_role("button", name=APPLY).click()
        expect(page.locator(".bar").nth(1)).to_contain_text("tokens less")
        expect(page.locator(".bar .figure").first).to_have_text(agent)
        expect(page.locator(".verdict")).to_contain_text(re.compile(r"32\s% full, its pruned view \d+\s%"))
        page.get_by_text("Export", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Claude Code transcript").click()
        assert download.value.suggested_filename.endswith(".jsonl")

    def test_are_resumed_from_a_pruned_copy(
        self, page: Page, server: Server, folder: ClaudeFolder, tmp_path: Path
    ) -> None:  # X22
        """The dialog writes the pruned copy and gives the command that resumes it; its page names the original."""
        transcript = worked(folder.transcript(cwd=str(tmp_path)))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        open_followed(page, server, transcript)
        page.get_by_role("button", name="Prune…").click()
        page.get_by_label("Cut to").fill("15")
        page.get_by_role("button", name=APPLY).click()
        expect(page.locator(".bar").nth(1)).to_contain_text("tokens less")
        notice = page.get_by_role("status").filter(has_text="freed")
        expect(notice.get_by_role("button", name="Undo")).to_be_visible()
        notice.get_by_role("button", name="Resume…").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("less on each call")).to_be_visible()
        dialog.get_by_role("button", name="Write the copy").click()
        dialog.get_by_role("button", name="Copy command").click()
        command = copied(page, f"cd {tmp_path} && claude --resume ")
        copy_id = command.rpartition(" ")[2]
        assert command == f"cd {tmp_path} && claude --resume {copy_id}"
        assert (transcript.path.parent / f"{copy_id}.jsonl").exists()
        dialog.get_by_role("link", name="Fix the login race (pruned)").click()
        expect(page.locator(".session-copies")).to_contain_text("Pruned copy of Fix the login race")
        expect(page.locator(".session-copies")).to_contain_text("its first call is still to come")

    def test_name_the_command_where_their_folder_is_missing(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X22
        """The dialog says so above its buttons, with the command that resumes in another folder."""
        transcript = worked(folder.transcript(cwd="/nowhere/at/all"))
        open_followed(page, server, transcript)
        page.get_by_role("button", name="Resume…").click()
        dialog = page.get_by_role("dialog")
        button = dialog.get_by_role("button", name="Write the copy")
        button.click()
        fault = dialog.get_by_role("alert")
        expect(fault).to_contain_text("/nowhere/at/all is not on this machine")
        expect(fault).to_contain_text(f"coppice resume {transcript.session} --cwd FOLDER")
        in_place(fault, button, "(fault, button) => fault.bottom <= button.top")
        in_place(fault, dialog, "(fault, dialog) => fault.left - dialog.left >= 12")

    def test_grow_while_their_page_is_open(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12
        """Lines that the agent writes appear without a reload: rows, number of messages, tokens."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        transcript.assistant("I will look.")
        open_followed(page, server, transcript)
        expect(page.locator(".msg")).to_have_count(2)
        expect(page.locator("token-chart canvas")).to_be_visible()
        before = tokens_shown(page)
        transcript.call("Read", {"file_path": "src/login.py"}, words(2_000))
        transcript.assistant("Found it.")
        expect(page.locator(".msg")).to_have_count(5)
        expect(page.locator(".meta")).to_contain_text("5 messages")
        until(page, lambda: tokens_shown(page) > before + 1_000)


class TestNarrowScreens:
    """The page at 390 px."""

    def test_open_the_plan_as_a_sheet(self, page: Page, server: Server) -> None:
        """Nothing overflows; the plan opens as a sheet, closes with Escape, and prunes."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_session(page, server, managed(server, 60))
        holds(page, "document.documentElement.scrollWidth <= innerWidth")
        expect(page.locator(".side")).to_be_hidden()
        page.get_by_role("button", name="See the plan").click()
        expect(page.locator(".side")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".side")).to_be_hidden()
        page.get_by_role("button", name="Prune…").click()
        page.get_by_role("button", name=re.compile(r"^Prune \d+ messages")).click()
        expect(page.get_by_role("status").filter(has_text="messages pruned")).to_be_visible()


class TestDeleting:
    """Deleting a session."""

    def test_asks_first(self, page: Page, server: Server) -> None:
        """The dialog says what is lost; *Keep it* closes it, and *Delete* leads to the overview."""
        session = managed(server, 3, tokens=50)
        open_session(page, server, session)
        page.get_by_label("More", exact=True).click()
        page.get_by_role("button", name="Delete this session…").click()
        dialog = page.get_by_role("dialog", name="Delete this session?")
        expect(dialog).to_contain_text("3 messages")
        dialog.get_by_role("button", name="Keep it").click()
        page.get_by_label("More", exact=True).click()
        page.get_by_role("button", name="Delete this session…").click()
        dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
