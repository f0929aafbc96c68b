"""The server that lines are pushed to, and its failures."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import certificate_in
from tests.servers import running_server, serving
from webapp.errors import CoppiceError
from webapp.sending.server import Denied, Rejected, TeamServer, Unreachable


class Answering:
    """A server that gives the same answer to every request."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"{}", dict[str, str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(outer.status)
                for name, value in {**outer.headers, "Content-Length": str(len(outer.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def other() -> Iterator[Answering]:
    """Yield such a server."""
    made = Answering()
    with serving(made.http):
        yield made


def ours(message: str) -> bytes:
    """Return an error as a Coppice server writes it."""
    return json.dumps({"error": {"type": "x", "message": message, "details": []}}).encode()


class TestAnswers:
    """Failed answers, of three kinds."""

    @pytest.mark.parametrize(
        ("status", "body", "kind", "words"),
        [
            (401, ours("this server asks for its token"), Denied, "coppice token --role sender"),
            (403, ours("a viewer's token can look"), Denied, "a viewer's token can look"),
            (404, ours("no such path"), Denied, "older than this one; update it"),
            (404, b"<html>not found</html>", Denied, "is the address right"),
            (405, b"", Denied, "is the address right"),
            (413, b"<html>nginx</html>", Denied, "client_max_body_size"),
            (301, b"", Denied, "leads elsewhere (301), to https://new.example/"),
            (413, ours("the body is too large"), Rejected, "too large"),
            (400, ours("unknown field of a record: x; the sender may be newer"), Rejected, "may be newer"),
            (409, ours("session x came from elsewhere"), Rejected, "elsewhere"),
            (429, ours("try again in 9 s"), Unreachable, "try again in 9 s"),
            (502, b"<html>bad gateway</html>", Unreachable, "answers 502"),
            (503, ours("the database is busy"), Unreachable, "busy"),
            (500, b"", Unreachable, "no JSON of ours"),
            (200, b"<html>a captive portal</html>", Unreachable, "no JSON of ours"),
        ],
    )
    def test_say_what_to_do(
        self, other: Answering, status: int, body: bytes, kind: type[CoppiceError], words: str
    ) -> None:
        """The text of a Coppice server is passed on."""
        other.status, other.body = status, body
        other.headers = {"Location": "https://new.example/"} if status == 301 else {}
        with pytest.raises(kind) as raised:
            TeamServer(other.url, "coppice_x").push(b"{}")
        assert words in str(raised.value)

    @pytest.mark.parametrize(
        "body",
        [
            b"{}",
            b'{"state": "ok"}',
            b'{"state": ["taken"]}',
            b'{"positions": [{"key": ["a"], "position": {}}]}',
            b'{"state": "behind", "position": null}',
            b'{"positions": null}',
            b'{"positions": [1]}',
            b'{"positions": [{"key": "x"}]}',
            b'{"positions": [{"key": "not asked for", "position": {}}]}',
            b'{"positions": [{"key": "a", "position": 5}]}',
        ],
    )
    def test_of_another_program_acknowledge_nothing(self, other: Answering, body: bytes) -> None:
        """The backlog is deleted only when a server of ours has taken it."""
        other.body = body
        server = TeamServer(other.url, "coppice_x")
        with pytest.raises(Unreachable, match="answers 200, and no JSON of ours"):
            server.push(b"{}")
        with pytest.raises(Unreachable, match="answers 200, and no JSON of ours"):
            server.differing({}, {"a": "digest"})

    def test_missing_mean_an_unreachable_server(self) -> None:
        """The error names the address and the reason."""
        said = r"^http://127\.0\.0\.1:9 does not answer: Failed to establish a new connection: .*refused$"
        with pytest.raises(Unreachable, match=said):
            TeamServer("http://127.0.0.1:9", None).push(b"{}")

    def test_of_an_untrusted_certificate_say_how_to_trust_it(self, tmp_path: Path) -> None:
        """Nothing is sent to a server whose certificate is not valid."""
        cert, key = certificate_in(tmp_path, "127.0.0.1")
        made = Answering()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        made.http.socket = context.wrap_socket(made.http.socket, server_side=True)
        with serving(made.http), pytest.raises(Denied, match="SSL_CERT_FILE"):
            TeamServer(made.url.replace("http:", "https:"), "coppice_x").push(b"{}")


class TestPositions:
    """The positions compared at the start."""

    def test_are_requested_in_parts(self, tmp_path: Path) -> None:
        """A machine may have thousands of transcripts."""
        with running_server(tmp_path) as team:
            files = {f"/home/ada/{n}.jsonl": "a digest" for n in range(1_201)}
            found = TeamServer(team.url, None).differing({"host": "laptop", "user": "ada"}, files)
        assert found == {key: {} for key in files}
