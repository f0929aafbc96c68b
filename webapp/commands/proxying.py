"""`coppice proxy`: a process between agents and their providers, which `coppice serve --proxy` starts beside itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from webapp.agents.hook_runtime import hints
from webapp.commands.options import refuse_together, server_address
from webapp.commands.terminal import echo
from webapp.errors import Invalid
from webapp.proxy.process import DEFAULT_PORT, PROVIDERS, RunningProxy, address_of

Command = Callable[..., Any]

STOPPED = "Nothing is pruned by the proxy until `coppice proxy --allow-pruning`."
ALLOWED = "The proxy prunes the sessions that are switched on."


def provider_options(command: Command) -> Command:
    """Add the options that name the providers."""
    for name, address in PROVIDERS.items():
        command = click.option(
            f"--{name}",
            metavar="URL",
            default=address,
            show_default=True,
            envvar=f"COPPICE_PROXY_{name.upper()}",
            help=f"The address behind /proxy/{name}.",
        )(command)
    return command


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="The port."
)
@provider_options
@click.option(
    "--server",
    metavar="URL",
    default="http://127.0.0.1:5000",
    show_default=True,
    help="The server that gets a copy of each call; COPPICE_TOKEN is its token, where it asks for one.",
)
@click.option("--stop-pruning", "stops", is_flag=True, help="Stop pruning in all proxies, and exit.")
@click.option("--allow-pruning", "allows", is_flag=True, help="Allow pruning again, and exit.")
@click.option("--beside", is_flag=True, hidden=True, help="End once standard input does, as a server's pipe.")
@click.option(
    "--fingerprint", hidden=True, help="The SHA-256 of the server's certificate, which has another name."
)
def proxy(
    port: int,
    server: str,
    *,
    stops: bool,
    allows: bool,
    beside: bool,
    fingerprint: str | None,
    **addresses: str,
) -> None:
    """Pass agents' calls on, and show them as sessions.

    The calls go to OpenAI and Anthropic. It only observes, except for sessions with pruning switched on (on the
    session's page): their calls are sent pruned. It listens on this machine only.
    """
    from webapp.serving import server as serving

    refuse_together(("--stop-pruning", stops), ("--allow-pruning", allows))
    if stops or allows:
        switch_pruning(on=not stops)
        echo(STOPPED if stops else ALLOWED)
        return
    check_providers(addresses)
    server = server_address(server, "--server")
    listener = serving.listen("127.0.0.1", port, option="--proxy" if beside else "--port")
    if beside:
        threading.Thread(target=end_with_input, name="parent", daemon=True).start()
    token = os.environ.get("COPPICE_TOKEN")
    echo(
        f"The proxy is at {address_of(listener)}/openai/v1 and {address_of(listener)}/anthropic (Ctrl-C ends it)"
    )
    serving.run(lambda: RunningProxy(addresses, server, token, fingerprint), listener, proxies=True)


def check_providers(addresses: Mapping[str, str]) -> None:
    """Check the addresses of providers. Raises Invalid for one that cannot be used."""
    from webapp.proxy.upstream import Provider

    for name, address in addresses.items():
        try:
            Provider(address)
        except ValueError as error:
            raise Invalid(f"bad value for --{name}: {error}", name) from error


def switch_pruning(*, on: bool) -> None:
    """Allow or stop pruning for all proxies, running ones and those that start later."""
    folder = Path(hints.proxy_folder())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = folder / hints.KILLED
    if on:
        mark.unlink(missing_ok=True)
    else:
        mark.touch(mode=0o600)


def end_with_input() -> None:
    """End this process as Ctrl-C does once nobody holds the other end of its standard input.

    The system closes that end with the process that holds it, however it dies.
    """
    while os.read(0, 4_096):
        pass
    signal.raise_signal(signal.SIGTERM)


@contextmanager
def proxy_beside(port: int, server: str, token: str, fingerprint: str | None = None) -> Iterator[None]:
    """Run a proxy in a separate process while the block runs; `token` is its token for the server.

    `fingerprint` is that of the server's certificate: it names the server that others reach, not this machine.
    """
    command = [sys.executable, "-m", "webapp", "proxy", "--beside", "--port", str(port), "--server", server]
    if fingerprint is not None:
        command += ["--fingerprint", fingerprint]
    environment = {**os.environ, "COPPICE_TOKEN": token}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603  # our own command
    try:
        yield
    finally:
        process.terminate()
