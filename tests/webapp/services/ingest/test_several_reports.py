"""Calls whose report comes in pieces, or sums up several inferences."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.webapp.building import entry, followed, managed, said, user, wire
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
            for call in range(1, calls):
                usage = Usage(26_000 + 1_000 * call, 20)
                one = entry(
                    10 * call, said("hm"), usage=usage, call_key=f"k{call}", group=f"k{call}", model=OPUS
                )
                more = entry(10 * call + 1, user("value " * 900))
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
