"""The token on every route of the application, in every spelling of its address.

The routes come from the application's table, so a new route is tested without a change here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import unquote_to_bytes

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder, run_wsgi_app

from webapp import create_app
from webapp.access.gate import IDENTITY
from webapp.access.identity import VIEWER
from webapp.app import App
from webapp.config import Config
from webapp.routes import OPEN
from webapp.wiring import build

HOST = "127.0.0.1:5000"
TOKEN = "a-token-of-some-length"
# A viewer may make a plan and read a preview, although they are POSTs, but not read the addresses of webhooks.
READ_ONLY_POSTS = {"api.plan_prune", "api.suggest_settings", "api.preview_retention"}
FOR_OPERATORS = {"api.list_webhooks", "api.list_deliveries"}
SENDING = {"api.take_call", "api.take_lines", "api.compare_positions"}


def encoded(text: str) -> str:
    """Return a text with every character as %XX, even slashes."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda path: path,
    "two slashes": lambda path: "/" + path,
    "many slashes": lambda path: "/////" + path,
    "an encoded slash before": lambda path: "/%2f" + path[1:],
    "an encoded slash in capitals": lambda path: "/%2F" + path[1:],
    "only an encoded slash": lambda path: "%2f" + path[1:],
    "encoded slashes before slashes": lambda path: "//%2f/" + path[1:],
    "all of it encoded": lambda path: "/" + encoded(path[1:]),
    "all of it encoded behind a slash": lambda path: "//" + encoded(path[1:]),
    "the first letter encoded": lambda path: "/" + encoded(path[1:2]) + path[2:],
    "every slash doubled": lambda path: path.replace("/", "//"),
    "a slash behind": lambda path: path + "/",
    "a dot before": lambda path: "/." + path,
    "two dots before": lambda path: "/.." + path,
    "through a folder and out": lambda path: "/static/.." + path,
    "through an encoded folder and out": lambda path: "/static/%2e%2e" + path,
    "through an open page and out": lambda path: "/healthz/.." + path,
    "capitals": lambda path: path.upper(),
    "a parameter behind": lambda path: path + ";open=1",
    "an extension behind": lambda path: path + "/.css",
    "a backslash before": lambda path: "/%5c" + path,
    "encoded twice": lambda path: "/%252f" + path[1:],
    "a null behind": lambda path: path + "%00",
    "a line feed before": lambda path: "/%0a" + path,
    "an open page as its query": lambda path: path + "?/healthz",
}


@pytest.fixture
def app(config: Config) -> Iterator[App]:
    """Services with a configured token."""
    made = build(replace(config, token=TOKEN))
    yield made
    made.close()


@pytest.fixture
def guarded(app: App) -> Iterator[Flask]:
    """An application that requires a token."""
    made = create_app(app.config, app=app)
    yield made
    made.extensions["coppice.live"].close()


def status_of(flask_app: Flask, method: str, target: str, **headers: str) -> int:
    """Return the status of a request whose target a server has decoded once, as servers do."""
    path, _, query = target.partition("?")
    environ = EnvironBuilder(method=method, query_string=query, headers=[*headers.items()]).get_environ()
    environ |= {"HTTP_HOST": HOST, "PATH_INFO": unquote_to_bytes(path).decode("latin-1")}
    body, status, _ = run_wsgi_app(flask_app.wsgi_app, environ)
    getattr(body, "close", lambda: None)()
    return int(status.split()[0])


def address(rule: Rule) -> str:
    """Return an address that matches a rule."""
    return re.sub("<[^>]+>", "1", rule.rule)


def routes(flask_app: Flask) -> list[tuple[str, Rule]]:
    """Return every method of every rule."""
    return [
        (method, rule) for rule in flask_app.url_map.iter_rules() for method in sorted(rule.methods or ())
    ]


class TestWithoutTheToken:
    """Requests without a token to a server that requires one."""

    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_no_closed_route_answers_in_any_spelling(self, guarded: Flask, spelling: str) -> None:
        """Every method of every route is refused or not found."""
        closed = [(method, rule) for method, rule in routes(guarded) if rule.endpoint not in OPEN]
        assert len(closed) > 100
        found = {
            (method, target): status
            for method, rule in closed
            for target in [SPELLINGS[spelling](address(rule))]
            if (status := status_of(guarded, method, target)) not in (401, 404)
        }
        assert found == {}

    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_socket_io_does_not_answer_in_any_spelling(self, guarded: Flask, spelling: str) -> None:
        """Neither a handshake nor a message is accepted."""
        target = SPELLINGS[spelling]("/socket.io/") + "?EIO=4&transport=polling"
        assert {status_of(guarded, method, target) for method in ("GET", "POST")} <= {401, 404}

    def test_every_closed_route_is_refused_by_name(self, guarded: Flask) -> None:
        """For the address as written every method answers 401."""
        closed = [(method, rule) for method, rule in routes(guarded) if rule.endpoint not in OPEN]
        assert {status_of(guarded, method, address(rule)) for method, rule in closed} == {401}

    @pytest.mark.parametrize(
        "path", ["/api", "/api/", "/api/nothing", "/nothing", "/socket.io", "/metrics/x"]
    )
    def test_unknown_addresses_are_closed(self, guarded: Flask, path: str) -> None:
        """Every address outside the list of open ones is closed, so nobody learns which exist."""
        assert status_of(guarded, "GET", path) == 401

    def test_the_open_routes_answer(self, guarded: Flask) -> None:
        """Pages without data, their files and the health check are open."""
        paths = ["/", "/settings", "/search", "/memory", "/sessions/any", "/healthz", "/static/app.js"]
        assert {status_of(guarded, "GET", path) for path in paths} == {200}

    def test_an_open_route_accepts_no_other_method(self, guarded: Flask) -> None:
        """A route that is open for reading is closed for other methods."""
        assert {status_of(guarded, method, "/") for method in ("POST", "PUT", "DELETE", "OPTIONS")} == {401}


