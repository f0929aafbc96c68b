"""Requests too long to keep, passed on as they arrive in bounded memory (X13)."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.servers import serving
from tests.webapp.proxy.kept_copies import Kept
from webapp.proxy import client_body
from webapp.proxy.relay import Relay
from webapp.proxy.scripts import Scripts
from webapp.proxy.upstream import Provider

MIB = 1024 * 1024
CONVERSATION, UPLOAD = "/v1/chat/completions", "/v1/files"
BEGIN = b'{"messages": [{"role": "user", "content": "'
END = b'"}]}'


class Generated:
    """A body that is generated while it is read."""

    def __init__(self, size: int) -> None:
        self.size, self._left = size, size
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        size = self._left if size < 0 else min(size, self._left)
        at, self._left = self.size - self._left, self._left - size
        data = b"x" * size
        if at == 0:
            data = BEGIN + data[len(BEGIN) :]
        if not self._left:
            data = data[: len(data) - len(END)] + END if data else data
        self.digest.update(data)
        return data


class Sink(ThreadingHTTPServer):
    """A provider that records the framing and digest of a body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.framing, self.digest = "", ""
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Sink

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        """Read a body in parts, and answer."""
        seen, length = hashlib.sha256(), self.headers.get("content-length")
        self.server.framing = "chunks" if length is None else "length"
        sizes = iter([int(length)]) if length is not None else iter(self._chunk, 0)
        for size in sizes:
            left = size
            while left:
                data = self.rfile.read(min(left, 65_536))
                seen.update(data)
                left -= len(data)
            if length is None:
                self.rfile.readline()
        self.server.digest = seen.hexdigest()
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def _chunk(self) -> int:
        """Return the size of the next chunk; the last is 0."""
        size = int(self.rfile.readline(), 16)
        if not size:
            self.rfile.readline()
        return size


@pytest.fixture
def sink() -> Iterator[Sink]:
    """The provider."""
    made = Sink()
    with serving(made):
        yield made


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a small limit, so that the test is fast."""
    monkeypatch.setattr(client_body, "BUFFERED_BYTES", MIB)


def sent(sink: Sink, path: str, body: Generated, *, chunked: bool) -> Kept:
    """Send a request through a relay; return the copies it sent."""
    kept = Kept()
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "HTTP_HOST": "127.0.0.1",
        "PATH_INFO": f"/proxy/openai{path}",
    }
    environ |= {"HTTP_TRANSFER_ENCODING": "chunked"} if chunked else {"CONTENT_LENGTH": str(body.size)}
    environ |= {"wsgi.input": body, "HTTP_X_COPPICE_SESSION": "long"}
    with closing(Relay({"openai": Provider(sink.url)}, kept, Scripts())) as one:  # type: ignore[arg-type]
        assert b"".join(one(environ, lambda *_: None)) == b"{}"
    assert sink.digest == body.digest.hexdigest()
    return kept


@pytest.mark.parametrize("chunked", [False, True])
class TestALongBody:
    """A body longer than the limit."""

    @pytest.mark.parametrize("path", [CONVERSATION, UPLOAD])
    def test_is_passed_on_in_bounded_memory(self, sink: Sink, path: str, *, chunked: bool) -> None:  # X13
        """It arrives unchanged, and no copy is kept."""
        tracemalloc.start()
        try:
            kept = sent(sink, path, Generated(24 * MIB), chunked=chunked)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept.copies == []
        assert peak < 8 * MIB
        assert sink.framing == ("chunks" if chunked else "length")

    def test_is_not_edited(  # X13
        self, sink: Sink, monkeypatch: pytest.MonkeyPatch, *, chunked: bool
    ) -> None:
        """It is sent unchanged even if its session is pruned."""
        monkeypatch.setattr(Scripts, "knows", lambda *_: True)
        monkeypatch.setattr(Scripts, "killed", False)
        assert sent(sink, CONVERSATION, Generated(2 * MIB), chunked=chunked).copies == []


@pytest.mark.parametrize("chunked", [False, True])
class TestAShorterBody:
    """A body within the limit."""

    def test_of_a_conversation_is_copied(self, sink: Sink, *, chunked: bool) -> None:
        """The copy is complete, and the request is sent with its length."""
        [copy] = sent(sink, CONVERSATION, Generated(MIB), chunked=chunked).copies
        assert len(copy.request) == MIB
        assert sink.framing == "length"

    def test_of_an_upload_is_not_copied(self, sink: Sink, *, chunked: bool) -> None:
        """An upload belongs to no session."""
        assert sent(sink, UPLOAD, Generated(MIB), chunked=chunked).copies == []
