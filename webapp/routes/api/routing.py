"""The table of routes. One declaration serves a route and documents it, in OpenAPI and in `docs/api.md`.

A view takes the application, its path parameters, `body` and `query`. The document is made from its annotations. It
holds no product rule: it parses, calls one service and returns the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack, get_type_hints

from flask import Flask, Response, current_app, request
from pydantic import BaseModel

from webapp.access.identity import OPERATOR, VIEWER
from webapp.app import App
from webapp.bodies import Query
from webapp.errors import NotFound
from webapp.routes.json_answers import json_response
from webapp.routes.reading import BODY_LIMIT_BYTES, read_body, read_query

EXTENSION = "coppice"
ViewFunction = TypeVar("ViewFunction", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Route:
    """One method on one path. `path` is below `/api`, in Flask's notation; `view`'s docstring documents it.

    `role` is the role that a request needs, where tokens are in use.
    """

    method: str
    path: str
    view: Callable[..., Any]
    tag: str
    role: str
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    answers: type | None = None
    status: int = 200
    errors: tuple[int, ...] = ()
    limit_bytes: int = BODY_LIMIT_BYTES
    # The view reads the request itself: multipart, or a body too large for memory.
    raw: bool = False

    @property
    def name(self) -> str:
        """Return the operation's name, unique in the API."""
        return self.view.__name__

    @property
    def summary(self) -> str:
        """Return the first line of the view's docstring."""
        return (self.view.__doc__ or "").strip().partition("\n")[0].rstrip(".")

    def __call__(self, **parameters: Any) -> Response:
        """Answer one request."""
        arguments: dict[str, Any] = dict(parameters)
        sent = read_query(request, self.query or Query)
        if self.query is not None:
            arguments["query"] = sent
        if self.body is not None and not self.raw:
            arguments["body"] = read_body(request, self.body, self.limit_bytes)
        elif self.raw:
            request.max_content_length = self.limit_bytes
        app: App = current_app.extensions[EXTENSION]
        result = self.view(app, **arguments)
        return result if isinstance(result, Response) else json_response(result, self.status)


class RouteOptions(TypedDict, total=False):
    """The fields of a route that its view's annotations do not give. `body` is that of a view that reads it itself.

    `role` is that of a viewer for GET, of an operator for every other method, unless it is given.
    """

    role: str
    body: type[BaseModel]
    status: int
    errors: tuple[int, ...]
    limit_bytes: int
    raw: bool


@dataclass(slots=True)
class Table:
    """The routes of one module, filled by its decorators."""

    tag: str
    routes: list[Route] = field(default_factory=list)

    def __iter__(self) -> Iterator[Route]:
        return iter(self.routes)

    def route(
        self, method: str, path: str, **rest: Unpack[RouteOptions]
    ) -> Callable[[ViewFunction], ViewFunction]:
        """Declare a view function. Body, query and answer follow from its annotations."""

        def declare(view: ViewFunction) -> ViewFunction:
            types = get_type_hints(view)
            answers = None if types["return"] is Response else types["return"]
            options: RouteOptions = {"role": VIEWER if method == "GET" else OPERATOR, **rest}
            if "body" in types:
                options.setdefault("body", types["body"])
            route = Route(method, path, view, self.tag, query=types.get("query"), answers=answers, **options)
            self.routes.append(route)
            return view

        return declare

    def get(self, path: str, **rest: Unpack[RouteOptions]) -> Callable[[ViewFunction], ViewFunction]:
        """Declare a GET view function, which must not change anything."""
        return self.route("GET", path, **rest)

    def post(self, path: str, **rest: Unpack[RouteOptions]) -> Callable[[ViewFunction], ViewFunction]:
        """Declare a POST view function; one that changes nothing has the role VIEWER."""
        return self.route("POST", path, **rest)


# The number of an operation or a summary in a path; it stays below 2^31, and a larger one is not found.
NUMBER = "<int(max=2147483647):n>"


def number(kind: str, text: str) -> int:
    """Return a number in a path that identifies something of this kind.

    Raises:
        NotFound: it is not a number.
    """
    if text.isdecimal() and text.isascii() and len(text) <= 15:
        return int(text)
    raise NotFound(kind, text)


def serve(flask_app: Flask, routes: list[Route]) -> None:
    """Register every route with Flask."""
    for route in routes:
        flask_app.add_url_rule(
            "/api" + route.path, endpoint=f"api.{route.name}", view_func=route, methods=[route.method]
        )
