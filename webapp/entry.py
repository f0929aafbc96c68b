"""The start of `coppice`. Commands that agents run many times a minute load only what they need."""

from __future__ import annotations

import sys


def main() -> int:
    """Run one command and return its exit code."""
    from webapp.agents.hook_runtime import run

    arguments = sys.argv[1:]
    if run.is_ours(arguments):
        return run.main(arguments)
    if arguments == ["mcp"]:
        from webapp.commands.mcp_server import serve

        return serve()
    from webapp.commands.cli import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main())
