"""The words for the causes that plans drop or shorten messages for, on pages and in the report of `coppice prune`."""

from __future__ import annotations

from typing import Literal

from scoring.planning import REASONS

LABELS = {
    "below_cut": "score below the cut",
    "too_large": "dropped to make room",
    "older": "older than what fits",
    "dropped": "chosen by you",
    "dropped_first": "marked to drop first",
    "summarised": "covered by the summary",
    "opening": "the list has to begin with a user message",
    "duplicate": "the same output again",
    "superseded": "read or written again later",
    "shortened": "outputs cut to what may be needed",
    "shortened_by_hand": "outputs shortened by you",
    "old_shortened": "old outputs shortened",
    "old_cleared": "old outputs cleared",
    "not_named_again": "nothing in it was named again",
    "too_little": "last named long ago",
    "covered": "said again in messages that stay",
    "outdated": "what replaces or answers it is dropped, too",
    "less_relevant": "too little relevance to the last question",
    "empty": "names nothing that could be needed again",
    "older_half": "in the oldest half of the turns",
    "no_room": "no room beside what is protected",
    "turns": "two messages of the model would follow each other",
    "question": "the question that they answer goes",
    "changed": "lines marked that a later edit took away",
}


def label_of(cause: str, fate: Literal["goes", "shortened"]) -> str:
    """Return the words for a group: "dropped to make room", or "the open plan, shortened" of a protected message."""
    if fate == "shortened" and cause in REASONS:
        return f"{REASONS[cause].removeprefix('protected: ')}, shortened"
    return LABELS.get(cause, cause.replace("_", " "))
