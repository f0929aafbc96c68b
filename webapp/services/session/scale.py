"""The scale of a context: from the tokens that we estimate to those that are shown, and back."""

from __future__ import annotations

from scoring.tokens import Calibration, calibration


class Scale:
    """Converts estimated tokens of one context to the tokens shown, and back.

    Both are equal until real usage is known or the model is changed; from then on shown = offset + `factor` ×
    estimated. The offset, tokens that are in no message, is never below 0. `certainty` is that of `tokens`; `of_parts`
    is that of single messages and regions, which no report tells apart: they are estimated until the session's factor
    is learned from several calls.
    """

    __slots__ = ("_known", "_main", "certainty", "estimate", "factor", "of_parts", "tokens")

    def __init__(self, known: Calibration, estimate: int, main: int | None) -> None:
        """Convert a context of `estimate`; `main` is the estimate of the one with reported usage, None for this."""
        self._known, self._main, self.estimate = known, main, estimate
        self.factor = calibration.factor_of_parts(known, estimate if main is None else main)
        self.certainty = calibration.total(known, estimate if main is None else main)[1]
        if main not in (None, estimate):
            self.certainty = "calibrated" if known.known else "estimated"
        self.of_parts: calibration.Certainty = "calibrated" if known.samples else "estimated"
        self.tokens = self.shown(estimate)

    def shown(self, estimate: int) -> int:
        """Return the tokens shown for a context of `estimate` estimated tokens."""
        if self._main is None:
            return calibration.total(self._known, estimate)[0]
        less = self.factor * (self._main - estimate)
        return max(0, round(calibration.size(self._known, self._main) - less))

    def estimated(self, shown: int) -> int:
        """Return the estimated tokens that are shown as `shown`; 0 if even an empty context shows more."""
        found = self.estimate + (shown - self.tokens) / self.factor
        over = self.shown(int(found)) - shown  # what is expected beside a context counts once it has grown
        return max(0, int(found - max(0, over) / self.factor))

    def part(self, estimate: int) -> int:
        """Return the tokens shown for a part of the context of `estimate` estimated tokens."""
        return round(self.factor * estimate)
