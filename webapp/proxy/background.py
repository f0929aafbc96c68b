"""Calls that OpenAI answers in the background.

The first answer to such a call has an id and no messages; the client asks for the rest by that id. The copy of the call
waits here, because only it holds the request, and is handed over with the answer that comes later.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import orjson

from webapp.proxy.call_copy import CallCopy
from webapp.services.proxied.keys import protocol_of

# Of longer waiting requests the oldest are forgotten: their sessions then lack this answer until the next call.
KEPT_BYTES = 64 * 1024 * 1024
_CALLS = "/responses/"
_BEGUN, _ENDED = ("queued", "in_progress"), ("completed", "incomplete")


class BackgroundCalls:
    """The copies of calls whose answers are not complete, by the ids of these answers."""

    def __init__(self) -> None:
        self._copies: dict[tuple[str, str], CallCopy] = {}
        self._bytes, self._lock = 0, threading.Lock()

    def keep(self, copy: CallCopy) -> None:
        """Keep a copy if its answer comes later."""
        protocol = protocol_of(copy.provider, copy.path)
        if protocol is None or protocol.format != "responses" or not _is_in_background(copy.request):
            return
        said = _response_in(copy.answer)
        if said.get("status") not in _BEGUN or not isinstance(said.get("id"), str):
            return
        key = copy.provider, said["id"]
        with self._lock:
            self._remove(key)
            self._copies[key] = replace(copy, answer="")
            self._bytes += len(copy.request)
            while self._bytes > KEPT_BYTES and len(self._copies) > 1:
                self._remove(next(iter(self._copies)))

    def asks_for(self, provider: str, method: str, path: str) -> bool:
        """Return whether a request asks for the answer to a call that is kept."""
        return method == "GET" and self._key(provider, path) in self._copies

    def answered(self, provider: str, path: str, status: int, answer: str, *, whole: bool) -> CallCopy | None:
        """Return the copy of a call with its answer, and keep it no longer; None if the answer is not complete.

        A stream is complete once its last event has arrived, also if its client left then (`whole` is False).
        """
        is_stream = not _object(answer)
        if status != 200 or not (whole or is_stream) or _response_in(answer).get("status") not in _ENDED:
            return None
        with self._lock:
            copy = self._remove(self._key(provider, path))
        return replace(copy, answer=answer, whole=whole) if copy is not None else None

    def _key(self, provider: str, path: str) -> tuple[str, str]:
        return provider, unquote(path.rpartition(_CALLS)[2])

    def _remove(self, key: tuple[str, str]) -> CallCopy | None:
        copy = self._copies.pop(key, None)
        if copy is not None:
            self._bytes -= len(copy.request)
        return copy


def _is_in_background(request: str) -> bool:
    return '"background"' in request and _object(request).get("background") is True


def _response_in(answer: str) -> Mapping[str, Any]:
    """Return the response that an answer holds, the last one of a stream; empty if there is none."""
    found = _object(answer)
    if found:
        return found
    events = (
        _object(line[5:]).get("response") for line in reversed(answer.split("\n")) if line.startswith("data:")
    )
    return next((one for one in events if isinstance(one, dict)), {})


def _object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
