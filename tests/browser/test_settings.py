"""The settings page: unsaved changes, their preview, and saving all at once."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from scoring.signals import SIGNALS, Signal
from tests.browser.session_page import open_session
from tests.browser.settings_page import of_type, open_below
from tests.browser.waiting import hold, holds, in_place, intercept, top_of
from tests.browser.writing import ClaudeFolder, managed
from tests.browser.writing import words as some_words
from tests.servers import Server
from tests.webapp.providers.endpoints import answering, sending
from webapp.bodies import ModelRow, PruneBody


def weight(page: Page, name: str) -> Locator:
    """Return the number field of one weight."""
    return page.locator(f'input[type=number][name="weights.{name}"]')


class TestTryingWithoutSessions:
    """The what-if of a new installation."""

    def test_begins_with_the_first_session(self, page: Page, server: Server) -> None:  # X4
        """The settings are tried on a session as soon as there is one, without a reload."""
        page.goto(f"{server.url}/settings")
        tried = page.locator("what-if")
        expect(tried).to_contain_text("There is no session to try settings on yet")
        expect(page.locator(".live")).to_have_text("live")
        managed(server, 60)
        expect(tried).to_contain_text("With the saved settings a prune")

    def test_goes_on_with_another_session(self, page: Page, server: Server) -> None:
        """The settings are tried on another session if the one in use is deleted meanwhile."""
        managed(server, 6, id="large", title="The large one")
        managed(server, 3, id="small", title="The small one")
        page.goto(f"{server.url}/settings")
        tried = page.locator("what-if")
        expect(tried.locator("select")).to_contain_text("The large one")
        expect(tried).to_contain_text("With the saved settings")
        expect(page.locator(".live")).to_have_text("live")
        server.app.sessions.delete("large")
        expect(tried.locator("select")).to_contain_text("The small one")
        expect(tried).to_contain_text("With the saved settings")


class TestTheSessionThatIsTried:
    """The choice of the session in the what-if."""

    def test_is_named_with_the_percent_of_its_bar(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:
        """Both are of the pruned view, from which a plan starts, not of the agent's context."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        for i in range(20):
            transcript.call("Bash", {"command": f"step {i}"}, some_words(900), tokens=6_000 * (i + 1))
        transcript.assistant("Done.", tokens=125_000)
        page.goto(f"{server.url}/sessions/{transcript.session}")
        expect(page.locator(".msg")).not_to_have_count(0)
        server.app.prunes.apply(transcript.session, PruneBody(max_tokens=40_000))
        page.goto(f"{server.url}/settings")
        tried = page.locator("what-if")
        expect(tried).to_contain_text("With the saved settings")
        percent = re.search(r"[\d.]+(?=\s%)", tried.locator(".plan-bars").inner_text())
        assert percent is not None
        expect(tried.locator("select")).to_contain_text(f"({percent[0]}\u202f%)")


