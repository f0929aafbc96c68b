"""Compresses answers in text with gzip, for clients that accept it.

The browser's files are compressed once and kept (`assets`); here every other answer is compressed as it leaves.
Streams, parts and short answers go out as they are.

The length of a compressed answer tells something about its content to someone who can watch the connection, choose
a part of the answer, and have the victim's browser ask for it again and again. The gate refuses API requests that
another site's page makes, the cookie is `SameSite=Strict`, and no answer repeats a token or a cookie.
"""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

# Less than this fits one packet with its headers, and nothing is gained.
LEAST_BYTES = 1_200
# A page of messages, 100 kB, takes some 5 ms on a busy machine; a higher level saves nothing more.
ANSWER_LEVEL = 6
_TEXT = ("text/", "application/json", "application/problem+json", "image/svg+xml")


def is_text(mimetype: str | None) -> bool:
    """Return whether content of this type becomes much smaller by compression."""
    return mimetype is not None and mimetype.startswith(_TEXT)


def takes_gzip() -> bool:
    """Return whether the client of this request accepts gzip."""
    return request.accept_encodings.quality("gzip") > 0


def compress(content: bytes, level: int) -> bytes:
    """Return `content` as gzip. The same content always gives the same bytes."""
    return gzip.compress(content, level, mtime=0)


def shorten(response: Response) -> Response:
    """Compress an answer if it is text, whole, not compressed yet and not short."""
    if not is_text(response.mimetype) or not response.is_sequence or "Content-Encoding" in response.headers:
        return response
    response.vary.add("Accept-Encoding")
    if response.status_code == 206 or not takes_gzip():
        return response
    content = response.get_data()
    if len(content) >= LEAST_BYTES:
        response.set_data(compress(content, ANSWER_LEVEL))
        response.headers["Content-Encoding"] = "gzip"
    return response


def install(flask_app: Flask) -> None:
    """Compress the answers of every route."""
    flask_app.after_request(shorten)
