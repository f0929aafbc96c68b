"""Serving: ports, hosts, and the server of tests."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import threading
from pathlib import Path

import httpx
import pytest

from scoring.tokens import TokenCounter
from tests.servers import Server, running_server
from tests.waiting import PATIENCE
from tests.webapp.live.raw import read_until
from webapp.config import is_loopback
from webapp.errors import Invalid
from webapp.serving.server import has_gunicorn, listen, tune_interpreter, url_of
from webapp.tokenizers import Tokenizers


class TestTheInterpreter:
    """Settings of Python, made once when the server starts."""

    def test_lets_threads_take_turns_often(self) -> None:
        """A broadcast waits for several turns while another thread computes."""
        before = sys.getswitchinterval(), gc.get_threshold()
        try:
            tune_interpreter()
            assert sys.getswitchinterval() == pytest.approx(0.001)
        finally:
            sys.setswitchinterval(before[0])
            gc.set_threshold(*before[1])


class TestPorts:
    """Ports: a named one is required, and the default may change."""

    def test_in_use_and_named_is_refused(self) -> None:
        """Programs would otherwise connect to the other server on that port."""
        with listen("127.0.0.1", 0) as taken, pytest.raises(Invalid, match="in use"):
            listen("127.0.0.1", taken.getsockname()[1])

    def test_in_use_gives_the_next_free_one(self) -> None:
        """The next free port is used."""
        with listen("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            with listen("127.0.0.1", port, others=True) as other:
                assert port < other.getsockname()[1] <= port + 50

    def test_are_part_of_the_printed_address(self) -> None:
        """The address can be opened in a browser; IPv6 is in brackets."""
        with listen("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            assert url_of(listener, "127.0.0.1") == f"http://127.0.0.1:{port}"
            assert url_of(listener, "::1") == f"http://[::1]:{port}"

    def test_on_an_address_of_another_machine_are_refused(self) -> None:
        """The error has the address and the reason."""
        with pytest.raises(Invalid, match=r"192\.0\.2\.1"):
            listen("192.0.2.1", 0)


class TestHosts:
    """Addresses that are reachable from this machine only."""

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
    def test_of_loopback_are_recognised(self, host: str) -> None:
        """They are addresses, or the name localhost."""
        assert is_loopback(host)

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "box.local", ""])
    def test_of_other_machines_are_not(self, host: str) -> None:
        """The wildcard address is not loopback."""
        assert not is_loopback(host)


class TestWerkzeug:
    """The server of tests, and of systems without gunicorn."""

    def test_keeps_a_connection(self, live_server: Server) -> None:
        """Several requests use one connection."""
        with httpx.Client(base_url=live_server.url, timeout=PATIENCE) as client:
            assert [client.get("/healthz").status_code for _ in range(3)] == [200] * 3
            assert client.get("/healthz").http_version == "HTTP/1.1"

    @pytest.mark.parametrize(
        ("sent", "status", "kind"),
        [
            (f"GET /api/sessions?q={'a' * 70_000} HTTP/1.1\r\n\r\n", 414, "too_long"),
            ("GET /api/sessions HTTP/1.1\r\n" + "X: a\r\n" * 1_001 + "\r\n", 431, "too_large"),
            ("GET /api/sessions HTTP/9.1\r\n\r\n", 505, "malformed"),
            ("nothing\r\n\r\n", 400, "malformed"),
        ],
    )
    def test_answers_an_unreadable_request_in_json(
        self, live_server: Server, sent: str, status: int, kind: str
    ) -> None:  # X1
        """It answers like gunicorn's worker."""
        url = httpx.URL(live_server.url)
        with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
            connection.sendall(sent.encode())
            head, _, body = read_until(connection, b"}}").partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ".encode())
        assert json.loads(body)["error"]["type"] == kind

    def test_leaves_its_port_when_it_ends(self, tmp_path: Path) -> None:
        """Nobody waits for an answer of a server that ended, and another one can listen there."""
        with running_server(tmp_path) as server:
            port = int(server.url.rpartition(":")[2])
        listen("127.0.0.1", port).close()

    def test_ends_idle_connections_when_it_ends(self, tmp_path: Path) -> None:
        """A browser connects ahead; its request must not wait for a server that is closed."""
        with running_server(tmp_path) as server:
            url = httpx.URL(server.url)
            idle = socket.create_connection((url.host, url.port), timeout=PATIENCE)
            httpx.get(f"{server.url}/healthz")  # once it is answered, the connection before it was accepted
        with idle:
            assert idle.recv(1) == b""

    def test_is_used_on_systems_without_fork(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Windows has no fork."""
        monkeypatch.setattr(os, "name", "nt")
        assert not has_gunicorn()


class TestTheTokenizer:
    """The counter of tokens, which takes a while to load."""

    def test_is_loaded_at_the_start_without_delaying_requests(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is loaded before the first append, and other requests are answered meanwhile."""
        begun, goes_on = threading.Event(), threading.Event()
        load = Tokenizers._load  # the slow step

        def slowly(self: Tokenizers, name: str) -> TokenCounter:
            begun.set()
            goes_on.wait(PATIENCE)
            return load(self, name)

        monkeypatch.setattr(Tokenizers, "_load", slowly)
        with running_server(tmp_path) as server:
            try:
                assert begun.wait(PATIENCE)
                assert httpx.get(f"{server.url}/healthz").status_code == 200
            finally:
                goes_on.set()
