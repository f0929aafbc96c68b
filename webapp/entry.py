"""The start of `coppice`. Commands that agents run many times a minute load only what they need."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress


def main() -> int:
    """Run one command and return its exit code."""
    open_closed_streams()
    try:
        return run_command()
    except KeyboardInterrupt:  # while modules are loaded; `cli.main` handles a later one
        with suppress(OSError):
            sys.stderr.write("coppice: stopped\n")
        return 1
    finally:
        close_broken_streams()


def run_command() -> int:
    """Run the command of the arguments and return its exit code."""
    from webapp.agents.hook_runtime import run

    arguments = sys.argv[1:]
    if run.is_ours(arguments):
        return run.main(arguments)
    # Modules make many objects that live until the end. With Python's thresholds the collector visited them 170 times,
    # a tenth of what a short command takes. Servers set their own afterwards.
    gc.set_threshold(50_000, 10, 10)
    if arguments == ["mcp"]:
        from webapp.commands.mcp_server import serve

        return serve()
    from webapp.commands.cli import main as command

    return command(arguments)


def open_closed_streams() -> None:
    """Open the standard streams that the caller closed on the null device.

    Otherwise the next file to be opened, such as the database, would get the number of one, and be written to as it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest free number
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # open until the end
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def close_broken_streams() -> None:
    """Close the output streams that cannot be written; Python would try again at the end, and exit with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError):
                stream.close()


if __name__ == "__main__":
    sys.exit(main())
