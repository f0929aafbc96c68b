"""`coppice follow --to`: pushes the transcripts of this machine to a server on another one."""

from __future__ import annotations

import getpass
import hashlib
import logging
import platform
import signal
import threading
from contextlib import suppress
from pathlib import Path

import click

from webapp.commands.options import PathType, server_address, watch_option
from webapp.commands.terminal import echo
from webapp.config import Config, default_folder
from webapp.sending.backlog import Backlog
from webapp.sending.sender import Sender, SentFiles
from webapp.sending.server import TeamServer, Unreachable
from webapp.watcher import Watcher

BACKLOG_MIB = 1024


@click.command()
@click.option(
    "--to", "address", required=True, metavar="URL", help="The server, like https://coppice.example."
)
@watch_option
@click.option(
    "--host",
    default=platform.node,
    metavar="NAME",
    help="This machine's name on the server, by default its own.",
)
@click.option(
    "--backlog",
    "folder",
    type=PathType(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where lines wait while the server is away, by default in the user's data folder.",
)
@click.option(
    "--backlog-limit",
    "limit",
    type=click.IntRange(1),
    default=BACKLOG_MIB,
    show_default=True,
    metavar="MIB",
    help="Reading pauses while more than that waits.",
)
def follow(address: str, watch: tuple[Path, ...], host: str, folder: Path | None, limit: int) -> None:
    """Send the sessions of this machine's agents to a server.

    It needs a token of that server in COPPICE_TOKEN, from `coppice token --role sender` there. While the server is
    away, lines wait on disk, and nothing is lost or doubled. Transcripts are only read.
    """
    address = server_address(address, "--to")
    logging.getLogger("coppice").setLevel(logging.INFO)
    config = Config.load(watch=watch or None)
    folder = folder or default_folder() / "follow" / hashlib.sha256(address.encode()).hexdigest()[:16]
    who = {"host": host or platform.node() or "unknown", "user": login_name()}
    redactor = None
    if config.redact:
        from webapp.redaction import redactor as made

        redactor = made()
    backlog = Backlog(folder)
    try:
        files = SentFiles(backlog, who, config.watch, config.environment, redactor, limit << 20)
        watcher = Watcher(files)
        sender = Sender(TeamServer(address, config.token), backlog, files, who, watcher.reread)
        with suppress(Unreachable):  # the sender says so, and tries again
            sender.compare()
        echo(f"Sending the sessions of {who['host']} to {address} (Ctrl-C ends it)")
        run_until_stopped(watcher, sender)
    finally:
        backlog.close()


def login_name() -> str:
    """Return the user's name on this machine; a container's user may have none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def run_until_stopped(watcher: Watcher, sender: Sender) -> None:
    """Follow and send until Ctrl-C or SIGTERM."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    watcher.start()
    sender.start()
    while not ended.wait(1.0):
        pass
    sender.stop()
    watcher.stop()
