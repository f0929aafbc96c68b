"""`coppice serve` as a user starts it: a process of its own, under gunicorn, which ends when it is told to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import socketio

from tests.shared import ROOT
from webapp.serving.server import has_gunicorn, listen

pytestmark = pytest.mark.skipif(not has_gunicorn(), reason="gunicorn does not run on this system")

START_SECONDS = 20
END_SECONDS = 10


@contextmanager
def started(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`coppice serve` as a process of its own, and the address it printed."""
    command = [
        sys.executable,
        "-m",
        "webapp",
        "serve",
        "--no-watch",
        "--db",
        str(tmp_path / "c.db"),
        *options,
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, process.stderr.read() if process.stderr else ""
        yield process, line.split(" at ")[1].split()[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(url: str) -> httpx.Response:
    """The first answer."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return httpx.get(url + "/healthz")
        except httpx.HTTPError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


class TestTheCommand:
    """`coppice serve`, under gunicorn."""

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
    def test_ends_when_told_to_with_pages_open(self, tmp_path: Path, name: str) -> None:
        """Without a word, though a websocket and a long poll are held."""
        with started(tmp_path, "--port", "0") as (process, url):
            assert wait_for(url).json() == {"status": "ok"}
            pages = [socketio.Client(reconnection=False) for _ in range(2)]
            for page, transport in zip(pages, ("websocket", "polling"), strict=True):
                page.connect(url, transports=[transport])
                page.call("subscribe", {"room": "overview"})
            process.send_signal(getattr(signal, name))
            assert process.wait(END_SECONDS) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""
            for page in pages:
                page.disconnect()

    def test_takes_the_next_port_and_says_so(self, tmp_path: Path) -> None:
        """When the wanted one is in use."""
        with listen("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            with started(tmp_path, "--port", str(port)) as (_, url):
                assert url != f"http://127.0.0.1:{port}"
                assert wait_for(url).status_code == 200

    def test_gives_no_warning_and_no_log_of_requests(self, tmp_path: Path) -> None:
        """What it prints is its address."""
        with started(tmp_path, "--port", "0") as (process, url):
            wait_for(url)
            httpx.get(url)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=END_SECONDS)
            assert (out, err) == ("", "")

    def test_serves_more_pages_than_ten_at_once(self, tmp_path: Path) -> None:
        """Each open page holds a thread, and requests are answered beside them."""
        with started(tmp_path, "--port", "0") as (_, url):
            wait_for(url)
            pages = [socketio.Client(reconnection=False) for _ in range(12)]
            for page in pages:
                page.connect(url, transports=["websocket"])
            assert httpx.get(url + "/api/sessions").status_code == 200
            for page in pages:
                page.disconnect()

    def test_outlives_a_client_that_says_nothing(self, tmp_path: Path) -> None:
        """A connection without a request takes nothing from the others."""
        with started(tmp_path, "--port", "0") as (_, url):
            wait_for(url)
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            silent = [socket.create_connection(address) for _ in range(20)]
            assert httpx.get(url + "/api/sessions").status_code == 200
            for one in silent:
                one.close()