class TestWeights:
    """The weights and the preview of their effect."""

    def test_show_their_sum_and_the_effect_of_an_unsaved_change(
        self, page: Page, server: Server
    ) -> None:  # X4, B16
        """A slider moves its number, the sum and the what-if; nothing is saved until Save is pressed."""
        managed(server, 60)
        server.app.settings.put({"strategy": "score"})
        saved = server.app.settings.get().settings.weights
        page.goto(f"{server.url}/settings")
        expect(page.get_by_text(f"sum {sum(saved.values()):g}")).to_be_visible()
        words = page.locator(".what-if-words")
        expect(words).to_contain_text("With the saved settings")
        page.get_by_role("slider", name=re.compile("^Keywords")).fill("100")
        page.get_by_role("slider", name=re.compile("^Recency")).fill("0")
        expect(weight(page, "keywords")).to_have_value("100")
        changed_sum = sum(saved.values()) - saved["keywords"] - saved["recency"] + 100
        expect(page.get_by_text(f"sum {changed_sum:g}")).to_be_visible()
        expect(words).to_contain_text(re.compile(r"^\s*[1-9]\d* messages? would change fate"))
        expect(words).to_contain_text(re.compile(r"It leaves\s+(as many|~[\d,]+) tokens"))
        expect(page.locator(".swaps .why").first).to_contain_text(re.compile(r"^\s*~[\d,]+ tokens"))
        assert server.app.settings.get().settings.weights == saved
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.weights["keywords"] == 100
        expect(page.get_by_role("button", name="Save")).to_be_hidden()

    def test_show_errors_beside_their_fields(self, page: Page, server: Server) -> None:
        """All fields are checked at once, each error is beside its field, and nothing is saved."""
        saved = server.app.settings.get().settings
        page.goto(f"{server.url}/settings")
        weight(page, "role").fill("900")
        page.locator("input[name=fresh_tail]").fill("1.5")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("2 fields are wrong")).to_be_visible()
        expect(weight(page, "role")).to_have_attribute("aria-invalid", "true")
        expect(page.locator('[id="fault-weights.role"]')).to_contain_text("900")
        expect(page.locator("#fault-fresh_tail")).to_contain_text("whole number")
        assert server.app.settings.get().settings == saved
        page.get_by_role("button", name="Discard").click()
        expect(page.locator(".fault")).to_have_count(0)
        expect(weight(page, "role")).to_have_value(f"{saved.weights['role']:g}")

    def test_show_a_wrong_field_above_the_buttons(self, page: Page, server: Server) -> None:
        """On a phone too, a refused field is in view, not behind the bar that saves."""
        page.set_viewport_size({"width": 390, "height": 700})
        page.goto(f"{server.url}/settings")
        wrong = page.get_by_role("spinbutton", name="Length, points")
        wrong.fill("-5")
        wrong.evaluate(
            "field => { field.blur(); scrollBy(0, field.getBoundingClientRect().bottom - innerHeight); }"
        )
        page.get_by_role("button", name="Save", exact=True).click()
        expect(wrong).to_be_focused()
        holds(
            page,
            "document.activeElement.getBoundingClientRect().bottom"
            " <= document.querySelector('.save-bar').getBoundingClientRect().top",
        )

    def test_are_not_tried_while_a_field_is_wrong(self, page: Page, server: Server) -> None:
        """The what-if asks to correct the field, and then shows the effect."""
        managed(server, 60)
        page.goto(f"{server.url}/settings")
        words = page.locator(".what-if-words")
        expect(words).to_contain_text("Change something")
        weight(page, "role").fill("900")
        expect(words).to_have_text("A field is wrong. Correct it to see what these settings would do.")
        weight(page, "role").fill("90")
        expect(words).to_contain_text("would change fate")

    def test_take_a_number_typed_into_an_emptied_field(self, page: Page, server: Server) -> None:
        """A field that is emptied keeps the focus and stays a number field, so what is typed next is saved."""
        page.goto(f"{server.url}/settings")
        target = page.locator("input[name=target_percent]")
        target.press("ControlOrMeta+A")
        target.press("Backspace")
        expect(page.get_by_text("Not saved: Target")).to_be_visible()
        page.keyboard.type("70")
        expect(target).to_have_value("70")
        expect(target).to_have_attribute("type", "number")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.target_percent == 70

    def test_change_nothing_that_is_not_shown(self, page: Page, server: Server) -> None:
        """A target below the aim is refused beside the aim, which the server would otherwise lower, too."""
        page.goto(f"{server.url}/settings")
        page.get_by_label("Target", exact=True).fill("50")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_label("Aim", exact=True)).to_be_focused()
        expect(page.locator("#fault-aim_percent")).to_contain_text("at most the target of 50")
        assert server.app.settings.get().settings.aim_percent == 60

    def test_keep_the_save_bar_free_of_notices(self, page: Page, server: Server) -> None:
        """A notice is shown above the bar with the Save button."""
        page.set_viewport_size({"width": 390, "height": 800})
        intercept(page, "**/api/settings", lambda route: route.abort(), method="PUT")
        page.goto(f"{server.url}/settings")
        weight(page, "role").fill("31")
        page.get_by_role("button", name="Save").click()
        notice = page.locator(".toast")
        expect(notice).to_contain_text("Could not save the settings")
        holds(
            page,
            """() => document.querySelector(".toast").getBoundingClientRect().bottom
                <= document.querySelector(".save-bar").getBoundingClientRect().top""",
        )


