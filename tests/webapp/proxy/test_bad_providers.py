"""Providers that fail: a client gets the same with and without the proxy."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.ports import free_port
from tests.waiting import until
from tests.webapp.proxy.bare_provider import BareProvider
from tests.webapp.proxy.conftest import running_proxy
from webapp.proxy.copy_sender import CopySender
from webapp.proxy.relay import Relay
from webapp.proxy.scripts import Scripts
from webapp.proxy.upstream import POOLED, Provider, ProviderGone
from webapp.serving.capacity import OF_PROXY

EVENT = b"event: ping\ndata: {}\n\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
OK = HEAD + b"content-length: 0\r\n\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
RATE = b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'


def refusal(status: bytes) -> bytes:
    """Return an answer that refuses."""
    head = (
        b"HTTP/1.1 %s\r\nretry-after: 7\r\nrequest-id: req_1\r\ncontent-type: application/json\r\n" % status
    )
    return head + b"content-length: %d\r\n\r\n%s" % (len(RATE), RATE)


ANSWERS = {
    "429": refusal(b"429 Too Many Requests"),
    "529": refusal(b"529 "),
    "dies in a stream": CHUNKED + CHUNK + CHUNK,
    "dies in a chunk": CHUNKED + CHUNK + b"400\r\nhalf",
    "dies in a document": HEAD + b"content-length: 500\r\n\r\n" + EVENT,
    "dies at once": b"",
    "dies in its head": HEAD,
    "rubbish instead of HTTP": b"\x00\x01 no http at all\r\n\r\n",
    "rubbish in the stream": CHUNKED + b"5\r\n\xff\x00\xfe{}\r\n0\r\n\r\n",
    "no length": HEAD + b"connection: close\r\n\r\n" + EVENT + EVENT,
    "a redirect": b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n",
    "compressed": HEAD + b"content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc",
}


class Fails(BareProvider):
    """A provider that answers every request with given bytes and then closes, or waits for ever."""

    def __init__(self) -> None:
        self.hangs, self.gone, self.broken = False, 0, 0
        super().__init__()

    def converse(self, client: socket.socket) -> None:
        """Answer after the end of the request, and count clients that leave."""
        read = b""
        while not read.endswith(b'"end"}'):
            more = client.recv(65_536)
            self.broken += not more and b'"part"' in read
            if not more:
                return
            read += more
            self.arrived = read
        hangs = self.hangs  # of this request: the next test sets another before this thread goes on
        self.send_last(client)
        while hangs and client.recv(1_000):
            pass
        self.gone += hangs


@pytest.fixture(scope="module")
def fails() -> Iterator[Fails]:
    """A provider that fails."""
    made = Fails()
    yield made
    made.close()


@pytest.fixture(scope="module")
def through(fails: Fails, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the same provider behind a proxy whose server is dead."""
    folder: Path = tmp_path_factory.mktemp("bad")
    with running_proxy(fails.url, "http://127.0.0.1:9", folder) as url:
        yield f"{url}/anthropic"


