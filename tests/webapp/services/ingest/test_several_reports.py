"""Calls whose report comes in pieces, or sums up several inferences."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.webapp.building import call, entry, followed, managed, result, said, user, wire
from webapp.agents.claude_code.rows import usage_of
from webapp.agents.records import Usage
from webapp.app import App
from webapp.services.session.answers import Session

OPUS = "claude-opus-4-6"


def counts(new: int, read: int, written: int, output: int) -> dict[str, Any]:
    """Usage in Anthropic's fields."""
    return {
        "input_tokens": new, "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
        "output_tokens": output,
    }  # fmt: skip


def inference(kind: str, tokens: int, output: int) -> dict[str, Any]:
    """One of a call's `iterations`."""
    return {"type": kind, **counts(tokens, 0, 0, output)}


# A call that asks an advisor: the top sums up the two inferences of the model itself.
FIRST, LAST = counts(2, 270_024, 3_496, 130), counts(2, 273_520, 4_635, 900)
ADVICE = {**counts(235_169, 0, 0, 2_000), "type": "advisor_message", "model": "claude-opus-4-5"}
ADVISED = {
    **counts(4, 543_544, 8_131, 1_030),
    "iterations": [{**FIRST, "type": "message"}, ADVICE, {**LAST, "type": "message"}],
}
BEFORE, AFTER = 2 + 270_024 + 3_496, 2 + 273_520 + 4_635 + 900


def seen(app: App, session_id: str = "s") -> Session:
    """The session as the page shows it."""
    return app.sessions.get(session_id)


def main(session: Session) -> tuple[int, str]:
    """The total of the agent's context, and its certainty."""
    gauge = session.agent or session.pruned
    return gauge.tokens, gauge.certainty


class TestACallOfSeveralInferences:
    """A search on the provider's server, or advice: the report is the sum, the context that of the last one."""

    def test_takes_the_context_of_the_last_one(self, app: App) -> None:  # X10 X11
        """It does not seem to take the context twice, and no wider window follows from it."""
        usage = usage_of(ADVISED)
        row = entry(5, said("done"), usage=usage, call_key="m:r", group="m:r", model=OPUS)
        app.ingest.append_records(followed(app, user("go on"), model=OPUS), [row])
        assert main(seen(app)) == (AFTER, "exact")

    def test_teaches_what_is_not_in_the_transcript_by_the_first_one(self, app: App) -> None:  # X11
        """Only its input is the context as it was before the answer."""
        row = entry(5, said("done"), usage=usage_of(ADVISED), call_key="m:r", group="m:r", model=OPUS)
        app.ingest.append_records(followed(app, user("go on"), model=OPUS), [row])
        assert abs(app.store.sessions.get("s").state["calibration"]["unseen"] - BEFORE) < 50

    def test_of_a_program_takes_the_context_of_the_last_one(self, app: App) -> None:  # X11
        """The SDK reports the same fields."""
        session_id = managed(app, wire("user", "go on"), model=OPUS)
        app.ingest.append_messages(session_id, [wire("assistant", "done")], usage=ADVISED)
        assert main(seen(app, session_id)) == (AFTER, "exact")

    def test_is_billed_in_full_and_the_advisor_by_its_own_price(self, app: App) -> None:  # X9
        """The sums are what the model costs; the advice is not in them."""
        session_id = managed(app, wire("user", "go on"), model=OPUS)
        app.ingest.append_messages(session_id, [wire("assistant", "done")], usage=ADVISED)
        cost = app.sessions.stats(session_id).cost
        assert cost is not None
        own = 4 * 5 + 543_544 * 0.5 + 8_131 * 6.25 + 1_030 * 25
        assert cost.spent == pytest.approx((own + 235_169 * 5 + 2_000 * 25) / 1e6, abs=1e-6)

    @pytest.mark.parametrize(
        ("iterations", "before", "answer"),
        [
            (None, 100, 10),
            ("many", 100, 10),
            ([], 100, 10),
            ([inference("message", 100, 10)], 100, 10),
            ([{"type": "message"}], 100, 10),
            ([inference("of another kind", 70, 9)], 100, 10),
            # A refused attempt is not part of the context; nor is what a compaction on the server took out.
            ([inference("message", 90, 1), inference("fallback_message", 95, 10)], 95, 10),
            ([inference("compaction", 900, 50), inference("message", 100, 10)], 100, 10),
        ],
    )  # fmt: skip
    def test_is_told_from_others(self, iterations: Any, before: int, answer: int) -> None:  # X11
        """Only several inferences by the call's own model are a sum."""
        usage = usage_of({**counts(100, 0, 0, 10), "iterations": iterations})
        assert usage is not None
        assert (usage.sent_tokens, usage.answer_tokens) == (before, answer)


REPORTS: list[list[Usage]] = [
    # Gateways count the input at the end, at the start only, or estimate it first.
    [Usage(0, 1), Usage(30_000, 200, 20_000, 9_000)],
    [Usage(30_000, 1, 20_000, 9_000), Usage(0, 200)],
    [Usage(29_100, 1), Usage(30_000, 200, 20_000, 9_000)],
    [Usage(30_000, 1, 20_000, 9_000), Usage(30_000, 90, 20_000, 9_000), Usage(30_000, 200, 20_000, 9_000)],
    [Usage(12, 1), Usage(30_000, 200, 20_000, 9_000)],
]


