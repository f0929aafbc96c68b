"""`coppice hooks`: additions to an agent's settings; and `hook`, `statusline` and `mcp`, which agents start.

The last three are run by `webapp.entry` before this module is loaded; it only has their help texts.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from webapp.agents import AGENTS
from webapp.agents.hook_runtime import run
from webapp.commands.terminal import echo
from webapp.errors import Conflict, CoppiceError, Invalid
from webapp.services.integrations import agent_config
from webapp.services.integrations.agent_config import Change

agent_option = click.option(
    "--agent",
    type=click.Choice(list(agent_config.integrations())),
    default=next(iter(agent_config.integrations())),
    show_default=True,
)
dry_option = click.option("--dry-run", is_flag=True, help="Only show the change.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


USES = "\n\n".join(
    f"{AGENTS[source].label}: {integration.use}."
    for source, integration in agent_config.integrations().items()
)


@click.group(help=f"Let an agent ask Coppice: install, uninstall, status.\n\n{USES}")
def hooks() -> None:
    """Group the commands below; the help text is made from the table of agents."""


@hooks.command()
@agent_option
@dry_option
@yes_option
def install(agent: str, dry_run: bool, yes: bool) -> None:
    """Add to the agent's own configuration, after showing the change.

    Run it again after an update of Coppice: it replaces what an earlier version added.
    """
    change = agent_config.installing(agent, os.environ, program())
    if _confirm_and_apply(change, dry_run=dry_run, yes=yes, remember=True):
        echo(f"installed in {change.path}; `coppice hooks uninstall --agent {agent}` takes it back", err=True)


@hooks.command()
@agent_option
@dry_option
@yes_option
def uninstall(agent: str, dry_run: bool, yes: bool) -> None:
    """Remove from the agent's configuration what `install` added, and nothing else."""
    change = agent_config.uninstalling(agent, os.environ)
    if _confirm_and_apply(change, dry_run=dry_run, yes=yes, remember=False):
        echo(f"taken out of {change.path}", err=True)
        if AGENTS[agent].edit_key is not None:
            echo(
                "sessions that it pruned are sent whole again; if a provider refuses one for its reasoning, continue"
                " it from a copy: coppice resume SESSION",
                err=True,
            )


@hooks.command()
def status() -> int:
    """Show which hooks of each agent are active, and which have to be installed again."""
    failed = False
    for source in agent_config.integrations():
        try:
            path, parts = agent_config.installed(source, os.environ)
            is_old = bool(parts and agent_config.installing(source, os.environ, program()).diff)
        except CoppiceError as error:  # the other agents are shown all the same
            failed = True
            echo(f"{source}: unknown, {error}")
        else:
            said = ", ".join(parts) if parts else "not installed"
            if is_old:
                said += f", not up to date: run `coppice hooks install --agent {source}`"
            echo(f"{source}: {said} ({path})")
    return int(failed)


@click.command()
@click.argument(
    "agent", type=click.Choice([name for name, one in agent_config.integrations().items() if one.has_hooks])
)
def hook(agent: str) -> int:
    """Answer a hook of an agent: reads its JSON on stdin. The agent runs this itself."""
    return run.main([run.HOOK, agent])


@click.command()
def statusline() -> int:
    """Print one line for an agent's status line.

    It reads the JSON that the agent gives on stdin, and needs no server. In the agent's settings: "statusLine":
    {"type": "command", "command": "coppice statusline"}
    """
    return run.main([run.STATUS_LINE])


NAMING = " or ".join(agent.label for agent in AGENTS.values() if agent.session_variable)
MCP_HELP = f"""Answer an agent over MCP, on stdin and stdout.

Its tools are context_stats, context_search, context_restore and context_pin. They act on the session that the agent
names ({NAMING} does), else on the newest one of the working folder; their argument `session` names another. Add it to
the agent's configuration once, as a stdio server with the command `coppice` and the argument `mcp`.
"""


@click.command(help=MCP_HELP)
def mcp() -> int:
    """Answer an agent over MCP; the help text is made from the table of agents."""
    from webapp.commands.mcp_server import serve

    return serve()


def program() -> str:
    """Return how this program is started, as a word of a shell's command.

    Raises:
        Conflict: it was not started as `coppice`, and is not installed under this name. Our hooks are known by it.
    """
    for one in (sys.argv[0], str(Path(sys.executable).with_name("coppice")), "coppice"):
        if Path(one).stem == "coppice" and (found := shutil.which(one)):
            return shlex.quote(str(Path(found).absolute()))
    raise Conflict("there is no program `coppice`, which the agent could start; install the package")


def _confirm_and_apply(change: Change, *, dry_run: bool, yes: bool, remember: bool) -> bool:
    """Show a change and apply it; return False if nothing is changed.

    Raises:
        Invalid: nobody can be asked.
    """
    if not change.diff:
        echo("nothing to change", err=True)
        return False
    echo(change.diff.rstrip("\n"))
    if dry_run:
        return False
    if not yes:
        if not sys.stdin.isatty():
            raise Invalid("nothing was written: there is no terminal to ask on; give --yes", "yes")
        if not click.confirm("Write this change?", err=True):
            return False
    agent_config.apply(change, remember=remember)
    return True
