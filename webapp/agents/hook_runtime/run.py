"""The commands that agents start: `coppice hook AGENT` and `coppice statusline`. They always exit with 0."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from webapp.agents.hook_runtime import hints

HOOK, STATUS_LINE = "hook", "statusline"
_WITH_STATUS_LINE = "claude-code"


def is_ours(arguments: Sequence[str]) -> bool:
    """Return whether these arguments name one of the two commands, without options."""
    if len(arguments) == 2 and arguments[0] == HOOK:
        return not arguments[1].startswith("-")
    return list(arguments) == [STATUS_LINE]


def main(arguments: Sequence[str]) -> int:
    """Read the agent's JSON on stdin and write the answer; write nothing if anything fails."""
    try:
        payload = json.loads(sys.stdin.buffer.read())
        if not isinstance(payload, dict):
            return 0
        agent = arguments[1] if arguments[0] == HOOK else _WITH_STATUS_LINE
        module = import_module(f"webapp.agents.hook_runtime.{agent.replace('-', '_')}")
        if arguments[0] == STATUS_LINE:
            hints.create_folder()
        answer = module.hook(payload) if arguments[0] == HOOK else module.status_line(payload)
        if answer:
            sys.stdout.buffer.write(answer.encode(errors="replace") + b"\n")
            sys.stdout.buffer.flush()
    except Exception:
        if os.environ.get("COPPICE_DEBUG"):
            raise
    return 0
