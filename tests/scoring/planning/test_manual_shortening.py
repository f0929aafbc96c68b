"""Shortening by hand: on top of a plan, and only what it keeps whole."""

from __future__ import annotations

from scoring.history import History
from scoring.messages import Message, Text, ToolCall, ToolResult
from scoring.planning.manual_shortening import WHY, shortening, with_shortened
from scoring.planning.plan import plan_prune
from scoring.settings import PRESETS
from scoring.tokens import estimate_message_tokens

LONG = "".join(f"line {n} of the build\n" for n in range(400)) + "ERROR: it broke\n" + "more\n" * 400


def talk(output: str = LONG) -> list[Message]:
    """A request, a call with its output, and the end."""
    return [
        Message("user", (Text("please build"),)),
        Message("assistant", (ToolCall("c", "bash", "{}"),)),
        Message("tool", (ToolResult("c", output),)),
        Message("assistant", (Text("done"),)),
        Message("user", (Text("thanks"),)),
    ]


class TestShortening:
    """One message."""

    def test_keeps_beginning_end_and_errors(self) -> None:  # X7
        """The rest is cut, and the message costs what is left."""
        made = shortening(talk()[2])
        assert made is not None
        short = made.apply(talk()[2])
        text = short.results[0].text
        assert text.startswith("line 0 ")
        assert "ERROR: it broke" in text
        assert text.endswith("more\n")
        assert made.tokens == estimate_message_tokens(short) < estimate_message_tokens(talk()[2])

    def test_is_none_where_nothing_gets_shorter(self) -> None:
        """Neither a small output nor words of one's own."""
        assert shortening(talk("41 passed")[2]) is None
        assert shortening(Message("user", (Text(LONG),))) is None


class TestPlan:
    """A plan in which outputs are shortened by hand, too."""

    def test_says_what_is_shortened_and_what_that_frees(self) -> None:  # X1, X3
        """The rest is as it was; every position is in one of the three."""
        messages = talk()
        history = History.of(messages)
        plan = plan_prune(history, PRESETS["Foresight"], 1_000_000)
        made = shortening(messages[2])
        assert made is not None
        changed = with_shortened(plan, {2: made}, history.tokens)
        assert (changed.shortened, changed.removed, changed.kept) == ((2,), (), (0, 1, 3, 4))
        assert changed.freed == history.tokens[2] - made.tokens > 0
        assert changed.fate(2) == "shortened"
        assert made.why is not None
        assert made.why() == WHY
        assert plan.shortened == ()

    def test_leaves_what_goes_anyway(self) -> None:
        """Check that what is out cannot be shortened."""
        messages = talk()
        history = History.of(messages)
        plan = plan_prune(history, PRESETS["Foresight"], 1_000_000, drop={2})
        made = shortening(messages[2])
        assert made is not None
        assert with_shortened(plan, {2: made}, history.tokens) is plan
