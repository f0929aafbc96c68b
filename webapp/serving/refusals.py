"""Refusals that a server sends before the application: always the JSON of the API, as a path may not be known."""

from __future__ import annotations

from http.client import responses

from webapp.access.gate import Refusal
from webapp.access.guard import refusal_response
from webapp.errors import HTTP_TYPES


def raw_answer(refusal: Refusal) -> bytes:
    """Return the bytes of the answer to a refused request, whose connection is closed after it."""
    response = refusal_response(refusal, for_program=True)
    lines = [f"HTTP/1.1 {response.status}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + response.get_data()


def unreadable(status: int, reason: str) -> Refusal:
    """Return the refusal of a request that is no valid HTTP, or is too long for a server."""
    kind = HTTP_TYPES.get(status, "malformed")
    return Refusal(f"{status} {responses[status]}", kind, f"the request cannot be read: {reason}")
