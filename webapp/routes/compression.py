"""Compresses text answers with gzip, for clients that accept it.

Static files are compressed once and kept (`assets`); every other answer is compressed when it is sent. Streams, ranges
and short answers are not compressed.

The length of a compressed answer reveals something of its content to an attacker who can watch the connection, choose
part of the answer, and make the victim's browser repeat the request (BREACH). That fails here: the gate refuses API
requests from pages of other sites, the cookie is `SameSite=Strict`, and no answer repeats a token or a cookie.
"""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

# A shorter answer fits one packet with its headers, so compressing it gains nothing.
LEAST_BYTES = 1_200
# A page of messages (100 kB) takes about 5 ms on a busy machine; a higher level saves nothing more.
ANSWER_LEVEL = 6
_TEXT = ("text/", "application/json", "application/problem+json", "image/svg+xml")


def is_text(mimetype: str | None) -> bool:
    """Return whether compression makes content of this type much smaller."""
    return mimetype is not None and mimetype.startswith(_TEXT)


def takes_gzip() -> bool:
    """Return whether the client of this request accepts gzip."""
    return request.accept_encodings.quality("gzip") > 0


def compress(content: bytes, level: int) -> bytes:
    """Return `content` as gzip. The same content always gives the same bytes."""
    return gzip.compress(content, level, mtime=0)


def shorten(response: Response) -> Response:
    """Compress an answer, unless it is short, a range, a stream, compressed already, or not text."""
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
