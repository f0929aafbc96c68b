"""Parts of the session page: the chart, the heaviest messages, the choices of the list, several screens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.looking import Look
from tests.browser.session_page import open_and_settle, open_followed, row
from tests.browser.waiting import holds, in_place, intercept, until, without_live_connection
from tests.browser.writing import ClaudeFolder, feed, managed, reading, words
from tests.servers import Server, running_server
from tests.webapp.agents.samples import SAMPLES
from webapp.bodies import PruneBody, SessionChange

# Returns whether the chart has a pixel of a colour.
PAINTED = """colour => {
    const canvas = document.querySelector('token-chart canvas');
    if (!canvas) return false;
    const tone = document.createElement('span');
    tone.style.color = colour;
    document.body.append(tone);
    const probe = document.createElement('canvas').getContext('2d');
    probe.fillStyle = getComputedStyle(tone).color;
    tone.remove();
    probe.fillRect(0, 0, 1, 1);
    const [pr, pg, pb] = probe.getImageData(0, 0, 1, 1).data;
    const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height});
    const drawn = copy.getContext('2d', {willReadFrequently: true});
    drawn.drawImage(canvas, 0, 0);
    const { data } = drawn.getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
        if (data[i] === pr && data[i + 1] === pg && data[i + 2] === pb && data[i + 3] === 255) return true;
    return false;
}"""


# Returns the least contrast of the line's pixels on the chart to the best of the pixels up to 3 px beside each.
LEAST_CONTRAST = """() => {
    const canvas = document.querySelector('token-chart canvas');
    const drawn = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height})
        .getContext('2d', {willReadFrequently: true});
    const tone = document.body.appendChild(document.createElement('span'));
    const probe = name => {
        tone.style.color = `var(${name})`;
        drawn.fillStyle = getComputedStyle(tone).color;
        drawn.fillRect(0, 0, 1, 1);
        return drawn.getImageData(0, 0, 1, 1).data;
    };
    const [accent, ground] = ['--accent', '--surface'].map(probe);
    tone.remove();
    drawn.fillStyle = `rgb(${[...ground.slice(0, 3)]})`;
    drawn.fillRect(0, 0, canvas.width, canvas.height);
    drawn.drawImage(canvas, 0, 0);
    const { data } = drawn.getImageData(0, 0, canvas.width, canvas.height);
    const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.05 + 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const contrast = (a, b) => Math.max(a, b) / Math.min(a, b);
    const own = light(accent);
    let least = Infinity;
    for (let i = 0; i < data.length; i += 4) {
        if ([0, 1, 2].some(k => data[i + k] !== accent[k])) continue;
        const beside = [1, 2, 3].flatMap(far => [far, -far, far * canvas.width, -far * canvas.width])
            .map(step => contrast(own, light(data.slice(i + 4 * step, i + 4 * step + 3))));
        least = Math.min(least, Math.max(...beside.filter(Number.isFinite)));
    }
    return least;
}"""


def marks_opened(page: Page) -> dict[str, str]:
    """Click each of the two marks on the chart; return the number of the opened message -> the name of the mark."""
    marks = page.locator(".chart-marks button")
    expect(marks).to_have_count(2)
    opened = {}
    for mark in marks.all():
        mark.click()
        here = page.locator(".msg[data-open=true]:focus-within .m-number")
        expect(here).to_have_text(mark.get_attribute("data-number") or "")
        opened[here.inner_text()] = (mark.get_attribute("aria-label") or "").split(", at message")[0]
    return opened


# The places of the first and the last letter of a line's text, and that of the line.
LETTERS = """line => {
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT, node =>
    node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  const first = texts.nextNode();
  const place = from => {
    const range = document.createRange();
    range.setStart(first, from);
    range.setEnd(first, from + 1);
    return range.getBoundingClientRect().toJSON();
  };
  return [place(first.data.search(/\\S/)), place(first.data.trimEnd().length - 1),
    line.getBoundingClientRect().toJSON()];
}"""


# A chart over some minutes, one point in each, with a prune in the middle of minute 15.
MINUTES = """(chart, minutes) => {
    const points = Array.from({ length: minutes }, (_, n) => ({
        at: `2026-01-01T12:${String(n).padStart(2, '0')}:00Z`, number: n + 1, agent: 100 * (n + 1),
        pruned: 100 * (n + 1), regions: [100 * (n + 1)], cause: null,
    }));
    const prune = {
        at: '2026-01-01T12:14:30Z', number: 10, kind: 'prune', before: 1_000, after: 900, label: '',
        aftermath: null,
    };
    delete chart.value;
    chart.value = {
        points, regions: ['user'], changes: [prune], elsewhere: null, window_calls: 10, limit: 9_000,
        target: 3_000,
    };
    // The page can read its own line later.
    Object.defineProperty(chart, 'value', { set() {}, configurable: true });
    chart.push = () => {};
}"""
# The place of its mark between the beginning and the end of the axis.
MARK = """() => {
    const mark = document.querySelector('.chart-marks button').getBoundingClientRect();
    const chart = document.querySelector('token-chart .u-over').getBoundingClientRect();
    return (mark.x + mark.width / 2 - chart.x) / chart.width;
}"""


def open_above_target(page: Page, server: Server, folder: ClaudeFolder) -> None:
    """Open a followed session above its target, whose list shows a plan with shortened outputs."""
    transcript = folder.transcript()
    transcript.user("Fix the login race")
    for i in range(30):
        transcript.call("Bash", {"command": f"step {i}"}, words(900), tokens=6_000 * (i + 1))
    transcript.assistant("Done.", tokens=180_000)
    open_followed(page, server, transcript)


def open_short(page: Page, server: Server) -> None:
    """Open a session of a few messages without timestamps, with its chart."""
    page.goto(f"{server.url}/sessions/{managed(server, 20)}")
    expect(page.locator("token-chart canvas")).to_be_visible()


class TestTheChart:
    """Tokens over time."""

    def test_says_in_words_what_it_shows(self, page: Page, server: Server) -> None:
        """The chart's accessible name holds its numbers; each prune is a marker with its tokens, here estimates."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        page.goto(f"{server.url}/sessions/{session}")
        expect(
            page.get_by_role("img", name=re.compile(r"^Tokens over messages, .* of 100,000, target 80,000$"))
        ).to_be_visible()
        mark = page.locator(".chart-marks button")
        expect(mark).to_have_accessible_name(re.compile(r"~[\d,]+ to ~[\d,]+ tokens$"))
        expect(page.locator("token-chart .legend")).to_contain_text("prune")

    @pytest.mark.parametrize("language", ["C", "C.UTF-8", "en-US@posix", ""])
    def test_is_drawn_whatever_language_the_browser_reports(
        self, page: Page, server: Server, language: str
    ) -> None:
        """Browsers on systems without a language report one that is no valid tag."""
        page.add_init_script(
            f"Object.defineProperty(Navigator.prototype, 'language', {{ value: '{language}' }})"
        )
        open_short(page, server)
        expect(page.locator("message-list [data-id]").first).to_be_visible()

    def test_names_its_marks_and_opens_their_messages(self, page: Page, server: Server) -> None:  # X19
        """A prune and its undo have names, also on hover; a click opens the message before them."""
        session = managed(server, 60)
        server.app.prunes.apply(session, PruneBody())
        feed(server, session, 2, tokens=50, start=60)
        server.app.operations.undo(session)
        feed(server, session, 2, tokens=50, start=62)
        page.goto(f"{server.url}/sessions/{session}")
        marks = page.locator(".chart-marks button")
        names = (
            r"Pruned by you, at message 60, ~[\d,]+ to ~[\d,]+ tokens",
            r"Prune 1 undone, at message 62, ~[\d,]+ to ~[\d,]+ tokens",
        )
        expect(marks).to_have_count(2)
        for mark, number, name in zip(marks.all(), ("60", "62"), names, strict=True):
            expect(mark).to_have_accessible_name(re.compile(f"^{name}$"))
            expect(mark).to_have_attribute("title", re.compile(f"^{name}$"))
            mark.click()
            expect(page.locator(".msg[data-open=true] .m-number").first).to_have_text(number)
            expect(page.locator(".msg:focus-within .m-number")).to_have_text(number)
        middles = "ones => ones.map(one => one.getBoundingClientRect()).map(({ x, width }) => x + width / 2)"
        prune, undo = marks.evaluate_all(middles)
        chart = page.locator("token-chart .u-over").bounding_box()
        assert chart is not None
        assert chart["x"] < prune < undo < chart["x"] + chart["width"]
        expect(page.locator("token-chart .legend")).to_contain_text("△undo")

    def test_moves_a_mark_to_its_moment_once_points_reach_it(self, page: Page, server: Server) -> None:
        """A prune after the last message stands at the end, until later messages make room for its moment."""
        open_short(page, server)
        chart = page.locator("token-chart")
        chart.evaluate(MINUTES, 11)
        holds(page, f"({MARK})() > 0.98")
        chart.evaluate(MINUTES, 30)
        holds(page, f"Math.abs(({MARK})() - 0.5) < 0.02")

    def test_opens_the_message_after_a_compaction_and_a_fork(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X12, X19
        """Each has a mark with a name; a click opens the message before it."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        transcript.assistant(words(300), tokens=8_000)
        fork = transcript.last
        for n in range(3):
            transcript.call("Bash", {"command": f"ls {n}"}, words(300), tokens=9_000 + 1_000 * n)
        transcript.go_back(fork)
        transcript.user("Another way")
        transcript.assistant(words(300), tokens=9_000)
        transcript.compact("The user fixes a login race.", tokens=9_000)
        transcript.user("Go on")
        transcript.assistant("Done.", tokens=6_000)
        page.goto(f"{server.url}/sessions/{transcript.session}?panel=heaviest")
        assert marks_opened(page) == {
            "8": "The conversation went on from an earlier message",
            "10": "The agent compacted its context (auto)",
        }

    def test_opens_the_message_before_a_recorded_rewind(self, page: Page, tmp_path: Path) -> None:  # X12, X19
        """The sample of an agent that records rewinds has one, and a compaction whose summary is encrypted."""
        with running_server(tmp_path, env={"CODEX_HOME": str(SAMPLES / "codex")}) as server:
            page.goto(f"{server.url}/sessions/019b7e00-0000-7000-8000-000000000001?panel=heaviest")
            assert marks_opened(page) == {
                "11": "The conversation went on from an earlier message",
                "13": "The agent compacted its context (unknown); its summary is encrypted and cannot be read",
            }

    def test_has_the_marks_of_the_history(self, page: Page, tmp_path: Path) -> None:
        """A change has the same mark in the chart and in the list of operations, and the same colour."""
        with running_server(tmp_path, env={"CODEX_HOME": str(SAMPLES / "codex")}) as server:
            page.goto(f"{server.url}/sessions/019b7e00-0000-7000-8000-000000000001?panel=history")
            for marks in (page.locator(".op-mark"), page.locator(".chart-marks .mark")):
                expect(marks).to_have_count(2)
                assert sorted(marks.all_inner_texts()) == ["◁", "◆"]
                assert (
                    len({mark.evaluate("mark => getComputedStyle(mark).color") for mark in marks.all()}) == 1
                )

    def test_says_nothing_twice_beside_a_compaction(self, page: Page, tmp_path: Path) -> None:
        """The history has what the name of the operation does not say."""
        with running_server(tmp_path, env={"CODEX_HOME": str(SAMPLES / "codex")}) as server:
            page.goto(f"{server.url}/sessions/019b7e00-0000-7000-8000-000000000001?panel=history")
            compacted = page.locator(".operation", has_text="Compacted by the agent").locator(".op-figures")
            expect(compacted).to_contain_text("· its summary is encrypted and cannot be read")
            expect(compacted).not_to_contain_text("compacted its context")

    @pytest.mark.usefixtures("own_context")
    def test_says_why_it_is_not_there_yet(self, page: Page, server: Server) -> None:
        """The reason is shown in its place, and the chart follows once it can be read."""
        without_live_connection(page)
        page.clock.install()
        intercept(page, "**/timeline*", lambda route: route.abort())
        page.goto(f"{server.url}/sessions/{managed(server, 6)}")
        expect(page.locator("token-chart").get_by_role("alert")).to_contain_text(
            "Could not read the chart: the server does not answer"
        )
        # The page itself tries again after a while: its clock stands still until the click.
        page.clock.pause_at(page.evaluate("Date.now()") / 1_000 + 1)
        page.unroute("**/timeline*")
        with page.expect_request("**/timeline*"):
            page.get_by_role("button", name="Try again").click()
        page.clock.resume()
        expect(page.locator("token-chart canvas")).to_be_visible()

    def test_opens_the_message_of_a_step(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:  # X19
        """A step is named after the call that caused it; a click on it or on the chart opens the message."""
        transcript = folder.transcript()
        transcript.user("Look around")
        transcript.call("Read", {"file_path": "docs/spec.md"}, words(3_000))
        for n in range(6):
            transcript.call("Bash", {"command": f"ls {n}"}, words(60))
        open_followed(page, server, transcript)
        page.locator(".chart-steps").get_by_role("button", name="Read spec.md +~3").click()
        opened = page.locator(".msg[data-open=true]")
        expect(opened.locator(".m-number")).to_have_text("3")
        expect(opened.locator(".m-open")).to_be_focused()
        page.get_by_role("group", name="Horizontal axis").get_by_role("button", name="Messages").click()
        over = page.locator("token-chart .u-over")
        over.hover()
        expect(page.locator(".chart-at")).to_contain_text("#")
        place = over.bounding_box()
        assert place is not None
        over.click(position={"x": place["width"] - 2, "y": 20})
        expect(page.locator(".msg[data-open=true]").first.locator(".m-number")).to_have_text("15")

    def test_filters_the_list_by_a_dragged_range(self, page: Page, server: Server) -> None:  # X19
        """The list shows the messages of that range, with a button that shows all again."""
        session = managed(server, 60, tokens=50)
        page.goto(f"{server.url}/sessions/{session}")
        over = page.locator("token-chart .u-over")
        expect(over).to_be_visible()
        expect(page.locator(".msg").first).to_be_visible()
        place = over.bounding_box()
        assert place is not None
        page.mouse.move(place["x"] + place["width"] * 0.25, place["y"] + 40)
        page.mouse.down()
        page.mouse.move(place["x"] + place["width"] * 0.5, place["y"] + 40, steps=4)
        page.mouse.up()
        expect(page).to_have_url(re.compile(r"from=1[4-7]&to=(29|3[0-2])"))
        expect(page.locator(".msg").first.locator(".m-number")).to_have_text(re.compile("^(29|3[0-2])$"))
        expect(page.locator(".msg[data-open=true]")).to_have_count(0)
        page.get_by_role("button", name=re.compile("show all again$")).click()
        expect(page.locator(".msg")).to_have_count(60)

    def test_remembers_the_chosen_axis(self, page: Page, server: Server, folder: ClaudeFolder) -> None:
        """Time or messages: the next visit shows the axis chosen before."""
        transcript = folder.transcript()
        transcript.user("Question")
        transcript.assistant("Answer")
        open_followed(page, server, transcript)
        expect(page.locator(".msg")).to_have_count(2)
        transcript.user("Another, later")
        expect(page.locator(".msg")).to_have_count(3)
        across = page.get_by_role("group", name="Horizontal axis")
        for axis in ("Messages", "Time"):
            across.get_by_role("button", name=axis).click()
            page.reload()
            expect(across.get_by_role("button", name=axis)).to_have_attribute("aria-pressed", "true")

    def test_has_no_time_axis_without_timestamps(self, look: Look) -> None:
        """Messages without a timestamp are shown by number, and Time cannot be chosen."""
        across = look(open_short).get_by_role("group", name="Horizontal axis")
        expect(across.get_by_role("button", name="Messages")).to_have_attribute("aria-pressed", "true")
        expect(across.get_by_role("button", name="Time")).to_be_disabled()

    def test_is_stacked_by_region(self, look: Look) -> None:  # X19
        """Each region has its colour in the chart."""
        page = look(open_short)
        for name in ("user", "assistant"):
            holds(page, PAINTED, f"var(--r-{name})")

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_has_a_line_that_is_seen_on_every_region(
        self, page: Page, server: Server, folder: ClaudeFolder, theme: str
    ) -> None:
        """The pruned view falls through the tool results, whose yellow is as light as the dark theme's green."""
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        for i in range(20):
            transcript.call("Bash", {"command": f"step {i}"}, words(900), tokens=6_000 * (i + 1))
        open_followed(page, server, transcript)
        server.app.prunes.apply(transcript.session, PruneBody(max_tokens=40_000))
        transcript.user("Go on")
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        expect(page.locator(".msg")).to_have_count(42)
        page.evaluate("document.dispatchEvent(new Event('coppice:theme'))")
        holds(page, PAINTED, "var(--accent)")
        assert 3 <= page.evaluate(LEAST_CONTRAST) < 21
        page.emulate_media(color_scheme="light")

    def test_shows_what_came_last(self, page: Page, server: Server) -> None:
        """The newest message is seen at once: its part is painted before another message follows."""
        session = managed(server, 1)
        rows = [{"role": "user", "content": "Go on"}, {"role": "assistant", "content": words(2_000)}]
        server.app.ingest.append_messages(session, rows)
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator("token-chart canvas")).to_be_visible()
        holds(page, PAINTED, "var(--r-assistant)")

    def test_draws_a_single_message_as_a_point(self, page: Page, server: Server) -> None:
        """A line of one point would be invisible, so a point is drawn."""
        page.goto(f"{server.url}/sessions/{managed(server, 1)}")
        expect(page.locator("token-chart canvas")).to_be_visible()
        holds(page, PAINTED, "var(--r-user-e)")

    def test_of_an_empty_session_is_a_sentence(self, page: Page, server: Server) -> None:
        """A session without messages has a sentence instead of axes."""
        session = server.app.new_sessions.create(title="Empty", model="gpt-5.1")
        page.goto(f"{server.url}/sessions/{session.id}")
        expect(page.get_by_text("No tokens yet.")).to_be_visible()
        expect(page.get_by_text("No messages yet.")).to_contain_text(
            f"POST {server.url}/api/sessions/{session.id}/messages"
        )
        server.app.sessions.patch(session.id, SessionChange(title="Still empty"))
        expect(page.get_by_role("heading", name="Still empty")).to_be_visible()
        expect(page.get_by_text("No tokens yet.")).to_be_visible()


