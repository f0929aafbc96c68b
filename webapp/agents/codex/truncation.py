"""Outputs of tools, cut as Codex sends them.

Codex writes outputs whole into the rollout and cuts what it sends: to the policy of the turn (`truncation_policy` of
its `turn_context`) and a fifth more. Newer versions write the budget, with that fifth in it, beside each output instead
(`fallback_token_limit_override`). A token is four bytes. The outputs of commands are cut earlier, to the policy itself,
and fit; those in the new history of a compaction are cut already.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

from webapp.agents.reading.rows import count_of, object_of, text_of

_ALLOWANCE = 1.2
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_BYTES: Mapping[str, int] = {"tokens": 4, "bytes": 1}
_MAX_UTF8 = 4  # bytes of a character


class Budget(NamedTuple):
    """The most that is sent of an output: `limit` tokens or bytes, as `unit` says."""

    limit: int
    unit: str

    def size(self, text: str) -> int:
        """Return the size of a text in the unit."""
        return ceil(len(text.encode()) / _BYTES[self.unit])


def turn_budget(turn: Mapping[str, Any]) -> Budget | None:
    """Return the budget of a `turn_context`; None if it has no valid policy."""
    policy = object_of(turn.get("truncation_policy"))
    limit, unit = count_of(policy.get("limit")), text_of(policy.get("mode"))
    return Budget(ceil(limit * _ALLOWANCE), unit) if limit and unit in _BYTES else None


def row_budget(row: Mapping[str, Any], turn: Budget | None) -> Budget | None:
    """Return the budget of the output in a row: its own, else that of the turn."""
    limit = count_of(object_of(row.get("metadata")).get("fallback_token_limit_override"))
    return Budget(limit, "tokens") if limit else turn


def truncated(item: dict[str, Any], budget: Budget | None) -> dict[str, Any]:
    """Return an item as it is sent: an output over the budget without its middle, anything else unchanged."""
    output = item.get("output")
    if budget is None or text_of(item.get("type")) not in _OUTPUTS:
        return item
    if isinstance(output, str):
        return {**item, "output": _without_middle(output, budget)}
    return {**item, "output": _within(output, budget)} if isinstance(output, list) else item


def _without_middle(text: str, budget: Budget) -> str:
    room = budget.limit * _BYTES[budget.unit]
    if len(text) * _MAX_UTF8 <= room:
        return text
    data = text.encode()
    if len(data) <= room:
        return text
    # A character that is cut in two is left out.
    start, end = data[: room // 2].decode(errors="ignore"), data[room // 2 - room :].decode(errors="ignore")
    if budget.unit == "tokens":
        return f"{start}…{ceil((len(data) - room) / _BYTES['tokens'])} tokens truncated…{end}"
    return f"{start}…{len(text) - len(start) - len(end)} chars truncated…{end}"


def _within(blocks: list[Any], budget: Budget) -> list[Any]:
    """Return the blocks of an output: the first texts that fit, the next one cut. Other blocks cost nothing."""
    left, omitted, kept = budget.limit, 0, list[Any]()
    for block in blocks:
        text = text_of(object_of(block).get("text"))
        size = budget.size(text)
        if size <= left:
            kept.append(block)
        elif left:
            kept.append({**block, "text": _without_middle(text, Budget(left, budget.unit))})
        else:
            omitted += 1
        left = max(0, left - size)
    return [*kept, {"type": "input_text", "text": f"[omitted {omitted} text items ...]"}] if omitted else kept
