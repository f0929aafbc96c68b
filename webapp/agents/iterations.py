"""Anthropic's `usage.iterations`: the inferences of one call, where the provider runs tools or asks another model.

The top of the report sums up the call's own inferences, so that a call with advice or a search on the server seems to
take its context twice. Inferences by an advisor and those for a compaction are not in the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from webapp.agents.reading.rows import count_of, list_of, object_of, optional
from webapp.agents.records import Inference, Usage

# The call's own inferences. A fallback repeats the call with another model.
_MESSAGE, _FALLBACK = "message", "fallback_message"
_COMPACTION = "compaction"


def with_iterations(usage: Usage, report: Mapping[str, Any], model: str | None) -> Usage:
    """Return the usage of a call by `model` with the single inferences in its `report`."""
    if not report.get("iterations"):
        return usage
    own: list[Inference] = []
    extra: list[Inference] = []
    for one in map(object_of, list_of(report["iterations"])):
        kind, found = one.get("type"), _inference(one, model or "")
        if kind in (_FALLBACK, _COMPACTION):
            own = []  # what came before is not in the context of the answer
        if kind in (_MESSAGE, _FALLBACK):
            own.append(found)
        elif found.input_tokens or found.output_tokens:
            extra.append(found)
    if not own or not own[0].input_tokens or (len(own) == 1 and own[0].input_tokens == usage.input_tokens):
        return replace(usage, extra_inferences=tuple(extra))
    last = own[-1].input_tokens + own[-1].output_tokens
    return replace(usage, first_tokens=own[0].input_tokens, last_tokens=last, extra_inferences=tuple(extra))


def cache_writes(report: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens that a call wrote to the cache, and how many of them for an hour.

    Without their total, the parts by lifetime are added up. A total of 0 is 0: Claude Code repeats the parts in rows
    whose other figures are all 0 (anthropics/claude-code #95555).
    """
    parts, total = object_of(report.get("cache_creation")), report.get("cache_creation_input_tokens")
    written = sum(map(count_of, parts.values())) if total is None else count_of(total)
    return written, min(written, count_of(parts.get("ephemeral_1h_input_tokens")))


def _inference(one: Mapping[str, Any], model: str) -> Inference:
    read, (written, hour) = count_of(one.get("cache_read_input_tokens")), cache_writes(one)
    return Inference(
        optional(one.get("model")) or model,
        count_of(one.get("input_tokens")) + read + written,
        count_of(one.get("output_tokens")),
        read,
        written,
        hour,
    )