class TestTheHeaviest:
    """The panel of the heaviest messages."""

    def test_are_summed_by_tool_and_link_to_their_messages(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:
        """Groups show their number of messages, and a row opens its message in the list."""
        transcript = folder.transcript()
        transcript.user("Look around")
        for i in range(3):
            transcript.call("Read", {"file_path": f"src/{i}.py"}, words(2_000))
        transcript.call("Bash", {"command": "ls"}, "a.py")
        open_followed(page, server, transcript)
        read = page.locator(".heavy li").filter(has=page.get_by_role("button", name="Read", exact=True))
        expect(read).to_contain_text("6 messages")
        expect(
            page.get_by_text(re.compile(r"^Shares of the ~[\d,]+ tokens before the next prune\.$"))
        ).to_be_visible()
        page.locator(".heavy").get_by_role("button", name="user", exact=True).click()
        expect(page.get_by_label("Role")).to_have_value("user")
        page.locator("heavy-panel .group-rows button").first.click()
        expect(page.locator(".msg-detail .part[data-part=result]")).to_be_visible()

    def test_are_listed_by_file_with_the_number_of_reads(self, page: Page, server: Server) -> None:  # X19
        """A file shows how often it was read and how many reads are superseded; its name filters the list."""
        server.app.new_sessions.create(id="reader", title="Read the spec", model="claude-sonnet-4-5")
        reading(server, 4)
        page.goto(f"{server.url}/sessions/reader?panel=heaviest")
        spec = page.locator(".heavy li").filter(has=page.get_by_role("button", name="spec.md", exact=True))
        expect(spec).to_contain_text("read 4 ×, 3 superseded")
        spec.get_by_role("button", name="spec.md", exact=True).click()
        expect(page.get_by_label("Find in messages")).to_have_value("spec.md")
        expect(page.locator(".msg").first).to_contain_text("spec.md")


class TestOneMessageAmongMany:
    """A link to a message that is not loaded."""

    def test_is_loaded_with_its_neighbours(self, page: Page, server: Server) -> None:
        """The message of the address is open among its neighbours, and Home shows the newest."""
        session = managed(server, 400, tokens=5)
        page.goto(f"{server.url}/sessions/{session}?message=33")
        expect(page.locator(".msg[data-open=true] .m-number")).to_have_text("33")
        expect(page.locator(".msg[data-open=true]")).to_be_in_viewport()
        expect(page.locator(".msg[data-open=true] .m-open")).to_be_focused()
        for number in (32, 34):
            expect(row(page, number)).to_be_in_viewport()
        page.keyboard.press("Home")
        expect(row(page, 400)).to_be_in_viewport()


class TestAutomaticPruning:
    """Prunes that Coppice started by itself."""

    def test_can_be_undone_from_its_toast(self, page: Page, server: Server) -> None:  # X9, X2
        """The toast marks the estimate and restores the pruned messages; the history says once who pruned."""
        session = managed(server, 52)
        server.app.sessions.patch(session, SessionChange(automatic=True))
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".msg").first).to_be_visible()
        feed(server, session, 3, start=52)
        toast = page.get_by_role("status").filter(
            has_text=re.compile(r"Pruned automatically: .*, ~[\d,]+ tokens freed")
        )
        page.get_by_role("tab", name="History").click()
        entry = page.locator(".operations li", has_text="Pruned automatically")
        expect(entry).to_contain_text("removed")
        expect(entry).not_to_contain_text("· automatic")
        toast.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status").filter(has_text="messages back")).to_be_visible()
        [operation] = server.app.operations.list(session)
        assert operation.actor == "automatic"
        assert operation.undone_at is not None


