"""Outputs and messages that Claude Code takes out of its context or replaces by shorter texts, as its rows record it.

Three kinds of rows do: the `microcompact_boundary` of older versions; the attachment `tool_results_cut` of newer ones
(seen in the program of 2.1.332), with the text that stands in for all its outputs; and `content-replacement` rows, for
outputs that are too long together and go to a file, with a text for each. The rows of the outputs stay as they were.

Some versions replace a span of messages by a summary in what they send, each with a row of its own. It is named
`marble-origami-commit` in the versions around 2.1.88 whose source is public, and in others by its meaning.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from webapp.agents.reading.rows import count_of, list_of, object_of, text_of

REPLACED = "content-replacement"
COLLAPSED = frozenset({"marble-origami-commit", "context-collapse-commit"})
_BOUNDARY, _CUT = "microcompact_boundary", "tool_results_cut"


class Clearing(NamedTuple):
    """Calls whose outputs were cleared, the texts that are sent instead (none: the usual one), and the tokens saved.

    `tokens` is the agent's own estimate, or 0.
    """

    calls: tuple[str, ...]
    texts: tuple[str, ...] = ()
    tokens: int = 0


class Collapse(NamedTuple):
    """The first and the last row of a span of messages, and the row and the text that are sent instead."""

    first: str
    last: str
    summary: str
    text: str


def collapse_of(row: dict[str, Any]) -> Collapse:
    """Return what a row of a type in `COLLAPSED` records; a missing field is empty."""
    first, last = text_of(row.get("firstArchivedUuid")), text_of(row.get("lastArchivedUuid"))
    text = text_of(row.get("summaryContent")) or text_of(row.get("summary"))
    return Collapse(first, last, text_of(row.get("summaryUuid")), text)


def is_clearing(row: dict[str, Any]) -> bool:
    """Return whether a row records that outputs were cleared."""
    kind, attachment = row.get("type"), object_of(row.get("attachment"))
    return (kind, row.get("subtype")) == ("system", _BOUNDARY) or (
        (kind, attachment.get("type")) == ("attachment", _CUT)
    )


def clearing_of(row: dict[str, Any]) -> Clearing:
    """Return what a `microcompact_boundary` or a `tool_results_cut` cleared."""
    about, cut = object_of(row.get("microcompactMetadata")), object_of(row.get("attachment"))
    if not cut:
        return Clearing(_texts(about.get("compactedToolIds")), (), count_of(about.get("tokensSaved")))
    calls, text = _texts(cut.get("callIds")), text_of(cut.get("standIn"))
    return Clearing(calls, (text,) * len(calls) if text else (), count_of(cut.get("roughTokens")))


def replacements_in(row: dict[str, Any]) -> dict[str, str]:
    """Return the texts that a `content-replacement` row puts in the place of outputs, by call."""
    found = map(object_of, list_of(row.get("replacements")))
    texts = {
        text_of(one.get("toolUseId")): one.get("replacement")
        for one in found
        if one.get("kind") == "tool-result"
    }
    return {call: text for call, text in texts.items() if call and isinstance(text, str)}


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(text_of, list_of(values))))
