"""Reports of a call's real input: which of them can be true, and which show that the agent removed something.

A report is compared with the calibration before its call. All sizes are in tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from scoring.tokens.calibration import Calibration, is_of_same_model, total

Judgement = Literal["fits", "foreign", "fell", "behind"]

# The constants below were chosen on the real sessions of docs/tokens.md; half or double of each changes little.
# A report below this share of the tokens that were surely sent does not belong to this conversation: it is of a title
# made on the side, or of a program that leaves out cached tokens. Contexts below FALSE_FROM tokens are not judged, and
# those below UNSEEN_FROM only by their text: most of such a context is not in the log, and a compaction or another set
# of tools changes it. No report in the real sessions is below a share of 0.92.
FALSE_SHARE, FALSE_FROM, UNSEEN_FROM = 0.4, 200, 2_000
# In a context that nobody but us removes anything from, tokenizers alone make a report smaller than the estimate: the
# whole text is at least STEADY_SHARE of it, what was added since the last report at least GROWN_SHARE. A part of
# the last report that is in no message counts only if the program may have left out its cached tokens.
STEADY_SHARE, TEXT_SHARE, GROWN_SHARE = 0.6, 0.85, 0.5
# If real input falls by more than LOST_FALL tokens, or is below the expected size by more than LOST_LEAST tokens and
# more than a share of the growth, the agent has removed something from its context.
LOST_FALL, LOST_LEAST, LOST_SHARE = 500, 3_000, 0.4


@dataclass(frozen=True, slots=True)
class InputReport:
    """The reported input of a call, beside our estimates of it."""

    real: int
    estimate: int
    """The context that was sent."""
    surely_sent: int
    """The part of the estimate that no agent removes by itself."""
    steady: bool = False
    """Nothing leaves the context unless we take it out (a managed session)."""
    whole: bool = True
    """The report includes cached tokens for certain."""
    model: str = ""
    """The model that answered the call."""
    least_share: float = STEADY_SHARE
    """The smallest share of its estimate that a text can take."""


class Judged(NamedTuple):
    """The judgement on a report, and by how many tokens it is `behind` the expected size; 0 if it fits or is foreign.

    "foreign": the report cannot belong to this conversation and changes nothing (X11). "fell" and "behind": the agent
    has removed something from its context (X24). Real input that fell is certain; real input behind the expectation may
    be due to a wrong estimate.
    """

    judgement: Judgement
    behind: int


def judge_report(calibration: Calibration, report: InputReport) -> Judged:
    """Return the judgement on a report by the calibration before its call."""
    if _is_foreign(calibration, report):
        return Judged("foreign", 0)
    before = calibration.input_real
    is_comparable = is_of_same_model(calibration, report.model) and not calibration.broken
    if calibration.anchor_real is None or before is None or not is_comparable:
        return Judged("fits", 0)
    expected, _ = total(calibration, report.estimate)
    behind = expected - report.real
    if report.estimate >= calibration.input_estimate and before - report.real > LOST_FALL:
        return Judged("fell", behind)
    if behind > max(LOST_LEAST, LOST_SHARE * (expected - before)):
        return Judged("behind", behind)
    return Judged("fits", 0)


def _is_foreign(calibration: Calibration, report: InputReport) -> bool:
    """Return whether a report is too small to be of this conversation."""
    floor = 0.0
    if report.steady and is_of_same_model(calibration, report.model):
        floor = _least_steady(calibration, report)
    elif not (report.steady or calibration.known):
        # An agent sends more than the text: a system prompt and tools.
        floor = report.least_share * calibration.factor * report.surely_sent
    least = _least_expected(calibration, report)
    return report.real < floor or (least >= FALSE_FROM and report.real < FALSE_SHARE * least)


def _least_expected(calibration: Calibration, report: InputReport) -> float:
    """Return the part of the expected input that is certain."""
    text = calibration.factor * report.estimate
    kept = calibration.factor * (report.estimate - report.surely_sent)
    if calibration.known:
        # The reported size of an answer includes reasoning that may not be sent again; only its text is certain.
        # A compaction takes what no message has too, such as a document that was counted as too little.
        unseen = 0 if calibration.compacted else calibration.unseen
        text = min(total(calibration, report.estimate)[0], unseen + text)
    least = max(0.0, text - kept)
    return min(least, calibration.factor * report.surely_sent) if least < UNSEEN_FROM else least


def _least_steady(calibration: Calibration, report: InputReport) -> float:
    """Return the least input of a call whose context nobody but us removes anything from; 0 if it is too small."""
    sent, factor = report.surely_sent, calibration.factor
    if sent < FALSE_FROM:
        return 0.0
    text = report.least_share * factor * sent
    last, before, unsure = calibration.input_real, calibration.input_estimate, report.estimate - sent
    if last is None or calibration.broken or report.estimate < before:
        return text
    base = min(last, TEXT_SHARE * factor * max(0, before - unsure))
    if not report.whole and not unsure:
        base = last
    return max(text, base + GROWN_SHARE * factor * max(0, sent - before))
