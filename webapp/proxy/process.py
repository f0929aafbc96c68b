"""The process of the proxy: its application and its address."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping

from webapp.proxy.copy_sender import CopySender
from webapp.proxy.relay import Relay
from webapp.proxy.scripts import Scripts
from webapp.proxy.upstream import Provider

DEFAULT_PORT = 5080
# The longest wait for a computing thread. With Python's 0.005, events reached clients 5 ms late.
SWITCH_SECONDS = 0.0005
PROVIDERS = {"openai": "https://api.openai.com", "anthropic": "https://api.anthropic.com"}


class RunningProxy:
    """A proxy that serves requests for providers, given by their addresses, and sends copies to a server.

    The `fingerprint` is that of the server's certificate, for an address that the certificate does not name.
    """

    def __init__(
        self, addresses: Mapping[str, str], server: str, token: str | None, fingerprint: str | None
    ) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        scripts = Scripts()
        os.makedirs(scripts.folder, mode=0o700, exist_ok=True)  # noqa: PTH103  # a string, like all paths of hints
        providers = {name: Provider(address) for name, address in addresses.items()}
        self.wsgi = Relay(providers, CopySender(server, token, fingerprint), scripts)

    def stop_background_work(self) -> None:
        """Do nothing, so that running answers can end."""

    def close(self) -> None:
        """Stop handing over copies, and close all connections."""
        self.wsgi.close()


def address_of(listener: socket.socket) -> str:
    """Return the URL for agents."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/proxy"
