"""Handing copies of calls to the server."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.waiting import until
from tests.webapp.serving.processes import certificate_of
from webapp.proxy import copy_sender
from webapp.proxy.call_copy import CallCopy
from webapp.proxy.copy_sender import CopySender
from webapp.serving.server import fingerprint_of

COPY = CallCopy(
    provider="anthropic", path="/v1/messages", session="", parent=None, status=200, request="{}", answer="{}",
    whole=True, at=1, applied="", reason="", subscription=False,
)  # fmt: skip


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without a pause."""
    monkeypatch.setattr(copy_sender, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(copy_sender, "LONGEST_PAUSE", 0.01)


@contextmanager
def serving(port: int, *answers: int, tls: ssl.SSLContext | None = None) -> Iterator[list[int]]:
    """Serve on a port; yield the answers that were given: first these, then 200."""
    given: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            given.append(answers[len(given)] if len(given) < len(answers) else 200)
            self.send_response(given[-1])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", port), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield given
    finally:
        server.shutdown()
        server.server_close()


class TestAServerThatFails:
    """A server that cannot be reached, or that is too busy."""

    def test_is_logged_once_and_when_it_is_back(self, caplog: pytest.LogCaptureFixture) -> None:  # X13
        """Copies are tried again and again; the user reads why sessions do not grow."""
        port = free_port()
        with closing(CopySender(f"http://127.0.0.1:{port}", None)) as sender:
            sender.put(COPY)
            until(lambda: "takes no copies of calls" in caplog.text)
            with serving(port, 503, 429, 503) as given:
                until(lambda: 200 in given and "again" in caplog.text)
        assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


class TestFingerprints:
    """A server whose certificate has another name than its address."""

    def test_are_of_one_certificate(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        """The certificate with the fingerprint is trusted, and no other."""
        certificate, key = certificate_of(tmp_path, "DNS:coppice.example")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        port = free_port()
        with serving(port, tls=tls) as given:
            with closing(CopySender(f"https://127.0.0.1:{port}", None, "00" * 32)) as sender:
                sender.put(COPY)
                until(lambda: "ingerprint" in caplog.text)
            assert not given
            with closing(
                CopySender(f"https://127.0.0.1:{port}", None, fingerprint_of(certificate))
            ) as sender:
                sender.put(COPY)
                until(lambda: given)
