"""Tests of which tool outputs are old."""

from __future__ import annotations

from dataclasses import replace

from scoring.messages import Message
from scoring.planning.old_outputs import exempt_outputs, old_outputs
from scoring.settings import Settings
from tests.scoring.builders import calls, history_of, results, user

RULES = Settings(tool_outputs_keep_turns=1, tool_outputs_keep_tokens=300)


def turns(count: int) -> list[Message]:
    """Turns of a question, a call and an output of 250 tokens."""
    return [m for n in range(count) for m in (user(), calls(str(n)), results(str(n), text="x" * 1_000))] + [
        user()
    ]


class TestOldOutputs:
    """Tests of where the line is."""

    def test_come_newest_first_beyond_the_newest_tokens(self) -> None:  # C8
        """The tokens are counted from the end, those of the last turns with them."""
        assert old_outputs(history_of(turns(3)), RULES) == [5, 2]
        assert old_outputs(history_of(turns(3)), replace(RULES, tool_outputs_keep_tokens=0)) == [8, 5, 2]

    def test_are_none_of_the_last_turns(self) -> None:  # C8
        """Outputs of the last turns stay, however large they are."""
        rules = replace(RULES, tool_outputs_keep_turns=3, tool_outputs_keep_tokens=0)
        assert old_outputs(history_of(turns(3)), rules) == [2]

    def test_stop_at_a_summary(self) -> None:  # C8
        """Check that what stands before one was taken in by it."""
        history = history_of(turns(3))
        history.summarised = 3
        assert old_outputs(history, RULES) == [5]

    def test_are_none_of_exempt_tools(self) -> None:  # C8
        """The name of the call counts, where the result does not repeat it."""
        history = history_of(turns(3))
        assert exempt_outputs(history, ("read",)) == {2, 5, 8}
        assert old_outputs(history, replace(RULES, tool_outputs_exempt=("read",))) == []
        assert exempt_outputs(history, ("grep",)) == set()
