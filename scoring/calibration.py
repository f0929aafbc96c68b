"""From estimated tokens to what the provider counts: what one session has learned from its own real usage.

A context's real size is `unseen + factor x estimate`: the estimate covers the messages we see, `unseen` what every
call carries besides (system prompt, tool definitions), `factor` how far the estimator is off for this model and
this kind of text. An anchor is a call whose real size was reported; right behind it the total is exact, what came
after is added as factor x estimate. Only input counts for learning: reported output is often implausibly small.
A compaction takes the anchor and the stretch away, what was learned stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Certainty = Literal["exact", "calibrated", "estimated"]

# A factor is learned once the context has grown by this many estimated tokens: below, per-message overheads rule.
LEARN_FROM_TOKENS = 3_000
# Measured factors lie between 1.0 and 1.6; what lies outside is a resumed call or an image, not the text.
LEAST_FACTOR, GREATEST_FACTOR = 0.6, 2.5
# Reported output below this share of its own text's estimate is not believed.
BELIEVED_OUTPUT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a session knows. Tokens throughout.

    `anchor_real` is the context's real size right behind the last reported call (None: no call yet, or none since
    a compaction), `anchor_estimate` our estimate of the same context. `first_*` are those of the first call of the
    present stretch. `known` says that factor and unseen come from real usage.
    """

    factor: float = 1.0
    unseen: int = 0
    known: bool = False
    anchor_real: int | None = None
    anchor_estimate: int = 0
    first_real: int | None = None
    first_estimate: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Calibration:
        """What `to_dict` wrote; unknown keys are ignored."""
        names = cls.__dataclass_fields__
        return cls(**{k: v for k, v in (data or {}).items() if k in names})


def observe(
    known: Calibration, real_input: int, output: int, estimate_before: int, estimate_own: int
) -> Calibration:
    """A call was reported: `real_input` tokens in, `output` out.

    `estimate_before` is our estimate of the context the call was made with, `estimate_own` that of its answer.
    """
    first_real, first_estimate = known.first_real, known.first_estimate
    if first_real is None or estimate_before < first_estimate:
        first_real, first_estimate = real_input, estimate_before
    factor = _factor(known, real_input - first_real, estimate_before - first_estimate)
    own = output if output >= BELIEVED_OUTPUT_SHARE * estimate_own else round(factor * estimate_own)
    return replace(
        known,
        factor=factor,
        unseen=max(0, round(first_real - factor * first_estimate)),
        known=True,
        anchor_real=real_input + own,
        anchor_estimate=estimate_before + estimate_own,
        first_real=first_real,
        first_estimate=first_estimate,
    )


def _factor(known: Calibration, real_growth: int, estimated_growth: int) -> float:
    if estimated_growth < LEARN_FROM_TOKENS or real_growth <= 0:
        return known.factor
    return min(GREATEST_FACTOR, max(LEAST_FACTOR, real_growth / estimated_growth))


def absorbed(known: Calibration, tokens: int) -> Calibration:
    """More of the answer of the last reported call came in (or went): its reported output covers it already."""
    if known.anchor_real is None:
        return known
    return replace(known, anchor_estimate=known.anchor_estimate + tokens)


def after_compaction(known: Calibration) -> Calibration:
    """The context was replaced: nothing is anchored any more, factor and unseen are still true."""
    return replace(known, anchor_real=None, anchor_estimate=0, first_real=None, first_estimate=0)


def total(known: Calibration, estimate: int) -> tuple[int, Certainty]:
    """The size of a context of which we estimate `estimate` tokens, and how sure that is."""
    if known.anchor_real is not None:
        grown = estimate - known.anchor_estimate
        return max(
            0, round(known.anchor_real + known.factor * grown)
        ), "exact" if grown == 0 else "calibrated"
    if known.known:
        return max(0, round(known.unseen + known.factor * estimate)), "calibrated"
    return estimate, "estimated"


def split(known: Calibration, regions: Mapping[str, int], tokens: int) -> dict[str, int]:
    """`tokens` divided among the regions, of which we have estimates; what is left over is `unseen`.

    The parts are whole numbers and add up to `tokens`, always.
    """
    estimate = sum(regions.values())
    scaled = known.factor * estimate if known.known else float(estimate)
    visible = min(tokens, round(scaled))
    parts = _shares(regions, visible) if estimate else dict.fromkeys(regions, 0)
    left = tokens - sum(parts.values())
    if left:
        parts["unseen"] = parts.get("unseen", 0) + left
    return parts


def _shares(regions: Mapping[str, int], tokens: int) -> dict[str, int]:
    """Whole shares of `tokens` in proportion; the largest remainders get what rounding down left."""
    estimate = sum(regions.values())
    parts = {name: tokens * value // estimate for name, value in regions.items()}
    by_remainder = sorted(regions, key=lambda name: (-(tokens * regions[name] % estimate), name))
    for name in by_remainder[: tokens - sum(parts.values())]:
        parts[name] += 1
    return parts
