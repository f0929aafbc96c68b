"""Clients that leave before the connection of their answer has ended (X13)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from typing import Any

import pytest

from tests.webapp.proxy.bare_provider import BareProvider
from tests.webapp.proxy.kept_copies import Kept
from webapp.proxy.relay import Relay
from webapp.proxy.scripts import Scripts
from webapp.proxy.upstream import Provider

BODY = b'{"messages": [{"role": "user", "content": "Hello"}]}'
LAST = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Open(BareProvider):
    """A provider that sends the last event of an answer and leaves the connection open."""

    def converse(self, client: socket.socket) -> None:
        """Answer a request."""
        while not self.arrived.endswith(BODY):
            self.arrived += client.recv(65_536)
        client.sendall(HEAD + b"%x\r\n%s\r\n" % (len(LAST), LAST))
        client.recv(1)


@pytest.fixture
def provider() -> Iterator[Open]:
    """The provider."""
    made = Open()
    yield made
    made.close()


def asked(relay: Relay) -> Iterator[bytes]:
    """Return the answer to a call."""
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST", "HTTP_HOST": "127.0.0.1", "PATH_INFO": "/proxy/anthropic/v1/messages",
        "CONTENT_LENGTH": str(len(BODY)), "wsgi.input": BytesIO(BODY),
    }  # fmt: skip
    return iter(relay(environ, lambda *_: None))


class TestAClientThatLeavesAtTheLastEvent:
    """The provider's connection ends later than the answer."""

    def test_has_its_answer_copied(self, provider: Open) -> None:  # X13
        """The server that writes to the client ends the answer at the event that could not be written."""
        kept = Kept()
        with closing(Relay({"anthropic": Provider(provider.url)}, kept, Scripts())) as relay:  # type: ignore[arg-type]
            answer: Any = asked(relay)
            assert [next(answer), next(answer)] == [b"", LAST]
            answer.close()
        assert [copy.answer for copy in kept.copies] == [LAST.decode()]
