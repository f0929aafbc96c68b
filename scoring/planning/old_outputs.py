"""Old tool outputs, which the strategy *tool outputs first* and the stage `outputs` clear or shorten.

Outputs of the last turns, the newest ones up to a number of tokens, those of exempt tools and those before a summary
are not old. The caller leaves out protected messages.
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
    """Return the positions of messages with results of a listed tool, named by the result or by its call."""
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