class TestWithTheToken:
    """Requests with the token."""

    def test_the_routes_are_reached(self, guarded: Flask) -> None:
        """No route that reads is refused."""
        reading = [address(rule) for method, rule in routes(guarded) if method == "GET"]
        found = {status_of(guarded, "GET", path, Authorization=f"Bearer {TOKEN}") for path in reading}
        assert not found & {401, 403}


class TestWithAViewersToken:
    """Requests with the token of a viewer."""

    def test_changes_are_refused(self, guarded: Flask, app: App) -> None:
        """All methods that change data are refused, and so are the addresses of webhooks, which may be secret."""
        _, token = app.access_tokens.make("", VIEWER)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        for method, rule in routes(guarded):
            looks = method in ("GET", "HEAD") and rule.endpoint not in FOR_OPERATORS
            changes = not looks and rule.endpoint not in READ_ONLY_POSTS
            status = status_of(guarded, method, address(rule), **headers)
            assert (status == 403) == changes, f"{method} {rule.rule}: {status}"

    def test_is_told_its_role(self, guarded: Flask, app: App) -> None:
        """A page can then offer only what the server would not refuse."""
        _, token = app.access_tokens.make("", VIEWER)
        roles = [
            guarded.test_client()
            .get("/api/access", headers={"Authorization": f"Bearer {one}", "Host": HOST})
            .get_json()
            for one in (token, TOKEN)
        ]
        assert roles == [{"role": "viewer"}, {"role": "operator"}]

    def test_changes_over_a_socket_are_refused(self, guarded: Flask, app: App) -> None:
        """A page may read and plan, but neither prune nor undo."""
        app.new_sessions.create(id="a", model="gpt-5")
        _, token = app.access_tokens.make("", VIEWER)
        gateway = guarded.extensions["coppice.live"]
        page = gateway.socketio.test_client(guarded, headers={"Authorization": f"Bearer {token}"})
        environ = next(iter(gateway.socketio.server.environ.values()))
        assert gateway.gate.refusal({**environ, "HTTP_HOST": HOST, "PATH_INFO": "/socket.io/"}) is None
        environ[IDENTITY] = app.access_tokens.authenticate(token)
        answers = {
            event: page.emit(event, data, callback=True)
            for event, data in (
                ("subscribe", {"room": "session:a"}),
                ("context:plan", {"session_id": "a"}),
                ("context:prune", {"session_id": "a"}),
                ("context:undo", {"session_id": "a"}),
            )
        }
        refused = {event for event, answer in answers.items() if "error" in answer}
        assert refused == {"context:prune", "context:undo"}
        assert answers["context:prune"]["error"]["type"] == "operator_needed"
        page.disconnect()


class TestWithTheTokenOfASender:
    """Requests with the token of a proxy or a follower."""

    def test_only_calls_and_lines_can_be_sent(self, guarded: Flask, app: App) -> None:  # X13
        """Every method of every other route is refused, and so is a socket's handshake."""
        token = app.access_tokens.make_process_token()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        for method, rule in routes(guarded):
            if rule.endpoint in OPEN and method in ("GET", "HEAD"):
                continue
            status = status_of(guarded, method, address(rule), **headers)
            assert (status != 403) == (rule.endpoint in SENDING), f"{method} {rule.rule}: {status}"
        assert status_of(guarded, "GET", "/socket.io/?EIO=4&transport=polling", **headers) == 403

    def test_no_page_says_whether_a_session_exists(self, guarded: Flask, app: App) -> None:  # X13
        """The page of a session is the same shell as for a request without a token."""
        app.new_sessions.create(id="secret", title="A secret title")
        token = app.access_tokens.make_process_token()
        page = guarded.test_client().get(
            "/sessions/secret", headers={"Authorization": f"Bearer {token}", "Host": HOST}
        )
        assert "A secret title" not in page.text
