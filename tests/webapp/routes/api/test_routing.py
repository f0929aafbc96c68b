"""The table of routes, built from declarations."""

from __future__ import annotations

import inspect

import pytest
from flask import Flask, Response

from webapp.bodies import PlanBody, SessionsQuery
from webapp.routes import problems
from webapp.routes.api import routes
from webapp.routes.api.routing import EXTENSION, Route, Table, serve

TABLE = Table("things")


@TABLE.post("/things/<name>", status=201)
def make_thing(app: str, name: str, body: PlanBody, query: SessionsQuery) -> dict[str, object]:
    """Make a thing.

    And says so.
    """
    return {"app": app, "name": name, "body": body.given(), "query": query.given()}


@TABLE.get("/file")
def get_file(app: str) -> Response:
    """A file."""
    return Response(f"{app}'s", mimetype="text/plain")


@pytest.fixture
def flask_app() -> Flask:
    """An application of the two routes."""
    made = Flask(__name__)
    made.extensions[EXTENSION] = "the app"
    problems.install(made)
    serve(made, list(TABLE))
    return made


class TestServing:
    """A view receives checked data and returns data."""

    def test_hands_over_what_was_sent(self, flask_app: Flask) -> None:
        """The application, the path's parameters, the body and the query."""
        answer = flask_app.test_client().post("/api/things/x?q=y", json={"max_tokens": 5})
        assert answer.status_code == 201
        assert answer.json == {"app": "the app", "name": "x", "body": {"max_tokens": 5}, "query": {"q": "y"}}

    def test_lets_a_view_answer_itself(self, flask_app: Flask) -> None:
        """A view may return a whole response, such as a file."""
        assert flask_app.test_client().get("/api/file").text == "the app's"

    def test_never_calls_the_view_with_what_is_wrong(self, flask_app: Flask) -> None:
        """Invalid requests are refused first."""
        assert flask_app.test_client().post("/api/things/x", json={"max_tokens": "5"}).status_code == 422

    def test_takes_the_summary_from_the_view(self) -> None:
        """The summary is its first line, without the full stop."""
        assert next(iter(TABLE)).summary == "Make a thing"


class TestOurRoutes:
    """The real table."""

    @pytest.mark.parametrize("route", routes(), ids=lambda route: route.name)
    def test_are_thin(self, route: Route) -> None:
        """Parse, call one service, shape the answer: about twenty lines."""
        assert len(inspect.getsource(route.view).splitlines()) <= 25

    def test_have_names_of_their_own(self) -> None:
        """The name is the operation's in the OpenAPI document."""
        names = [route.name for route in routes()]
        assert len(set(names)) == len(names)

    def test_say_what_they_do(self) -> None:
        """Every one of them."""
        assert [route.name for route in routes() if not route.summary] == []

    def test_act_only_when_posted(self) -> None:
        """A GET takes no body, so that it cannot be asked to act."""
        assert [route.name for route in routes() if route.method == "GET" and route.body] == []
