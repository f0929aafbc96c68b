"""Coppice's hooks in Claude Code's settings: put in, found and taken out; whatever else is there stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webapp.agents.reading.finding import home_of
from webapp.errors import Malformed

# The events that are answered, with the matcher of each.
EVENTS = {"PreCompact": "", "SessionStart": "compact", "UserPromptSubmit": ""}
TIMEOUT_SECONDS = 5
_OWN = re.compile(r"coppice[^/\\]* hook claude-code$")

Settings = dict[str, Any]


def file(env: Mapping[str, str]) -> Path:
    """Return the user's settings, existing or not."""
    configured = env.get("CLAUDE_CONFIG_DIR", "").partition(",")[0].strip()
    home = Path(configured).expanduser() if configured else home_of(env) / ".claude"
    return (home.parent if home.name == "projects" else home) / "settings.json"


def put(text: str | None, program: str) -> str:
    """Return the settings with our hooks in them.

    Raises:
        Malformed: the settings are no JSON object, or their hooks are of another shape.
    """
    settings = _parse(text)
    hooks = settings.setdefault("hooks", {})
    present = set(has(text))
    for event, matcher in EVENTS.items():
        if event in present:
            continue
        hook = {"type": "command", "command": f"{program} hook claude-code", "timeout": TIMEOUT_SECONDS}
        group = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
        hooks.setdefault(event, []).append(group)
    return _dump(settings, text)


def take(text: str) -> str | None:
    """Return the settings without our hooks, and without what would be left empty by that; None for none at all.

    Raises:
        Malformed: the settings are no JSON object, or their hooks are of another shape.
    """
    settings = _parse(text)
    hooks = settings.get("hooks", {})
    for event, groups in list(hooks.items()):
        mine = [group for group in groups if _is_ours(group)]
        if not mine:
            continue
        for group in mine:
            group["hooks"] = [hook for hook in group["hooks"] if not _is_own_hook(hook)]
        hooks[event] = [group for group in groups if group not in mine or group["hooks"]]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    return _dump(settings, text) if settings else None


def has(text: str | None) -> list[str]:
    """Return the events at which our hooks are in the settings.

    Raises:
        Malformed: the settings are no JSON object, or their hooks are of another shape.
    """
    groups = _parse(text).get("hooks", {})
    return [event for event in groups if any(_is_ours(group) for group in groups[event])]


def _parse(text: str | None) -> Settings:
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise Malformed(f"the settings are not JSON ({error}); mend them first") from None
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise Malformed(
            "the settings are not of a shape that is known: expected an object with hooks by event"
        )
    return dict(settings)


def _dump(settings: Settings, before: str | None) -> str:
    """Return the settings as JSON, indented as they were."""
    found = re.search(r"\n([ \t]+)\S", before or "")
    indent = found[1] if found else "  "
    return json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"


def _own_hooks(group: Any) -> Iterator[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    yield from (hook for hook in hooks if _is_own_hook(hook)) if isinstance(hooks, list) else ()


def _is_ours(group: Any) -> bool:
    return any(True for _ in _own_hooks(group))


def _is_own_hook(hook: Any) -> bool:
    return isinstance(hook, dict) and _OWN.search(str(hook.get("command", ""))) is not None
