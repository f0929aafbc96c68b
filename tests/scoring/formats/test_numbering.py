"""Made-up ids of calls that have none."""

from __future__ import annotations

from scoring.formats.numbering import bare_id, is_made_up, made_up_id, note_calls, numbered, without_number
from scoring.messages import Message, Text, ToolCall, ToolResult


def call(*names: str) -> Message:
    """An assistant message that calls without ids."""
    return Message("assistant", tuple(ToolCall(made_up_id(n), n, "{}") for n in names))


def result(*names: str) -> Message:
    """A message that answers without ids."""
    return Message("tool", tuple(ToolResult(made_up_id(n), "", n) for n in names))


class TestNumbering:
    """Name and order."""

    def test_counts_each_name_within_a_round(self) -> None:
        """Calls and results are numbered separately, and again from 0 when the speaker changes."""
        one, two, three = numbered([call("f", "g", "f"), result("f", "f", "g"), call("f")])
        assert [c.id for c in one.calls] == ["order:f#0", "order:g#0", "order:f#1"]
        assert [r.call_id for r in two.results] == ["order:f#0", "order:f#1", "order:g#0"]
        assert three.calls[0].id == "order:f#0"

    def test_ties_results_without_an_id_to_the_oldest_open_call(self) -> None:  # P4
        """The call is of the tool that they name, of any tool if they name none, and its id does not matter."""
        real = Message("assistant", (ToolCall("c1", "f", "{}"), ToolCall("c2", "g", "{}")))
        _, one, two, three = numbered([real, result("g"), result(""), result("")])
        assert [m.results[0].call_id for m in (one, two, three)] == ["c2", "c1", "order:#0"]
        _, one, two = numbered([call("f", "g"), result(""), result("")])
        assert [m.results[0].call_id for m in (one, two)] == ["order:f#0", "order:g#0"]

    def test_goes_on_from_calls_that_came_before(self) -> None:  # P4
        """A list that arrives message by message is tied like the whole list."""
        whole = [call("f", "f"), result("f"), result("f"), result("")]
        waiting: dict[str, str] = {}
        one_by_one: list[Message] = []
        for message in whole:
            one_by_one += numbered([message], waiting)
            note_calls(one_by_one[-1], waiting)
        assert one_by_one == list(numbered(whole))

    def test_leaves_real_ids_alone(self) -> None:
        """A message whose calls have ids is the same object, whatever the ids look like."""
        real = Message("assistant", (Text("x"), ToolCall("f#0", "f", "{}")))
        assert next(iter(numbered([real]))) is real
        assert not is_made_up("f#0")

    def test_can_be_taken_off_again(self) -> None:
        """Two readings of one call compare equal without their numbers, and the name can be recovered."""
        assert without_number(ToolCall("order:f#3", "f", "{}")) == without_number(
            ToolCall("order:f#0", "f", "{}")
        )
        assert without_number(ToolCall("order:f#3", "f", "{}")) != without_number(
            ToolCall("order:g#3", "f", "{}")
        )
        assert bare_id("order:get#4#7") == "get#4"
        assert bare_id("call_1") == "call_1"