class TestANewSignal:
    """A signal whose row was added to the table of signals."""

    def test_is_on_the_page_and_in_plans(
        self, page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its slider has its label, is saved like any other, and the plan panel and the scores have it too."""
        signal = Signal(
            "opening",
            "First message",
            "whether it is the first",
            lambda one, _: [1.0] + [0.0] * (len(one) - 1),
            {},
        )
        monkeypatch.setitem(SIGNALS, signal.name, signal)
        server.app.settings.put({"weights": {"opening": 0}})  # as in settings made after the row was there
        session = managed(server, 60)
        page.goto(f"{server.url}/settings")
        page.get_by_role("slider", name=re.compile("^First message")).fill("70")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.weights["opening"] == 70
        open_session(page, server, session)
        page.get_by_text("Weights and tail").click()
        expect(page.get_by_label("First message")).to_have_value("70")
        page.locator(".msg button").first.click()
        expect(page.locator(".signals")).to_contain_text("First message")


class TestTheForm:
    """Presets, keywords and the Enter key."""

    def test_is_filled_by_a_preset(self, page: Page, server: Server) -> None:
        """A chosen preset fills the form and is shown as chosen; so do the defaults."""
        default = f"{server.app.settings.get().defaults.aim_percent:g}"
        page.goto(f"{server.url}/settings")
        page.get_by_role("button", name="Blueprint").click()
        expect(page.locator("input[name=aim_percent]")).to_have_value("80")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved")).to_be_visible()
        expect(page.get_by_role("button", name="Blueprint")).to_have_attribute("aria-pressed", "true")
        assert server.app.settings.get().preset == "Blueprint"
        page.get_by_role("button", name="Reset to defaults").click()
        expect(page.locator("input[name=aim_percent]")).to_have_value(default)

    def test_is_saved_by_the_enter_key(self, page: Page, server: Server) -> None:
        """Enter in a field saves the settings."""
        page.goto(f"{server.url}/settings")
        page.locator("input[name=aim_percent]").fill("55")
        page.locator("input[name=aim_percent]").press("Enter")
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.aim_percent == 55

    @pytest.mark.parametrize("button", ["Save", "Discard"])
    def test_gets_the_focus_back_from_its_buttons(self, page: Page, server: Server, button: str) -> None:
        """Save and Discard disappear when pressed; the field of the last change then has the focus."""
        page.goto(f"{server.url}/settings")
        field = page.locator("input[name=target_percent]")
        field.fill("70")
        page.locator(".save-bar").get_by_role("button", name=button).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".save-bar")).to_be_hidden()
        expect(field).to_be_focused()

    def test_edits_groups_of_keywords(self, page: Page, server: Server) -> None:  # B4
        """Groups are added, named, filled and removed; nothing is saved before a click on Save."""
        saved: list[str] = []
        page.on("request", lambda r: saved.append(r.url) if r.method == "PUT" else None)
        page.goto(f"{server.url}/settings")
        page.locator("details.unused > summary").filter(has_text="Keywords").click()
        page.get_by_role("button", name="Remove tool use").click()
        page.get_by_role("button", name="Add a group").click()
        expect(page.get_by_label("Words of new group")).to_be_visible()
        page.get_by_label("Name of the group").last.fill("birds")
        page.get_by_label("Words of birds").fill("heron, snipe")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        groups = {g.name: g.words for g in server.app.settings.get().settings.keywords}
        assert "tool use" not in groups
        assert groups["birds"] == ("heron", "snipe")
        assert len(saved) == 1


class TestOpenPages:
    """Other pages while settings change."""

    def test_follow_new_settings(self, page: Page, server: Server) -> None:  # B16
        """A lower target saved elsewhere changes the verdict on an open session page."""
        session = managed(server, 40)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".msg").first).to_be_visible()
        expect(page.locator(".verdict")).to_contain_text("Nothing needed")
        expect(page.locator(".live")).to_have_text("live")
        server.app.settings.put({"target_percent": 50, "aim_percent": 40})
        expect(page.locator(".verdict")).to_contain_text("above the target of 50")

    def test_keep_unsaved_changes_and_report_new_settings(self, page: Page, server: Server) -> None:
        """Settings saved elsewhere do not overwrite unsaved fields, and a button shows them."""
        before = str(server.app.settings.get().settings.fresh_tail)
        page.goto(f"{server.url}/settings")
        page.locator("input[name=fresh_tail]").fill("7")
        expect(page.locator(".live")).to_have_text("live")
        server.app.settings.put({"aim_percent": 40})
        expect(page.get_by_text("changed elsewhere while you were editing")).to_be_visible()
        expect(page.locator("input[name=fresh_tail]")).to_have_value("7")
        page.get_by_role("button", name="Show them").click()
        expect(page.locator("input[name=aim_percent]")).to_have_value("40")
        expect(page.locator("input[name=fresh_tail]")).to_have_value(before)

    def test_save_only_what_was_changed_on_them(self, page: Page, server: Server) -> None:
        """Two pages that save different settings do not undo each other's."""
        page.goto(f"{server.url}/settings")
        page.locator("input[name=fresh_tail]").fill("7")
        page.locator('input[type=number][name="weights.length"]').fill("9")
        expect(page.locator(".live")).to_have_text("live")
        server.app.settings.put({"aim_percent": 40, "weights": {"recency": 11}})
        expect(page.get_by_text("changed elsewhere while you were editing")).to_be_visible()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Settings saved")).to_be_visible()
        expect(page.locator("input[name=aim_percent]")).to_have_value("40")
        saved = server.app.settings.get().settings
        assert (saved.fresh_tail, saved.aim_percent) == (7, 40)
        assert (saved.weights["length"], saved.weights["recency"]) == (9, 11)

    def test_offer_no_settings_that_are_no_longer_saved(self, page: Page, server: Server) -> None:
        """A change elsewhere that was taken back there is offered no more; Discard shows what is saved."""
        page.goto(f"{server.url}/settings")
        page.locator("input[name=fresh_tail]").fill("7")
        expect(page.locator(".live")).to_have_text("live")
        before = server.app.settings.get().settings.aim_percent
        note = page.get_by_text("changed elsewhere while you were editing")
        server.app.settings.put({"aim_percent": 40})
        expect(note).to_be_visible()
        server.app.settings.put({"aim_percent": before})
        expect(note).to_have_count(0)
        server.app.settings.put({"aim_percent": 45})
        expect(note).to_be_visible()
        page.get_by_role("button", name="Discard").click()
        expect(page.locator("input[name=aim_percent]")).to_have_value("45")
        expect(note).to_have_count(0)

    def test_follow_in_a_field_that_has_the_focus(self, page: Page, server: Server) -> None:
        """A field in which nobody typed shows what was saved elsewhere."""
        page.goto(f"{server.url}/settings")
        page.locator("input[name=aim_percent]").focus()
        expect(page.locator(".live")).to_have_text("live")
        server.app.settings.put({"aim_percent": 40})
        expect(page.locator("input[name=aim_percent]")).to_have_value("40")


class TestPanelsBelow:
    """Models, limits and webhooks, below the settings."""

    def test_are_as_wide_as_each_other(self, page: Page, server: Server) -> None:
        """The panels are boxes of one width, one below the other."""
        open_below(page, server, "webhooks-panel")
        page.locator("models-table").scroll_into_view_if_needed()
        expect(page.locator("models-table tbody tr").first).to_be_visible()
        boxes = [
            page.locator(f"{name} > *").first.bounding_box()
            for name in ("models-table", "retention-panel", "webhooks-panel")
        ]
        assert len({(box["x"], box["width"]) for box in boxes if box}) == 1


def test_columns_are_about_as_long_as_each_other(page: Page, server: Server) -> None:
    """The shorter column takes at least four fifths of the longer, whatever the strategy folds."""
    page.goto(f"{server.url}/settings")
    for preset in ("Foresight", "Blueprint"):
        page.get_by_role("button", name=preset, exact=True).click()
        expect(page.get_by_role("button", name=preset, exact=True)).to_have_attribute("aria-pressed", "true")
        heights = page.locator(".settings-form > div").evaluate_all(
            "columns => columns.map(one => one.getBoundingClientRect().height)"
        )
        assert len(heights) == 2
        assert min(heights) >= 0.8 * max(heights), (preset, heights)


def test_heads_of_the_weights_of_a_type_take_one_line(page: Page, server: Server) -> None:
    """Choosing a type moves no weight down: heading, unit and sum fit beside each other."""
    page.goto(f"{server.url}/settings")
    head = page.locator(".group-box > header", has=page.get_by_role("heading", name="Weights"))
    height = head.evaluate("head => head.offsetHeight")
    for name in ("Support", "Research", "Chat"):
        of_type(page, name).click()
        expect(head).to_contain_text(f"Weights for {name.lower()}")
        assert head.evaluate("head => head.offsetHeight") == height


def test_dots_of_types_keep_clear_of_their_names_on_a_phone(page: Page, server: Server) -> None:
    """A dot that marks a type with values of its own is no part of the word."""
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{server.url}/settings")
    expect(of_type(page, "Support")).to_be_visible()
    gaps = page.locator(".own-mark").evaluate_all(
        """dots => dots.map(dot => {
            const name = document.createRange();
            name.selectNodeContents(dot.parentElement);
            name.setEndBefore(dot);
            return dot.getBoundingClientRect().left - name.getBoundingClientRect().right;
        })"""
    )
    assert len(gaps) == 3
    assert min(gaps) >= 2


def test_fields_begin_below_each_other_on_a_phone(page: Page, server: Server) -> None:
    """Units of different length do not move the fields, and the task types fit one line."""
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{server.url}/settings")
    expect(page.get_by_label("Fresh tail")).to_be_visible()
    fields = page.locator(".setting-value input[type=number]")
    assert len(set(fields.evaluate_all("all => all.map(one => one.getBoundingClientRect().left)"))) == 1
    types = page.locator(".type-choice .segmented button")
    assert len(set(types.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)"))) == 1


class TestModels:
    """The table of model limits."""

    def test_can_be_overridden_and_reset(self, page: Page, server: Server) -> None:  # B13, X10
        """Rows show their date; an override is marked, and Reset restores the limit of the table."""
        open_below(page, server, "models-table")
        page.get_by_label("Find a model").fill("claude-sonnet-4-5")
        first = page.locator(".models tbody tr").first
        expect(first).to_contain_text(re.compile(r"20\d\d-\d\d-\d\d"))
        name = first.locator("td").first.inner_text()
        page.get_by_role("button", name=f"Override {name}", exact=True).click()
        page.locator(".model-edit").get_by_label("Window").fill("123456")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(first).to_contain_text("123,456")
        expect(first).to_contain_text("yours")
        page.get_by_role("button", name=f"Reset {name}", exact=True).click()
        expect(first).not_to_contain_text("123,456")

    def test_are_edited_in_view_on_a_phone(self, page: Page, server: Server) -> None:
        """The form is as wide as the page, though the table is wider and was moved to reach its button."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_below(page, server, "models-table")
        page.get_by_label("Find a model").fill("opus")
        page.get_by_role("button", name=re.compile("^Override")).first.click()
        for field in page.locator(".model-edit :is(input, button)").all():
            box = field.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390

    @pytest.mark.parametrize("width", [390, 1280])
    def test_leave_room_beside_the_longest_name(self, page: Page, server: Server, width: int) -> None:
        """On a wide page the buttons are in view; on a phone more than a third of it is left beside the names."""
        name = "a-company-of-ours/a-model-whose-name-goes-on-with-many-parts-20260101-preview-instruct-fp8-extended"
        server.app.models.put(name, ModelRow(window=10_000_000))
        page.set_viewport_size({"width": width, "height": 844})
        open_below(page, server, "models-table")
        row = page.locator(".models tbody tr", has_text=name)
        expect(row).to_have_count(1)
        row.scroll_into_view_if_needed()
        names = row.locator("td").first
        in_place(
            names, page.locator(".models-scroll"), "(names, table) => names.width <= table.width * 2 / 3"
        )
        if width == 1280:
            expect(row.get_by_role("button", name="Override")).to_be_in_viewport(ratio=1)

    def test_are_refused_without_a_name(self, page: Page, server: Server) -> None:
        """The field of the name is marked and has the focus; so is a wrong limit."""
        open_below(page, server, "models-table")
        page.get_by_role("button", name="Add", exact=True).click()
        name = page.get_by_label("Model", exact=True)
        expect(name).to_have_attribute("aria-invalid", "false")
        save = page.get_by_role("button", name="Save", exact=True)
        save.click()
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(name).to_be_focused()
        name.fill("novel-2")
        window = page.locator(".model-edit").get_by_label("Window")
        window.fill("0")
        save.click()
        expect(window).to_have_attribute("aria-invalid", "true")
        expect(window).to_be_focused()

    def test_without_a_match_have_no_head_of_a_table(self, page: Page, server: Server) -> None:
        """Nothing but the sentence that none is found stays of the table."""
        open_below(page, server, "models-table")
        expect(page.locator(".models tbody tr").first).to_be_visible()
        page.get_by_label("Find a model").fill("no such model")
        expect(page.get_by_text("No model of that name.")).to_be_visible()
        expect(page.locator(".models")).to_be_hidden()

    def test_are_refused_without_a_window(self, page: Page, server: Server) -> None:
        """A window of 0 is refused beside the field."""
        open_below(page, server, "models-table")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_label("Model", exact=True).fill("novel-1")
        page.locator(".model-edit").get_by_label("Window").fill("0")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".model-edit .fault")).to_contain_text("Window")
        page.locator(".model-edit").get_by_label("Window").fill("64000")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".models").get_by_text("novel-1")).to_be_visible()

    def test_are_not_saved_by_the_enter_key_of_the_search(self, page: Page, server: Server) -> None:
        """Enter in the search above the table leaves an open form alone."""
        open_below(page, server, "models-table")
        panel = page.locator("#models")
        panel.get_by_role("button", name="Add").click()
        panel.get_by_label("Model", exact=True).fill("half-typed")
        sent: list[str] = []
        page.on("request", lambda one: sent.append(one.method) if "/api/models/" in one.url else None)
        panel.get_by_label("Find a model").press("Enter")
        panel.get_by_label("Find a model").press("Escape")
        expect(panel.get_by_label("Model", exact=True)).to_have_value("half-typed")
        assert sent == []

    def test_may_have_an_output_limit_only(self, page: Page, server: Server) -> None:  # P1
        """The window of an unknown model is then four times its output limit."""
        open_below(page, server, "models-table")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_label("Model", exact=True).fill("novel-2")
        page.locator(".model-edit").get_by_label("Output limit").fill("8000")
        page.get_by_role("button", name="Save", exact=True).click()
        row = page.locator(".models tr").filter(has_text="novel-2")
        expect(row).to_contain_text("32,000")


class TestFinding:
    """The search field of the settings."""

    def test_shows_the_settings_that_contain_the_words(self, page: Page, server: Server) -> None:
        """Names are searched, of folded groups too, and the words are in the address."""
        page.goto(f"{server.url}/settings")
        page.get_by_label("Find a setting").fill("minimum gain")
        expect(page.get_by_label("Minimum gain")).to_be_visible()
        expect(page.get_by_role("heading", name="Target and aim")).to_be_hidden()
        expect(page.get_by_role("slider", name=re.compile("^Recency"))).to_be_hidden()
        page.reload()
        expect(page.get_by_label("Find a setting")).to_have_value("minimum gain")
        page.get_by_label("Find a setting").fill("roles")
        expect(page.get_by_role("slider", name="User", exact=True)).to_be_visible()
        page.get_by_label("Find a setting").fill("")
        expect(page.get_by_role("heading", name="Target and aim")).to_be_visible()

    def test_says_that_no_setting_has_the_words(self, page: Page, server: Server) -> None:
        """A button shows all settings again."""
        page.goto(f"{server.url}/settings?find=nothing+like+it")
        expect(page.get_by_text("No setting has these words.")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        expect(page.get_by_text("No setting has these words.")).to_be_hidden()
        expect(page.get_by_label("Find a setting")).to_have_value("")
        expect(page.get_by_role("heading", name="Target and aim")).to_be_visible()

    def test_finds_a_panel_below_the_settings(self, page: Page, server: Server) -> None:
        """A panel is found before it is loaded, and comes into view; those without the words are hidden."""
        page.goto(f"{server.url}/settings")
        find = page.get_by_label("Find a setting")
        find.fill("webhook")
        expect(page.get_by_role("button", name="Add webhook")).to_be_in_viewport()
        expect(page.get_by_text("No setting has these words.")).to_be_hidden()
        expect(page.locator("models-table")).to_be_hidden()
        find.fill("")
        expect(page.locator("models-table")).to_be_visible()
        expect(page.get_by_role("heading", name="Target and aim")).to_be_visible()

    def test_is_not_what_finds_a_model(self, page: Page, server: Server) -> None:
        """The search field of the models finds models, and hides no setting."""
        open_below(page, server, "models-table")
        page.get_by_label("Find a model").fill("opus")
        expect(page.locator(".models tbody tr").first).to_contain_text("opus")
        expect(page.get_by_role("heading", name="Target and aim")).to_be_visible()
        expect(page.get_by_label("Find a setting")).to_have_value("")

    def test_folds_settings_that_the_strategy_does_not_use(self, page: Page, server: Server) -> None:
        """Roles, keywords and lengths are folded for Foresight, and open for the strategy by score."""
        page.goto(f"{server.url}/settings")
        expect(page.get_by_text("not used by Foresight")).to_have_count(3)
        expect(page.get_by_role("slider", name="User", exact=True)).to_be_hidden()
        page.get_by_role("button", name="Blueprint").click()
        expect(page.get_by_role("slider", name="User", exact=True)).to_be_visible()


class TestFiles:
    """Settings exported to and imported from a file."""

    def test_are_imported_as_unsaved_changes(self, page: Page, server: Server, tmp_path: Path) -> None:
        """An exported and edited file is shown as changes, and Save stores them."""
        page.goto(f"{server.url}/settings")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        settings = json.loads(Path(download.value.path()).read_text("utf-8"))
        assert settings["aim_percent"] == 60
        file = tmp_path / "mine.json"
        file.write_text(json.dumps({**settings, "aim_percent": 45, "from_another_version": 1}))
        page.locator("coppice-settings > .page-head input[type=file]").set_input_files(file)
        expect(page.get_by_label("Aim", exact=True)).to_have_value("45")
        expect(page.get_by_text("Not saved: Aim")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        assert server.app.settings.get().settings.aim_percent == 45

    def test_without_any_setting_are_refused(self, page: Page, server: Server, tmp_path: Path) -> None:
        """A file that holds no setting causes an error."""
        file = tmp_path / "other.json"
        file.write_text("[1, 2]")
        page.goto(f"{server.url}/settings")
        page.locator("coppice-settings > .page-head input[type=file]").set_input_files(file)
        expect(page.get_by_role("alert")).to_contain_text("it holds no setting")


class TestTrying:
    """The effect of unsaved settings on a session."""

    def test_shows_the_messages_that_swap_at_the_chosen_cut(self, page: Page, server: Server) -> None:  # X4
        """A session below its aim is tried at half of its tokens, and each swap is a row of a table."""
        managed(server, 40, tokens=900)
        server.app.settings.put({"strategy": "score"})
        page.goto(f"{server.url}/settings")
        expect(page.get_by_text("Keep 50")).to_be_visible()
        page.get_by_role("slider", name=re.compile("^Keywords")).fill("100")
        page.get_by_role("slider", name=re.compile("^Recency")).fill("0")
        swaps = page.get_by_role("table", name="Messages that change fate")
        expect(swaps.get_by_role("row").nth(1)).to_contain_text("→")
        depths = page.locator(".depths dd")
        expect(depths).to_have_count(4)
        expect(depths.nth(3)).to_have_text(re.compile(r"^\d+$"))
        reason = swaps.get_by_role("row").nth(2)
        expect(reason).to_contain_text(re.compile(r"^~\d+ tokens · \S+"))
        page.get_by_text("The ranked list before and after").click()
        expect(page.locator(".ranks li[data-swaps=true]").first).to_be_visible()
        expect(page.get_by_role("heading", name=re.compile(r"^Saved: \d+ go"))).to_be_visible()
        expect(page.get_by_role("heading", name=re.compile(r"^Edited: \d+ go"))).to_be_visible()
        page.get_by_role("slider", name=re.compile("Keep")).fill("95")
        expect(page.get_by_text(re.compile("Keep 95"))).to_be_visible()

    def test_cuts_to_the_aim_that_is_edited(self, page: Page, server: Server) -> None:  # X4
        """A session below its aim is tried at the edited aim; at a cut of the reader's own, the panel says why not."""
        managed(server, 40, tokens=900)
        page.goto(f"{server.url}/settings")
        words = page.locator(".what-if-words")
        expect(words).to_contain_text("With the saved settings")
        page.get_by_label("Aim", exact=True).fill("6")
        expect(words).to_contain_text("would change fate")
        expect(words).not_to_contain_text("No message")
        expect(page.locator("what-if")).to_contain_text("the aim")
        page.get_by_role("slider", name=re.compile("Keep")).fill("70")
        expect(page.locator("what-if")).to_contain_text("The edited aim has no effect here")
        expect(words).to_contain_text("No message would change fate")
        page.get_by_role("button", name="Cut to the aims").click()
        expect(words).not_to_contain_text("No message")
        page.get_by_label("Aim", exact=True).fill("60")
        expect(page.get_by_text("Keep 50")).to_be_visible()

    def test_says_that_nothing_would_change(self, page: Page, server: Server) -> None:
        """A setting without effect on the session is named as such."""
        managed(server, 40, tokens=900)
        page.goto(f"{server.url}/settings")
        expect(page.locator(".what-if-words")).to_contain_text("With the saved settings")
        page.get_by_label("Summary, at most").fill("31")
        expect(page.locator(".what-if-words")).to_contain_text("No message would change fate")

    def test_can_be_read_to_its_end_beside_the_form(self, page: Page, server: Server) -> None:
        """The panel scrolls by itself, and the bar that saves covers none of it, wherever the page is scrolled to."""
        page.set_viewport_size({"width": 1280, "height": 640})
        managed(server, 40, tokens=900)
        server.app.settings.put({"strategy": "score"})
        page.goto(f"{server.url}/settings")
        page.get_by_role("slider", name=re.compile("^Keywords")).fill("100")
        page.get_by_role("slider", name=re.compile("^Recency")).fill("0")
        page.get_by_text("The ranked list before and after").click()
        last = page.locator(".ranks li").last
        last.scroll_into_view_if_needed()
        expect(last).to_be_in_viewport()
        for place in (0, 10_000):
            page.evaluate("place => window.scrollTo(0, place)", place)
            assert page.evaluate(
                """() => document.querySelector(".settings-side").getBoundingClientRect().left
                    >= document.querySelector(".save-bar").getBoundingClientRect().right"""
            )

    def test_keeps_its_place_above_the_form_of_a_phone(self, page: Page, server: Server) -> None:
        """The fields below hardly move when it comes: by less than the least of them is high."""
        managed(server, 60)
        page.set_viewport_size({"width": 390, "height": 844})
        sessions = hold(page, "**/api/sessions?limit=1&*", lambda: page.goto(f"{server.url}/settings"))
        form = page.locator(".settings-form")
        expect(weight(page, "role")).to_be_visible()
        before = top_of(form)
        sessions.continue_()
        expect(page.locator(".what-if-words")).to_contain_text("Change something")
        assert abs(top_of(form) - before) < 24

    def test_leads_to_the_first_session(self, page: Page, server: Server) -> None:
        """Without a session it links to the page that says where they come from."""
        page.goto(f"{server.url}/settings")
        page.locator("what-if").get_by_role("link", name="Sessions").click()
        expect(page.get_by_role("button", name="Start the demo session")).to_be_visible()


class TestTaskTypes:
    """Weights and keywords of a task type."""

    def test_have_their_own_weights_that_can_be_tried_before_saving(
        self, page: Page, server: Server
    ) -> None:  # B18, X4
        """The what-if shows the effect of a type's own weights; saved, they are shown again after a reload."""
        session = managed(server, 60)
        server.app.settings.put({"strategy": "score"})
        assert server.app.sessions.get(session).task_type.name == "chat"
        page.goto(f"{server.url}/settings")
        words = page.locator(".what-if-words")
        expect(words).to_contain_text("With the saved settings")
        expect(page.locator("what-if")).to_contain_text("Task type: chat")
        of_type(page, "Chat").click()
        expect(page.get_by_text("Chat has the weights of all sessions.")).to_be_visible()
        page.locator('[data-act=own][data-field="weights"]').click()
        page.get_by_role("slider", name=re.compile("^Recency")).fill("0")
        page.get_by_role("slider", name=re.compile("^Length")).fill("100")
        expect(words).to_contain_text("would change fate")
        page.get_by_label("Words of wishes").fill("heron, snipe")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Settings saved.")).to_be_visible()
        own = server.app.settings.get().settings.task_types.chat
        assert own.weights is not None
        assert own.keywords is not None
        assert (own.weights["recency"], own.weights["length"]) == (0, 100)
        assert own.keywords[1].words == ("heron", "snipe")
        page.reload()
        of_type(page, "Chat").click()
        expect(page.locator('input[type=number][name="task_types.chat.weights.length"]')).to_have_value("100")
        expect(page.get_by_label("Words of wishes")).to_have_value("heron, snipe")
        page.locator('[data-act=follow][data-field="weights"]').click()
        expect(page.get_by_text("Chat has the weights of all sessions.")).to_be_visible()

    def test_show_the_type_with_a_wrong_field(self, page: Page, server: Server) -> None:
        """A click on Save shows the type with the wrong field, even if another one was open."""
        page.goto(f"{server.url}/settings")
        of_type(page, "Support").click()
        field = page.locator('input[type=number][name="task_types.support.weights.role"]')
        field.fill("900")
        of_type(page, "All sessions").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("1 field is wrong")).to_be_visible()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(of_type(page, "Support.*wrong")).to_have_attribute("aria-pressed", "true")

    def test_can_be_chosen_for_one_session(self, page: Page, server: Server) -> None:  # B18
        """Its page shows the detected type and the reason; a chosen type holds until it is reset."""
        session = managed(server, 12)
        page.goto(f"{server.url}/sessions/{session}")
        line = page.locator(".type-line")
        page.locator(".bar-notes summary", has_text="Task type: chat").click()
        expect(line).to_contain_text("Chat (by the settings)")
        expect(line).to_contain_text("No tool was used.")
        choice = page.get_by_label("Task type", exact=True)
        expect(choice).to_have_value("")
        choice.select_option("support")
        expect(line).to_contain_text("Chosen for this session. It looks like chat: no tool was used.")
        assert server.app.store.sessions.get(session).settings == {"task_type": "support"}
        page.reload()
        page.locator(".bar-notes summary", has_text="Task type: support").click()
        expect(choice).to_have_value("support")
        choice.select_option("")
        expect(line).to_contain_text("Chat (by the settings)")
        assert server.app.store.sessions.get(session).settings == {}


def test_a_wrong_field_that_a_search_hides_is_shown(page: Page, server: Server) -> None:
    """Saving ends the search, and the field has the focus."""
    page.goto(f"{server.url}/settings")
    target, find = page.get_by_label("Target", exact=True), page.get_by_label("Find a setting")
    target.fill("900")
    find.fill("strategy")
    expect(target).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(target).to_be_focused()
    expect(find).to_have_value("")


class TestTheFormOfAWebhook:
    """The form at the end of a long page."""

    def test_is_in_view_with_what_is_wrong(self, page: Page, server: Server) -> None:
        """The form scrolls into view when it opens, and the message about a bad address when it comes."""
        open_below(page, server, "webhooks-panel")
        page.get_by_role("button", name="Add webhook").click()
        add = page.get_by_role("button", name="Add", exact=True).last
        expect(add).to_be_in_viewport(ratio=1)
        page.locator("webhooks-panel [name=url]").fill("nonsense")
        page.keyboard.press("Enter")
        expect(page.locator("webhooks-panel [role=alert]")).to_be_in_viewport(ratio=1)
        expect(page.locator("webhooks-panel [name=url]")).to_be_focused()


class TestWebhooks:
    """Addresses that receive events, and the log of deliveries."""

    def test_show_a_secret_once_and_their_deliveries(self, page: Page, server: Server) -> None:  # X16
        """A webhook is added, tried, sent again, paused and deleted, and its secret is shown once."""
        # The long delay keeps the server from retrying while the test reads the log.
        with answering(sending("", 500, retry_after="3600"), sending("", 204)) as receiver:
            open_below(page, server, "webhooks-panel")
            panel = page.locator("#webhooks")
            panel.get_by_role("button", name="Add webhook").click()
            panel.get_by_label("Address").fill("nowhere")
            panel.get_by_role("button", name="Add", exact=True).click()
            expect(panel.get_by_role("alert")).to_contain_text("http://")
            panel.get_by_label("Address").fill(receiver.url)
            panel.get_by_role("button", name="Add", exact=True).click()
            secret = panel.locator(".webhook-secret code").inner_text()
            assert secret.startswith("whsec_")
            panel.get_by_role("button", name="Send a test").click()
            expect(panel.get_by_role("cell", name="the receiver answers 500")).to_be_visible()
            panel.get_by_role("button", name="Send again").click()
            expect(panel.get_by_role("cell", name="delivered")).to_be_visible()
            open_below(page, server, "webhooks-panel")
            expect(panel.get_by_text(receiver.url)).to_be_visible()
            assert secret not in page.content()
            panel.get_by_role("button", name="Pause").click()
            expect(panel.get_by_text("paused")).to_be_visible()
            delete = panel.get_by_role("button", name="Delete")
            delete.click()
            dialog = page.get_by_role("dialog", name="Delete this webhook?")
            expect(dialog).to_contain_text(receiver.url)
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
            expect(delete).to_be_focused()
            delete.click()
            dialog.get_by_role("button", name="Delete").click()
            expect(panel.get_by_text("No webhooks.")).to_be_visible()
        assert [body["type"] for _, _, body in receiver.seen] == ["webhook:test"] * 2

    def test_ask_before_a_secret_is_replaced(self, page: Page, server: Server) -> None:
        """The receiver refuses messages until it has the new secret, so that a slip must not make one."""
        server.app.webhooks.add("http://127.0.0.1:9/events")
        open_below(page, server, "webhooks-panel")
        panel = page.locator("#webhooks")
        replace = panel.get_by_role("button", name="New secret…")
        replace.click()
        dialog = page.get_by_role("dialog", name="Replace this secret?")
        expect(dialog).to_contain_text("http://127.0.0.1:9/events")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(panel.locator(".webhook-secret")).to_have_count(0)
        replace.click()
        dialog.get_by_role("button", name="Replace").click()
        expect(panel.locator(".webhook-secret code")).to_have_text(re.compile("^whsec_"))

    def test_say_that_nothing_was_sent_only_once_they_know(self, page: Page, server: Server) -> None:
        """A log that is being read, or that could not be read, does not say that it is empty."""
        server.app.webhooks.add("http://127.0.0.1:9/events")
        open_below(page, server, "webhooks-panel")
        panel = page.locator("#webhooks")
        held = hold(page, "**/deliveries", panel.get_by_role("button", name="Log").click, others=True)
        empty = panel.locator(".webhook-log").get_by_text("Nothing was sent yet.")
        expect(panel.locator(".webhook-log")).to_have_text("Reading…")
        held.abort()
        expect(panel.get_by_role("alert")).to_contain_text("Could not read the webhooks")
        expect(empty).to_have_count(0)
        panel.get_by_role("button", name="Try again").click()
        expect(empty).to_be_visible()

    def test_are_added_once_by_two_clicks(self, page: Page, server: Server) -> None:
        """A second click while the first is answered adds no second webhook."""
        open_below(page, server, "webhooks-panel")
        panel = page.locator("#webhooks")
        panel.get_by_role("button", name="Add webhook").click()
        panel.get_by_label("Address").fill("http://127.0.0.1:9/events")
        add = panel.get_by_role("button", name="Add", exact=True)
        first = hold(page, "**/api/webhooks", add.click, others=True)
        add.click()
        first.continue_()
        expect(panel.locator(".webhook-secret")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert len(server.app.webhooks.listed().webhooks) == 1

    def test_open_the_log_that_was_clicked_last(self, page: Page, server: Server) -> None:
        """A late answer about another log does not open that one instead."""
        urls = ["http://127.0.0.1:9/one", "http://127.0.0.1:9/two"]
        one, _ = (server.app.webhooks.add(url).webhook.id for url in urls)
        open_below(page, server, "webhooks-panel")
        panel = page.locator("#webhooks")
        logs = [panel.get_by_role("button", name=f"Log: {url}") for url in urls]
        late = hold(page, f"**/webhooks/{one}/deliveries", logs[0].click, others=True)
        logs[1].click()
        late.continue_()
        expect(logs[1]).to_have_attribute("aria-expanded", "true")
        page.wait_for_load_state("networkidle")
        expect(logs[0]).to_have_attribute("aria-expanded", "false")
        expect(logs[1]).to_have_attribute("aria-expanded", "true")
