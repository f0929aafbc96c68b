"""Makes the OpenAPI 3.1 document at `/api/openapi.json` from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from typing import Any

from flask import Flask, Response
from pydantic import BaseModel

from webapp.answers import Failure
from webapp.routes.api.routing import Route
from webapp.routes.api.schemas import make_schemas, reference
from webapp.routes.json_answers import json_response

PARAMETER = re.compile(r"<(?:(?P<kind>[a-z]+)(?:\([^)]*\))?:)?(?P<name>[a-z_]+)>")
WHY = {
    400: "The body is not JSON in UTF-8, is nested too deep, or holds no known message list or file",
    401: "The token is missing or wrong",
    403: "The role of the token, the host name, or the page's origin does not allow this",
    404: "The path, or the session, message, operation or other thing that it names, does not exist",
    405: "The path does not support this method; the header `Allow` names those it does",
    409: "The request does not fit the present state",
    413: "The body is too large",
    415: "The content type is not supported",
    422: "The values are invalid; `details` names every wrong field",
    429: "Too many wrong tokens came from this address; `Retry-After` says when to try again",
    503: "The store or the server is busy, or the store is full, read-only or damaged; `message` says which",
}
# The gate can refuse any request with these, so they are described once.
GATE_STATUSES = (401, 403, 429)
TOKEN = "token"


def build_document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the whole document, JSON-ready; equal for equal routes."""
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
        "security": [{TOKEN: []}, {}],  # either will do: a server without tokens asks for none
        "components": {
            "schemas": make_schemas(sent, [Failure, *answered]),
            "responses": {str(status): failure(status) for status in GATE_STATUSES},
            "securitySchemes": {
                TOKEN: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed once a token exists. Each operation says which role it needs.",
                }
            },
        },
    }


def installed_version() -> str:
    """Return the version of the package, "0" where it is not installed."""
    try:
        return metadata.version("coppice")
    except metadata.PackageNotFoundError:
        return "0"


def operation(route: Route) -> dict[str, Any]:
    """Return one route as an OpenAPI operation."""
    doc = (route.view.__doc__ or "").strip()
    written: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "description": "\n".join([*(line.strip() for line in doc.splitlines()), "", f"Role: {route.role}."]),
        "parameters": [*path_parameters(route), *query_parameters(route)],
        "responses": responses(route),
    }
    if route.body is not None:
        written["requestBody"] = request_body(route)
    return written


def path_parameters(route: Route) -> list[dict[str, Any]]:
    """Return the parameters in the path."""
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
    """Return the parameters of the query string."""
    if route.query is None:
        return []
    schema = route.query.model_json_schema()
    return [
        {"name": name, "in": "query", "required": False, "schema": without_null(field)}
        for name, field in schema["properties"].items()
    ]


def without_null(field: dict[str, Any]) -> dict[str, Any]:
    """Return a field's schema without null: a query string cannot express it; an absent parameter means the same."""
    choices = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "title", "default")}
    return {**rest, **(choices[0] if choices else {})}


def request_body(route: Route) -> dict[str, Any]:
    """Return the description of a route's body."""
    assert route.body is not None  # noqa: S101  # checked by the caller
    content: dict[str, Any] = {"application/json": {"schema": reference(route.body)}}
    if route.raw:
        file = {"type": "string", "format": "binary"}
        fields = {"file": file, "format": {"type": "string"}, "model": {"type": "string"}}
        content["multipart/form-data"] = {
            "schema": {"type": "object", "properties": fields, "required": ["file"]}
        }
    return {"content": content, "required": bool(route.raw or has_required(route.body))}


def has_required(model: type[BaseModel]) -> bool:
    """Return whether a body has a required field; otherwise the body itself is optional."""
    return any(field.is_required() for field in model.model_fields.values())


def responses(route: Route) -> dict[str, Any]:
    """Return the answers of a route by status, failures included."""
    if route.answers is None:
        content: dict[str, Any] = {"*/*": {"schema": {}}}  # any file type, JSON too
    else:
        content = {"application/json": {"schema": reference(route.answers)}}
    found: dict[str, Any] = {str(route.status): {"description": "Done", "content": content}}
    found |= {str(status): {"$ref": f"#/components/responses/{status}"} for status in GATE_STATUSES}
    found |= {str(status): failure(status) for status in sorted(failing(route))}
    return found


def failure(status: int) -> dict[str, Any]:
    """Return the description of a refusal."""
    return {"description": WHY[status], "content": {"application/json": {"schema": reference(Failure)}}}


def failing(route: Route) -> set[int]:
    """Return the error statuses of a route: its own, and those from reading its input."""
    found = {*route.errors, 422, 503}
    if route.body:
        found |= {400, 413, 415}
    if PARAMETER.search(route.path):
        found.add(404)
    return found


def install(flask_app: Flask, routes: list[Route]) -> None:
    """Serve the document, built at the first request for it."""
    document = cache(lambda: build_document(routes))

    def openapi() -> Response:
        return json_response(document())

    flask_app.add_url_rule("/api/openapi.json", "api.openapi", openapi)