class TestReportsOfOneCallThatDiffer:
    """Agents write a call as several rows, each with the usage that they knew then."""

    @pytest.mark.parametrize("reports", REPORTS)
    @pytest.mark.parametrize("calls", [1, 4])
    def test_are_one_whether_they_come_together_or_apart(
        self, app: App, reports: list[Usage], calls: int
    ) -> None:  # X11 X12
        """Following and importing show the same total, the largest figures, and the same bill."""
        found = []
        for name, together in (("import", True), ("follow", False)):
            session_id = followed(app, user("value " * 900), session_id=name, model=OPUS)
            for n in range(1, calls):
                usage = Usage(26_000 + 1_000 * n, 20)
                one = entry(10 * n, said("hm"), usage=usage, call_key=f"k{n}", group=f"k{n}", model=OPUS)
                more = entry(10 * n + 1, user("value " * 900))
                app.ingest.append_records(session_id, [one, more])
            rows = [
                entry(90 + n, said(f"part {n} " * 9), usage=one, call_key="k", group="k", model=OPUS)
                for n, one in enumerate(reports)
            ]
            for batch in [rows] if together else [[row] for row in rows]:
                app.ingest.append_records(session_id, batch)
            session, cost = seen(app, session_id), app.sessions.stats(session_id).cost
            assert main(session) == (30_200, "exact")
            state = app.store.sessions.get(session_id).state
            known = {k: v for k, v in state["calibration"].items() if k != "anchor_estimate"}
            found.append((orjson.dumps(known), session.notes, session.trend[-1], cost))
        assert found[0] == found[1]


# The first figure of the last call's input, above or below what it finally is, and where the rows after it come.
FIRST_FIGURES = st.lists(
    st.sampled_from([0, 12, 9_000, 20_000, 24_000, 28_000, 31_000]), min_size=1, max_size=3
)
FINAL = 31_000


def with_reports(app: App, name: str, figures: list[int], between: int, final: int, step: int) -> str:
    """Return a session of calls whose outputs can be cleared, `step` rows appended at once.

    The last call's rows report these figures and then the final one; a result of the call comes before row `between`.
    """
    followed(app, user("go"), session_id=name, model=OPUS)
    rows = []
    for n in range(1, 7):
        one = Usage(20_000 + 1_500 * n, 40)
        rows.append(entry(10 * n, call(f"c{n}"), usage=one, call_key=f"k{n}", group=f"k{n}", model=OPUS))
        rows.append(entry(10 * n + 1, result(f"c{n}", "a line of output " * 300)))
    parts = [call("last"), *(said(f"part {n} " * 9) for n in range(len(figures)))]
    for n, (part, figure) in enumerate(zip(parts, [*figures, final], strict=True)):
        if n and n == between:
            rows.append(entry(200, result("last", "done")))
        whole = n == len(figures)
        one = Usage(figure, 120 if whole else 1)
        rows.append(entry(100 + n, part, usage=one, call_key="k", group="k", model=OPUS))
    for start in range(0, len(rows), step):
        app.ingest.append_records(name, rows[start : start + step])
    return name


def size_and_changes(app: App, name: str) -> tuple[Any, ...]:
    """Return everything that is said of a session's size, and of what the agent did to it."""
    session, row = seen(app, name), app.store.sessions.get(name)
    known = row.state["calibration"] | {"anchor_estimate": 0, "previous": None}
    timeline = app.timelines.of(name)
    return (
        session.agent, session.pruned, session.notes, known, timeline.changes,
        [(one.n, one.reason) for one in app.operations.list(name)], row.next_operation, row.operations,
    )  # fmt: skip


class TestAFirstReportBelowTheTrueOne:
    """A gateway's first figure that is less than was sent: no output left the agent's context."""

    @pytest.mark.parametrize("step", [1, 1_000])
    def test_is_no_clearing_once_the_true_one_came(self, app: App, step: int) -> None:  # X11 X24
        """The timeline has none, the outputs are in the context, and the call teaches the growth."""
        with_reports(app, "s", [24_000], 1, FINAL, step)
        assert app.operations.list("s") == []
        assert app.timelines.of("s").changes == []
        assert list(app.verify()) == []

    def test_is_a_clearing_until_then(self, app: App) -> None:  # X24
        """A fall is said at once, because most reports come once."""
        with_reports(app, "s", [24_000], 2, 24_000, 1)
        assert [one.kind for one in app.operations.list("s")] == ["clearing"]

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(FIRST_FIGURES, st.integers(0, 3), st.sampled_from([24_000, FINAL]), st.sampled_from([1, 2, 3]))
    def test_gives_the_same_followed_and_imported(
        self, app: App, figures: list[int], between: int, final: int, step: int
    ) -> None:  # X11 X12 X24
        """That holds for any first figures, and whether outputs really left or not."""
        names = [f"{kind}{figures}{between}{final}{step}" for kind in ("follow", "import")]
        if app.store.sessions.find(names[0]) is None:
            with_reports(app, names[0], figures, between, final, step)
            with_reports(app, names[1], figures, between, final, 1_000)
        assert size_and_changes(app, names[0]) == size_and_changes(app, names[1])
