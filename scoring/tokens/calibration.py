"""Calibration: from estimated tokens to the provider's count, learned from the real usage of one session.

A context's real size is `unseen + factor x estimate`: the estimate covers the messages in the transcript, `unseen` the
rest of every call (system prompt, tool definitions). An anchor is a call whose real size was reported: right after it
the total is exact; later messages are added as `factor x estimate + waiting + extra`. `waiting` is what the agent adds
by its own rules without writing it down, `extra` what earlier calls left unexplained. An answer counts as reported,
unless the report is too small for its text: some agents write a first, partial number.

Factors are medians over the last calls, so that one turn with an image, a hidden page or a resumed call changes
nothing. All functions are pure; the state is bounded and JSON-able. A compaction removes the anchor; the learned
factors stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, TypeVar

Certainty = Literal["exact", "calibrated", "estimated"]
Name = TypeVar("Name")
# Between two calls: the estimated tokens that were added, and the real growth of the context.
Sample = tuple[int, int]

# The constants below were chosen on the real sessions of docs/tokens.md; half or double of each changes little.
SAMPLES = 24
PRIOR_TOKENS = 3_000  # weight of "the estimate is right", in tokens
PRIOR_CALLS = 6  # weight of "nothing is hidden", in calls
LEAST_SAMPLE = 50  # smaller samples are useless for the factor
LEAST_FACTOR, GREATEST_FACTOR = 0.5, 2.5
MOST_EXTRA = 1_000
# Reported output below this share of its own text's estimate is not believed.
BELIEVED_OUTPUT_SHARE = 0.6
SMALL_ANSWER = 10  # in smaller answers the frame around the text is larger than the text
# Hidden tokens of two calls in a row are expected again if the smaller is at least this share of the larger.
ALIKE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of one session, in tokens; "here" is the stretch since the last compaction."""

    factor: float = 1.0
    """The real tokens of one that is estimated."""
    prior: float = 1.0
    """The factor to expect without real usage: 1, unless the messages were counted for another model."""
    extra: int = 0
    """Tokens that each further call adds and no message shows."""
    unseen: int = 0
    """The part of every call that is outside the transcript."""
    second: int = 0
    """Tokens that the agent adds, unseen, in the session's second call."""
    restored: int = 0
    """Tokens that the agent adds, unseen, in the first call after a compaction."""
    known: bool = False
    """`factor` and `unseen` come from real usage."""
    calls: int = 0
    """The calls whose usage was reported."""
    compactions: int = 0
    """Those of them that were the first after a compaction."""
    compacted: bool = False
    """No call was reported since the last compaction."""
    call: str = ""
    """The last call, and the `model` that answered it."""
    model: str = ""
    input_real: int | None = None
    """The input of the last call here, None before the first; our estimate of it is `input_estimate`."""
    input_estimate: int = 0
    anchor_real: int | None = None
    """The context right after the answer of that call; our estimate of it is `anchor_estimate`."""
    anchor_estimate: int = 0
    believed: bool = False
    """The reported size of that answer counts."""
    broken: bool = False
    """Something left the context, or came back, since that call."""
    waiting: int = 0
    """Tokens that the agent will add to the next call by its own rules (`expecting`)."""
    samples: tuple[Sample, ...] = ()
    previous: Calibration | None = None
    """The calibration before the last call here, with which a further report of that call is read."""

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON-ready data."""
        out = {name: getattr(self, name) for name in self.__dataclass_fields__}
        previous = None if self.previous is None else self.previous.to_dict()
        return out | {"samples": [list(sample) for sample in self.samples], "previous": previous}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Calibration:
        """Return the calibration that `to_dict` wrote; unknown keys are ignored."""
        fields = {k: v for k, v in (data or {}).items() if k in cls.__dataclass_fields__}
        fields["samples"] = tuple((int(x), int(y)) for x, y in fields.get("samples", ()))
        previous = fields.get("previous")
        return cls(**fields | {"previous": None if previous is None else cls.from_dict(previous)})


def counted_for(calibration: Calibration, prior: float) -> Calibration:
    """Return the calibration of messages whose tokens are `prior` times those counted; once known it does not change.

    A prior outside the range of factors is replaced by the nearest bound.
    """
    prior = min(GREATEST_FACTOR, max(LEAST_FACTOR, prior))
    return calibration if calibration.known else replace(calibration, factor=prior, prior=prior)


def observe(
    calibration: Calibration,
    real_input: int,
    output: int,
    estimate_before: int,
    estimate_own: int,
    *,
    call: str = "",
    model: str = "",
    learns: bool = True,
) -> Calibration:
    """Return the calibration after a reported call with `real_input` tokens of input and `output` tokens of answer.

    `estimate_before` is our estimate of the context that was sent, `estimate_own` that of the part of the answer
    that has arrived. The same `call` may be reported again, with more of its answer or of its input; it is counted
    once, with its largest input. Unless `learns`, only the anchor moves.
    """
    before, real = before_call(calibration, call, real_input)
    output = largest_output(calibration, call, output)
    if before is None:
        return _anchored(calibration, output, estimate_own)
    if before is not calibration:
        estimate_before = calibration.input_estimate
    learned = _learned(before, real, estimate_before, model) if learns else before
    here = replace(
        learned,
        known=True,
        calls=before.calls + 1,
        compacted=False,
        call=call,
        model=model or before.model,
        input_real=real,
        input_estimate=estimate_before,
        broken=False,
        waiting=0,
        previous=replace(before, previous=None),
    )
    return _anchored(here, output, estimate_own)


def before_call(calibration: Calibration, call: str, real_input: int) -> tuple[Calibration | None, int]:
    """Return the calibration before a call, and the largest input that was reported of it.

    It is None if the call was reported already and the calibration before it is not known.
    """
    if not call or call != calibration.call or calibration.anchor_real is None:
        return calibration, real_input
    return calibration.previous, max(real_input, calibration.input_real or 0)


def largest_output(calibration: Calibration, call: str, output: int) -> int:
    """Return the largest output that was reported of a call, and believed, with this report of it."""
    if not call or call != calibration.call or not calibration.believed or calibration.anchor_real is None:
        return output
    return max(output, calibration.anchor_real - (calibration.input_real or 0))


def _anchored(calibration: Calibration, output: int, estimate_own: int) -> Calibration:
    """Return the calibration with its anchor right after the answer of the last call."""
    believed = is_believed(calibration, output, estimate_own)
    own = output if believed else round(calibration.factor * estimate_own)
    return replace(
        calibration,
        anchor_real=(calibration.input_real or 0) + own,
        anchor_estimate=calibration.input_estimate + estimate_own,
        believed=believed,
    )


def is_believed(calibration: Calibration, output: int, estimate_own: int) -> bool:
    """Return whether a reported output can be that of a whole answer of `estimate_own` tokens."""
    return output >= BELIEVED_OUTPUT_SHARE * calibration.factor * estimate_own - SMALL_ANSWER


def is_of_same_model(calibration: Calibration, model: str) -> bool:
    """Return whether the model of a call also answered the last one; True if either is not named."""
    return not (model and calibration.model) or model == calibration.model


def _learned(calibration: Calibration, real_input: int, estimate_before: int, model: str) -> Calibration:
    """Return the calibration after a new call's input: the first call teaches overheads, later ones the growth."""
    if not calibration.known:
        return replace(calibration, unseen=max(0, round(real_input - calibration.factor * estimate_before)))
    if calibration.input_real is None or calibration.anchor_real is None:
        expected = calibration.unseen + calibration.factor * estimate_before + calibration.waiting
        if not calibration.compacted:
            return calibration
        more = round(real_input - expected)
        return replace(
            calibration,
            unseen=max(0, calibration.unseen + min(0, more)),
            restored=max(0, more),
            compactions=calibration.compactions + 1,
        )
    if calibration.broken or not is_of_same_model(calibration, model):
        return calibration
    estimate, real = calibration.input_estimate, calibration.input_real
    if calibration.believed:
        estimate, real = calibration.anchor_estimate, calibration.anchor_real
    sample = (estimate_before - estimate, real_input - real - calibration.waiting)
    if sample[0] < 0 or sample[1] < 0:
        return calibration
    if calibration.calls == 1:  # the agent's initial overhead is not part of the factor
        return replace(calibration, second=max(0, round(sample[1] - calibration.factor * sample[0])))
    return _with_samples(calibration, (*calibration.samples, sample)[-SAMPLES:])


