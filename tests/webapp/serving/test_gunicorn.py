"""`coppice serve` as a user starts it: a separate process under gunicorn, stopped by a signal."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import socketio

from tests.waiting import PATIENCE
from tests.webapp.live.raw import opened, read_until
from tests.webapp.serving.processes import started
from webapp.live.admission import PAGES
from webapp.serving.server import has_gunicorn, listen

if has_gunicorn():
    from webapp.serving.arrival import UploadReader
    from webapp.serving.worker import ARRIVING

pytestmark = pytest.mark.skipif(not has_gunicorn(), reason="gunicorn does not run on this system")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    with started(tmp_path_factory.mktemp("served"), "--port", "0") as (_, url):
        yield url


def asked(url: str, request: str) -> socket.socket:
    """Connect and send a request, or a part of one."""
    connection = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    connection.sendall(request.encode())
    return connection


WHOLE = '{"name":"a.json","content":[{"role":"user","content":"a"}]}'
FORM = f'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n{WHOLE}\r\n--x--\r\n'
CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"
BROKEN_BODIES = {
    "negative chunk": CHUNKED + "-1\r\n{}\r\n0\r\n\r\n",
    "chunk size that is no number": CHUNKED + "zz\r\n{}\r\n0\r\n\r\n",
    "chunk without its end": CHUNKED + "2\r\n{}XX0\r\n\r\n",
    "chunk of huge size": CHUNKED + "f" * 40 + "\r\n{}",
    "endless chunk size": CHUNKED + "1" * 9000,
    "odd trailer": CHUNKED + "2\r\n{}\r\n0\r\na b\r\n\r\n",
    "end within a chunk": CHUNKED + f"fff\r\n{WHOLE}",
    "end before the last chunk": CHUNKED + f"{len(WHOLE):x}\r\n{WHOLE}\r\n",
    "fewer bytes than announced": f"Content-Length: 2000000\r\n\r\n{WHOLE}",
    "form of fewer bytes than announced": f"Content-Length: 2000000\r\n\r\n{FORM}",
}


class TestTheCommand:
    """`coppice serve`, under gunicorn."""

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
    def test_ends_with_open_streams(self, tmp_path: Path, name: str) -> None:
        """It ends without output, even with a websocket, a long poll, an upload and an export open."""
        with started(tmp_path, "--port", "0") as (process, url):
            pages = [socketio.Client(reconnection=False) for _ in range(2)]
            for page, transport in zip(pages, ("websocket", "polling"), strict=True):
                page.connect(url, transports=[transport], wait_timeout=PATIENCE)
                page.call("subscribe", {"room": "overview"})
            httpx.post(url + "/api/sessions", json={"id": "a"}).raise_for_status()
            picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 12_000_000}}
            append = {"messages": [{"role": "user", "content": [picture]}]}
            httpx.post(url + "/api/sessions/a/messages", json=append, timeout=PATIENCE).raise_for_status()
            held = [
                asked(
                    url, "POST /api/import HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n{"
                ),
                asked(url, "GET /api/sessions/a/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
            ]
            assert held[1].recv(12) == b"HTTP/1.1 200"
            process.send_signal(getattr(signal, name))
            assert process.communicate(timeout=PATIENCE) == ("", "")
            assert process.returncode == 0
            for page in pages:
                page.disconnect()
            for one in held:
                one.close()

    def test_serves_more_pages_than_ten_at_once(self, served: str) -> None:
        """Each open page occupies a thread, and other requests are still answered."""
        url = served
        pages = [socketio.Client(reconnection=False) for _ in range(12)]
        for page in pages:
            page.connect(url, transports=["websocket"], wait_timeout=PATIENCE)
        assert httpx.get(url + "/api/sessions", timeout=PATIENCE).status_code == 200
        for page in pages:
            page.disconnect()

    @pytest.mark.parametrize(
        "part",
        [
            "",
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            "POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{",
            "POST /api/import HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n{",
            "POST /api/import HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        ],
        ids=["nothing", "half a head", "half a body", "half a long body", "half a chunk"],
    )
    def test_answers_beside_requests_that_never_end(self, served: str, part: str) -> None:
        """There are more of them than threads or places for new connections."""
        url = served
        held = []
        for _ in range(ARRIVING + 60):
            with suppress(OSError):  # dropped already, to free a place for the next
                held.append(asked(url, part))
        for _ in range(5):
            assert httpx.get(url + "/api/sessions", timeout=PATIENCE).status_code == 200
        for one in held:
            one.close()

    def test_answers_beside_hundreds_of_pages(self, served: str) -> None:
        """The pages are idle; those beyond the limit get an error that says so."""
        url = served
        held = [opened(url) for _ in range(PAGES + 60)]
        answers = [read_until(one, b"\r\n\r\n") for one in held]
        assert any(b" 503 " in answer and b"too many open pages" in answer for answer in answers)
        assert httpx.get(url + "/api/sessions", timeout=PATIENCE).status_code == 200
        for one in held:
            one.close()

    def test_answers_a_request_in_parts(self, served: str) -> None:
        """The next request on the connection, sent before the answer, is answered too."""
        url = served
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as connection:
            for piece in ("GET /hea", "lthz HTTP/1.1\r\nHost: 127.0", ".0.1\r\n\r", "\n"):
                connection.sendall(piece.encode())
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert read_until(connection, b"never").count(b"200 OK") == 2

    @pytest.mark.parametrize("size", [200_000, 900_000, 2_000_000])
    def test_keeps_a_connection_that_it_promised_to_keep(self, served: str, size: int) -> None:  # X1
        """After a body that nobody read, too: a client would send its next request in vain."""
        head = (
            f"POST /api/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Coppice: 1\r\nContent-Length: {size}\r\n\r\n"
        )
        with asked(served, head + "x" * size) as client:
            answer = read_until(client, b'"details":[]}}')
            kept = b"Connection: keep-alive" in answer
            with suppress(OSError):
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert (b"200 OK" in read_until(client, b'{"status":"ok"}')) == kept
        assert b"404" in answer

    @pytest.mark.parametrize("rest", BROKEN_BODIES.values(), ids=BROKEN_BODIES)
    @pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x"])
    def test_refuses_a_broken_body(self, served: str, kind: str, rest: str) -> None:  # X1
        """No part of it is used, even if a part is valid."""
        head = f"POST /api/import HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Coppice: 1\r\nContent-Type: {kind}\r\n"
        with asked(served, head + rest) as connection:
            connection.shutdown(socket.SHUT_WR)
            answer = read_until(connection, b"never")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"broke off" in answer

    @pytest.mark.parametrize(
        ("request_", "status", "kind"),
        [
            (f"GET /api/sessions?q={'a' * 9_000} HTTP/1.1\r\n\r\n", 414, "too_long"),
            (f"GET /api/sessions HTTP/1.1\r\nX: {'a' * 90_000}\r\n\r\n", 431, "too_large"),
            ("GET /api/sessions HTTP/1.1\r\na b: c\r\n\r\n", 400, "malformed"),
            (
                "POST /api/import HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                400,
                "malformed",
            ),
            ("POST /api/import HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n", 501, "malformed"),
            ("POST /api/import HTTP/1.1\r\nExpect: x\r\n\r\n", 417, "malformed"),
            ("nothing\r\n\r\n", 400, "malformed"),
        ],
    )
    def test_answers_an_unreadable_request_in_json(
        self, served: str, request_: str, status: int, kind: str
    ) -> None:  # X1
        """No route sees it, and programs read its answer like any other."""
        with asked(served, request_) as connection:
            head, _, body = read_until(connection, b"}}").partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ".encode())
        assert json.loads(body)["error"]["type"] == kind
        assert b"Content-Type: application/json" in head

    def test_frees_its_port_when_it_is_killed(self, tmp_path: Path) -> None:
        """No second process keeps the port."""
        with started(tmp_path, "--port", "0") as (process, url):
            port = int(url.rpartition(":")[2])
            page = opened(url)
            process.kill()
            process.wait(PATIENCE)
            with listen("127.0.0.1", port) as again:
                assert again.getsockname()[1] == port
            page.close()


class Counted:
    """A reader of a number of bytes."""

    def __init__(self, length: int) -> None:
        self.length = length

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        size = min(size, self.length)
        self.length -= size
        return b"x" * size


class TestABodyThatAThreadReads:
    """A connection with a time by which its body has to be there."""

    def test_has_no_time_limit_after_it_arrived(self) -> None:
        """The limit for receiving a request does not apply to its answer."""
        conn = SimpleNamespace(until=600.0)
        arriving = UploadReader(Counted(10), conn)  # type: ignore[arg-type]  # a connection, as far as it is needed
        arriving.read(6)
        assert conn.until == 600.0
        arriving.read(6)
        assert conn.until == 0.0
