"""Hands copies of calls to the server after the client has its answer. If the server is down, only copies are lost.

A copy names the session and holds no key. Copies wait in memory up to a limit, above which the oldest are dropped. That
loses only their usage: the next call of the session holds all its messages again.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from dataclasses import asdict
from typing import Any

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from webapp.proxy.call_copy import CallCopy

log = logging.getLogger(__name__)

ROUTE = "/api/proxy/calls"
WAITING_BYTES = 64 * 1024 * 1024
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
SECONDS = 60.0


class CopySender:
    """A thread that sends copies to one server, in order.

    With a `fingerprint` only the certificate with that SHA-256 is trusted, whatever names it has; else the usual rules
    of TLS apply.
    """

    def __init__(self, server: str, token: str | None, fingerprint: str | None = None) -> None:
        self._server, self._token = server, token
        pinned: dict[str, Any] = (
            {"cert_reqs": "CERT_NONE", "assert_fingerprint": fingerprint} if fingerprint else {}
        )
        timeout = urllib3.Timeout(connect=5.0, read=SECONDS)
        self._http = urllib3.PoolManager(maxsize=1, timeout=timeout, **pinned)
        self._is_failing = False
        self._waiting: deque[tuple[int, CallCopy]] = deque()
        self._bytes = 0
        self._wake, self._closed = threading.Condition(), False
        self._thread: threading.Thread | None = None

    def put(self, copy: CallCopy) -> None:
        """Queue a copy and return at once."""
        size = len(copy.request) + len(copy.answer)
        with self._wake:
            self._waiting.append((size, copy))
            self._bytes += size
            while self._bytes > WAITING_BYTES and len(self._waiting) > 1:
                self._bytes -= self._waiting.popleft()[0]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="copies", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def close(self) -> None:
        """Stop sending."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=2)

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                size, copy = self._waiting.popleft()
                self._bytes -= size
            self._send(copy)

    def _send(self, copy: CallCopy) -> None:
        """Send one copy; retry with growing pauses while the server cannot be reached."""
        pause = FIRST_PAUSE
        body = orjson.dumps(asdict(copy))
        while not self._closed:
            if self._sent(body):
                return
            with self._wake:
                if self._wake.wait_for(lambda: self._closed, pause):
                    return
                crowded = self._bytes > WAITING_BYTES // 2
            if crowded:
                return
            pause = min(2 * pause, LONGEST_PAUSE)

    def _sent(self, body: bytes) -> bool:
        """Return whether the server took a copy, or refused it for good."""
        headers: dict[str, Any] = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            answer = self._http.request(
                "POST", f"{self._server}{ROUTE}", body=body, headers=headers, retries=False
            )
        except (HTTPError, OSError) as error:
            return self._failed(str(error))
        if answer.status in (429, 503):
            return self._failed(f"it answers {answer.status}")
        if self._is_failing:
            self._is_failing = False
            log.warning("%s takes copies of calls again", self._server)
        if answer.status >= 300:
            log.warning("the server did not take a copy: %s %s", answer.status, answer.data[:300])
        return True

    def _failed(self, reason: str) -> bool:
        """Log the first of several failures; return False."""
        if not self._is_failing:
            self._is_failing = True
            log.warning(
                "%s takes no copies of calls, which are not shown until it does: %s", self._server, reason
            )
        return False
