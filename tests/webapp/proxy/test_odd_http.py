"""Unusual but valid HTTP: requests and answers are passed on unchanged."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.waiting import until
from tests.webapp.proxy.bare_provider import BareProvider
from tests.webapp.proxy.conftest import running_proxy
from webapp.proxy.upstream import Call, Provider, ProviderGone
from webapp.serving.server import has_gunicorn

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
ANSWERS = {
    "interim answers before it": b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 P\r\n\r\n" + OK,
    "a length beside its chunks": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ),
    "many headers": b"HTTP/1.1 200 OK\r\n"
    + b"".join(b"x-%d: v\r\n" % i for i in range(150))
    + OK.partition(b"\r\n")[2],
    "a long header": b"HTTP/1.1 200 OK\r\nx-a: " + b"a" * 80_000 + b"\r\ncontent-length: 2\r\n\r\nok",
    "a header in two lines": b"HTTP/1.1 200 OK\r\nx-a: one\r\n two\r\ncontent-length: 2\r\n\r\nok",
    "a header twice": b"HTTP/1.1 200 OK\r\nset-cookie: a=1, b\r\nset-cookie: c=2\r\ncontent-length: 0\r\n\r\n",
    "a line that is no header": b"HTTP/1.1 200 OK\r\nno header\r\nx-a: b\r\ncontent-length: 2\r\n\r\nok",
    "a length that is no number": b"HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\nok",
    "an unknown transfer encoding": b"HTTP/1.1 200 OK\r\ntransfer-encoding: odd\r\n\r\nok",
    "no body and no length": b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\ncontent-type: a/b\r\n\r\na body",
    "chunks with more": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nx-trailer: 1\r\n\r\n"
    ),
    "no content": b"HTTP/1.1 204 No Content\r\nx-a: b\r\n\r\n",
    "an odd status": b"HTTP/1.1 299 All right, more or less: r\xe9\r\ncontent-length: 2\r\n\r\nok",
    "other bytes than ASCII": b"HTTP/1.1 200 OK\r\nx-a: \xc3\xa9 \xff\r\ncontent-length: 2\r\n\r\nok",
}


class Odd(BareProvider):
    """A provider that keeps the bytes of the last request and answers with given bytes."""

    def converse(self, client: socket.socket) -> None:
        """Answer a complete request."""
        read = b""
        while not _is_whole(read):
            more = client.recv(65_536)
            if not more:
                return
            read += more
        self.arrived = read
        self.send_last(client)


def _is_whole(read: bytes) -> bool:
    head, end, body = read.partition(b"\r\n\r\n")
    length = LENGTH.search(head)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


@pytest.fixture(scope="module")
def odd() -> Iterator[Odd]:
    """A provider of unusual answers."""
    made = Odd()
    yield made
    made.close()


@pytest.fixture(scope="module")
def through(odd: Odd, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same provider behind a proxy whose server is dead."""
    with running_proxy(odd.url, "http://127.0.0.1:9", tmp_path_factory.mktemp("odd")) as url:
        yield url


def answer_to(url: str, request: bytes) -> bytes:
    """Send the bytes of a request; return the beginning of the answer."""
    parts = urlsplit(url)
    with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as client:
        client.sendall(request)
        return client.recv(65_536)


def answers_to(url: str, request: bytes) -> bytes:
    """Send the bytes of requests; return all bytes until the connection ends."""
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=60) as client:
        client.sendall(request)
        got = b""
        while data := client.recv(65_536):
            got += data
        return got


def seen(url: str) -> tuple[object, ...]:
    """Return an answer as a client gets it."""
    try:
        with httpx.Client(timeout=60) as client:
            answer = client.post(f"{url}/v1/messages", content=b"{}", headers={"x-api-key": "k"})
    except httpx.HTTPError as error:
        return (type(error).__mro__[1].__name__,)
    ours = ("server", "date", "connection", "transfer-encoding")
    kept = [(name, value) for name, value in answer.headers.multi_items() if name not in ours]
    framed = "transfer-encoding" in answer.headers
    kept = [pair for pair in kept if not (framed and pair[0] == "content-length")]
    return answer.status_code, answer.reason_phrase, sorted(kept), answer.content


class TestAnOddAnswer:
    """Unusual answers of providers."""

    @pytest.mark.parametrize("kind", ANSWERS)
    def test_is_the_same_as_without_the_proxy(self, odd: Odd, through: str, kind: str) -> None:  # X13
        """Status, reason, headers and body are the provider's; bytes that are no HTTP end the connection."""
        odd.answer = ANSWERS[kind]
        assert seen(f"{through}/anthropic") == seen(odd.url)


