"""An integration that is a file of hooks by event, like Claude Code's settings and Codex's hooks.json.

Our hooks are added, found and removed; everything else in the file stays unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from webapp.agents.agent import Integration
from webapp.errors import Malformed

TIMEOUT_SECONDS = 5
# Some editors begin a file with it.
BOM = "\ufeff"

Settings = dict[str, Any]


def hooks_integration(
    source: str, use: str, file: Callable[[Mapping[str, str]], Path], events: Mapping[str, str]
) -> Integration:
    """Return the integration of an agent that runs commands at `events`, each with its matcher, "" for none."""
    own = re.compile(rf"coppice[^/\\]* hook {source}$")
    return Integration(
        use=use,
        parts=tuple(events),
        file=file,
        add=lambda text, program: add(text, f"{program} hook {source}", events, own),
        remove=lambda text: remove(text, own),
        installed_parts=lambda text: installed_parts(text, own),
        has_hooks=True,
    )


def add(text: str | None, command: str, events: Mapping[str, str], own: re.Pattern[str]) -> str:
    """Return the settings with our hooks added, and the hooks that are there set to this command.

    Settings that have them all stay as they are, to the byte.

    Raises:
        Malformed: the settings are not a JSON object, or their hooks have another structure.
    """
    settings = _parse(text)
    hooks = settings.setdefault("hooks", {})
    for event, matcher in events.items():
        groups = hooks.setdefault(event, [])
        mine = [hook for group in groups for hook in _own_hooks(group, own)]
        for hook in mine:
            hook["command"] = command
        if not mine:
            hook = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
            groups.append({**({"matcher": matcher} if matcher else {}), "hooks": [hook]})
    return text if text is not None and settings == _parse(text) else _dump(settings, text)


def remove(text: str, own: re.Pattern[str]) -> str | None:
    """Return the settings without our hooks and without lists that are empty afterwards; None if nothing is left.

    Raises:
        Malformed: the settings are not a JSON object, or their hooks have another structure.
    """
    settings = _parse(text)
    hooks = settings.get("hooks", {})
    for event, groups in list(hooks.items()):
        mine = [group for group in groups if _own_hooks(group, own)]
        if not mine:
            continue
        for group in mine:
            group["hooks"] = [hook for hook in group["hooks"] if not _is_own_hook(hook, own)]
        hooks[event] = [group for group in groups if group not in mine or group["hooks"]]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    return _dump(settings, text) if settings else None


def installed_parts(text: str | None, own: re.Pattern[str]) -> list[str]:
    """Return the events for which the settings have our hooks.

    Raises:
        Malformed: the settings are not a JSON object, or their hooks have another structure.
    """
    groups = _parse(text).get("hooks", {})
    return [event for event in groups if any(_own_hooks(group, own) for group in groups[event])]


def _parse(text: str | None) -> Settings:
    text = (text or "").removeprefix(BOM)
    if not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the settings are not JSON ({error}); correct them first") from None
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise Malformed(
            "the settings are not of a shape that is known: expected an object with hooks by event"
        )
    return dict(settings)


def _dump(settings: Settings, before: str | None) -> str:
    """Return the settings as JSON, with the indentation, the ends of lines and the byte order mark that they had.

    Raises:
        Malformed: a number in them is not one of JSON.
    """
    before = before or ""
    found = re.search(r"\n([ \t]+)\S", before)
    indent = found[1] if found else "  "
    # Python reads 1e400 and NaN, but writes for them what no agent reads.
    try:
        text = json.dumps(settings, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError:
        raise Malformed("the settings have a number that JSON cannot hold; correct it first") from None
    if not _is_whole(text):
        text = json.dumps(settings, indent=indent) + "\n"
    text = text.replace("\n", "\r\n") if "\r\n" in before else text
    return (BOM if before.startswith(BOM) else "") + text


def _is_whole(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which no file can hold except as an escape."""
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def _own_hooks(group: Any, own: re.Pattern[str]) -> list[dict[str, Any]]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return [hook for hook in hooks if _is_own_hook(hook, own)] if isinstance(hooks, list) else []


def _is_own_hook(hook: Any, own: re.Pattern[str]) -> bool:
    return isinstance(hook, dict) and own.search(str(hook.get("command", ""))) is not None