class TestARequest:
    """The body of a request on its way to the provider."""

    def test_is_passed_on_while_it_arrives(self, fails: Fails, through: str) -> None:  # X13
        """The provider gets the beginning before the client sends the end."""
        fails.answer = CHUNKED + CHUNK + b"0\r\n\r\n"
        begins, ends = b'{"part": "' + b"x" * 300_000, b'", "a": "end"}'
        with half_sent(through, begins, len(ends)) as client:
            until(lambda: b"x" * 200_000 in fails.arrived)
            client.sendall(ends)
            assert client.recv(65_536).startswith(b"HTTP/1.1 200")

    def test_that_breaks_off_is_never_completed(self, fails: Fails, through: str) -> None:  # X13
        """If a client leaves in the middle of its body, the connection to the provider ends, too."""
        before = fails.broken
        with half_sent(through, b'{"part": "' + b"x" * 300_000, 50):
            until(lambda: b"x" * 200_000 in fails.arrived)
        until(lambda: fails.broken > before)

    def test_with_an_invalid_chunk_is_refused(self, through: str) -> None:  # X13
        """The client gets the reason."""
        parts = urlsplit(through)
        head = (
            f"POST {parts.path}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as client:
            client.sendall(head.encode() + b"-1\r\n{}\r\n0\r\n\r\n")
            answer = client.recv(65_536)
            while not answer.endswith(b"}"):
                answer += client.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"broke off" in answer


@contextmanager
def half_sent(url: str, begins: bytes, missing: int) -> Iterator[socket.socket]:
    """Yield the connection of a request that lacks some of its bytes."""
    parts = urlsplit(url)
    head = f"POST {parts.path}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: k\r\n"
    head += f"content-length: {len(begins) + missing}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as client:
        client.sendall(head.encode() + begins)
        yield client


def seen(url: str) -> tuple[object, ...]:
    """Return an answer as the client gets it: status, headers, bytes and end."""
    got = b""
    headers = {"accept-encoding": "identity", "x-api-key": "k"}
    try:
        with (
            httpx.Client() as client,
            client.stream("POST", f"{url}/v1/messages", content=b'{"a": "end"}', headers=headers) as answer,
        ):
            ended = "whole"
            try:
                for part in answer.iter_raw():
                    got += part
            except httpx.HTTPError as error:
                ended = type(error).__name__
            ours = ("server", "date", "connection", "transfer-encoding")
            kept = {name: value for name, value in answer.headers.items() if name not in ours}
            return answer.status_code, kept, got, ended
    except httpx.HTTPError as error:
        return (type(error).__mro__[1].__name__,)


class TestAProviderThatFails:
    """Providers that fail in any way."""

    @pytest.mark.parametrize("kind", ANSWERS)
    def test_is_passed_on_unchanged(self, fails: Fails, through: str, kind: str) -> None:  # X13
        """Status, headers, bytes and the end of the connection are those of the provider."""
        fails.answer, fails.hangs = ANSWERS[kind], False
        assert seen(through) == seen(fails.url)

    def test_that_hangs_is_left_with_the_client(self, fails: Fails, through: str) -> None:  # X13
        """The call to a provider that does not answer ends soon after the client leaves."""
        fails.answer, fails.hangs, fails.gone = b"", True, 0
        with httpx.Client(timeout=0.5) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"{through}/v1/messages", content=b'{"a": "end"}')
        until(lambda: fails.gone == 1)

    def test_that_hangs_in_a_stream_has_sent_its_events(self, fails: Fails, through: str) -> None:  # X13
        """Events are passed on as they arrive, not when the stream ends."""
        fails.answer, fails.hangs, fails.gone = CHUNKED + CHUNK, True, 0
        with (
            httpx.Client() as client,
            client.stream("POST", f"{through}/v1/messages", content=b'{"a": "end"}') as answer,
        ):
            assert next(answer.iter_raw()) == EVENT
        until(lambda: fails.gone == 1)

    def test_that_is_unreachable_ends_the_connection(self, tmp_path: Path) -> None:  # X13
        """The proxy invents no answer of an unreachable provider."""
        with running_proxy("http://127.0.0.1:9", "http://127.0.0.1:9", tmp_path) as url:
            assert seen(f"{url}/anthropic") in (("NetworkError",), ("ProtocolError",))

    def test_that_is_unreachable_is_logged_once(
        self,
        fails: Fails,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:  # X13
        """The proxy names the address and what to check, and says when the provider answers again."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path))
        dead = f"http://127.0.0.1:{free_port()}"
        fails.answer, fails.hangs = OK, False
        provider = Provider(dead)
        relay = Relay({"openai": provider}, CopySender("http://127.0.0.1:9", None), Scripts())
        for _ in range(2):
            with pytest.raises(ProviderGone):
                ask(relay)
        [logged] = caplog.messages
        assert logged.startswith(f"{dead} gave no answer: Failed to establish a new connection")
        assert logged.endswith("check the network and its address (`--openai`)")
        caplog.clear()
        provider._root = fails.url
        for _ in range(2):
            ask(relay)
        assert caplog.messages == [f"{dead} answers again"]
        relay.close()


def ask(relay: Relay) -> None:
    """Send a request that the providers of these tests answer."""
    body = b'{"a": "end"}'
    environ = {"REQUEST_METHOD": "POST", "HTTP_HOST": "127.0.0.1", "PATH_INFO": "/proxy/openai/v1/files"}
    environ |= {"CONTENT_LENGTH": str(len(body))}
    list(relay({**environ, "wsgi.input": io.BytesIO(body)}, lambda *_: None))


def test_connections_have_a_place_for_each_call() -> None:  # X13
    """A connection that finds no place after its call is closed with a warning, as if a call had been lost."""
    assert OF_PROXY.threads <= POOLED