class TestAnOddRequest:
    """Unusual requests of clients."""

    @pytest.mark.parametrize("end", [b"\r\n", b""])
    def test_with_too_long_a_head_is_refused(self, through: str, end: bytes) -> None:  # X13
        """It is answered at once, complete or not, instead of being cut off later."""
        fields = b"".join(b"x-%d: %s\r\n" % (n, b"a" * 1_000) for n in range(70))
        request = b"GET /proxy/openai/v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields + end
        assert answer_to(through, request).startswith(b"HTTP/1.1 431 ")

    @pytest.mark.parametrize(
        "target",
        [
            "/v1/%7efiles/a%2fb/../c//d;x=1/%E4",
            "/v1/files?q=%2f&b=a+b&&=x%zz&j={[1|2]}^`'",
            "/v1/files?",
            "/v1/files?a?b#c",
            "/v1/" + "f" * 6_000,
        ],
    )
    @pytest.mark.parametrize("begins", ["", "http://127.0.0.1:5080"])
    def test_keeps_its_path_unchanged(self, odd: Odd, through: str, begins: str, target: str) -> None:  # X13
        """The path is neither decoded nor normalised, even in an absolute target."""
        odd.answer = OK
        request = f"GET {begins}/proxy/openai{target} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()
        assert answer_to(through, request).startswith(b"HTTP/1.1 200")
        assert odd.arrived.split(b"\r\n")[0] == f"GET {target} HTTP/1.1".encode()

    def test_may_have_long_and_many_headers(self, odd: Odd, through: str) -> None:  # X13
        """Codex sends a header that grows with the user's folders."""
        odd.answer = OK
        long = b"x-codex-turn-metadata: " + b"m" * 20_000
        many = b"".join(b"x-h%d: v\r\n" % i for i in range(120))
        request = b"GET /proxy/openai/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n%s\r\n%s\r\n" % (long, many)
        assert answer_to(through, request).startswith(b"HTTP/1.1 200")
        assert long in odd.arrived
        assert b"x-h119: v" in odd.arrived

    def test_in_another_transfer_encoding_is_refused(self, odd: Odd, through: str) -> None:  # X13
        """Otherwise its body would arrive with another encoding."""
        request = b"POST /proxy/openai/v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        answer = answer_to(through, request + b"transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 501 ")

    def test_of_an_old_client_gets_a_stream_without_chunks(self, odd: Odd, through: str) -> None:  # X13
        """HTTP/1.0 has no chunks, so the end of the connection ends the answer."""
        odd.answer = (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"
        )
        answer = answers_to(through, b"GET /proxy/openai/v1/models HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n")
        assert answer.endswith(b"\r\n\r\nhelloworld")

    def test_that_expects_100_continue_gets_it(self, odd: Odd, through: str) -> None:  # X13
        """The client sends its body after an interim answer, and the provider gets no Expect header."""
        odd.answer = OK
        parts = urlsplit(through)
        head = b"POST /proxy/openai/v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\n"
        with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as client:
            client.sendall(head + b"content-length: 2\r\n\r\n")
            assert client.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(b"{}")
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert odd.arrived.endswith(b"\r\n\r\n{}")
        assert b"expect" not in odd.arrived.lower()

    @pytest.mark.parametrize("extra", [b"origin: http://x\r\n", b"upgrade: websocket\r\n", b""])
    def test_that_is_refused_is_read_to_its_end(self, odd: Odd, through: str, extra: bytes) -> None:  # X13
        """The connection continues with the request after the body of the refused one."""
        odd.answer, odd.arrived = OK, b""
        inner = b"GET /proxy/openai/v1/inner HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        path = b"/proxy/openai/v1/responses" if extra else b"/nothing"
        first = b"POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\n%scontent-length: %d\r\n\r\n%s"
        last = b"GET /proxy/openai/v1/last HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
        answer = answers_to(through, first % (path, extra, len(inner), inner) + last)
        assert answer.count(b"HTTP/1.1 ") == 2
        assert odd.arrived.startswith(b"GET /v1/last ")

    @pytest.mark.parametrize(
        "sent",
        [
            b"cookie: a=1\r\ncookie: b=2\r\n",
            pytest.param(
                b"session_id: a\r\nsession-id: b\r\n",
                marks=pytest.mark.skipif(
                    not has_gunicorn(), reason="Werkzeug does not tell underscores from hyphens"
                ),
            ),
        ],
        ids=["repeated", "underscore"],
    )
    def test_keeps_its_headers(self, odd: Odd, through: str, sent: bytes) -> None:  # X13
        """One sent twice, such as a cookie, is passed on twice, and so is one with an underscore beside a hyphen."""
        odd.answer = OK
        request = b"GET /proxy/openai/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n%s\r\n" % sent
        assert answer_to(through, request).startswith(b"HTTP/1.1 200")
        assert sent in odd.arrived


class TestAnAbandonedCall:
    """A call whose client has left."""

    def test_ends_even_if_the_provider_does_not_read(self) -> None:  # X13
        """A provider that reads no bytes occupies no thread."""
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            provider, call = Provider(f"http://127.0.0.1:{deaf.getsockname()[1]}"), Call()
            ended: list[str] = []

            def send() -> None:
                data = b"y" * 50_000_000
                try:
                    provider.send(call, "POST", "/v1/responses", [], (data,), len(data))
                except ProviderGone as gone:
                    ended.append(str(gone))

            thread = threading.Thread(target=send, daemon=True)
            thread.start()
            until(lambda: call.socket is not None)
            call.end()
            thread.join(60)
            provider.close()
        assert ended
