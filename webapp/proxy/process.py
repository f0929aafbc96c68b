"""The process of the proxy: its address, its limits, and its end."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.proxy.handover import Handover
from webapp.proxy.relay import Relay
from webapp.proxy.scripts import Scripts
from webapp.proxy.upstream import Provider

DEFAULT_PORT = 5080
# An event waits for a thread that computes up to this long, Python's own 0.005 otherwise. It came 5 ms late then.
SWITCH_SECONDS = 0.0005
PROVIDERS = {"openai": "https://api.openai.com", "anthropic": "https://api.anthropic.com"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options of a proxy: providers' addresses by name, the server that gets copies, and its token."""

    providers: Mapping[str, str]
    server: str | None
    token: str | None = None


class RunningProxy:
    """A proxy that serves requests."""

    def __init__(self, chosen: Chosen) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        scripts = Scripts()
        os.makedirs(scripts.folder, mode=0o700, exist_ok=True)  # noqa: PTH103  # a name, as all of the hints
        providers = {name: Provider(address) for name, address in chosen.providers.items()}
        self.relay = Relay(providers, Handover(chosen.server, chosen.token), scripts)
        self.wsgi = self.relay

    def let_go(self) -> None:
        """Do nothing: answers under way may end."""

    def close(self) -> None:
        """Stop handing over, and close the connections."""
        self.relay.close()


def address_of(listener: socket.socket) -> str:
    """Return the address at which agents reach the proxy."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/proxy"
