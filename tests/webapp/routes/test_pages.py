"""The pages: shells without data, under a policy that runs only our own files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

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
    """The file of a page's root element: in the folder of the page."""
    name = PAGES[path]
    return f"{name.removeprefix('coppice-')}/{name}.js"


@pytest.fixture(autouse=True)
def session(app: App) -> None:
    """A session to look at, with a title that tries to be markup."""
    app.sessions.create(id="a", model="gpt-5", title="<img src=x onerror=alert(1)>")


class TestPages:
    """One root element each."""

    @pytest.mark.parametrize("path", PAGES)
    def test_hold_their_element(self, client: Client, path: str) -> None:
        """And nothing of the data: that comes from the API."""
        answer = client.get(path)
        assert answer.status_code == 200
        assert f"<{PAGES[path]}" in answer.text

    @pytest.mark.parametrize("path", PAGES)
    def test_have_no_inline_code(self, client: Client, path: str) -> None:
        """No script without a source but the import map and data, no handler and no style in an attribute."""
        text = client.get(path).text
        inline = [tag for tag in re.findall(r"<script[^>]*>", text) if "src=" not in tag]
        assert [re.findall(r'type="([^"]*)"', tag) for tag in inline] == [["application/json"], ["importmap"]]
        assert not re.search(r"<[^>]+\s(on\w+|style)=", text)

    @pytest.mark.parametrize("path", PAGES)
    def test_hold_the_words_of_the_choices(self, client: Client, path: str) -> None:  # X7, B18
        """Strategies and task types have the same names on every page as in the settings."""
        words = re.search(
            r'<script type="application/json" id="choices">(.*?)</script>', client.get(path).text
        )
        assert words is not None
        assert json.loads(words[1]) == client.get("/api/settings").get_json()["choices"]

    @pytest.mark.parametrize("path", PAGES)
    def test_ask_for_all_their_modules_at_once(self, client: Client, path: str) -> None:
        """Their element's and those that it imports, each once and under its lasting address; no other page's."""
        text = client.get(path).text
        hashed = re.findall(r'rel="modulepreload" href="/static/([^"]+)"', text)
        asked = [re.sub(r"\.[0-9a-f]{10}\.js$", ".js", name) for name in hashed]
        assert not set(hashed) & set(asked)
        assert script(path) in asked
        assert {"app.js", "shared/html.js", "shared/api.js"} <= set(asked)
        assert len(asked) == len(set(asked))
        others = {script(other) for other in PAGES} - {script(path)}
        assert not others.intersection(asked)

    def test_of_an_error_have_no_element(self, client: Client) -> None:
        """They are words alone."""
        answer = client.get("/nothing")
        assert answer.status_code == 404
        assert "session/coppice-session.js" not in answer.text

    def test_show_a_title_as_text(self, client: Client) -> None:
        """Whatever a session is called."""
        assert "<img src=x" not in client.get("/sessions/a").text

    def test_change_nothing_by_being_looked_at(self, client: Client, app: App) -> None:
        """The session is what it was."""
        before = app.sessions.get("a").version
        for path in PAGES:
            client.get(path)
        assert app.sessions.get("a").version == before


class TestPagesBehindAToken:
    """Without the token a page gives nothing away."""

    @pytest.fixture
    def stranger(self, app: App, tmp_path: Path) -> Any:
        """A client that has not brought the token yet."""
        app.access_tokens = AccessTokens(app.store, "secret")
        flask_app = create_app(Config(db=tmp_path / "x.db"), app=app)
        yield flask_app.test_client()
        flask_app.extensions["coppice.live"].close()

    def test_tell_no_title_and_not_which_sessions_exist(self, stranger: Client) -> None:
        """The same shell for any id."""
        there, nowhere = stranger.get("/sessions/a"), stranger.get("/sessions/b")
        assert [there.status_code, nowhere.status_code] == [200, 200]
        assert "onerror" not in there.text
        assert len(there.text) == len(nowhere.text)

    def test_tell_both_to_whoever_has_it(self, stranger: Client) -> None:
        """As without a token set."""
        stranger.get("/?token=secret")
        assert "onerror" in stranger.get("/sessions/a").text
        assert stranger.get("/sessions/b").status_code == 404


class TestHeaders:
    """Every answer is guarded."""

    @pytest.mark.parametrize("path", ["/", "/api/sessions", "/api/nothing", "/static/app.js", "/nothing"])
    def test_are_on_every_answer(self, client: Client, path: str) -> None:
        """Nobody may frame it, guess its type, or learn where it was linked from."""
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers

    @pytest.mark.parametrize("path", ["/api/sessions", "/static/app.js"])
    def test_of_what_is_no_page_allow_nothing(self, client: Client, path: str) -> None:
        """Opened by itself, it runs and loads nothing."""
        assert client.get(path).headers["Content-Security-Policy"].startswith("default-src 'none'")

    def test_bear_another_nonce_each_time(self, client: Client) -> None:
        """A nonce is never used twice."""
        policies = {client.get("/").headers["Content-Security-Policy"] for _ in range(3)}
        assert len(policies) == 3

    @pytest.mark.parametrize(
        "path", ["/api/sessions", "/api/nothing", "/metrics", "/healthz", "/nothing", "/widget"]
    )
    def test_let_nothing_private_be_kept(self, client: Client, path: str) -> None:  # X1
        """Neither by a browser nor by a proxy between; only our own files are."""
        assert client.get(path).headers["Cache-Control"] == "no-store"

    def test_keep_no_page(self, client: Client) -> None:
        """Its nonce would be of before."""
        assert client.get("/").headers["Cache-Control"] == "no-store"
