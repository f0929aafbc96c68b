"""The widget on a page of another origin with a strict content security policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request, expect

from tests.browser.waiting import holds
from tests.browser.writing import feed, managed
from tests.servers import Server, running_server, serving
from webapp.access.identity import VIEWER

TOKEN = "a-token-of-the-test"
SCRIPT = "/static/context-manager-widget.js"


class Site:
    """A site of another origin with one page, whose policy allows only the widget."""

    def __init__(self) -> None:
        site = self

        class Handler(BaseHTTPRequestHandler):
            """A handler that answers every request with the page."""

            def do_GET(self) -> None:
                """Send the page with its policy."""
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Security-Policy", site.policy)
                self.end_headers()
                self.wfile.write(site.text.encode())

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.policy = self.text = ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"

    def embed(self, server: str, session: str, token: str = "") -> None:
        """Put the widget on the page."""
        self.policy = f"default-src 'none'; script-src {server}{SCRIPT}; connect-src {server}/api/"
        self.text = (
            '<!doctype html><html lang="en"><title>Wiki</title>'
            f'<script src="{server}{SCRIPT}" defer></script><main><h1>Wiki</h1>'
            f'<context-manager-widget server="{server}" session="{session}" token="{token}">'
            "</context-manager-widget></main></html>"
        )


@contextmanager
def running_site() -> Iterator[Site]:
    """Serve the site until the block ends."""
    site = Site()
    with serving(site.server):
        yield site


@pytest.fixture
def site() -> Iterator[Site]:
    """A site of another origin."""
    with running_site() as running:
        yield running


@pytest.fixture
def server(tmp_path: Path, site: Site) -> Iterator[Server]:
    """A server that requires a token and allows the site's origin."""
    with running_server(tmp_path, token=TOKEN, allowed_origins=(site.origin,)) as running:
        yield running


class TestElsewhere:
    """The widget embedded with one script and three attributes."""

    def test_shows_the_gauge_follows_and_prunes(self, page: Page, server: Server, site: Site) -> None:  # B17
        """The page loads one script and calls only the server; the gauge has its regions and no style is blocked."""
        session = managed(server, 60)
        site.embed(server.url, session, TOKEN)
        asked: list[Request] = []
        page.on("request", lambda one: asked.extend([one]))
        blocked: list[str] = []
        page.on("console", lambda one: blocked.append(one.text) if one.type == "error" else None)
        page.goto(site.origin)
        widget = page.locator("context-manager-widget")
        expect(widget.locator("dd").first).to_have_text("60")
        gauge = widget.get_by_role("meter", name="Utilization")
        expect(gauge.locator(".gauge-part").first).to_have_css("position", "static")
        assert gauge.locator(".gauge-part").evaluate_all("parts => parts.every(part => part.clientWidth > 0)")
        expect(widget.locator(".widget")).to_have_css("border-radius", "6px")
        feed(server, session, 1, tokens=50, start=60)
        expect(widget.locator("dd").first).to_have_text("61")
        widget.get_by_role("button", name="Prune Context Now").click()
        expect(widget.get_by_text(re.compile(r"^Context pruned: \d+ items removed$"))).to_be_visible()
        scripts = [one.url for one in asked if one.resource_type == "script"]
        assert scripts == [server.url + SCRIPT]
        assert {one.url.partition("/api/")[0] for one in asked if "/api/" in one.url} == {server.url}
        assert [one for one in blocked if "Content Security Policy" in one] == []

    def test_offers_a_viewer_no_prune(self, page: Page, server: Server, site: Site) -> None:  # B17
        """The server would refuse it; the widget says so instead of how the context is pruned."""
        _, viewers = server.app.access_tokens.make("a guest", VIEWER)
        site.embed(server.url, managed(server, 2, tokens=50), viewers)
        page.goto(site.origin)
        widget = page.locator("context-manager-widget")
        expect(widget.locator("dd").first).to_have_text("2")
        expect(widget.get_by_role("button", name="Prune Context Now")).to_be_disabled()
        expect(widget).to_contain_text("A viewer's token shows the context and cannot prune it.")

    def test_reports_a_wrong_token(self, page: Page, server: Server, site: Site) -> None:
        """The refusal is shown on the page, with the command that makes a token."""
        site.embed(server.url, managed(server, 2, tokens=50), "wrong")
        page.goto(site.origin)
        alert = page.locator("context-manager-widget").get_by_role("alert")
        expect(alert).to_contain_text("coppice token --role viewer makes one for the attribute token.")

    def test_reports_an_origin_that_is_not_allowed(
        self, page: Page, tmp_path: Path, site: Site, complaints: list[str]
    ) -> None:
        """The browser hides the refusal, so the widget names the origin and the option that allows it."""
        with running_server(tmp_path) as server:
            site.embed(server.url, managed(server, 2, tokens=50))
            page.goto(site.origin)
            alert = page.locator("context-manager-widget").get_by_role("alert")
            expect(alert).to_contain_text(f"{server.url} does not answer pages of {site.origin}")
            expect(alert).to_contain_text(f"--allow-origin {site.origin}")
            page.close()
        assert all("blocked by CORS policy" in one for one in complaints)
        complaints.clear()

    def test_reports_a_missing_session_attribute(self, page: Page, server: Server, site: Site) -> None:
        """The error names the missing attribute and the page that shows it."""
        site.embed(server.url, "", TOKEN)
        page.goto(site.origin)
        alert = page.locator("context-manager-widget").get_by_role("alert")
        expect(alert).to_have_text(
            f"The attribute session is missing. {server.url}/widget shows the element for each session."
        )

    def test_leaves_keys_to_the_page(self, page: Page, server: Server, site: Site) -> None:
        """A key that is a shortcut on Coppice's pages can be typed on another page."""
        site.embed(server.url, managed(server, 2, tokens=50), TOKEN)
        site.text = site.text.replace("<h1>", '<input type="search" aria-label="Find"><h1>')
        page.goto(site.origin)
        expect(page.locator("context-manager-widget dd").first).to_have_text("2")
        field = page.get_by_label("Find")
        field.press("/")
        expect(field).to_have_value("/")


