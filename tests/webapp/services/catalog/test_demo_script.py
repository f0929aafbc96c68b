"""The script of the demo session."""

from __future__ import annotations

from itertools import islice

from scoring.messages import units_of
from scoring.tokens import estimate_message_tokens
from webapp.services.catalog.demo_script import steps


class TestSteps:
    """The steps of the script."""

    def test_are_the_same_for_the_same_seed(self) -> None:
        """Equal seeds give equal steps, and another seed gives others."""
        assert list(islice(steps(1), 40)) == list(islice(steps(1), 40)) != list(islice(steps(2), 40))

    def test_are_complete(self) -> None:
        """Every call has its result; requests, failures and repeated reads are among them."""
        messages = [m for step in islice(steps(), 80) for m in step]
        assert {len(unit) for unit in units_of(messages)} == {1, 2}
        assert any(r.is_error for m in messages for r in m.results)
        assert {m.role for m in messages} == {"user", "assistant", "tool"}
        paths = [c.arguments for m in messages for c in m.calls if c.name == "Read"]
        assert len(set(paths)) < len(paths)

    def test_fill_a_window_in_about_two_minutes(self) -> None:
        """Steps of 0.8 seconds add 160,000 tokens in 90 to 180 seconds."""
        tokens = seconds = 0.0
        for step in steps():
            tokens += sum(estimate_message_tokens(m) for m in step)
            seconds += 0.8
            if tokens > 160_000:
                break
        assert 90 <= seconds <= 180
