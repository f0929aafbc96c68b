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
    return {"app": app, "name": name, "body": body.sent_fields(), "query": query.sent_fields()}


@TABLE.get("/file")
def get_file(app: str) -> Response:
    """A file."""
    return Response(f"{app}'s", mimetype="text/plain")


@pytest.fixture
def flask_app() -> Flask:
    """An application with the two routes."""
    made = Flask(__name__)
    made.extensions[EXTENSION] = "the app"
    problems.install(made)
    serve(made, list(TABLE))
    return made


class TestServing:
    """Views, which get checked data and return data."""

    def test_passes_the_request_on(self, flask_app: Flask) -> None:
        """A view gets the application, the path's parameters, the body and the query."""
        answer = flask_app.test_client().post("/api/things/x?q=y", json={"max_tokens": 5})
        assert answer.status_code == 201
        assert answer.json == {"app": "the app", "name": "x", "body": {"max_tokens": 5}, "query": {"q": "y"}}

    def test_accepts_a_response_of_the_view(self, flask_app: Flask) -> None:
        """A view may return a whole response, such as a file."""
        assert flask_app.test_client().get("/api/file").text == "the app's"

    def test_never_calls_the_view_with_invalid_data(self, flask_app: Flask) -> None:
        """Invalid requests are refused first."""
        assert flask_app.test_client().post("/api/things/x", json={"max_tokens": "5"}).status_code == 422

    def test_takes_the_summary_from_the_view(self) -> None:
        """The summary is its first line, without the full stop."""
        assert next(iter(TABLE)).summary == "Make a thing"


class TestOurRoutes:
    """The real table of routes."""

    @pytest.mark.parametrize("route", routes(), ids=lambda route: route.name)
    def test_are_thin(self, route: Route) -> None:
        """A view parses, calls one service and shapes the answer, in about twenty lines."""
        assert len(inspect.getsource(route.view).splitlines()) <= 25

    def test_have_unique_names(self) -> None:
        """The name is that of the operation in the OpenAPI document."""
        names = [route.name for route in routes()]
        assert len(set(names)) == len(names)

    def test_have_a_summary(self) -> None:
        """Every route has a summary."""
        assert [route.name for route in routes() if not route.summary] == []

    def test_act_only_when_posted(self) -> None:
        """A GET has no body, so it cannot request a change."""
        assert [route.name for route in routes() if route.method == "GET" and route.body] == []