class TestListChoices:
    """Filter, order and search words of the list."""

    def test_are_kept_after_a_reload(self, page: Page, server: Server) -> None:
        """A choice is in the address, under a plan that of all messages too; it leaves with the plan."""
        session = managed(server, 60)
        page.goto(f"{server.url}/sessions/{session}")
        page.get_by_role("button", name=re.compile(r"^Goes \d+")).click()
        page.get_by_label("Sort").select_option("oldest")
        page.get_by_label("Find in messages").fill("ERROR")
        expect(page).to_have_url(re.compile(r"\?(?=.*show=goes)(?=.*find=ERROR)(?=.*sort=oldest)"))
        page.reload()
        expect(page.get_by_role("button", name=re.compile(r"^Goes \d+"))).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(page.get_by_label("Sort")).to_have_value("oldest")
        expect(page.get_by_label("Find in messages")).to_have_value("ERROR")
        page.get_by_role("button", name=re.compile(r"^All \d+")).click()
        page.get_by_label("Find in messages").fill("")
        page.get_by_label("Sort").select_option("newest")
        expect(page).to_have_url(f"{server.url}/sessions/{session}?show=all")
        page.reload()
        expect(page.get_by_role("button", name=re.compile(r"^Goes \d+"))).to_be_visible()
        expect(page.get_by_role("button", name=re.compile(r"^All \d+"))).to_have_attribute(
            "aria-pressed", "true"
        )
        page.locator("h1").click()
        page.keyboard.press("Escape")
        expect(page).to_have_url(f"{server.url}/sessions/{session}?panel=heaviest")


