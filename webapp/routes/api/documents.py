"""The OpenAPI 3.1 document at `/api/openapi.json`, made from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from typing import Any

from flask import Flask, Response
from pydantic import BaseModel

from webapp.answers import Failure
from webapp.routes.answers import json_response
from webapp.routes.api.routing import Route
from webapp.routes.api.schemas import make_schemas, reference

PARAMETER = re.compile(r"<(?:(?P<kind>[a-z]+)(?:\([^)]*\))?:)?(?P<name>[a-z_]+)>")
WHY = {
    400: "Malformed: not JSON in UTF-8, nested too deep, or no list, message or file that is known",
    401: "The server asks for its token",
    403: "A host or a page that is not ours",
    404: "There is no such thing",
    409: "Does not fit the present state",
    413: "Too large",
    415: "Not a type this route takes",
    422: "Read and refused: one detail a wrong field",
    503: "The store is busy or full; try again",
}


def build_document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the whole document, JSON-ready; the same routes give the same document."""
    routes = list(routes)
    sent = [route.body for route in routes if route.body]
    answered = [route.answers for route in routes if route.answers]
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = "/api" + PARAMETER.sub(r"{\g<name>}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Coppice",
            "version": installed_version(),
            "description": "Reading changes nothing: no GET has an effect.",
        },
        "paths": paths,
        "components": {"schemas": make_schemas(sent, [Failure, *answered])},
    }


def installed_version() -> str:
    """The version of the package; "0" where it runs from its files without being installed."""
    try:
        return metadata.version("coppice")
    except metadata.PackageNotFoundError:
        return "0"


def operation(route: Route) -> dict[str, Any]:
    """One route as an OpenAPI operation."""
    doc = (route.view.__doc__ or "").strip()
    written: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "description": "\n".join(line.strip() for line in doc.splitlines()),
        "parameters": [*path_parameters(route), *query_parameters(route)],
        "responses": responses(route),
    }
    if route.body is not None:
        written["requestBody"] = request_body(route)
    return written


def path_parameters(route: Route) -> list[dict[str, Any]]:
    """The parameters that stand in the path."""
    found = []
    for match in PARAMETER.finditer(route.path):
        number = match["kind"] == "int"
        schema = (
            {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
            if number
            else {"type": "string", "minLength": 1}
        )
        found.append({"name": match["name"], "in": "path", "required": True, "schema": schema})
    return found


def query_parameters(route: Route) -> list[dict[str, Any]]:
    """The parameters of the query string, with what each may be."""
    if route.query is None:
        return []
    schema = route.query.model_json_schema()
    return [
        {"name": name, "in": "query", "required": False, "schema": without_null(field)}
        for name, field in schema["properties"].items()
    ]


def without_null(field: dict[str, Any]) -> dict[str, Any]:
    """A field's schema without the null that stands for "not given": a query string cannot say null."""
    choices = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "title", "default")}
    return {**rest, **(choices[0] if choices else {})}


def request_body(route: Route) -> dict[str, Any]:
    """What may be sent to a route."""
    assert route.body is not None  # noqa: S101  # the caller asked
    content: dict[str, Any] = {"application/json": {"schema": reference(route.body)}}
    if route.raw:
        file = {"type": "string", "format": "binary"}
        fields = {"file": file, "format": {"type": "string"}, "model": {"type": "string"}}
        content["multipart/form-data"] = {
            "schema": {"type": "object", "properties": fields, "required": ["file"]}
        }
    return {"content": content, "required": bool(route.raw or has_required(route.body))}


def has_required(model: type[BaseModel]) -> bool:
    """Whether a body cannot be left out."""
    return any(field.is_required() for field in model.model_fields.values())


def responses(route: Route) -> dict[str, Any]:
    """What a route may answer."""
    if route.answers is None:
        content: dict[str, Any] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
    else:
        content = {"application/json": {"schema": reference(route.answers)}}
    found: dict[str, Any] = {str(route.status): {"description": "Done", "content": content}}
    failure = {"application/json": {"schema": reference(Failure)}}
    for status in sorted(failing(route)):
        found[str(status)] = {"description": WHY[status], "content": failure}
    return found


def failing(route: Route) -> set[int]:
    """The error statuses of a route: those of its own, and those that reading its input brings."""
    found = {*route.errors, 503}
    if route.query or route.body:
        found.add(422)
    if route.body:
        found |= {400, 413, 415}
    if PARAMETER.search(route.path):
        found.add(404)
    return found


def install(flask_app: Flask, routes: list[Route]) -> None:
    """Serve the document, which is made when it is first asked for."""
    document = cache(lambda: build_document(routes))

    def openapi() -> Response:
        return json_response(document())

    flask_app.add_url_rule("/api/openapi.json", "api.openapi", openapi)