def _with_samples(calibration: Calibration, samples: tuple[Sample, ...]) -> Calibration:
    """Return the calibration with the factor and the hidden tokens that these samples show."""
    factor = _factor(samples, calibration.prior)
    return replace(
        calibration, factor=factor, extra=_extra([y - factor * x for x, y in samples]), samples=samples
    )


def _extra(left_over: list[float]) -> int:
    """Return the hidden tokens expected with the next call, from those that earlier calls leave unexplained.

    That is the median, or what the last two calls have in common: a mode of the agent, such as planning, adds the same
    text to each call while it lasts.
    """
    usual = median(left_over + [0.0] * PRIOR_CALLS)
    less, more = sorted(left_over[-2:]) if len(left_over) > 1 else (0.0, 0.0)
    again = less if less >= ALIKE_SHARE * more else 0.0
    return min(MOST_EXTRA, max(0, round(max(usual, again))))


def _factor(samples: tuple[Sample, ...], prior: float) -> float:
    """Return the weighted median of real growth over estimated growth; the weight of a sample is its estimate."""
    ratios = [(y / x, float(x)) for x, y in samples if x >= LEAST_SAMPLE]
    ratios.append((prior, float(PRIOR_TOKENS)))
    ratios.sort()
    half, passed = sum(weight for _, weight in ratios) / 2, 0.0
    for ratio, weight in ratios:
        passed += weight
        if passed >= half:
            return round(min(GREATEST_FACTOR, max(LEAST_FACTOR, ratio)), 4)
    raise AssertionError("the weights add up to more than half of their sum")


