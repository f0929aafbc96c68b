"""Old tool outputs, which the strategy *tool outputs first* and the stage `outputs` clear or shorten.

Not those of the last turns, nor the newest up to so many tokens, nor those of exempt tools, nor what stands before a
summary. What is protected is for the caller to leave out.
"""

from __future__ import annotations

from scoring.history import History
from scoring.settings import Settings


def old_outputs(history: History, rules: Settings) -> list[int]:
    """Return the positions of tool messages that are old, the newest of them first."""
    turns = history.own_words[-rules.tool_outputs_keep_turns :] if rules.tool_outputs_keep_turns else []
    until = turns[0] if turns else len(history)
    exempt = exempt_outputs(history, rules.tool_outputs_exempt)
    roles, tokens, seen = history.roles, history.tokens, 0
    old: list[int] = []
    for position in range(len(history) - 1, history.summarised - 1, -1):
        if roles[position] == "tool":
            seen += tokens[position]
            if position < until and seen > rules.tool_outputs_keep_tokens and position not in exempt:
                old.append(position)
    return old


def exempt_outputs(history: History, tools: tuple[str, ...]) -> set[int]:
    """Return the positions of messages that answer for a listed tool, by their own word or by that of the call."""
    found: set[int] = set()
    if not tools:
        return found
    called: dict[str, str] = {}
    for position, features in enumerate(history.features):
        if not features.calls and not features.results:
            continue
        made, answered = features.names
        called.update(zip(features.calls, made, strict=True))
        names = zip(features.results, answered, strict=True)
        if any((name or called.get(call_id, "")) in tools for call_id, name in names):
            found.add(position)
    return found