class TestWideScreens:
    """The session page on a wide screen."""

    def test_show_bars_and_chart_side_by_side(self, page: Page, server: Server) -> None:
        """At 1920 px bars and chart share a row, text and fate share a line, and nothing overflows."""
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.goto(f"{server.url}/sessions/{managed(server, 60)}")
        expect(page.locator("token-chart canvas")).to_be_visible()
        in_place(
            page.locator(".bars"), page.locator(".chart-panel"),
            "(bars, chart) => bars.y === chart.y && bars.height === chart.height && bars.right < chart.x",
        )  # fmt: skip
        text, fate = page.locator(".m-open").first, page.locator(".fate").first
        in_place(text, fate, "(text, fate) => fate.width > 0 && text.right <= fate.x")
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_show_each_message_on_one_line(self, page: Page, server: Server, folder: ClaudeFolder) -> None:
        """This includes shortened outputs, which show their tokens before and after."""
        page.set_viewport_size({"width": 1920, "height": 1080})
        open_above_target(page, server, folder)
        expect(page.locator(".m-tokens small").first).to_be_visible()
        heights = page.locator(".msg").evaluate_all(
            "rows => rows.map(row => row.getBoundingClientRect().height)"
        )
        assert len(heights) > 20
        assert max(heights) < 2 * 18  # two lines of the smallest letters


