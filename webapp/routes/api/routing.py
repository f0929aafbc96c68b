"""The table of routes. One declaration serves a route, writes its row of the OpenAPI document and its line in the docs.

A view gets the application, its path parameters, and what `body` and `query` made of the request, and returns plain
data. It holds no rule: parse, call one service, shape the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flask import Flask, Response, current_app, request
from pydantic import BaseModel

from webapp.routes.answers import json_response
from webapp.routes.reading import BODY_LIMIT_BYTES, read_body, read_query

EXTENSION = "coppice"


@dataclass(frozen=True, slots=True)
class Route:
    """One method on one path. `path` is below `/api`, in Flask's notation; `view`'s docstring documents it."""

    method: str
    path: str
    view: Callable[..., Any]
    tag: str
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    answers: type[BaseModel] | None = None
    status: int = 200
    errors: tuple[int, ...] = ()
    limit_bytes: int = BODY_LIMIT_BYTES
    # Routes that read the request or write the response themselves: multipart in, a file out.
    raw: bool = False

    @property
    def name(self) -> str:
        """The name of the operation, unique in the API."""
        return self.view.__name__

    @property
    def summary(self) -> str:
        """The first line of what the view says of itself."""
        return (self.view.__doc__ or "").strip().partition("\n")[0].rstrip(".")

    def __call__(self, **parameters: Any) -> Response:
        """Answers one request."""
        arguments: dict[str, Any] = dict(parameters)
        if self.query is not None:
            arguments["query"] = read_query(request, self.query)
        if self.body is not None and not self.raw:
            arguments["body"] = read_body(request, self.body, self.limit_bytes)
        elif self.raw:
            request.max_content_length = self.limit_bytes
        result = self.view(current_app.extensions[EXTENSION], **arguments)
        return result if isinstance(result, Response) else json_response(result, self.status)


@dataclass(slots=True)
class Table:
    """The routes of one module, filled by its decorators."""

    tag: str
    routes: list[Route] = field(default_factory=list)

    def __iter__(self) -> Iterator[Route]:
        return iter(self.routes)

    def route(
        self, method: str, path: str, **rest: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a view; `rest` are the further fields of `Route`."""

        def declare(view: Callable[..., Any]) -> Callable[..., Any]:
            self.routes.append(Route(method, path, view, self.tag, **rest))
            return view

        return declare

    def get(self, path: str, **rest: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a view that reads; no such view has an effect."""
        return self.route("GET", path, **rest)

    def post(self, path: str, **rest: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a view that acts."""
        return self.route("POST", path, **rest)


def serve(flask_app: Flask, routes: list[Route]) -> None:
    """Registers every route with Flask."""
    for route in routes:
        flask_app.add_url_rule(
            "/api" + route.path, endpoint=f"api.{route.name}", view_func=route, methods=[route.method]
        )