class TestAllowedOrigins:
    """The origins that may call the API."""

    def test_exclude_every_other_origin(self, server: Server) -> None:
        """Another origin gets neither an answer nor permission for a request."""
        client = server.flask.test_client()
        ask = {"Access-Control-Request-Method": "GET", "Host": "127.0.0.1"}
        sent = {"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1", "Origin": "https://other.example"}
        assert client.get("/api/sessions", headers=sent).status_code == 403
        refused = client.options("/api/sessions", headers={**ask, "Origin": "https://other.example"})
        assert "Access-Control-Allow-Origin" not in refused.headers
        assert refused.status_code == 403

    def test_may_only_read_and_prune(self, server: Server, site: Site) -> None:
        """The answer names the allowed origin and only the methods of the widget."""
        ask = {"Access-Control-Request-Method": "DELETE", "Host": "127.0.0.1", "Origin": site.origin}
        answer = server.flask.test_client().options("/api/sessions", headers=ask)
        assert answer.status_code == 204
        assert answer.headers["Access-Control-Allow-Origin"] == site.origin
        assert answer.headers["Access-Control-Allow-Methods"] == "GET, POST"
        assert "Origin" in answer.headers["Vary"]


class TestItsPage:
    """The page that shows the widget."""

    def test_shows_the_widget_and_how_to_embed_it(self, page: Page, tmp_path: Path) -> None:
        """It shows the chosen session's widget and the code to copy."""
        with running_server(tmp_path) as server:
            first, second = managed(server, 2, tokens=50), managed(server, 5, tokens=50)
            page.goto(f"{server.url}/sessions/{first}")
            page.locator("details.export summary").click()
            page.get_by_role("link", name="Widget").click()
            expect(page.locator("context-manager-widget dd").first).to_have_text("2")
            expect(page.locator("pre").nth(1)).to_contain_text(f'session="{first}"')
            page.get_by_label("Session").select_option(second)
            expect(page).to_have_url(f"{server.url}/widget?session={second}")
            expect(page.locator("context-manager-widget dd").first).to_have_text("5")
            expect(page.locator("pre").nth(1)).to_contain_text(f'src="{server.url}{SCRIPT}"')

    def test_leads_to_the_first_session(self, page: Page, tmp_path: Path) -> None:
        """Without a session it links to the page that says where they come from."""
        with running_server(tmp_path) as server:
            page.goto(f"{server.url}/widget")
            page.locator("widget-page").get_by_role("link", name="Sessions").click()
            expect(page.get_by_role("button", name="Start the demo session")).to_be_visible()

    def test_names_a_session_that_is_not_among_the_latest(self, page: Page, tmp_path: Path) -> None:
        """The select shows the session of the address, also where its list is too short to have it."""
        with running_server(tmp_path) as server:
            first = managed(server, 2, tokens=50, title="The first of all")
            for i in range(200):
                server.app.new_sessions.create(title=f"A later one {i}", model="gpt-5.1")
            page.goto(f"{server.url}/widget?session={first}")
            expect(page.get_by_label("Session")).to_have_value(first)
            expect(page.locator("context-manager-widget dd").first).to_have_text("2")

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_fits_a_phone(self, page: Page, tmp_path: Path, theme: str) -> None:
        """A long title does not widen the page, and axe finds no violation."""
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
        page.set_viewport_size({"width": 390, "height": 844})
        with running_server(tmp_path) as server:
            managed(server, 2, tokens=50, title="a session with a long title " * 5)
            page.goto(f"{server.url}/widget")
            expect(page.locator("context-manager-widget dd").first).to_have_text("2")
            holds(page, "document.documentElement.scrollWidth <= innerWidth")
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


class TestALinkElsewhere:
    """A link with a token on a page of another site."""

    def test_does_not_replace_a_session_of_a_wider_role(self, page: Page, server: Server, site: Site) -> None:
        """The browser sends no cookie with such a link, so the page asks first, and the operator keeps the role."""
        _, viewers = server.app.access_tokens.make("a guest", VIEWER)
        page.goto(f"{server.url}/?token={TOKEN}")
        cookies = page.context.cookies()
        site.policy = "default-src 'none'"
        site.text = (
            f'<!doctype html><title>Wiki</title><a href="{server.url}/settings?token={viewers}">here</a>'
        )
        page.goto(site.origin.replace("127.0.0.1", "localhost"))
        page.get_by_role("link", name="here").click()
        expect(page.get_by_text("A link on another site opens Coppice with a token.")).to_be_visible()
        assert page.context.cookies() == cookies
        page.get_by_role("link", name="Open Coppice").click()
        expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
        assert page.url == f"{server.url}/settings"
        assert page.context.cookies() == cookies
        page.context.clear_cookies()
        page.goto(f"{server.url}/?token={viewers}")
        assert [one["name"] for one in page.context.cookies()] == [one["name"] for one in cookies]
