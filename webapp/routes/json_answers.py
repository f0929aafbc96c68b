"""Writes JSON with orjson, and with the standard library for the few values that orjson refuses.

orjson refuses integers beyond 64 bits, lone surrogates and nesting beyond 254 levels. An agent's message can hold
all three, and what was stored must be readable again, so these few are written by the slower library.
"""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any

import orjson
from flask import Flask, Response
from flask.json.provider import JSONProvider


def dump_json(value: Any) -> bytes:
    """Return JSON in UTF-8, with dataclasses as objects and times in UTC with `Z`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except TypeError:  # orjson.JSONEncodeError is a TypeError
        return json.dumps(value, separators=(",", ":"), default=_json_ready).encode()


def _json_ready(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


class OrjsonProvider(JSONProvider):
    """Flask's JSON through orjson."""

    def dumps(self, obj: Any, **_: Any) -> str:
        """Return a value as JSON; Flask's options for indenting and sorting are ignored."""
        return dump_json(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        """Return the value of a JSON text."""
        return orjson.loads(s)


def json_response(value: Any, status: int = 200) -> Response:
    """Return a JSON response that no client caches."""
    response = Response(dump_json(value), status, mimetype="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def install(flask_app: Flask) -> None:
    """Make the application read and write JSON with orjson."""
    flask_app.json = OrjsonProvider(flask_app)
