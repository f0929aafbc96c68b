"""Tool outputs first: old outputs are cleared to a line before any message goes.

Kept are the last user turns and the newest tokens of output; older outputs are cleared only where that gains enough;
outputs of exempt tools, and those before a summary, stay. Calls and their arguments are never touched. What is still
too much goes, oldest first.
"""

from __future__ import annotations

from collections.abc import Mapping

from scoring.context_settings import ContextSettings
from scoring.history import History
from scoring.messages import Message
from scoring.selection.task import Choice, Shortening, Task, Why
from scoring.tombstones import cleared

# What a message of one cleared output costs: its frame, the call's id, and the line that stands there.
CLEARED_TOKENS = 36


def choose(task: Task) -> Choice:
    """Clear old tool outputs, then keep the newest units that fit."""
    shortened = _cleared(task)
    costs = _costs(task, shortened)
    left = task.room
    kept: list[int] = []
    for head in reversed(task.candidates):
        if costs[head] > left:
            break
        left -= costs[head]
        kept.append(head)
    staying = frozenset(kept)
    members = task.history.unit
    stand = {p: s for head in kept for p in members(head) if (s := shortened.get(p)) is not None}

    def explain(head: int) -> Why:
        if head not in staying:
            return Why("older", "dropped: older than the first that did not fit")
        if any(p in stand for p in members(head)):
            return Why("cleared", "kept: its old tool output is cleared to a line")
        return Why("newest", "kept: among the newest that fit")

    return Choice(staying, task.room - left, explain, stand)


def _costs(task: Task, shortened: Mapping[int, Shortening]) -> dict[int, int]:
    """What each candidate costs once its outputs are cleared."""
    costs = {head: task.history.unit_tokens[head] for head in task.candidates}
    for position, short in shortened.items():
        head = task.history.units.head[position]
        costs[head] -= task.history.tokens[position] - short.tokens
    return costs


def _cleared(task: Task) -> dict[int, Shortening]:
    """Which outputs to clear: none where the gain is below the least that the settings ask for."""
    rules = ContextSettings.of(task.settings)
    history = task.history
    turns = history.own_words[-rules.tool_outputs_keep_turns :] if rules.tool_outputs_keep_turns else []
    until = turns[0] if turns else len(history)
    protected = task.protected
    seen = gain = 0
    out: dict[int, Shortening] = {}
    exempt = _exempt(history, rules.tool_outputs_exempt)
    for position in range(len(history) - 1, history.summarised - 1, -1):
        if history.roles[position] != "tool":
            continue
        tokens = history.tokens[position]
        seen += tokens
        old = position < until and seen > rules.tool_outputs_keep_tokens
        least = CLEARED_TOKENS * max(1, len(history.features[position].results))
        if not old or tokens <= least or history.units.head[position] in protected:
            continue
        if position in exempt:
            continue
        gain += tokens - least
        out[position] = Shortening(least, _clear)
    return out if gain > rules.tool_outputs_minimum_gain else {}


def _clear(message: Message) -> Message:
    return cleared(message)


def _exempt(history: History, tools: tuple[str, ...]) -> set[int]:
    """The positions of messages that answer for a listed tool, by their own word or by that of the call."""
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
