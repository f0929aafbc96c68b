"""`coppice serve` and `coppice demo`: the dashboard, on this machine only."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from socket import socket
from typing import Any

import click

from webapp.access.tokens import AccessTokens
from webapp.agents import AGENTS
from webapp.commands.options import PathType, db_option, refuse_together, watch_option
from webapp.commands.proxying import proxy_beside
from webapp.commands.terminal import echo
from webapp.config import DEFAULT_PORT, MOST_PROXIES, MOST_WORKERS, Config, is_loopback
from webapp.errors import Invalid
from webapp.proxy.process import DEFAULT_PORT as DEFAULT_PROXY_PORT
from webapp.queue import connected
from webapp.store import Store

Command = Callable[..., Any]

REMOTE = (
    "{host} can be reached from other machines; serve on 127.0.0.1 and use an SSH tunnel, "
    "or make a token with `coppice token`, which every request then needs, and use --allow-remote"
)
TOKENLESS = (
    "other machines will reach this server, and no token was made yet; "
    "make one with `coppice token`, which every request then needs"
)
IN_CLEAR = (
    "{host} is served without TLS: anyone on the network between can read tokens and sessions; "
    "use --tls-cert and --tls-key, or a proxy that has them"
)
QUEUELESS = (
    "{workers} workers would not hear of each other's changes; name a Redis with --queue redis://127.0.0.1:6379/0, "
    "or leave out --workers"
)
ONE_ONLY = "{what} belongs to one worker; leave out --workers, or start `coppice proxy` by itself"
GONE = "{folder} does not exist yet; it is followed once it does"


def listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence."""
    *first, last = words
    return f"{', '.join(first)} and {last}"


SERVE_HELP = f"""Serve the dashboard, and follow your agents' sessions.

The transcripts of {listed(agent.label for agent in AGENTS.values())} are found in their usual places
({listed(agent.variable for agent in AGENTS.values())} are respected) and are only read.
"""


