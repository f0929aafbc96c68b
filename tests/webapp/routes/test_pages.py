"""The pages: shells without data, whose policy allows only Coppice's own files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from scoring.signals import SIGNALS
from tests.webapp.promises import Client
from webapp import create_app
from webapp.access.tokens import AccessTokens
from webapp.app import App
from webapp.config import Config

PAGES = {
    "/": "coppice-overview",
    "/settings": "coppice-settings",
    "/search?q=x": "coppice-search",
    "/memory": "coppice-memory",
    "/sessions/a": "coppice-session",
}


def script(path: str) -> str:
    """Return the file of a page's root element, in the folder of the page."""
    name = PAGES[path]
    return f"{name.removeprefix('coppice-')}/{name}.js"


@pytest.fixture(autouse=True)
def session(app: App) -> None:
    """A session with markup as its title."""
    app.new_sessions.create(id="a", model="gpt-5", title="<img src=x onerror=alert(1)>")


class TestPages:
    """Pages, each with one root element."""

    @pytest.mark.parametrize("path", PAGES)
    def test_have_their_element(self, client: Client, path: str) -> None:
        """They have no data, which comes from the API."""
        answer = client.get(path)
        assert answer.status_code == 200
        assert f"<{PAGES[path]}" in answer.text

    @pytest.mark.parametrize("path", PAGES)
    def test_have_no_inline_code(self, client: Client, path: str) -> None:
        """The only inline scripts are the import map and data, and no attribute has a handler or style."""
        text = client.get(path).text
        inline = [tag for tag in re.findall(r"<script[^>]*>", text) if "src=" not in tag]
        types = [re.findall(r'type="([^"]*)"', tag)[0] for tag in inline]
        assert types == ["application/json", "importmap", "application/json"]
        assert not re.search(r"<[^>]+\s(on\w+|style)=", text)

    @pytest.mark.parametrize("path", PAGES)
    def test_have_the_labels_of_choices(self, client: Client, path: str) -> None:  # X7, B18
        """Strategies, task types and signals have the same names on every page as in the settings.

        The sliders of the weights are shown for the strategies that use them.
        """
        words = re.search(
            r'<script type="application/json" id="choices">(.*?)</script>', client.get(path).text
        )
        assert words is not None
        known = json.loads(words[1])
        hooks = {one["name"]: one["label"] for one in known.pop("integration")}
        weighing, messages, signals = (
            [one["name"] for one in known.pop(name)] for name in ("weighing", "weighing_messages", "signal")
        )
        assert known == client.get("/api/settings").get_json()["choices"]
        assert (weighing, messages) == (["foresight", "score"], ["score"])
        assert signals == list(SIGNALS)
        assert hooks["pi"] == "coppice hooks install --agent pi"
        assert "coppice hooks install" in hooks.values()

    @pytest.mark.parametrize("path", PAGES)
    def test_preload_all_their_modules(self, client: Client, path: str) -> None:
        """Each module of the page is listed once under its hashed address, and no other page's."""
        text = client.get(path).text
        hashed = re.findall(r'rel="modulepreload" href="/static/([^"]+)"', text)
        asked = [re.sub(r"\.[0-9a-f]{8}\.js$", ".js", name) for name in hashed]
        assert not set(hashed) & set(asked)
        assert script(path) in asked
        assert {"app.js", "shared/html.js", "shared/api.js"} <= set(asked)
        assert len(asked) == len(set(asked))
        others = {script(other) for other in PAGES} - {script(path)}
        assert not others.intersection(asked)

    @pytest.mark.parametrize("path", PAGES)
    def test_name_the_modules_of_a_session_for_later(self, client: Client, path: str) -> None:
        """With its own modules, a page then has all those of a session's page; that page itself names none."""
        text, session = client.get(path).text, client.get("/sessions/a").text
        preloads = r'rel="modulepreload" href="([^"]+)"'
        named = re.search(r'<script type="application/json" id="prefetch">(.*?)</script>', text)
        assert named is not None
        later, own = json.loads(named[1]), re.findall(preloads, text)
        assert not set(later) & set(own)
        assert set(re.findall(preloads, session)) <= {*later, *own}
        assert (later == []) == (path == "/sessions/a")

    def test_of_an_error_have_no_element(self, client: Client) -> None:
        """An error page is only text."""
        answer = client.get("/nothing")
        assert answer.status_code == 404
        assert "session/coppice-session.js" not in answer.text

    def test_of_an_unknown_session_wait_for_it(self, client: Client) -> None:
        """The status says that there is none; the element shows the session once it arrives."""
        answer = client.get("/sessions/to-come")
        assert answer.status_code == 404
        assert '<coppice-session session-id="to-come">' in answer.text

    def test_show_a_title_as_text(self, client: Client) -> None:
        """Markup in a title is escaped."""
        assert "<img src=x" not in client.get("/sessions/a").text

    def test_change_nothing_by_being_read(self, client: Client, app: App) -> None:
        """The session does not change."""
        before = app.sessions.get("a").version
        for path in PAGES:
            client.get(path)
        assert app.sessions.get("a").version == before


class TestPagesBehindAToken:
    """Pages of a server with a token."""

    @pytest.fixture
    def stranger(self, app: App, tmp_path: Path) -> Iterator[FlaskClient]:
        """A client without the token."""
        app.access_tokens = AccessTokens(app.store, "secret")
        flask_app = create_app(Config(db=tmp_path / "x.db"), app=app)
        yield flask_app.test_client()
        flask_app.extensions["coppice.live"].close()

    def test_reveal_no_session_without_the_token(self, stranger: Client) -> None:
        """The shell is the same for any id."""
        there, nowhere = stranger.get("/sessions/a"), stranger.get("/sessions/b")
        assert [there.status_code, nowhere.status_code] == [200, 200]
        assert "onerror" not in there.text
        assert len(there.text) == len(nowhere.text)

    def test_show_the_session_with_the_token(self, stranger: Client) -> None:
        """With the token, pages are those of a server without one."""
        stranger.get("/?token=secret")
        assert "onerror" in stranger.get("/sessions/a").text
        assert stranger.get("/sessions/b").status_code == 404


class TestHeaders:
    """Security headers."""

    @pytest.mark.parametrize("path", ["/", "/api/sessions", "/api/nothing", "/static/app.js", "/nothing"])
    def test_are_on_every_answer(self, client: Client, path: str) -> None:
        """They forbid framing, guessing the type, and sending a referrer."""
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers

    @pytest.mark.parametrize("path", ["/api/sessions", "/static/app.js"])
    def test_of_other_answers_allow_nothing(self, client: Client, path: str) -> None:
        """Opened as a page, such an answer runs and loads nothing."""
        assert client.get(path).headers["Content-Security-Policy"].startswith("default-src 'none'")

    def test_have_a_new_nonce_each_time(self, client: Client) -> None:
        """A nonce is never used twice."""
        policies = {client.get("/").headers["Content-Security-Policy"] for _ in range(3)}
        assert len(policies) == 3

    @pytest.mark.parametrize(
        "path", ["/api/sessions", "/api/nothing", "/metrics", "/healthz", "/nothing", "/widget"]
    )
    def test_prevent_caching_of_private_data(self, client: Client, path: str) -> None:
        """Only static files are cached, by browsers or proxies."""
        assert client.get(path).headers["Cache-Control"] == "no-store"

    def test_prevent_caching_of_pages(self, client: Client) -> None:
        """A cached page would have an old nonce."""
        assert client.get("/").headers["Cache-Control"] == "no-store"
