"""The command line. A failure is one line on stderr that says what, where and what to do.

Exit codes: 0 done, 1 the work failed or found faults, 2 bad arguments or unreadable input. Commands are in
`webapp.commands`, one file each; they are loaded when they are named, so that `coppice --help` is quick.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from contextlib import suppress
from pkgutil import resolve_name
from typing import Any

import click

from scoring.errors import ScoringError
from webapp.commands.terminal import echo, log_safely, name_stdout, print_all_characters
from webapp.errors import CoppiceError, Invalid, Malformed, NotFound

FAILED, UNUSABLE = 1, 2
# Errors of a disk that is full or broken, or of a limit on the size of files; the arguments are right.
DISK_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

# Command -> module in webapp.commands and function; the order is that of the help.
COMMANDS = {
    "serve": "serve:serve",
    "demo": "serve:demo",
    "proxy": "proxying:proxy",
    "follow": "following:follow",
    "import": "importing:import_files",
    "sessions": "sessions:sessions",
    "context": "sessions:context",
    "prune": "pruning:prune",
    "export": "exporting:export",
    "resume": "resuming:resume",
    "hooks": "hooking:hooks",
    "hook": "hooking:hook",
    "statusline": "hooking:statusline",
    "mcp": "hooking:mcp",
    "suggest-weights": "suggesting:suggest_weights",
    "verify": "verifying:verify",
    "token": "tokens:token",
    "copy": "copying:copy",
    "retention": "retention:retention",
    "backup": "backups:backup",
    "restore": "backups:restore",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return the names of the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = resolve_name(f"webapp.commands.{COMMANDS[cmd_name]}")
        return found


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="coppice", prog_name="coppice", message="%(prog)s %(version)s")
def commands() -> None:
    """See how full each agent session's context window is, and cut it back.

    Nothing is lost: everything that a prune removes can be restored.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    print_all_characters()
    name_stdout()
    log_safely()
    try:
        answer: Any = commands.main(args=arguments, prog_name="coppice", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        return UNUSABLE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "coppice"
        return complain(
            f"{lower_first(error.format_message()).rstrip('.')}; see `{command} --help`", UNUSABLE
        )
    except click.ClickException as error:
        return complain(error.format_message(), UNUSABLE)
    except (click.Abort, KeyboardInterrupt):
        return complain("stopped", FAILED)
    except BrokenPipeError:  # the reader of our output, for example `head`, has closed it
        sys.stderr.close()
        return FAILED
    except (CoppiceError, ScoringError) as error:
        return complain(str(error) + next_step(error), code_of(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        code = FAILED if error.errno in DISK_FAILS else UNUSABLE
        return complain(f"{where}{lower_first(error.strerror or str(error))}", code)
    return answer if isinstance(answer, int) else 0


def code_of(error: Exception) -> int:
    """Return the exit code of an error: 2 for input that cannot be used, 1 for work that failed."""
    return UNUSABLE if isinstance(error, Invalid | Malformed | NotFound | ScoringError) else FAILED


def next_step(error: Exception) -> str:
    """Return where the names are listed that an error asks for; "" for other errors."""
    if isinstance(error, NotFound) and error.kind == "session":
        return "; `coppice sessions` lists their ids"
    return ""


def complain(message: str, code: int) -> int:
    """Write one line to stderr, if that is possible, and return the code."""
    with suppress(OSError):
        echo("coppice: " + " ".join(message.split()), err=True)
    return code


def lower_first(text: str) -> str:
    """Return the text with a small first letter, as our messages are written."""
    return text[:1].lower() + text[1:]
