"""Limits how many pages are open at once, so that pages cannot take all threads from other requests.

It wraps Socket.IO. A page that polls instead of opening a websocket holds a thread while it waits, so fewer of those
are allowed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Sized
from urllib.parse import parse_qs

from webapp.access.guard import answer, too_busy
from webapp.access.requests import Environ, StartResponse, WsgiApp, is_socket

# Pages that may be open at once.
PAGES = 500
# Pages that may wait for news by polling.
POLLS = 24
# Engine.IO starts a thread for each new page, which sleeps until its first ping.
NEW_PAGES = 2 * PAGES
NEW_SECONDS = 25.0


class Admission:
    """A WSGI application that answers 503 to pages beyond the limits. `pages` are the open ones."""

    def __init__(self, application: WsgiApp, pages: Sized) -> None:
        self._application = application
        self._pages = pages
        self._polls = threading.Semaphore(POLLS)
        self._opened: deque[float] = deque(maxlen=NEW_PAGES)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request, or reply 503 if too many pages are open."""
        if not is_socket(environ):
            return self._application(environ, start_response)
        known = "sid" in parse_qs(environ.get("QUERY_STRING", ""))
        if not known and not self._has_room():
            return answer(too_busy("open pages"), environ, start_response)
        if not known or environ["REQUEST_METHOD"] != "GET" or "HTTP_UPGRADE" in environ:
            return self._application(environ, start_response)
        if not self._polls.acquire(blocking=False):
            return answer(too_busy("pages without a websocket"), environ, start_response)
        try:
            return self._application(environ, start_response)
        finally:
            self._polls.release()

    def _has_room(self) -> bool:
        now = time.monotonic()
        full = len(self._opened) == NEW_PAGES and now - self._opened[0] < NEW_SECONDS
        if full or len(self._pages) >= PAGES:
            return False
        self._opened.append(now)
        return True
