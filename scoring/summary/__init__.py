"""Summaries: their value type, the built-in one without a model, and requests to a model for one."""

from scoring.summary.changing_commands import EDITED, WRITTEN, Change, changed_by
from scoring.summary.files import COMMAND_KEYS, PATH_KEYS, command_of, first_string
from scoring.summary.levels import (
    JudgedSummary,
    Level,
    SummaryScope,
    built_in,
    covering,
    deterministic,
    judge,
    replaced_tokens,
    request,
)
from scoring.summary.sentences import decisions, is_request, quoted
from scoring.summary.summary import OLDER_BELOW, Summary, Surroundings
from scoring.summary.tombstones import (
    CUT,
    HEAD_CHARS,
    TAIL_CHARS,
    TIME_TOKENS,
    cleared,
    cleared_result,
    cut_message,
    shortened,
    shortened_text,
    without_media,
)

__all__ = [
    "COMMAND_KEYS",
    "CUT",
    "EDITED",
    "HEAD_CHARS",
    "OLDER_BELOW",
    "PATH_KEYS",
    "TAIL_CHARS",
    "TIME_TOKENS",
    "WRITTEN",
    "Change",
    "JudgedSummary",
    "Level",
    "Summary",
    "SummaryScope",
    "Surroundings",
    "built_in",
    "changed_by",
    "cleared",
    "cleared_result",
    "command_of",
    "covering",
    "cut_message",
    "decisions",
    "deterministic",
    "first_string",
    "is_request",
    "judge",
    "quoted",
    "replaced_tokens",
    "request",
    "shortened",
    "shortened_text",
    "without_media",
]
