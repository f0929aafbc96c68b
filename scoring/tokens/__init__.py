"""Tokens: counting, estimating, and calibrating estimates against real usage."""

from scoring.tokens.calibration import (
    GREATEST_FACTOR,
    LEAST_FACTOR,
    Calibration,
    Certainty,
)
from scoring.tokens.counting import (
    DEFINITION,
    ENCRYPTED,
    ESTIMATOR,
    FOUR_CHARACTERS,
    ModelCounter,
    TokenCounter,
    estimate_message_tokens,
    estimate_text_tokens,
    estimate_tokens,
    estimate_tool_tokens,
    part_tokens,
    schema_of,
)
from scoring.tokens.families import FAMILIES, OTHER, Family
from scoring.tokens.overheads import Overheads, Traits, expected
from scoring.tokens.reports import LOST_FALL, STEADY_SHARE, InputReport, judge_report
from scoring.tokens.sums import RUNS, Run, is_sum, unseen_of_sums

__all__ = [
    "DEFINITION",
    "ENCRYPTED",
    "ESTIMATOR",
    "FAMILIES",
    "FOUR_CHARACTERS",
    "GREATEST_FACTOR",
    "LEAST_FACTOR",
    "LOST_FALL",
    "OTHER",
    "RUNS",
    "STEADY_SHARE",
    "Calibration",
    "Certainty",
    "Family",
    "InputReport",
    "ModelCounter",
    "Overheads",
    "Run",
    "TokenCounter",
    "Traits",
    "estimate_message_tokens",
    "estimate_text_tokens",
    "estimate_tokens",
    "estimate_tool_tokens",
    "expected",
    "is_sum",
    "judge_report",
    "part_tokens",
    "schema_of",
    "unseen_of_sums",
]