class TestNarrowScreens:
    """The session page at 390 px."""

    def test_fit_the_largest_numbers(self, page: Page, server: Server) -> None:
        """Millions of tokens and a very long title do not overflow the page."""
        page.set_viewport_size({"width": 390, "height": 844})
        session = managed(server, 60, tokens=40_000, title="An endless title " * 20, model="gemini-2.5-pro")
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.locator(".bar .figure")).to_have_text(re.compile(r"^~2,\d{3},\d{3}"))
        expect(page.locator("token-chart canvas")).to_be_visible()
        holds(page, "document.documentElement.scrollWidth <= innerWidth")

    def test_break_a_long_name_in_a_notice_and_in_a_failure(self, page: Page, server: Server) -> None:
        """A path without blanks leaves neither its box nor the page."""
        page.set_viewport_size({"width": 390, "height": 844})
        path = "/home/me/" + "a_long_name_" * 12 + ".jsonl"
        refusal = {"error": {"type": "busy", "message": path}}
        page.route("**/api/memories", lambda route: route.fulfill(status=503, json=refusal))
        page.goto(f"{server.url}/memory")
        say = "message => document.dispatchEvent(new CustomEvent('coppice:toast', { detail: { message } }))"
        page.evaluate(say, path)
        for box in (page.locator(".toast"), page.locator(".problem")):
            expect(box).to_contain_text(path)
            expect(box.get_by_role("button")).to_be_in_viewport(ratio=1)
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        holds(page, "document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"{server.url}/sessions/{managed(server, 0, id='_'.join(['a_long_id'] * 6))}")
        empty = page.get_by_text("No messages yet.")
        expect(empty).to_contain_text("a_long_id/messages")
        assert empty.evaluate("text => text.scrollWidth <= text.clientWidth")

    def test_show_the_newest_messages_of_a_session_above_its_target(self, page: Page, server: Server) -> None:
        """No plan that is not seen chooses what the list shows, so that a live session is seen at work."""
        page.set_viewport_size({"width": 390, "height": 844})
        session = managed(server, 60)
        open_and_settle(page, f"{server.url}/sessions/{session}")
        feed(server, session, 2, tokens=50, start=60)
        expect(page.locator(".m-number").first).to_have_text("62")
        expect(page.get_by_role("button", name=re.compile("^All"))).to_have_attribute("aria-pressed", "true")

    def test_show_two_lines_of_a_long_message(self, page: Page, server: Server) -> None:
        """A long text uses the two lines for which its row has room."""
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{server.url}/sessions/{managed(server, 4)}")
        text = row(page, 4).locator(".what")
        expect(text).to_be_visible()
        assert text.evaluate("text => text.clientHeight") == 2 * 20

    def test_show_the_tokens_after_a_plan_above_the_text(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:
        """The tokens that a plan leaves of an output are on the line of its number, and cover no text."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_above_target(page, server, folder)
        shortened = page.locator('.msg[data-fate="shortened"]:has(.m-tokens small)').first
        gap = """row => row.querySelector('.m-text').getBoundingClientRect().top
            - row.querySelector('.m-tokens small').getBoundingClientRect().bottom"""
        assert shortened.evaluate(gap) >= 0

    def test_show_the_whole_reason_in_an_open_row(
        self, page: Page, server: Server, folder: ClaudeFolder
    ) -> None:
        """A reason that its line cuts takes two lines once the row is open, within the row."""
        page.set_viewport_size({"width": 390, "height": 844})
        open_above_target(page, server, folder)
        shortened = page.locator('.msg[data-fate="shortened"]').first
        fate = shortened.locator(".fate")
        assert fate.evaluate("fate => fate.scrollWidth > fate.clientWidth")
        shortened.locator(".m-open").click()
        expect(page.locator(".msg-detail .parts")).to_be_visible()
        assert fate.evaluate("fate => fate.scrollWidth <= fate.clientWidth")
        below = "row => row.getBoundingClientRect().bottom - row.querySelector('.fate').getBoundingClientRect().bottom"
        assert shortened.evaluate(below) > 0


@pytest.fixture(scope="class")
def touched(browser: Browser) -> Iterator[Page]:
    """The page of a phone."""
    phone: ViewportSize = {"width": 390, "height": 844}
    with browser.new_context(viewport=phone, has_touch=True, is_mobile=True) as context:
        yield context.new_page()


class TestTouch:
    """Pages on a screen without a mouse."""

    @pytest.mark.parametrize("path", ["/", "/search", "/memory", "/settings", "/sessions/touched"])
    def test_has_controls_that_a_finger_hits(self, touched: Page, server: Server, path: str) -> None:
        """Buttons and fields take 36 px, and 40 px with the gap between them."""
        managed(server, 6, tokens=50, id="touched")
        touched.goto(server.url + path)
        expect(touched.locator("main :is(button, select):visible").first).to_be_visible()
        small = touched.locator("main").evaluate(
            """main => [...main.querySelectorAll(
                'button:not(.bare), .button, select, input:not([type=checkbox], [type=range]), textarea')]
              .filter(one => one.checkVisibility() && one.offsetHeight < 36).map(one => one.outerHTML)"""
        )
        assert small == []


class TestTheToolsOfTheList:
    """The fields above the messages."""

    def test_leave_room_to_search_beside_a_long_name(self, page: Page, server: Server) -> None:
        """A tool with a long name does not cut the other choices."""
        session = managed(server, 2, tokens=20)
        name = "mcp__company_internal_documentation_server__search_all_documents"
        call = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
        server.app.ingest.append_messages(
            session,
            [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "a", "content": "nothing"},
            ],
        )
        page.goto(f"{server.url}/sessions/{session}")
        expect(page.get_by_label("Tool", exact=True).get_by_role("option")).to_have_count(2)
        find, tool = (page.get_by_label(of, exact=True) for of in ("Find in messages", "Tool"))
        assert find.evaluate("field => field.offsetWidth") > tool.evaluate("field => field.offsetWidth")


def test_names_of_tools_stay_within_a_phone(page: Page, server: Server) -> None:
    """A long name wraps in the head of its call and in the notes on the context, and the words beside it stay."""
    tool = "mcp__the_server_of_another_company__read_a_page_of_it"
    managed(server, 0, id="long-names")
    call = {"type": "tool_use", "id": "t1", "name": tool, "input": {"page": 1}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": words(40)}
    server.app.ingest.append_messages(
        "long-names",
        [
            {"role": "user", "content": "Read it."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": words(300)},
        ],
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/sessions/long-names")
    page.locator(".bar-notes > summary").click()
    expect(page.locator(".type-line")).to_contain_text(tool)
    row(page, 2).locator(".m-open").click()
    head = page.locator(".part[data-part=call] h3")
    expect(head).to_contain_text(tool)
    in_place(head.locator(".mono"), page.locator(".parts"), "(name, parts) => name.right <= parts.right")
    in_place(
        page.locator(".bars .legend"), page.locator(".bars"), "(legend, panel) => legend.right <= panel.right"
    )
    lines = head.evaluate(
        "head => { const all = document.createRange(); all.selectNode(head.firstChild);"
        " return all.getClientRects().length; }"
    )
    assert lines == 1


@pytest.mark.parametrize("width", [320, 360])
def test_roles_and_scores_of_the_narrowest_phones_stay_apart(page: Page, server: Server, width: int) -> None:
    """The bar of the tokens gives its room to the role."""
    session = managed(server, 8)
    page.set_viewport_size({"width": width, "height": 640})
    page.goto(f"{server.url}/sessions/{session}")
    expect(page.locator(".score-number").first).to_be_visible()
    overlaps = page.locator(".msg").evaluate_all(
        """rows => rows.map(row => ['.role', '.m-score'].map(part => row.querySelector(part).getBoundingClientRect()))
            .filter(([role, score]) => role.right > score.left).length"""
    )
    assert overlaps == 0


def test_tabs_stay_in_place_whichever_is_chosen(page: Page, server: Server) -> None:
    """No tab moves under a pointer that goes from one to the next."""
    session = managed(server, 8)
    page.goto(f"{server.url}/sessions/{session}")
    tabs = page.locator(".side .tabs button")
    places = []
    for name in ("Heaviest", "Archive", "Plan"):
        tab = page.get_by_role("tab", name=name)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        places.append(tabs.evaluate_all("all => all.map(one => one.getBoundingClientRect().left)"))
    assert places[0] == places[1] == places[2]


class TestTextOfOtherScripts:
    """Titles and messages in Arabic, which is written from right to left."""

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ("/", "a.title .one-line"),
            ("/search?q=message", ".hit-head .one-line"),
            ("/sessions/arabic", ".msg .what"),
        ],
    )
    def test_is_cut_at_its_own_end(self, page: Page, server: Server, path: str, line: str) -> None:
        """The first letter of a line that is too long is in view."""
        words = "انقل خدمة الفواتير إلى الواجهة الجديدة ولا تلمس بيئة الإنتاج " * 9
        managed(server, 2, tokens=20, id="arabic", title=words)
        server.app.ingest.append_messages("arabic", [{"role": "user", "content": words * 9}])
        page.set_viewport_size({"width": 900, "height": 800})
        page.goto(server.url + path)
        cut = page.locator(line).first
        expect(cut).to_be_visible()
        first, last, box = cut.evaluate(LETTERS)
        assert box["left"] <= first["left"] < first["right"] <= box["right"]
        assert last["right"] <= box["left"]

    def test_of_an_open_message_begins_at_the_right(self, page: Page, server: Server) -> None:
        """Each paragraph of it is laid out in the direction of its own script."""
        managed(server, 0, id="arabic")
        words = "انقل خدمة الفواتير إلى billing.py ثم شغّل pytest -q"
        server.app.ingest.append_messages("arabic", [{"role": "user", "content": words}])
        page.goto(f"{server.url}/sessions/arabic")
        page.locator(".m-open").click()
        text = page.locator(".parts .prose")
        expect(text).to_be_visible()
        first, last, box = text.evaluate(LETTERS)
        assert box["right"] - first["right"] < 8
        assert last["left"] < first["left"]

    def test_begins_a_title_of_two_lines_at_the_right(self, page: Page, server: Server) -> None:
        """The heading of a session is laid out in the direction of its own script."""
        managed(server, 2, tokens=20, id="arabic", title="انقل خدمة الفواتير إلى الواجهة الجديدة. " * 4)
        page.goto(f"{server.url}/sessions/arabic")
        title = page.locator("h1 > span").last
        expect(title).to_be_visible()
        first, last, box = title.evaluate(LETTERS)
        assert box["right"] - first["right"] < 8
        assert last["top"] > first["top"]


class TestOnPaper:
    """A printed page."""

    @pytest.mark.parametrize("width", [794, 1280])  # A4 upright at 96 dpi, and wider
    def test_shows_the_plan_whole_and_beside_the_list(self, page: Page, server: Server, width: int) -> None:
        """The sheet of a narrow page covers no message, nothing scrolls, and no label stands without its control."""
        server.app.new_sessions.create(id="reader", title="Read the spec", model="claude-sonnet-4-5")
        reading(server, 4)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{server.url}/sessions/reader?panel=plan")
        expect(page.locator(".plan-bars")).to_be_visible()
        page.emulate_media(media="print")
        side, messages = page.locator(".side"), page.locator("message-list")
        expect(side).to_have_css("position", "static")
        expect(side).to_have_css("max-height", "none")
        expect(side.locator(".panel-body")).to_have_css("overflow-y", "visible")
        expect(side.get_by_text("Strategy", exact=True)).to_be_hidden()
        expect(messages.locator(".msg").first).to_be_visible()
        in_place(side, messages, "(side, list) => side.left >= list.right || side.top >= list.bottom")

    def test_has_no_blank_pages_in_place_of_rows(self, page: Page, server: Server) -> None:
        """Of a long list the rows that are drawn are printed, one below the other, and it says that more are there."""
        page.goto(f"{server.url}/sessions/{managed(server, 400, tokens=20)}")
        expect(page.locator(".msg").first).to_be_visible()
        page.emulate_media(media="print")
        rows = page.locator("message-list .rows")
        until(page, lambda: rows.evaluate("e => e.getBoundingClientRect().height") < 100 * 60)
        first, second = (rows.locator(".item").nth(n) for n in (0, 1))
        in_place(first, second, "(first, second) => second.top === first.bottom")
        foot = page.locator("message-list .list-foot")
        said = foot.evaluate("e => getComputedStyle(e, '::after').content")
        assert said == '"Only the rows near the view are printed. An export has all messages."'

    def test_has_the_bars_and_the_values_of_settings(self, page: Page, server: Server) -> None:
        """Browsers leave out other backgrounds, and only controls of other pages are left out."""
        server.app.new_sessions.create(id="reader", title="Read the spec", model="claude-sonnet-4-5")
        reading(server, 1)
        page.emulate_media(media="print")
        page.goto(f"{server.url}/sessions/reader")
        expect(page.locator(".gauge-part").first).to_have_css("print-color-adjust", "exact")
        page.goto(f"{server.url}/settings")
        expect(page.get_by_label("Fresh tail")).to_be_visible()
