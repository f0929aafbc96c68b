"""Codex's hooks: they read JSON on stdin and write an answer on stdout.

Its summariser accepts no instructions from hooks, so what must survive a compaction is stored before it and given to
the agent after it, together with what was lost.
"""

from __future__ import annotations

from webapp.agents.hook_runtime import hints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = ("lost", "survive")


def hook(payload: dict[str, Any]) -> str:
    """Return the text that a hook writes on stdout; "" for nothing."""
    session, event = str(payload.get("session_id", "")), payload.get("hook_event_name")
    hint = hints.read(session, hints.HINT)
    if event == "PreCompact":
        state = hints.read(session, hints.STATE)
        hints.write(session, hints.STATE, {**state, **{name: hints.text(hint, name) for name in KEPT}})
    elif event == "SessionStart" and payload.get("source") == "compact":
        known = {**hint, **hints.read(session, hints.STATE)}
        return hints.context(event, "\n\n".join(filter(None, (hints.text(known, name) for name in KEPT))))
    elif event == "UserPromptSubmit":
        return hints.context(event, hints.warning(session, hint))
    return ""
