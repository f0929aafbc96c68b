"""`coppice serve` as a user starts it: a process of its own, under gunicorn, stopped by a signal."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import socketio

from tests.shared import ROOT
from tests.waiting import PATIENCE, until
from webapp.serving.server import has_gunicorn, listen

pytestmark = pytest.mark.skipif(not has_gunicorn(), reason="gunicorn does not run on this system")


@contextmanager
def started(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `coppice serve` as a process of its own; yield it and the address it printed, once it answers."""
    command = [sys.executable, "-m", "webapp", "serve", "--no-watch", "--db", str(folder / "c.db"), *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, process.stderr.read() if process.stderr else ""
        url = line.split(" at ")[1].split()[0]
        until(lambda: answers(url))
        yield process, url
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def answers(url: str) -> bool:
    """Return whether the server says that it is well."""
    try:
        return bool(httpx.get(url + "/healthz", timeout=PATIENCE).json() == {"status": "ok"})
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """A server whose wanted port was in use: that port, and the address it printed."""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with started(tmp_path_factory.mktemp("served"), "--port", str(port)) as (_, url):
            yield port, url


class TestTheCommand:
    """`coppice serve`, under gunicorn."""

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
    def test_ends_when_told_to_with_pages_open(self, tmp_path: Path, name: str) -> None:
        """Without a word about it or about a request, though a websocket and a long poll are held."""
        with started(tmp_path, "--port", "0") as (process, url):
            pages = [socketio.Client(reconnection=False) for _ in range(2)]
            for page, transport in zip(pages, ("websocket", "polling"), strict=True):
                page.connect(url, transports=[transport], wait_timeout=PATIENCE)
                page.call("subscribe", {"room": "overview"})
            process.send_signal(getattr(signal, name))
            assert process.communicate(timeout=PATIENCE) == ("", "")
            assert process.returncode == 0
            for page in pages:
                page.disconnect()

    def test_takes_the_next_port_and_says_so(self, served: tuple[int, str]) -> None:
        """With the wanted port in use."""
        port, url = served
        assert url != f"http://127.0.0.1:{port}"

    def test_serves_more_pages_than_ten_at_once(self, served: tuple[int, str]) -> None:
        """Each open page holds a thread, and requests are answered beside them."""
        _, url = served
        pages = [socketio.Client(reconnection=False) for _ in range(12)]
        for page in pages:
            page.connect(url, transports=["websocket"], wait_timeout=PATIENCE)
        assert httpx.get(url + "/api/sessions", timeout=PATIENCE).status_code == 200
        for page in pages:
            page.disconnect()

    def test_outlives_a_client_that_says_nothing(self, served: tuple[int, str]) -> None:
        """A connection without a request takes nothing from the others."""
        _, url = served
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        silent = [socket.create_connection(address) for _ in range(20)]
        assert httpx.get(url + "/api/sessions", timeout=PATIENCE).status_code == 200
        for one in silent:
            one.close()
