"""Answers failures: JSON in one shape under `/api`, a page elsewhere, never a stack trace.

The shape is `{"error": {"type", "message", "details"}}`; a detail is `{"field", "message"}`.
`webapp.errors` maps our own errors to statuses; this module maps those of Werkzeug and pydantic.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from http.client import responses
from typing import Any

from flask import Flask, Response, make_response, render_template, request
from jinja2 import TemplateNotFound
from pydantic import ValidationError
from werkzeug.exceptions import ClientDisconnected, HTTPException

from webapp.bodies import refusal
from webapp.errors import HTTP_TYPES, Detail, error_body, is_failure, status_of, to_json
from webapp.routes.json_answers import json_response

log = logging.getLogger("coppice.http")


class RequestFault(Exception):
    """The refusal of a request before a service sees it. `type` is a short, stable name."""

    def __init__(self, status: int, type_: str, message: str, details: Iterable[Detail] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.type = type_
        self.details = details


def describe_failure(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return status and body for any exception; an unexpected one is logged with its traceback and becomes a 500."""
    if isinstance(error, RequestFault):
        return error.status, error_body(error.type, str(error), error.details)
    if isinstance(error, ValidationError):
        return 422, refusal(error)
    if isinstance(error, HTTPException):
        return describe_http(error)
    if is_failure(error):
        log.error("unexpected failure", exc_info=error)
    return status_of(error), to_json(error)


def describe_http(error: HTTPException) -> tuple[int, dict[str, Any]]:
    """Return status and body for an exception of Werkzeug."""
    status = error.code or 500
    if status == 404:
        message = f"there is nothing at {request.path}"
    elif status == 405:
        allowed = ", ".join(sorted(getattr(error, "valid_methods", None) or []))
        message = (
            f"{request.method} is not supported at {request.path}; expected {allowed or 'another method'}"
        )
    elif isinstance(error, ClientDisconnected):
        message = "the body broke off, or is not framed as its headers say; nothing of it was taken"
    elif status == 413:
        message = _too_large()
    else:
        message = (error.description or responses.get(status, "error")).rstrip(".").lower()
    return status, error_body(HTTP_TYPES.get(status, "malformed" if status < 500 else "internal"), message)


def _too_large() -> str:
    """Return why the body of the request is refused; its length is known unless it comes in chunks."""
    length, most = request.content_length, request.max_content_length
    if length is None or most is None or length <= most:
        return "the request is larger than this route accepts"
    return f"the body has {length:,} bytes; {request.path} accepts {most:,} at most"


def wants_json(path: str) -> bool:
    """Return whether failures at `path` are answered in JSON, because programs read them."""
    return path == "/api" or path.startswith(("/api/", "/healthz", "/metrics"))


def answer_failure(error: Exception) -> Response:
    """Return the response for any exception."""
    status, body = describe_failure(error)
    for_program = wants_json(request.path)
    response = json_response(body, status) if for_program else error_page(status, body["error"]["message"])
    if isinstance(error, HTTPException):
        for name, value in error.get_headers():
            if name.lower() in ("allow", "retry-after"):
                response.headers[name] = value
    if status == 503:
        response.headers["Retry-After"] = "1"
    return response


def error_page(status: int, message: str) -> Response:
    """Return an error page; plain text if even the template is missing."""
    phrase = responses.get(status, "Error")
    try:
        body = render_template("error.html", status=status, title=phrase, message=message)
    except TemplateNotFound:
        return Response(f"{status} {phrase}: {message}\n", status, mimetype="text/plain")
    return make_response(body, status)


def install(flask_app: Flask) -> None:
    """Answer every failure of the application in this shape, unknown paths included."""
    flask_app.register_error_handler(Exception, answer_failure)