def absorbed(calibration: Calibration, tokens: int) -> Calibration:
    """Return the calibration after more (or less) of the last answer arrived, which its reported output covers."""
    if calibration.anchor_real is None:
        return calibration
    return replace(calibration, anchor_estimate=calibration.anchor_estimate + tokens)


def after_compaction(calibration: Calibration) -> Calibration:
    """Return the calibration after the context was replaced: without an anchor, with all learned factors."""
    return replace(
        calibration, compacted=True, call="", input_real=None, input_estimate=0, anchor_real=None,
        anchor_estimate=0, believed=False, broken=False, waiting=0, previous=None,
    )  # fmt: skip


def after_rewind(calibration: Calibration) -> Calibration:
    """Return the calibration after messages left the context or came back.

    The anchor holds, but the next call teaches nothing about growth.
    """
    return replace(calibration, broken=True, call="", previous=None)


def after_clearing(calibration: Calibration, tokens: int) -> Calibration:
    """Return the calibration after outputs of `tokens` estimated tokens were found to be gone since the last call.

    Its estimates are those of the context without them; below 0, outputs were found to be there.
    """
    if calibration.anchor_real is None:
        return calibration
    previous = None if calibration.previous is None else after_clearing(calibration.previous, tokens)
    return replace(
        calibration,
        input_estimate=calibration.input_estimate - tokens,
        anchor_estimate=calibration.anchor_estimate - tokens,
        previous=previous,
    )


def after_less_unseen(calibration: Calibration, tokens: int) -> Calibration:
    """Return the calibration after the part of every call that is outside the transcript became smaller."""
    return replace(calibration, unseen=max(0, calibration.unseen - tokens))


def total(calibration: Calibration, estimate: int) -> tuple[int, Certainty]:
    """Return the size of a context with an estimate of `estimate` tokens, and the certainty of that size."""
    tokens = max(0, round(size(calibration, estimate)))
    if calibration.anchor_real is None:
        return tokens, "calibrated" if calibration.known else "estimated"
    certain = estimate == calibration.anchor_estimate and calibration.believed and not calibration.broken
    return tokens, "exact" if certain else "calibrated"


def size(calibration: Calibration, estimate: int) -> float:
    """Return the size of a context with an estimate of `estimate` tokens, before it is rounded; it can be below 0."""
    if calibration.anchor_real is None:
        back = calibration.restored if calibration.compacted and calibration.known else 0
        return calibration.unseen + calibration.factor * estimate + back + calibration.waiting
    grown = estimate - calibration.anchor_estimate
    if grown > 0:
        hidden = (calibration.second if calibration.calls == 1 else calibration.extra) + calibration.waiting
        return calibration.anchor_real + calibration.factor * grown + hidden
    return (
        calibration.anchor_real
        + _factor_within(calibration, calibration.anchor_real, calibration.anchor_estimate) * grown
    )


def factor_of_parts(calibration: Calibration, estimate: int) -> float:
    """Return the tokens of an estimated one in the parts of a context of `estimate` tokens.

    That is the learned factor, unless the parts would then add up to more than the context has.
    """
    return _factor_within(calibration, size(calibration, estimate), estimate)


def _factor_within(calibration: Calibration, tokens: float, estimate: int) -> float:
    """Return the factor, or less if so many estimated tokens really are at most `tokens`; never 0."""
    return min(calibration.factor, max(1.0, tokens) / estimate) if estimate > 0 else calibration.factor


def expecting(calibration: Calibration, tokens: int) -> Calibration:
    """Return the calibration if the next call carries `tokens` that are in no message; below 0 if it carries fewer."""
    return calibration if calibration.waiting == tokens else replace(calibration, waiting=tokens)


def after_unreported_call(calibration: Calibration, tokens: int) -> Calibration:
    """Return the calibration after a call without reported usage added `tokens` that are in no message."""
    if calibration.anchor_real is not None:
        return replace(calibration, anchor_real=calibration.anchor_real + tokens, waiting=0)
    return (
        calibration
        if calibration.known
        else replace(calibration, unseen=calibration.unseen + tokens, waiting=0)
    )


def split(calibration: Calibration, regions: Mapping[str, int], tokens: int) -> dict[str, int]:
    """Return `tokens` divided among the regions by their estimates; the rest is `unseen`.

    The parts are whole numbers and always add up to `tokens`.
    """
    estimate = sum(regions.values())
    visible = min(tokens, round(calibration.factor * estimate))
    parts = shares(regions, visible)
    left = tokens - sum(parts.values())
    if left:
        parts["unseen"] = parts.get("unseen", 0) + left
    return parts


def shares(estimates: Mapping[Name, int], tokens: int) -> dict[Name, int]:
    """Return whole shares of `tokens` in proportion to the estimates; none if these are all 0.

    The largest remainders get what rounding down leaves, so the shares add up to `tokens`.
    """
    estimate = sum(estimates.values())
    if not estimate:
        return dict.fromkeys(estimates, 0)
    parts = {name: tokens * value // estimate for name, value in estimates.items()}
    by_remainder = sorted(estimates, key=lambda name: (-(tokens * estimates[name] % estimate), str(name)))
    for name in by_remainder[: tokens - sum(parts.values())]:
        parts[name] += 1
    return parts
