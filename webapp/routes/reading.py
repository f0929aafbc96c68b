"""Reads the query and body of a request: JSON in UTF-8 up to a size limit. An error names the wrong field.

Agents cut text in the middle of a character, so half a surrogate pair is read as U+FFFD. Type and length are checked
before the body is read.
"""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
from flask import Request
from pydantic import BaseModel

from scoring.formats import DEPTH_LIMIT
from webapp.routes.problems import RequestFault
from webapp.services.session.codec import read_json

MEBIBYTE = 1024 * 1024
# A message list that fills a window of a million tokens is about 6 MiB; images can make it ten times that.
BODY_LIMIT_BYTES = 64 * MEBIBYTE
# The largest transcripts seen in the wild are about 300 MiB.
IMPORT_LIMIT_BYTES = 1024 * MEBIBYTE
# The most levels that orjson writes.
_ORJSON_DEPTH = 254

Model = TypeVar("Model", bound=BaseModel)


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        RequestFault: 400 if it is not UTF-8, not JSON, or nested deeper than DEPTH_LIMIT.
    """
    try:
        value = read_json(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise RequestFault(400, "malformed", f"the body is not JSON in UTF-8: {error}") from None
    if too_deep(value):
        raise RequestFault(400, "malformed", f"the body is nested deeper than {DEPTH_LIMIT} levels")
    return value


def too_deep(value: Any) -> bool:
    """Return whether a value read by orjson is nested deeper than DEPTH_LIMIT.

    The value is wrapped until orjson's own limit is ours: several times faster than a walk in Python.
    """
    for _ in range(_ORJSON_DEPTH - DEPTH_LIMIT):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:
        return True
    return False


def read_body(request: Request, model: type[Model], limit_bytes: int) -> Model:
    """Return the body as `model`; a missing body counts as an empty object.

    Raises:
        RequestFault: 400, 413 or 415.
        pydantic.ValidationError: one entry per wrong field.
    """
    request.max_content_length = limit_bytes
    refuse_encoded(request)
    data = request.get_data(cache=False)
    if not data and not request.mimetype:
        return model.model_validate({})
    if request.mimetype != "application/json" and not request.mimetype.endswith("+json"):
        shown = request.mimetype or "none"
        raise RequestFault(415, "unsupported_type", f"expected Content-Type application/json, got {shown}")
    return model.model_validate(parse_json(data))


def refuse_encoded(request: Request) -> None:
    """Refuse a compressed body with 415: on one machine compression costs more than it saves."""
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if encoding != "identity":
        raise RequestFault(415, "unsupported_type", f"expected an uncompressed body, got {encoding}")


def read_query(request: Request, model: type[Model]) -> Model:
    """Return the query string as `model`; the last value of a repeated name counts.

    Raises:
        pydantic.ValidationError: one entry per wrong parameter.
    """
    values = {name: found[-1] for name, found in request.args.lists()}
    return model.model_validate(values)
