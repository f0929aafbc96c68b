"""Gauges: regions that add up, and the scale between estimated and shown tokens."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens import Calibration
from scoring.tokens.calibration import observe
from tests.webapp.building import entry, said, usage, user
from webapp.app import App
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import gauge_of
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session
from webapp.services.session.state import SessionState
from webapp.store.sessions import COLUMNS, SessionRow

REGION = st.dictionaries(
    st.sampled_from(["system", "tools", "user", "assistant", "tool", "summary"]),
    st.tuples(st.integers(0, 100_000), st.integers(0, 50)),
)
ONCE = st.builds(
    observe,
    st.just(Calibration()),
    st.integers(1, 300_000),
    st.integers(0, 9_000),
    st.integers(0, 200_000),
    st.integers(0, 9_000),
)
HIDDEN = st.integers(-9_000, 9_000)
KNOWN = st.one_of(
    st.just(Calibration()),
    ONCE,
    st.builds(
        lambda known, calls, second, extra, waiting: replace(
            known, calls=calls, second=second, extra=extra, waiting=waiting
        ),
        ONCE, st.integers(1, 2), HIDDEN, HIDDEN, HIDDEN,
    ),
)  # fmt: skip


Regions = dict[str, tuple[int, int]]


def session_with(known: Calibration, agent: Regions, pruned: Regions, *, followed: bool) -> Session:
    """Return a session outside any store, with these totals and this calibration."""
    row = SimpleNamespace(**dict.fromkeys(COLUMNS), followed=followed)
    row.state = SessionState(known).to_dict()
    return Session(cast("Environment", None), cast("SessionRow", row), {0: agent, 1: pruned})


class TestGauge:
    """The numbers of a gauge."""

    @given(REGION, REGION, KNOWN, st.booleans())
    def test_has_regions_that_add_up(
        self, agent: Regions, pruned: Regions, known: Calibration, followed: bool
    ) -> None:  # X11
        """Regions add up in both views, with and without real usage."""
        session = session_with(known, agent, pruned, followed=followed)
        for context in session.contexts:
            found = gauge_of(session, context, 200_000)
            assert sum(r.tokens for r in found.regions) == found.tokens >= 0
            assert all(r.tokens > 0 for r in found.regions)

    def test_shows_tokens_that_the_transcript_lacks(self, app: App) -> None:  # X11
        """Unseen tokens are their own region as soon as usage is reported."""
        app.ingest.ensure("s", "claude-code", model="claude-sonnet-4-5")
        app.ingest.append_records(
            "s", [entry(1, user("hi")), entry(2, said("hello"), usage=usage(26_450, 8), call_key="k")]
        )
        found = app.sessions.get("s").agent
        assert (found.tokens, found.certainty) == (26_458, "exact")
        unseen = next(r.tokens for r in found.regions if r.name == "unseen")
        assert unseen > 26_000

    def test_estimates_its_parts_until_the_factor_is_learned(self) -> None:  # X11
        """One report makes the total exact; only the growth between several tells how far our counts are off."""
        known, found = Calibration(), []
        for n in range(1, 5):
            known = observe(known, 2_300 * n, 0, 2_000 * n, 0, call=str(n))
            totals = {"user": (2_000 * n, n)}
            session = session_with(known, totals, totals, followed=True)
            found.append(gauge_of(session, session.main, 200_000))
        assert {gauge.certainty for gauge in found} == {"exact"}
        parts = [{region.certainty for region in gauge.regions} for gauge in found]
        assert parts[0] == {"estimated"}
        assert parts[-1] == {"calibrated"}


class TestScale:
    """The scale between estimated and shown tokens."""

    @given(REGION, KNOWN, st.integers(0, 300_000), st.none() | st.integers(0, 300_000))
    def test_never_exceeds_a_budget(
        self, region: Regions, known: Calibration, shown: int, main: int | None
    ) -> None:
        """A plan that fits in estimated tokens is not shown above its budget."""
        estimate = sum(tokens for tokens, _ in region.values())
        scale = Scale(known, estimate, main)
        estimate = scale.estimated(shown)
        assert scale.shown(estimate) <= shown + 1 or estimate == 0
        assert scale.shown(scale.estimate) == scale.tokens

    @given(KNOWN, st.integers(0, 300_000), st.none() | st.integers(0, 300_000))
    def test_shows_parts_that_take_no_more_than_the_whole(
        self, known: Calibration, estimate: int, main: int | None
    ) -> None:  # X11
        """The messages add up to the total at most, before a prune and after it."""
        scale = Scale(known, estimate, main)
        assert scale.part(estimate) <= scale.tokens + 1
        assert scale.part(scale.estimated(scale.tokens // 2)) <= scale.tokens // 2 + 1

    @given(KNOWN, st.integers(0, 300_000), st.integers(0, 300_000), st.booleans())
    def test_shows_a_smaller_context_as_it_is_then(
        self, known: Calibration, estimate: int, later: int, apart: bool
    ) -> None:
        """The size that a plan promises is the size after it."""
        main = estimate if apart else None
        assert Scale(known, estimate, main).shown(later) == Scale(known, later, main).tokens
