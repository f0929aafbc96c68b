"""The running state of a session, which is bounded."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens import Calibration
from scoring.tokens.counting import Estimator
from tests.webapp.building import entry, said
from webapp.agents.claude_code.unwritten import STEPS, WORDS, TaskReminders
from webapp.services.session.state import CHANGES_KEPT, TRAIL_POINTS, SessionState, _is_like


@dataclass
class OneField:
    """A part of a state with a single value."""

    count: object = 0


class TestSessionState:
    """The running state."""

    def test_stays_small(self) -> None:
        """The state of ten thousand messages is as small as that of a hundred."""
        state = SessionState()
        for n in range(10_000):
            state.remember_gauge(n)
            state.remember_turn(n)
            state.remember_end(f"id-{n}", n)
        assert len(orjson.dumps(state.to_dict())) < 2_000
        assert len(state.trail) < 2 * TRAIL_POINTS

    def test_checks_a_part_with_a_single_field(self) -> None:
        """The value of a part is checked, however many values the part has."""
        assert _is_like(OneField(3), OneField())
        assert not _is_like(OneField("3"), OneField())

    def test_keeps_an_even_trail(self) -> None:
        """The trail is thinned evenly from the beginning to the end."""
        state = SessionState()
        for n in range(1_000):
            state.remember_gauge(n)
        steps = {b - a for a, b in zip(state.trail, state.trail[1:], strict=False)}
        assert len(steps) == 1
        assert state.trail[-1] > 950

    def test_restarts_its_growth_after_a_fall(self) -> None:
        """Growth per turn is not measured across a fall that no operation explains."""
        state = SessionState()
        for tokens in (100, 200, 50, 80):
            state.remember_turn(tokens)
        assert state.turn_tokens == [50, 80]

    def test_keeps_unwritten_reminders_until_a_compaction(self) -> None:  # X11
        """Without reported usage the reminder stays in the context until a compaction."""
        state, counter = SessionState(unwritten=TaskReminders()), Estimator()
        for n in range(STEPS[0] + 1):
            state.add_unwritten(entry(n, said("I look."), call_key=f"c{n}"), counter, 1.0)
        assert state.calibration.unseen == WORDS
        state.after_compaction()
        assert state.calibration.unseen == 0

    @given(st.lists(st.one_of(st.integers(1, 50), st.sampled_from(["undo", "call"])), max_size=CHANGES_KEPT))
    def test_knows_what_differs_from_the_last_call(self, steps: list[int | str]) -> None:  # X26
        """The context differs from what was sent by the operations of one of the two that the other lacks."""
        state, done, sent = SessionState(), list[tuple[int, int]](), list[tuple[int, int]]()
        for n, step in enumerate(steps):
            if step == "call":
                state.changes, sent = {}, done.copy()
            elif step == "undo":
                if done:
                    state.note_undo(*done.pop())
            else:
                done.append((n, int(step)))
                state.note_change(int(step), str(n))
            assert state.changed_from == min((first for _, first in {*done} ^ {*sent}), default=0)

    def test_keeps_the_first_of_many_changes(self) -> None:  # X26
        """Without reported calls the operations since the last one are many; the oldest are joined."""
        state = SessionState()
        for n in range(10 * CHANGES_KEPT):
            state.note_change(n + 5, str(n))
        assert (state.changed_from, len(state.changes)) == (5, CHANGES_KEPT)
        state.note_undo(0, 5)
        assert state.changed_from == 5

    def test_survives_json(self) -> None:
        """The state is equal, and fields of another version are ignored."""
        state = SessionState(Calibration(factor=1.2, known=True), fired=True, ends={"a": [3, 1]})
        data = orjson.loads(orjson.dumps({**state.to_dict(), "from_the_future": 1}))
        assert SessionState.from_dict(data) == state

    def test_reads_the_names_that_earlier_versions_stored(self) -> None:
        """The window that a compaction implied is not lost with its old name."""
        found = SessionState.from_dict({"told_window": 200_000, "told_at": 167_000})
        assert (found.compaction_window, found.compaction_tokens) == (200_000, 167_000)
