"""Fixtures: a strict provider, a server, and a proxy between them in a separate process, like `coppice proxy`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port
from tests.reach.upstream import Upstream, strict_upstream
from tests.servers import Server, running_server
from tests.waiting import PATIENCE, until
from webapp.agents.hook_runtime import hints


@dataclass
class Way:
    """The provider, server and proxy of a test."""

    provider: Upstream
    server: Server
    url: str

    @property
    def anthropic(self) -> str:
        """Return the address for Anthropic's SDK."""
        return f"{self.url}/anthropic"

    @property
    def openai(self) -> str:
        """Return the address for OpenAI's SDK."""
        return f"{self.url}/openai/v1"

    def sessions(self) -> list[str]:
        """Return the ids of the sessions in the store."""
        return [row.id for row in self.server.app.store.sessions.all()]


@contextmanager
def running_proxy(provider: str, server: str, folder: Path) -> Iterator[str]:
    """Yield the address of a proxy in front of a provider, once it answers; it sends copies to a server."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/proxy"
    command = [sys.executable, "-m", "webapp", "proxy", "--port", str(port), "--server", server]
    command += ["--anthropic", provider, "--openai", provider]
    environment = {**os.environ, "COPPICE_HINTS": str(folder / "hints")}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        until(lambda: answers(url) or process.poll() is not None)
        assert process.poll() is None, "the proxy ended"
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


def answers(url: str) -> bool:
    """Return whether a proxy answers a request. It takes connections before it has its folder of scripts."""
    try:
        return httpx.get(url, timeout=PATIENCE).is_client_error
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Provider, server and proxy, shared by the tests of a module."""
    folder = tmp_path_factory.mktemp("proxy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COPPICE_HINTS", str(folder / "hints"))
        assert hints.proxy_folder().startswith(str(folder))
        with (
            strict_upstream() as provider,
            running_server(folder, tokenizer=False) as server,
            running_proxy(provider.url, server.url, folder) as url,
        ):
            yield Way(provider, server, url)
