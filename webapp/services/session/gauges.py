"""Gauges: the size of a context, divided among its regions."""

from __future__ import annotations

from collections.abc import Mapping

from scoring.budget import utilization
from scoring.tokens import Certainty, calibration
from webapp.services.session.answers import Gauge, Region
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session, SessionContext

# The order in which the window's regions are drawn.
REGIONS = ("system", "unseen", "tools", "summary", "memory", "user", "assistant", "tool")


def gauge_of(session: Session, context: SessionContext, limit: int) -> Gauge:
    """Return the gauge of one context; its regions add up to its tokens."""
    scale = context.scale
    return Gauge(
        tokens=scale.tokens,
        utilization=utilization(scale.tokens, limit),
        certainty=scale.certainty,
        messages=context.messages,
        regions=regions_of(session, scale, context.estimates, scale.tokens),
    )


def regions_of(session: Session, scale: Scale, estimates: Mapping[str, int], tokens: int) -> list[Region]:
    """Return `tokens` divided among the regions by their estimates, in the order in which they are drawn."""
    return in_order(calibration.split(session.calibration, estimates, tokens), scale.of_parts)


def in_order(parts: Mapping[str, int], noted: Certainty) -> list[Region]:
    """Return the regions that take tokens in the order in which they are drawn; none of them is exact."""
    certainty: Certainty = "estimated" if noted == "estimated" else "calibrated"
    names = [name for name in REGIONS if parts.get(name)] + sorted(set(parts) - set(REGIONS))
    return [Region(name=name, tokens=parts[name], certainty=certainty) for name in names]