def serving_options(command: Command) -> Command:
    """Add the options that both commands share."""
    for option in (
        click.option("--open", "open_page", is_flag=True, help="Open the page in a browser."),
        click.option(
            "--allow-remote",
            is_flag=True,
            envvar="COPPICE_ALLOW_REMOTE",
            help="Serve on an address that other machines reach (COPPICE_ALLOW_REMOTE); needs a token.",
        ),
        click.option(
            "--allow-host",
            "allowed_hosts",
            multiple=True,
            metavar="NAME",
            help="Answer requests for this host name too; can be repeated.",
        ),
        click.option(
            "--allow-origin",
            "allowed_origins",
            multiple=True,
            metavar="ORIGIN",
            help="Let pages of this origin embed the widget, like https://wiki.example; can be repeated.",
        ),
        click.option(
            "--tls-cert",
            type=PathType(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Serve HTTPS with this certificate chain (PEM).",
        ),
        click.option(
            "--tls-key",
            type=PathType(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="The private key of the certificate, if it is not in the same file.",
        ),
        click.option(
            "--prefix", metavar="PATH", help="The path under which a reverse proxy serves it, like /coppice."
        ),
        click.option(
            "--proxies",
            type=click.IntRange(0, MOST_PROXIES),
            help="How many reverse proxies in front set X-Forwarded-For and -Proto; by default none is trusted.",
        ),
        click.option(
            "--queue",
            metavar="URL",
            help="The Redis by which several workers tell each other of changes, like redis://127.0.0.1:6379/0.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(1, MOST_WORKERS),
            help="How many processes serve, by default one; more need --queue.",
        ),
        click.option(
            "--proxy",
            "proxy_port",
            is_flag=False,
            flag_value=DEFAULT_PROXY_PORT,
            type=click.IntRange(0, 65535),
            metavar="[PORT]",
            help=f"Start `coppice proxy` beside the server, on port {DEFAULT_PROXY_PORT} or another.",
        ),
        click.option("--no-watch", is_flag=True, help="Follow nothing."),
        watch_option,
        db_option,
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            help="The port, by default 5000 or, where that is in use, the next free one. 0 takes any.",
        ),
        click.option("--host", help="The address to listen on, by default 127.0.0.1."),
    ):
        command = option(command)
    return command


@click.command(help=SERVE_HELP)
@serving_options
def serve(**options: Any) -> None:
    """Serve the dashboard, and follow the agents' sessions."""
    run_server(demo=False, **options)


@click.command()
@serving_options
def demo(**options: Any) -> None:
    """Serve the dashboard with a made-up session that grows."""
    run_server(demo=True, **options)


def run_server(
    *,
    demo: bool,
    open_page: bool,
    allow_remote: bool,
    no_watch: bool,
    watch: tuple[Path, ...],
    allowed_hosts: tuple[str, ...],
    allowed_origins: tuple[str, ...],
    proxy_port: int | None,
    **given: Any,
) -> None:
    """Serve until stopped. Invalid options are refused before anything starts."""
    from webapp.serving import server as serving

    refuse_together(("--no-watch", no_watch), ("--watch", watch))
    config = load_checked(
        **given,
        watch=watch or None,
        allowed_hosts=allowed_hosts or None,
        allowed_origins=allowed_origins or None,
        follow=False if no_watch else None,
        demo=demo or None,
        allow_remote=allow_remote,
        with_proxy=proxy_port is not None,
    )
    fingerprint = (
        serving.fingerprint_of(config.tls_cert) if config.tls_cert and proxy_port is not None else None
    )
    # Agents are told the proxy's port, so nothing starts without it; its own process opens it again.
    with serving.listen("127.0.0.1", proxy_port, option="--proxy") if proxy_port else nullcontext():
        listener, url = listening(config)
    if open_page:
        webbrowser.open(url)
    with ExitStack() as beside:

        def start(token: str) -> None:
            if proxy_port is not None:
                beside.enter_context(proxy_beside(proxy_port, url, token, fingerprint))

        serving.run(
            lambda: serving.RunningServer(config, start),
            listener,
            config.tls_cert,
            config.tls_key,
            workers=config.workers,
        )


def listening(config: Config) -> tuple[socket, str]:
    """Return the listening socket and the server's address, which it prints.

    Raises:
        Invalid: the host is not this machine's, or the port is in use.
    """
    from webapp.serving import server as serving

    wanted = DEFAULT_PORT if config.port is None else config.port
    listener = serving.listen(config.host, wanted, others=config.port is None)
    url = serving.url_of(listener, config.host, secure=config.tls_cert is not None) + config.prefix
    port = listener.getsockname()[1]
    if wanted not in (0, port):
        echo(f"Port {wanted} is in use, perhaps by another Coppice; taking {port}.", err=True)
    echo(f"Coppice is at {url} (Ctrl-C ends it)")
    return listener, url


def load_checked(*, allow_remote: bool, with_proxy: bool, **given: Any) -> Config:
    """Return the configuration; warn of followed folders that are not there.

    Raises:
        Invalid: the server cannot run with it.
    """
    from webapp.serving.server import check_certificate

    config = Config.load(**given)
    if not is_loopback(config.host) and not allow_remote:
        raise Invalid(REMOTE.format(host=config.host), "host")
    for folder in config.watch:
        if not folder.is_dir():
            echo(GONE.format(folder=folder), err=True)
    check_workers(config, with_proxy=with_proxy)
    check_token(config)
    check_certificate(config.tls_cert, config.tls_key)
    return config


def check_workers(config: Config, *, with_proxy: bool) -> None:
    """Refuse several workers where they cannot work, and a queue that cannot be reached.

    Raises:
        Invalid: what is missing, and what to do.
    """
    from webapp.serving.server import has_gunicorn

    if config.queue is not None:
        connected(config.queue).close()
    if config.workers == 1:
        return
    if config.queue is None:
        raise Invalid(QUEUELESS.format(workers=config.workers), "queue")
    if config.demo or with_proxy:
        what = "the generated session" if config.demo else "the proxy"
        raise Invalid(ONE_ONLY.format(what=what), "workers")
    if not has_gunicorn():
        raise Invalid(
            "several workers need gunicorn, which does not run here; leave out --workers", "workers"
        )


def check_token(config: Config) -> None:
    """Refuse to serve other machines without a token; warn where they would send it in clear text.

    Raises:
        Invalid: other machines could reach the server, and it asks for no token.
        StoreError: the database cannot be opened.
    """
    with closing(Store(config.database)) as store:
        if not config.is_reachable:
            return
        if not AccessTokens(store, config.token).requires_token():
            raise Invalid(TOKENLESS, "token")
    if config.tls_cert is None and not is_loopback(config.host):
        echo(IN_CLEAR.format(host=config.host), err=True)
