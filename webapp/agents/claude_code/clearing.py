"""Clearings of Claude Code: outputs that it removes from its context without a row in the transcript.

After a pause, when the provider's cache is cold, or when there are many, it replaces old outputs by a short text in its
requests; about five of the newest stay. Public reports: anthropics/claude-code #42542 and #57788.
"""

from __future__ import annotations

from webapp.agents.agent import Clears

CLEARS = Clears(
    tools=frozenset({"Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Edit", "Write"}),
    kept=5,
    text="[Old tool result content cleared]",
)
