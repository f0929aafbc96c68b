"""Limits on the number of connected pages, tested on the WSGI layer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest
from werkzeug.test import Client

from tests.waiting import PATIENCE, until
from webapp.live.admission import NEW_PAGES, PAGES, POLLS, Admission

NEW = "/socket.io/?EIO=4&transport=polling"
POLL = NEW + "&sid=x"


def yes(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer every request."""
    start_response("200 OK", [])
    return [b"yes"]


class TestPages:
    """Pages that connect."""

    def test_beyond_the_limit_are_refused_with_503(self) -> None:
        """Other requests and connected pages are still answered."""
        client = Client(Admission(yes, range(PAGES)))
        refused = client.get(NEW)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert "open pages" in json.loads(refused.data)["error"]["message"]
        assert [client.get(path).status_code for path in ("/api/sessions", POLL)] == [200, 200]

    def test_that_reconnect_too_fast_are_refused(self) -> None:
        """Each new page occupies a thread for some seconds."""
        client = Client(Admission(yes, ()))
        assert {client.get(NEW).status_code for _ in range(NEW_PAGES)} == {200}
        assert client.get(NEW).status_code == 503

    @pytest.mark.parametrize("path", [POLL])
    def test_that_poll_leave_threads_to_requests(self, path: str) -> None:
        """A limited number of polling pages may occupy a thread."""
        waiting, free = threading.Semaphore(0), threading.Event()

        def slow(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            waiting.release()
            assert free.wait(PATIENCE)
            return yes(environ, start_response)

        admission = Admission(slow, ())
        threads = [threading.Thread(target=Client(admission).get, args=(path,)) for _ in range(POLLS)]
        for thread in threads:
            thread.start()
        for _ in range(POLLS):
            assert waiting.acquire(timeout=PATIENCE)
        assert Client(admission).get(path).status_code == 503
        free.set()
        for thread in threads:
            thread.join(PATIENCE)
        until(lambda: Client(admission).get(path).status_code == 200)
