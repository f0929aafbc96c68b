"""`coppice serve` and `coppice demo`: the dashboard, on this machine only."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from webapp.agents import AGENTS
from webapp.commands.common import db_option
from webapp.config import Config
from webapp.errors import Invalid
from webapp.store import Store

Command = Callable[..., Any]

REMOTE = (
    "{host} can be reached from other machines; serve on 127.0.0.1 and use an SSH tunnel, "
    "or use --allow-remote and set COPPICE_TOKEN, which every request then needs"
)
GONE = "{folder} does not exist yet; it is followed once it does"


def listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence."""
    *first, last = words
    return f"{', '.join(first)} and {last}"


SERVE_HELP = f"""Serve the dashboard, and follow the sessions of your agents.

The transcripts of {listed(agent.label for agent in AGENTS.values())} are found in their usual places
({listed(agent.variable for agent in AGENTS.values())} are respected) and only ever read.
"""


def serving_options(command: Command) -> Command:
    """Add the options that both commands share."""
    for option in (
        click.option("--open", "open_page", is_flag=True, help="Open the page in a browser."),
        click.option(
            "--allow-remote",
            is_flag=True,
            envvar="COPPICE_ALLOW_REMOTE",
            help="Serve on an address that other machines reach (COPPICE_ALLOW_REMOTE); needs COPPICE_TOKEN.",
        ),
        click.option(
            "--allow-host",
            "allowed_hosts",
            multiple=True,
            metavar="NAME",
            help="Answer requests for this host name too; can be repeated.",
        ),
        click.option("--no-watch", is_flag=True, help="Follow nothing."),
        click.option(
            "--watch",
            multiple=True,
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            help="Follow the transcripts in this folder too; can be repeated.",
        ),
        db_option,
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            help="The port, by default 5000; where it is in use, the next free one. 0 takes any.",
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
    """Serve the dashboard with a generated session that grows live."""
    run_server(demo=True, **options)


def run_server(
    *,
    demo: bool,
    open_page: bool,
    allow_remote: bool,
    no_watch: bool,
    watch: tuple[Path, ...],
    allowed_hosts: tuple[str, ...],
    **given: Any,
) -> None:
    """Serve until stopped. Invalid options are refused before anything starts."""
    from webapp.serving import server as serving

    config = Config.load(
        **given,
        watch=watch or None,
        allowed_hosts=allowed_hosts or None,
        follow=False if no_watch else None,
        demo=demo or None,
    )
    if not serving.is_loopback(config.host) and not (allow_remote and config.token):
        raise Invalid(REMOTE.format(host=config.host), "host")
    for folder in config.watch:
        if not folder.is_dir():
            click.echo(GONE.format(folder=folder), err=True)
    Store(config.database).close()
    listener = serving.listen(config.host, config.port)
    url = serving.url_of(listener, config.host)
    port = listener.getsockname()[1]
    if config.port not in (0, port):
        click.echo(f"Port {config.port} is in use; taking {port}.", err=True)
    click.echo(f"Coppice is at {url} (Ctrl-C ends it)")
    if open_page:
        webbrowser.open(url)
    serving.run(lambda: serving.Running(config), listener)


COMMANDS = {"serve": serve, "demo": demo}
