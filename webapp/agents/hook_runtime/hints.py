"""Hints: small files that the server writes for hooks, status lines and extensions, one of each kind for each session.

They are written only if their folder exists; `coppice hooks install` and a status line create it.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

HINT, EDITS, STATE = "hint", "edits", "state"
# The edit script with which the last call of a session was sent, by the proxy or by the agent's own process; in the
# folder of the proxy, the file that stops all pruning.
ACTIVE, KILLED = "active", "stop-pruning"
# The reason why the proxy does not send a new script yet. With any other reason a prune does not reach the agent.
WAITS = "it waits for the end of the running tool loop, whose thoughts are tied to the present history"
# In bytes; file systems allow 255 with the kind and the number of the process.
LONGEST_NAME = 200


def folder() -> str:
    """Return the folder of the hints, existing or not: COPPICE_HINTS, else in the user's cache folder."""
    if named := os.environ.get("COPPICE_HINTS"):
        return named
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        cache = os.path.join(home, "Library", "Caches")
    elif sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(cache, "coppice", "hints")


def create_folder() -> None:
    """Create the folder, from which on the server writes hints; do nothing if it cannot be created."""
    with suppress(OSError):
        os.makedirs(folder(), mode=0o700, exist_ok=True)


def proxy_folder() -> str:
    """Return the folder of the scripts that the proxy applies, existing or not; it is beside that of the hints."""
    return f"{folder()}-proxy"


def path(session: str, kind: str, within: str | None = None) -> str:
    """Return the file of a kind for a session, which no other session has.

    Characters that file names cannot have are written as their numbers, and a name that would be too long as its hash.
    """
    name = "".join(c if c.isalnum() or c in "-._" else f"%{ord(c):x}%" for c in session)
    if len(name.encode()) > LONGEST_NAME:
        import hashlib  # agents give short names

        name = f"%{hashlib.sha256(name.encode()).hexdigest()}"
    return os.path.join(within or folder(), f"{name}.{kind}.json")


def read(session: str, kind: str, within: str | None = None) -> dict[str, object]:
    """Return the content of a file; {} if it is missing or cannot be read."""
    try:
        with open(path(session, kind, within), encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def text(hint: dict[str, object], name: str) -> str:
    """Return a text of a file to pass on to an agent; "" if it is missing or not a text."""
    value = hint.get(name)
    return value if isinstance(value, str) else ""


def write(session: str, kind: str, value: dict[str, object], within: str | None = None) -> bool:
    """Write a file atomically, readable by its owner alone; return False if it cannot be, as without the folder."""
    place = path(session, kind, within)
    partial = f"{place}.{os.getpid()}"
    try:
        with open(
            os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(value, file)
        os.replace(partial, place)
    except OSError:
        with suppress(OSError):
            os.unlink(partial)
        return False
    return True


def remove(session: str, kind: str, within: str | None = None) -> None:
    """Remove a file if it exists."""
    with suppress(OSError):
        os.unlink(path(session, kind, within))


# -- what the hooks of several agents answer


def context(event: str, said: str) -> str:
    """Return a hook's answer that adds a text to the next request; "" for no text."""
    if not said:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}})


def warning(session: str, hint: dict[str, object]) -> str:
    """Return the hint's warning once; "" until its reason has gone away and come back."""
    said, reason = text(hint, "warning"), text(hint, "warns_of")
    state = read(session, STATE)
    if state.get("warned_of", "") == reason:
        return ""
    write(session, STATE, {**state, "warned_of": reason})
    return said
