"""Clearings of Claude Code: outputs it takes out of its context without a row in the transcript.

After a pause, when the provider's cache is cold, and by their number, it replaces old outputs by a short text in what
it sends; about the newest five stay. Public reports: anthropics/claude-code #42542 and #57788.
"""

from __future__ import annotations

from webapp.agents.agent import Clears

CLEARS = Clears(
    tools=frozenset({"Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Edit", "Write"}),
    kept=5,
    text="[Old tool result content cleared]",
)
